"""Known programs really run: planted faults are found, and nothing else."""

import asyncio
import json
import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from alpha_codium.audit.datasets.assessment import Assessment
from alpha_codium.audit.datasets.running import FILE, assess_known, observe_known
from alpha_codium.judge import Judge, Rules
from alpha_codium.problem import CheckerSpec, ExecutionSpec, Problem, Solution, TestCase, TestType
from alpha_codium.runs import RunFolder
from alpha_codium.sandbox import open_sandbox
from alpha_codium.verdict import Execution, Status
from tests.audit.datasets.cases import (
    TASKS,
    reasons,
    sound_problem,
    with_second_answer,
    with_slow_solution,
    with_weak_tests,
    with_wrong_output,
)
from tests.eval.splits import LOST, RIGHT, WRONG, Arithmetic
from tests.eval.splits import problem as doubling

ALL = tuple(TestType)


def validated(problems: Sequence[Problem], folder: Path, sandbox=None, types=ALL, rules=Rules()) -> list[Assessment]:  # noqa: B008 - frozen
    """The assessments of problems, by a sandbox of this machine or by a scripted one."""
    folder.mkdir(exist_ok=True)

    async def observe() -> tuple[Judge, list]:
        async with sandbox or open_sandbox("local", workers=2) as opened:
            judge = Judge(opened, rules)
            return judge, await observe_known(problems, types, judge, RunFolder(folder))

    judge, results = asyncio.run(observe())
    return list(assess_known(problems, types, judge, RunFolder(folder), results))


def wrong_tests(found: Assessment) -> set[int]:
    return {place for place, valid in enumerate(found.is_valid_test["private_tests"]) if valid is False}


def planted(kind: int, problem: Problem, chance: random.Random) -> tuple[Problem, str, set[int]]:
    """A copy with the fault of that kind (0: none), the reason it is to be found for, and its wrong tests."""
    match kind:
        case 1:
            changed, place = with_wrong_output(problem, chance)
            return changed, "wrong_test", {place}
        case 2:
            return with_second_answer(problem), "several_answers", set()
        case 3:
            return with_slow_solution(problem), "tight_limit", set()
        case 4:
            return with_weak_tests(problem), "weak_tests", set()
    return problem, "", set()


@pytest.mark.thorough
def test_planted_faults_are_found_and_nothing_else_is(tmp_path: Path) -> None:
    chance = random.Random(7)
    copies = [(kind, sound_problem(f"{task}-{kind}", task)) for task in TASKS for kind in range(5)]
    problems, faults, places = zip(*(planted(kind, problem, chance) for kind, problem in copies), strict=True)
    found = validated(problems, tmp_path / "run", rules=Rules(time_limit_factor=1.0))
    kinds = {"wrong_test", "several_answers", "tight_limit"}
    for assessment, fault, wrong in zip(found, faults, places, strict=True):
        told = set(reasons(assessment))
        # A wrong test, or one test alone, catches no more of the known-incorrect than it does.
        assert told & kinds == {fault} & kinds, assessment
        assert fault in {"", *told}
        assert wrong_tests(assessment) == wrong
        assert assessment.is_valid_problem is (not fault)
        assert assessment.multiple_answers is (None if wrong else fault == "several_answers")


@pytest.mark.thorough
def test_a_tight_limit_shows_what_the_program_needs_of_it(tmp_path: Path) -> None:
    problem = with_slow_solution(sound_problem("sum-0", "sum"))
    (each,) = validated([problem], tmp_path / "run", rules=Rules(time_limit_factor=1.0))
    found = each
    (finding,) = (f for f in found.findings if f.reason == "tight_limit")
    (entry,) = finding.evidence
    assert (entry["column"], entry["solution"], entry["limit_seconds"]) == ("solutions", 3, 0.5)
    assert entry["verdict_of_wider"] == "accepted"
    assert found.timing.suggested_cpu_seconds is not None and found.timing.suggested_cpu_seconds >= 2.0


def test_a_run_that_was_cut_off_goes_on_and_says_the_same(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    split = [
        doubling(name, solutions=(Solution("python3", RIGHT),), incorrect_solutions=(Solution("python3", WRONG),))
        for name in "ab"
    ]
    first, second = Arithmetic(), Arithmetic()
    whole = validated(split, folder, first)
    assert validated(split, folder, second) == whole
    assert (len(first.runs), second.runs) == (4, [])
    journal = folder / "journal.jsonl"
    journal.write_text("".join(journal.read_text().splitlines(keepends=True)[:3]))
    third = Arithmetic()
    assert validated(split, folder, third) == whole
    assert len(third.runs) == 1
    assert (folder / FILE).read_text().count("\n") == 5


def test_a_program_that_the_sandbox_lost_is_counted_and_said_to_have_no_verdict(tmp_path: Path) -> None:
    split = [doubling("a", solutions=(Solution("python3", RIGHT), Solution("python3", LOST)))]
    (found,) = validated(split, tmp_path / "run", Arithmetic())
    assert found.unjudged == 1
    assert (reasons(found), found.counts.correct_run) == (["not_judged"], 1)
    (again,) = validated(split, tmp_path / "run", Arithmetic(lose=False))
    assert (again.unjudged, again.is_valid_problem, again.findings) == (0, True, ())


class LosesTheSecond(Arithmetic):
    """Loses every program on the second test, until told not to."""

    def _execution(self, program: str, text: str) -> Execution:
        if self.lose and text == "2\n":
            return Execution(Status.INTERNAL_ERROR, stderr="the worker went away")
        return super()._execution(program, text)


@pytest.mark.parametrize("program", [WRONG, RIGHT])
def test_a_program_that_failed_before_a_test_was_lost_is_judged_again_on_resume(tmp_path: Path, program: str) -> None:
    split = [
        doubling("a", solutions=(Solution("python3", RIGHT),), incorrect_solutions=(Solution("python3", program),))
    ]
    (found,) = validated(split, tmp_path / "run", LosesTheSecond())
    assert found.unjudged == 2
    assert "the worker went away" in found.findings[-1].text
    (again,) = validated(split, tmp_path / "run", LosesTheSecond(lose=False))
    assert (again.unjudged, again.counts.incorrect_run) == (0, int(program != RIGHT))


def test_a_malformed_test_is_not_a_lost_one(tmp_path: Path) -> None:
    by_call = (TestCase("[1]", "3"), TestCase("2", "4"))
    known = (Solution("python3", "def double(n):\n    return 2 * n"),)
    (found,) = validated([Problem("d", private_tests=by_call, solutions=known, execution=CALL)], tmp_path / "run")
    (line,) = (tmp_path / "run/journal.jsonl").read_text().splitlines()
    assert (found.unjudged, json.loads(line)["result"]["verdict"]) == (0, "wrong_answer")


def test_a_problem_that_can_not_be_judged_says_why_and_is_undecided(tmp_path: Path) -> None:
    known = (Solution("python3", RIGHT),)
    split = [doubling("a", solutions=known, checker=CheckerSpec("tokns")), doubling("b", solutions=known)]
    first, second = validated(split, tmp_path / "run", Arithmetic())
    assert (reasons(first), first.is_valid_problem, first.unjudged) == (["not_judged"], None, 0)
    assert "tokns" in first.findings[0].text
    assert second.is_valid_problem is True


def test_solutions_in_other_languages_are_counted_and_keep_their_places(tmp_path: Path) -> None:
    known = (
        Solution("cpp", "int main(){}"),
        Solution("python3", RIGHT),
        Solution("java", "x"),
        Solution("python3", WRONG),
    )
    (found,) = validated([doubling("a", solutions=known)], tmp_path / "run", Arithmetic())
    assert (found.counts.not_run, found.counts.correct_run) == (2, 2)
    assert {entry["solution"] for f in found.findings for entry in f.evidence} == {3}


def test_a_program_in_both_lists_says_nothing_of_either(tmp_path: Path) -> None:
    both = (Solution("python3", WRONG),)
    split = [doubling("a", solutions=(Solution("python3", RIGHT), *both), incorrect_solutions=both)]
    (found,) = validated(split, tmp_path / "run", Arithmetic())
    assert (found.counts.correct_run, found.counts.incorrect_run) == (1, 0)
    assert found.is_valid_problem is True


def test_tests_of_types_that_were_not_asked_for_are_undecided(tmp_path: Path) -> None:
    split = [replace(doubling("a", solutions=(Solution("python3", RIGHT),)), public_tests=(TestCase("1\n", "3\n"),))]
    (found,) = validated(split, tmp_path / "run", Arithmetic(), types=(TestType.PRIVATE,))
    assert found.is_valid_test == {
        "public_tests": [None], "private_tests": [True, True], "generated_tests": [],
    }  # fmt: skip


CALL = ExecutionSpec("call", entry_point="double")
ASSERTIONS = ExecutionSpec("assertions", entry_point="double", test_code="def check(f):\n    assert f(5) == 10\n")


@pytest.mark.parametrize("spec", [CALL, ASSERTIONS], ids=["call", "assertions"])
def test_wrong_tests_of_functions_are_found_too(spec: ExecutionSpec, tmp_path: Path) -> None:
    by_call = (TestCase("[1]", "2"), TestCase("[2]", "5"), TestCase("2", "4"))
    by_assertion = (TestCase("assert double(1) == 2", ""), TestCase("assert double(2) == 5", ""), TestCase("x =", ""))
    tests = by_call if spec is CALL else by_assertion
    known = (
        Solution("python3", "def double(n):\n    return 2 * n"),
        Solution("python3", "def double(n):\n    return n + n"),
    )
    wrong = (Solution("python3", "def double(n):\n    return n"),)
    problem = Problem("d", private_tests=tests, solutions=known, incorrect_solutions=wrong, execution=spec)
    (found,) = validated([problem], tmp_path / "run")
    assert found.is_valid_test["private_tests"] == [True, False, False]
    assert found.is_valid_test.get("test_code") == (None if spec is CALL else [True])
    assert reasons(found)[:2] == ["malformed_test", "wrong_test"]
    assert found.unjudged == 0
