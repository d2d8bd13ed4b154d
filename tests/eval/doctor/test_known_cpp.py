"""Contest submissions in C++: those whose labels a plain execution on this machine confirms get the right verdicts."""

import asyncio
import json
import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest

from alpha_codium.data.schema import problem_from_record
from alpha_codium.eval.doctor.known_verdicts import CLASSES, KnownReport, KnownVerdicts
from alpha_codium.eval.languages import Languages
from alpha_codium.eval.running import run_evaluation
from alpha_codium.judge import Judge, Rules
from alpha_codium.problem import LANGUAGE_NAMES
from alpha_codium.sandbox import open_sandbox
from tests.data.records import write_jsonl
from tests.eval.plain_execution import COMMANDS, plain_verdict
from tests.support import shared_path

pytestmark = pytest.mark.skipif(shutil.which("g++") is None, reason="there is no g++: apt-get install g++")
# The limits of the file are used as they are.
RULES = Rules(time_limit_factor=1.0, time_limit_factors={})


def contests(language: str, labels: Sequence[str] = (), most: int = 1000) -> list[dict]:
    """The problems with submissions in a language, with only these; of each label at most one if any are given."""
    found = []
    for line in shared_path("data/icpc_known_verdict.jsonl").read_text("utf-8").splitlines():
        contest = json.loads(line)
        own = [each for each in contest["submissions"] if LANGUAGE_NAMES[each["language"]] == language]
        if labels:
            first = {each["expected_verdict"]: each for each in reversed(own)}
            own = [first[label] for label in labels if label in first]
        if own and len(own) >= len(labels):
            found.append(contest | {"submissions": own})
    return found[:most]


async def report_of(rows: list[dict], path: Path) -> tuple[KnownReport, list[str]]:
    """The report on submissions, each confirmed or not by a plain execution, and a line for each that isn't."""
    unconfirmed = []
    async with open_sandbox("portable", workers=2) as portable, open_sandbox("local", workers=2) as sandbox:

        async def confirm(contest: dict, each: dict) -> None:
            problem, language = problem_from_record(contest), LANGUAGE_NAMES[each["language"]]
            tests = problem.public_tests + problem.private_tests
            plain = await plain_verdict(portable, sandbox, problem, tests, language, each["code"])
            each["agrees"] = plain in CLASSES[each["expected_verdict"]]
            if not each["agrees"]:
                unconfirmed.append(f"{problem.name}: {each['file']} ({each['expected_verdict']}): {plain}")

        await asyncio.gather(*(confirm(contest, each) for contest in rows for each in contest["submissions"]))
        known, languages = KnownVerdicts(write_jsonl(path / "known.jsonl", rows)), Languages(sandbox=sandbox)
        results = await run_evaluation(known.judged_in(languages), Judge(sandbox, RULES))
    return known.report(results, languages, RULES), unconfirmed


@pytest.mark.timeout(900)
async def test_an_accepted_and_a_wrong_submission_get_the_verdicts_of_their_contest(tmp_path: Path) -> None:
    report, unconfirmed = await report_of(contests("cpp", ["AC", "WA"], most=1), tmp_path)
    assert len(report.confirmed) == 2, unconfirmed
    assert report.faultless, list(report.lines())
    assert report.class_share == (1, 1)


@pytest.mark.slow
@pytest.mark.timeout(6000)
@pytest.mark.parametrize("language", COMMANDS)
async def test_all_confirmed_submissions_get_the_verdicts_of_their_contests(tmp_path: Path, language: str) -> None:
    report, unconfirmed = await report_of(contests(language), tmp_path)
    print("\n".join([*report.lines(), "not confirmed by a plain execution:", *unconfirmed]))
    assert len(report.confirmed) > 50
    assert report.faultless
    right, total = report.class_share
    assert right >= 0.95 * total
