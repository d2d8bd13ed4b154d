"""Submissions in C++ and Java: those whose labels a plain execution on this machine confirms get the right verdicts.

They are those of contests in the shared folder, and programs of our own in the folder `java`, in folders as contest
packages have them. The kit has more: the doctor judges them.
"""

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from alpha_codium.audit.judge.known_verdicts import CLASSES, KnownReport, KnownVerdicts
from alpha_codium.data.schema import problem_from_record
from alpha_codium.eval.languages import Languages
from alpha_codium.eval.running import run_evaluation
from alpha_codium.judge import Judge, Rules
from alpha_codium.problem import LANGUAGE_NAMES
from alpha_codium.sandbox import open_sandbox
from tests.data.records import record, write_jsonl
from tests.eval.plain_execution import COMMANDS, plain_verdict
from tests.languages.available import require
from tests.support import shared_path

# The limits of the file are used as they are.
RULES = Rules(time_limit_factor=1.0, time_limit_factors={})
OWN = Path(__file__).parent / "java"
LABELS = {
    "accepted": "AC",
    "compile_error": "CE",
    "memory_limit_exceeded": "MLE",
    "output_limit_exceeded": "OLE",
    "run_time_error": "RTE",
    "time_limit_exceeded": "TLE",
    "wrong_answer": "WA",
}


def contests(language: str) -> list[dict]:
    """The problems with submissions in a language, with only these."""
    found = []
    for line in shared_path("data/icpc_known_verdict.jsonl").read_text("utf-8").splitlines():
        contest = json.loads(line)
        own = [each for each in contest["submissions"] if LANGUAGE_NAMES[each["language"]] == language]
        if own:
            found.append(contest | {"submissions": own})
    return found


def sums(files: Sequence[Path]) -> dict:
    """A problem, the sum of numbers, with these files as submissions in Java."""
    values = [[1, 2, 3], [-5], [], [(i * 7_919) % 1_000_003 * 2_000 for i in range(100_000)]]
    tests = {
        "input": [f"{len(given)}\n{' '.join(map(str, given))}\n" for given in values],
        "output": [f"{sum(given)}\n" for given in values],
    }
    submissions = [
        {
            "file": f"{path.parent.name}/{path.name}",
            "language": LANGUAGE_NAMES.index("java"),
            "expected_verdict": LABELS[path.parent.name],
            "code": path.read_text("utf-8"),
        }
        for path in files
    ]
    limits = {"time_limit": {"seconds": 2, "nanos": 0}, "memory_limit_bytes": 256 << 20}
    given = record("sum", public_tests={"input": [], "output": []}, private_tests=tests)
    return given | limits | {"submissions": submissions}


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


def require_right_verdicts(report: KnownReport, unconfirmed: list[str]) -> None:
    """Raise AssertionError unless every confirmed submission was accepted or rejected rightly, 95 % by their class."""
    print("\n".join([*report.lines(), f"not confirmed by a plain execution: {len(unconfirmed)}", *unconfirmed]))
    assert report.faultless
    right, total = report.class_share
    assert right >= 0.95 * total


@pytest.mark.slow
@pytest.mark.timeout(6000)
@pytest.mark.parametrize("language", COMMANDS)
async def test_all_confirmed_submissions_get_the_verdicts_of_their_contests(tmp_path: Path, language: str) -> None:
    require(language)
    rows = contests(language)
    report, unconfirmed = await report_of(rows, tmp_path)
    require_right_verdicts(report, unconfirmed)
    assert len(report.confirmed) > 0.5 * sum(len(row["submissions"]) for row in rows)


@pytest.mark.slow
@pytest.mark.timeout(6000)
async def test_programs_in_java_get_the_verdicts_that_a_plain_execution_confirms(tmp_path: Path) -> None:
    require("java")
    report, unconfirmed = await report_of([sums(sorted(OWN.glob("*/*.java")))], tmp_path)
    require_right_verdicts(report, unconfirmed)
    assert unconfirmed == []
