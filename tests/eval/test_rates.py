import pytest

from alpha_codium import evaluate
from alpha_codium.eval.prepare import GENERATED, prepare_for_evaluation
from alpha_codium.eval.rates import broken_lines, broken_programs, rates_of, rates_text
from alpha_codium.eval.results import CandidateResult, ProblemResult
from alpha_codium.verdict import Verdict
from tests.eval.splits import BROKEN, LOST, RIGHT, Arithmetic, problem

OK, BAD, LOST_VERDICT = Verdict.ACCEPTED, Verdict.COMPILATION_ERROR, Verdict.INTERNAL_ERROR


def result(name: str, *verdicts: Verdict) -> ProblemResult:
    return ProblemResult(name, tuple(CandidateResult(i, GENERATED, v, 0, 1) for i, v in enumerate(verdicts)))


def row(name: str, *programs: str, **more: list) -> dict:
    return {"task_name": name, "solution_candidates": list(programs)} | more


def rates(rows: list[dict], *results: ProblemResult) -> dict:
    problems = [problem(each.name) for each in results]
    return rates_of(prepare_for_evaluation(rows, problems).entries, results)


def test_a_dataset_of_ours_says_all_of_it():
    rows = [
        row("a", "x", "", "", "(", sample_errors=["", "model: no code", "provider: 503", ""],
            truncated_answers=[0, 2, 0, 1]),
        row("b", sample_errors=[], truncated_answers=[]),
    ]  # fmt: skip
    found = rates(rows, result("a", OK, BAD, LOST_VERDICT, BAD), result("b"), result("c"))
    assert found == {
        "asked": 4,
        "present": 3,
        "problems_without_samples": 2,
        "truncated": {"count": 2, "rate": 2 / 3},
        "no_program": {"count": 1, "rate": 1 / 3},
        "empty": {"count": 0, "rate": 0.0},
        "does_not_compile": {"count": 1, "rate": 1 / 3},
    }
    assert rates_text(found) == (
        "3 present of 4 asked; truncated 2 (66.7%), no program 1 (33.3%), empty 0 (0.0%), does not compile 1 (33.3%)"
    )


def test_what_a_file_made_elsewhere_does_not_say_is_not_known():
    found = rates([row("a", "x", " ")], result("a", OK, BAD))
    assert (found["truncated"], found["no_program"], found["asked"]) == (None, None, None)
    assert rates_text(found).startswith("2 present; empty 1 (50.0%)")


def test_without_samples_there_are_counts_and_no_rates():
    found = rates([], result("a"))
    assert found["empty"] == {"count": 0, "rate": None}
    assert rates_text(found) == "0 present; empty 0, does not compile 0"


def test_a_score_from_python_has_rates_beside_it():
    rows = [row("a", RIGHT, BROKEN, "", sample_errors=["", "", "model: refused"], truncated_answers=[0, 1, 0])]
    found = evaluate(rows, [problem("a"), problem("b")], sandbox=Arithmetic(), k=[1]).extra["rates"]
    assert found["no_program"] == {"count": 1, "rate": pytest.approx(1 / 3)}
    assert found["does_not_compile"]["count"] == found["truncated"]["count"] == found["problems_without_samples"] == 1
    assert found["asked"] == found["present"] == 3


def test_a_sample_that_we_lost_is_asked_for_and_not_present():
    lost = evaluate(
        [row("a", LOST, "", sample_errors=["", "provider: 503"])], [problem("a")], sandbox=Arithmetic(), k=[1]
    )
    assert (lost.extra["rates"]["asked"], lost.extra["rates"]["present"]) == (2, 1)


@pytest.mark.parametrize(("column", "told"), [("truncated_answers", [1]), ("sample_errors", [""])])
def test_what_is_told_of_some_samples_only_is_no_rate_of_all(column, told):
    rows = [row("a", "x", **{column: told}), row("b", "y"), row("c")]
    found = rates(rows, result("a", OK), result("b", OK), result("c"))
    assert (found["truncated"], found["no_program"], found["asked"]) == (None, None, None)


def broken(programs: list[str], *verdicts: Verdict) -> dict | None:
    entries = prepare_for_evaluation([row("a", *programs)], [problem("a")]).entries
    return broken_programs(entries, [result("a", *verdicts)])


def test_the_commonest_error_of_many_broken_programs_is_named():
    found = broken(["```python\nx", "```python\ny", "(", "", "x = 1"], BAD, BAD, BAD, OK, OK)
    commonest = {"error": "SyntaxError: invalid syntax", "line": "```python", "count": 2}
    assert found == {"count": 4, "present": 5, "commonest": commonest}
    assert list(broken_lines(found)) == [
        "empty or don't compile: 4 of 5 programs",
        "the commonest error (2 programs): SyntaxError: invalid syntax, for example '```python'",
        "if they are a model's raw answers, clean them: gencode eval score with `clean`, or gencode data "
        "clean_generations",
    ]


def test_one_program_with_a_fence_that_does_not_compile_is_enough_for_the_advice():
    found = broken(["```python\nx = 1\n```"] + ["x = 1"] * 9, BAD, *[OK] * 9)
    assert found and (found["count"], found["present"]) == (1, 10)


def test_programs_that_are_empty_cannot_be_cleaned():
    found = broken(["", "", "x = 1"], BAD, BAD, OK)
    assert found is not None
    assert list(broken_lines(found)) == [
        "empty or don't compile: 2 of 3 programs",
        "the commonest error (2 programs): the program is empty",
    ]


def test_a_few_broken_programs_need_no_advice():
    assert broken(["("] + ["x = 1"] * 9, BAD, *[OK] * 9) is None
    assert broken([]) is None
    assert broken(["x"], LOST_VERDICT) is None


def test_errors_that_only_the_interpreter_finds_have_no_line():
    found = broken(["return 1"], BAD)
    assert found == {"count": 1, "present": 1, "commonest": None}
    assert len(list(broken_lines(found))) == 2
