"""The judge's own error beside a score: programs of known verdict are judged, and never scored."""

import dataclasses
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alpha_codium import evaluate
from alpha_codium.errors import UserError
from alpha_codium.eval.known import (
    KNOWN_CORRECT,
    KNOWN_INCORRECT,
    NONE_KNOWN,
    TURNED_OFF,
    JudgeError,
    judge_error,
    split_known,
    with_known,
    without_disputed,
)
from alpha_codium.eval.metric import calculate_metrics
from alpha_codium.eval.prepare import human_solutions, prepare_for_evaluation
from alpha_codium.eval.results import CandidateResult, ProblemResult
from alpha_codium.eval.running import run_evaluation
from alpha_codium.eval.scoring import score
from alpha_codium.judge import Judge
from alpha_codium.problem import CheckerSpec, Problem, Solution
from alpha_codium.runs import Journal
from alpha_codium.verdict import Verdict
from tests.eval.splits import ALSO_WRONG, BROKEN, LOST, RIGHT, WRONG, Arithmetic, labelled, problem
from tests.eval.test_prepare import row

GROUPS = ["generated", KNOWN_CORRECT, KNOWN_INCORRECT]


def python(*programs: str) -> tuple[Solution, ...]:
    return tuple(Solution("python3", program) for program in programs)


async def judged(problems: list[Problem], rows: list[dict], most: int, path: Path | None = None, sandbox=None):
    """What is scored, and the judge's error, with `most` known programs of each kind."""
    tasks = with_known(prepare_for_evaluation(rows, problems), most)
    judge = Judge(sandbox or Arithmetic())
    if path is None:
        return split_known(await run_evaluation(tasks, judge), "local", most)
    with Journal(path) as journal:
        return split_known(await run_evaluation(tasks, judge, journal=journal), "local", most)


def test_the_first_few_programs_that_can_be_run_are_taken_of_each_kind() -> None:
    given = dataclasses.replace(labelled("a"), solutions=(Solution("cpp", "x"), *python("1", "2", "3")))
    (task,) = with_known(prepare_for_evaluation([row("a", "0")], [given]), 2)
    assert [(entry.group, entry.index, entry.program) for entry in task.entries] == [
        ("generated", 0, "0"),
        (KNOWN_CORRECT, 0, "1"),
        (KNOWN_CORRECT, 1, "2"),
        (KNOWN_INCORRECT, 0, BROKEN),
        (KNOWN_INCORRECT, 1, ALSO_WRONG),
    ]


@pytest.mark.parametrize(("given", "most"), [(labelled("a"), 0), (Problem("a", solutions=python(RIGHT)), 2)])
def test_none_is_taken_where_that_is_turned_off_or_there_is_no_test(given: Problem, most: int) -> None:
    (task,) = with_known(prepare_for_evaluation([row("a", RIGHT)], [given]), most)
    assert [entry.group for entry in task.entries] == ["generated"]


async def test_right_and_wrong_labels_are_told_apart() -> None:
    problems = [labelled("a"), problem("b", incorrect_solutions=python(RIGHT, WRONG))]
    results, error = await judged(problems, [row("a", RIGHT, WRONG), row("b", WRONG)], 2)
    assert error == JudgeError("local", 1, 2, 1, 4)
    assert str(error) == "1 of 2 known-correct rejected, 1 of 4 known-incorrect accepted (local)"
    assert [[c.group for c in result.candidates] for result in results] == [["generated", "generated"], ["generated"]]


async def test_known_programs_of_a_problem_without_candidates_are_not_judged() -> None:
    sandbox = Arithmetic()
    results, error = await judged([labelled("a"), labelled("b")], [row("b")], 2, sandbox=sandbox)
    assert (sandbox.runs, [len(result.candidates) for result in results]) == ([], [0, 0])
    assert str(error) == f"n/a ({NONE_KNOWN})"


async def test_a_score_is_the_same_with_and_without_known_programs() -> None:
    rows = [row("a", RIGHT, WRONG), row("b", WRONG)]
    with_them, without = [
        score((await judged([labelled("a"), labelled("b")], rows, most))[0], [1, 2]) for most in (2, 0)
    ]
    assert with_them == without
    assert with_them.pass_at_k["pass@1"] == 0.25


async def test_known_programs_are_journalled_and_not_judged_again(tmp_path: Path) -> None:
    first, second = Arithmetic(), Arithmetic()
    rows = [row("a", RIGHT)]
    before = await judged([labelled("a")], rows, 2, tmp_path / "journal", first)
    assert await judged([labelled("a")], rows, 2, tmp_path / "journal", second) == before
    assert (sorted(first.runs), second.runs) == (sorted([RIGHT, WRONG, BROKEN, ALSO_WRONG]), [])


async def test_what_can_not_be_judged_is_in_no_total_and_makes_no_score_incomplete() -> None:
    lost = problem("b", solutions=python(LOST))
    results, error = await judged([labelled("a"), lost], [row("a", RIGHT), row("b", RIGHT)], 2)
    assert (error.correct_total, error.incorrect_total, error.not_judged) == (2, 2, 1)
    assert str(error).endswith(", 1 got no verdict (local)")
    assert score(results, [1]).complete


async def test_known_programs_of_a_problem_that_can_not_be_judged_are_in_no_total() -> None:
    unjudgeable = dataclasses.replace(labelled("b"), checker=CheckerSpec("nonesuch"))
    _, error = await judged([labelled("a"), unjudgeable], [row("a", RIGHT), row("b", RIGHT)], 2)
    assert (error.correct_total, error.incorrect_total, error.not_judged) == (2, 2, 4)


@pytest.mark.parametrize(("most", "reason"), [(2, NONE_KNOWN), (0, TURNED_OFF)])
async def test_where_nothing_is_known_the_reason_is_said(most: int, reason: str) -> None:
    _, error = await judged([problem("a")], [row("a", RIGHT)], most)
    assert (str(error), error.to_json()["reason"]) == (f"n/a ({reason})", reason)
    assert JudgeError(**error.to_json()) == error


async def test_a_kind_that_is_not_there_is_said_to_be_missing() -> None:
    _, error = await judged([problem("a", solutions=python(RIGHT))], [row("a", WRONG)], 2)
    assert str(error) == "0 of 1 known-correct rejected, no known-incorrect program (local)"


async def test_a_kind_that_got_no_verdict_is_not_said_to_be_missing() -> None:
    _, error = await judged([problem("a", solutions=python(LOST, LOST + "\n"))], [row("a", WRONG)], 1)
    assert str(error).startswith("no known-correct program judged, ")
    assert str(error).endswith(", 1 got no verdict (local)")


async def test_a_program_in_both_lists_says_nothing_of_the_judge() -> None:
    given = problem("a", solutions=python(WRONG, RIGHT), incorrect_solutions=python(WRONG, BROKEN))
    _, error = await judged([given], [row("a", RIGHT)], 1)
    assert error == JudgeError("local", 0, 1, 0, 1), "the next one is taken in its place"
    tasks = human_solutions([given], "both", "private_tests")
    results = await run_evaluation(tasks, Judge(Arithmetic()))
    told = without_disputed(results, tasks)
    assert [c.verdict for p in told for c in p.candidates] == [Verdict.ACCEPTED, Verdict.COMPILATION_ERROR]
    assert judge_error(told, "local") == JudgeError("local", 0, 1, 0, 1)
    assert judge_error(told, "local").agreement == {
        "correct_accepted": 1, "correct_total": 1, "incorrect_rejected": 1, "incorrect_total": 1,
    }  # fmt: skip


async def test_for_human_solutions_it_is_their_agreement_seen_from_the_other_side() -> None:
    results = await run_evaluation(
        human_solutions([labelled("a"), labelled("b")], "both", "private_tests"), Judge(Arithmetic())
    )
    error = judge_error(results, "local")
    agreed = error.agreement
    assert error == JudgeError("local", 2, 4, 0, 4)
    assert (agreed["correct_total"], agreed["correct_accepted"]) == (4, 2)
    assert (agreed["incorrect_total"], agreed["incorrect_rejected"]) == (4, 4)


candidates = st.lists(st.tuples(st.sampled_from(GROUPS), st.sampled_from(list(Verdict))), max_size=8)


@pytest.mark.thorough
@given(st.lists(candidates, max_size=4))
def test_every_known_program_is_counted_once_and_no_other(split: list[list[tuple[str, Verdict]]]) -> None:
    problems = [
        ProblemResult(
            str(n), tuple(CandidateResult(i, group, verdict, 0, 1) for i, (group, verdict) in enumerate(each))
        )
        for n, each in enumerate(split)
    ]
    scored, error = split_known(problems, "local")
    flat = [pair for each in split for pair in each]
    assert error.correct_total + error.incorrect_total + error.not_judged == sum(g != "generated" for g, _ in flat)
    assert error.correct_rejected <= error.correct_total and error.incorrect_accepted <= error.incorrect_total
    assert error.incorrect_accepted == flat.count((KNOWN_INCORRECT, Verdict.ACCEPTED))
    assert error.correct_total - error.correct_rejected == flat.count((KNOWN_CORRECT, Verdict.ACCEPTED))
    assert [c for p in scored for c in p.candidates] == [
        c for p in problems for c in p.candidates if c.group == "generated"
    ]


def test_the_python_call_gives_it_from_real_programs() -> None:
    given = [labelled("a"), problem("b")]
    rows = [row("a", RIGHT), row("b", RIGHT)]
    result = evaluate(rows, given, sandbox="local", k=[1])
    assert result.pass_at_k == {"pass@1": 1.0}
    assert result.to_json()["judge_error"] == {
        "backend": "local", "correct_rejected": 1, "correct_total": 2, "incorrect_accepted": 0, "incorrect_total": 2,
        "not_judged": 0,
    }  # fmt: skip
    turned_off = evaluate(rows, given, sandbox="local", k=[1], known_solutions=0)
    assert turned_off.extra["judge_error"]["reason"] == TURNED_OFF


def test_a_sandbox_of_the_callers_is_named_by_its_class() -> None:
    result = evaluate([row("a", RIGHT)], [labelled("a")], sandbox=Arithmetic(), k=[1])
    assert result.extra["judge_error"]["backend"] == "Arithmetic"


@pytest.mark.parametrize("k", [[0], 1, [], "5", [1, -2], [1.5]])
def test_a_k_that_is_none_is_refused_before_anything_runs(k) -> None:
    sandbox = Arithmetic()
    with pytest.raises(UserError, match="k must be a list of numbers above 0"):
        evaluate([row("a", RIGHT)], [labelled("a")], sandbox=sandbox, k=k)
    with pytest.raises(UserError, match="k must be a list of numbers above 0"):
        calculate_metrics(prepare_for_evaluation([row("a", RIGHT)], [labelled("a")]), k, sandbox)
    assert sandbox.runs == []
