"""Real contest submissions, judged by the output validators that came with their problems."""

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import pytest

from alpha_codium.data.schema import problem_from_record
from alpha_codium.judge import Judge
from alpha_codium.sandbox import Sandbox
from alpha_codium.verdict import Verdict
from tests.judge.checkers import needs_compiler
from tests.support import shared_path

# Nine programs are compiled; on a machine that is busy that takes minutes.
pytestmark = [needs_compiler, pytest.mark.timeout(900)]

PYTHON3 = 3
CLASSES = {
    "WA": {Verdict.WRONG_ANSWER},
    "RTE": {Verdict.RUNTIME_ERROR},
    # Of a submission that gets some of the points, no one says what becomes of the others.
    "PARTIAL": set(Verdict) - {Verdict.ACCEPTED, Verdict.INTERNAL_ERROR},
}


@pytest.fixture(autouse=True, scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GENCODE_HOME", str(tmp_path_factory.mktemp("home")))
        yield


def records() -> list[dict[str, Any]]:
    """The nine problems that came with a validator."""
    lines = shared_path("data/icpc_known_verdict.jsonl").read_text("utf-8").splitlines()
    found = [record for record in map(json.loads, lines) if record["checker"]["type"] == "custom"]
    assert len(found) == 9
    return found


@pytest.mark.slow
async def test_every_validator_agrees_with_the_verdicts_that_are_known(sandbox: Sandbox) -> None:
    judged, wrong = 0, []
    for record in records():
        problem = problem_from_record(record)
        judge, tests = Judge(sandbox).for_problem(problem), problem.public_tests + problem.private_tests
        known = [each for each in record["submissions"] if each["language"] == PYTHON3 and each["agrees"]]
        judgements = await asyncio.gather(*(judge.judge(each["code"], tests) for each in known))
        assert known
        for each, judgement in zip(known, judgements, strict=True):
            judged, expected = judged + 1, each["expected_verdict"]
            if judgement.verdict not in CLASSES.get(expected, {Verdict.ACCEPTED}):
                wrong.append((problem.name, each["file"], expected, judgement.verdict, judgement.message))
    assert not wrong
    assert judged == 35


@pytest.mark.thorough
@pytest.mark.parametrize("few", [True, pytest.param(False, marks=pytest.mark.slow)], ids=["three", "all"])
async def test_the_validators_accept_the_answers_that_came_with_the_tests(sandbox: Sandbox, few: bool) -> None:
    for record in records()[: 3 if few else None]:
        problem = problem_from_record(record)
        tests = problem.public_tests + problem.private_tests
        answers = {test.input: test.output for test in tests}
        program = f"import sys\nsys.stdout.write({answers!r}[sys.stdin.read()])"
        judgement = await Judge(sandbox).for_problem(problem).judge(program, tests)
        assert judgement.accepted, (problem.name, judgement.tests_passed, judgement.tests_total)
