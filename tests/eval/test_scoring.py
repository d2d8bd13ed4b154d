"""From candidates to pass@k: what counts, what makes a result incomplete, and the ways in from Python."""

import json

import pytest

import alpha_codium
from alpha_codium.errors import DatasetError
from alpha_codium.eval import Metric, calculate_metrics, evaluate, human_solutions, prepare_for_evaluation
from alpha_codium.eval.running import run_evaluation
from alpha_codium.eval.scoring import agreement, human_facts, score
from alpha_codium.judge import Judge, Rules
from alpha_codium.problem import Problem
from tests.eval.splits import BROKEN, LOST, RIGHT, WRONG, Arithmetic, labelled, problem
from tests.eval.test_prepare import row

SPLIT = [problem("a"), problem("b"), problem("c"), problem("d")]


def scored(rows: list[dict], k: list[int] | None = None, split: list[Problem] | None = None, **options: object):
    return evaluate(rows, SPLIT if split is None else split, sandbox=Arithmetic(), k=k or [1], **options)  # type: ignore[arg-type]


def test_pass_at_k_is_averaged_over_all_problems_of_the_split() -> None:
    rows = [row("a", RIGHT, RIGHT), row("b", RIGHT, WRONG), row("c", BROKEN, "")]
    result = scored(rows, [1, 2])
    assert result.pass_at_k == {"pass@1": pytest.approx((1 + 0.5) / 4), "pass@2": pytest.approx(2 / 4)}
    assert result.complete
    assert result.verdicts == {"accepted": 3, "wrong_answer": 1, "compilation_error": 2}


def test_a_problem_without_candidates_stays_in_the_denominator() -> None:
    assert scored([row("a", RIGHT)]).pass_at_k == {"pass@1": 0.25}
    assert scored([row("a", RIGHT), row("b")]).pass_at_k == {"pass@1": 0.25}
    assert scored([]).pass_at_k == {"pass@1": 0.0}


def test_fewer_samples_than_k_make_that_k_null_with_the_reason() -> None:
    result = scored([row("a", RIGHT, WRONG), row("b", RIGHT)], [1, 2])
    assert result.pass_at_k == {"pass@1": pytest.approx(1.5 / 4), "pass@2": None}
    assert result.reasons == {"pass@2": "1 of 4 problems has fewer than 2 samples (least 1)"}


def test_a_problem_without_tests_is_never_a_pass() -> None:
    result = scored([row("a", RIGHT), row("e", RIGHT)], split=[problem("a"), problem("e", tests=0)])
    assert result.pass_at_k == {"pass@1": 0.5}
    assert result.verdicts["no_tests"] == 1


def test_the_models_faults_are_failed_samples() -> None:
    rows = [row("a", RIGHT, "", "", sample_errors=["", "model: truncated", "refusal"])]
    result = scored(rows, split=[problem("a")])
    assert result.complete
    assert result.pass_at_k == {"pass@1": pytest.approx(1 / 3)}
    assert result.problems[0].to_json()["candidates"][1]["error"] == "model: truncated"


@pytest.mark.parametrize("error", ["provider: HTTP 503", "internal: disk full"])
def test_the_providers_faults_make_the_result_incomplete_with_bounds(error: str) -> None:
    rows = [row("a", RIGHT, "", sample_errors=["", error])]
    result = scored(rows, [1, 2, 3], split=[problem("a")])
    assert not result.complete
    assert result.pass_at_k == {"pass@1": None, "pass@2": None, "pass@3": None}
    assert result.to_json()["bounds"] == {"pass@1": [0.5, 1.0], "pass@2": [1.0, 1.0], "pass@3": [None, None]}
    assert result.reasons["pass@1"] == "1 programs got no verdict"
    assert "fewer than 3" in result.reasons["pass@3"]


def test_a_fault_of_the_sandbox_makes_the_result_incomplete_with_bounds() -> None:
    result = scored([row("a", LOST), row("b", RIGHT)], split=[problem("a"), problem("b"), problem("c")])
    assert result.unjudged == 1
    assert result.to_json()["bounds"] == {"pass@1": [pytest.approx(1 / 3), pytest.approx(2 / 3)]}


def test_the_result_in_json_has_the_agreed_shape() -> None:
    values = json.loads(json.dumps(scored([row("a", RIGHT)], split=[problem("a")]).to_json()))
    assert values["pass_at_k"] == {"pass@1": 1.0}
    assert (values["n_problems"], values["complete"]) == (1, True)
    assert list(values)[-1] == "problems"
    assert values["problems"] == [
        {
            "name": "a",
            "candidates": [
                {
                    "index": 0,
                    "group": "generated",
                    "verdict": "accepted",
                    "tests_passed": 2,
                    "tests_total": 2,
                    "tests": [{"verdict": "accepted", "wall_seconds": 0, "cpu_seconds": 0, "max_rss_bytes": 0}] * 2,
                }
            ],
        }
    ]


def test_calculate_metrics_gives_scores_inputs_and_results() -> None:
    evaluation_set = prepare_for_evaluation([row("a", RIGHT, WRONG)], SPLIT[:2])
    pass_at_k, inputs, results = calculate_metrics(evaluation_set, [1], Arithmetic())
    assert pass_at_k == {"pass@1": 0.25}
    assert inputs == evaluation_set["predictions"]
    assert [candidate["verdict"] for candidate in results["a"]] == ["accepted", "wrong_answer"]
    assert results["b"] == []


def test_the_metric_takes_candidates_and_tests_by_themselves() -> None:
    predictions = [
        {"task_name": "x", "solution_candidates": [RIGHT, WRONG]},
        {"task_name": "y", "solution_candidates": []},
    ]
    references = [{"tests_inputs": ["4\n"], "tests_outputs": ["8\n"]}, {"tests_inputs": [], "tests_outputs": []}]
    pass_at_k, _, results = Metric().compute(predictions, references, k=[1])
    assert pass_at_k == {"pass@1": 0.25}
    assert results["x"][0]["tests"][0]["cpu_seconds"] > 0
    with pytest.raises(ValueError, match="2 predictions and 1 references don't pair up"):
        Metric().compute(predictions, references[:1])


def test_evaluate_is_public_and_raises_what_the_user_can_mend() -> None:
    assert alpha_codium.evaluate([row("a", RIGHT)], SPLIT[:1], sandbox="local", k=[1]).pass_at_k == {"pass@1": 1.0}
    with pytest.raises(DatasetError, match="not in the split"):
        scored([row("q", RIGHT)])


def test_the_rules_are_those_that_are_given() -> None:
    rows = [row("a", WRONG)]
    result = scored(rows, split=[problem("a", tests=5)], rules=Rules(stop_on_first_failure=True))
    (candidate,) = result.problems[0].candidates
    assert (len(candidate.tests), candidate.tests_total, candidate.tests_passed) == (1, 5, 0)


async def test_agreement_counts_each_group_and_leaves_out_what_got_no_verdict() -> None:
    tasks = human_solutions([labelled("a"), labelled("b"), problem("c")], "both", "private_tests")
    results = await run_evaluation(tasks, Judge(Arithmetic()))
    expected = {"correct_accepted": 2, "correct_total": 4, "incorrect_rejected": 4, "incorrect_total": 4}
    assert agreement(results) == expected
    assert score(results, [1], human_facts(results)).to_json()["skipped_solutions"] == 4
    untested = await run_evaluation(human_solutions([labelled("a")], "both", "public_tests"), Judge(Arithmetic()))
    assert set(agreement(untested).values()) == {0}
