import pytest
from hypothesis import given
from hypothesis import strategies as st

from alpha_codium import evaluate
from alpha_codium.eval.prepare import GENERATED
from alpha_codium.eval.rates import Rates, rates_of
from alpha_codium.eval.results import CandidateResult, ProblemResult
from alpha_codium.verdict import Verdict
from tests.eval.splits import BROKEN, LOST, RIGHT, Arithmetic, problem

OK, BAD, LOST_VERDICT = Verdict.ACCEPTED, Verdict.COMPILATION_ERROR, Verdict.INTERNAL_ERROR


def result(name: str, *verdicts: Verdict) -> ProblemResult:
    return ProblemResult(name, tuple(CandidateResult(i, GENERATED, v, 0, 1) for i, v in enumerate(verdicts)))


def row(name: str, *programs: str, **more: list) -> dict:
    return {"task_name": name, "solution_candidates": list(programs)} | more


def test_a_dataset_of_ours_says_all_of_it():
    rows = [
        row("a", "x", "", "", "(", sample_errors=["", "model: no code", "provider: 503", ""],
            truncated_answers=[0, 2, 0, 1]),
        row("b", sample_errors=[], truncated_answers=[]),
    ]  # fmt: skip
    rates = rates_of(rows, [result("a", OK, BAD, LOST_VERDICT, BAD), result("b"), result("c")])
    assert rates == Rates(3, 4, truncated=2, no_program=1, empty=0, does_not_compile=1, problems_without_samples=2)
    assert rates.to_json()["truncated"] == {"count": 2, "rate": 2 / 3}
    assert str(rates) == (
        "3 present of 4 asked; truncated 2 (66.7%), no program 1 (33.3%), empty 0 (0.0%), does not compile 1 (33.3%)"
    )


def test_what_a_file_made_elsewhere_does_not_say_is_not_known():
    rates = rates_of([row("a", "x", " ")], [result("a", OK, BAD)])
    assert rates == Rates(2, None, truncated=None, no_program=None, empty=1, does_not_compile=0)
    assert (rates.to_json()["truncated"], rates.to_json()["asked"]) == (None, None)
    assert str(rates).startswith("2 present of n/a asked; truncated n/a, no program n/a, empty 1 (50.0%)")


@given(
    st.builds(Rates, *[st.integers(0, 9)], asked=st.none() | st.integers(0, 9), truncated=st.none() | st.integers(0, 9))
)
def test_rates_are_read_back_as_they_were_written(rates):
    assert Rates.from_json(rates.to_json()) == rates


def test_a_score_from_python_has_rates_beside_it():
    rows = [row("a", RIGHT, BROKEN, "", sample_errors=["", "", "model: refused"], truncated_answers=[0, 1, 0])]
    rates = evaluate(rows, [problem("a"), problem("b")], sandbox=Arithmetic(), k=[1]).extra["rates"]
    assert rates["no_program"] == {"count": 1, "rate": pytest.approx(1 / 3)}
    assert rates["does_not_compile"]["count"] == rates["truncated"]["count"] == rates["problems_without_samples"] == 1
    assert rates["asked"] == rates["present"] == 3


def test_a_sample_that_we_lost_is_asked_for_and_not_present():
    lost = evaluate(
        [row("a", LOST, "", sample_errors=["", "provider: 503"])], [problem("a")], sandbox=Arithmetic(), k=[1]
    )
    assert (lost.extra["rates"]["asked"], lost.extra["rates"]["present"]) == (2, 1)


@pytest.mark.parametrize(("column", "told"), [("truncated_answers", [1]), ("sample_errors", [""])])
def test_what_is_told_of_some_samples_only_is_no_rate_of_all(column, told):
    rows = [row("a", "x", **{column: told}), row("b", "y"), row("c")]
    rates = rates_of(rows, [result("a", OK), result("b", OK), result("c")])
    assert (rates.truncated, rates.no_program, rates.asked) == (None, None, None)
