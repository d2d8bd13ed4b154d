"""From candidates to pass@k: what counts, what makes a result incomplete, and the ways in from Python."""

import hashlib
import json

import pytest

import alpha_codium
from alpha_codium import evaluate
from alpha_codium.errors import DatasetError
from alpha_codium.eval.known import JudgeError, judge_error
from alpha_codium.eval.prepare import human_solutions, prepare_for_evaluation
from alpha_codium.eval.results import CandidateResult, ProblemResult
from alpha_codium.eval.running import run_evaluation
from alpha_codium.eval.scoring import labels_of, score
from alpha_codium.judge import Judge, Rules
from alpha_codium.problem import Problem
from alpha_codium.statistics import (
    bootstrap_interval,
    flips,
    mcnemar,
    paired_bootstrap,
    wilson_interval,
)
from alpha_codium.verdict import Verdict
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
    assert result.reasons == {"pass@2": "1 of 4 problems has samples, but fewer than 2 (least 1)"}


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
    assert result.reasons["pass@1"] == "1 program got no verdict"
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
                    "program": hashlib.sha256(RIGHT.encode()).hexdigest(),
                }
            ],
        }
    ]


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
    assert judge_error(results, "local").agreement == expected
    assert sum(result.skipped.total() for result in results) == 4
    untested = await run_evaluation(human_solutions([labelled("a")], "both", "public_tests"), Judge(Arithmetic()))
    assert set(judge_error(untested, "local").agreement.values()) == {0}


def judged(name: str, passes: int, samples: int, lost: int = 0) -> ProblemResult:
    """A problem whose first samples pass; the last ones of them got no verdict."""
    kinds = [Verdict.ACCEPTED] * passes + [Verdict.WRONG_ANSWER] * (samples - passes - lost)
    verdicts = kinds + [Verdict.INTERNAL_ERROR] * lost
    return ProblemResult(name, tuple(CandidateResult(i, "generated", v, 0, 1) for i, v in enumerate(verdicts)))


def test_one_sample_a_problem_has_the_wilson_interval_of_the_problems_solved() -> None:
    values = score([judged(f"p{i}", passes=int(i < 6), samples=1) for i in range(10)], [1, 5]).to_json()
    assert values["intervals"] == {"pass@1": [*(wilson_interval(6, 10).bounds or ())], "pass@5": None}
    assert values["interval_method"] == "wilson"
    assert values["interval_reasons"] == {"pass@5": "10 of 10 problems have samples, but fewer than 5 (least 1)"}


def test_a_problem_without_a_sample_is_one_not_solved_in_the_interval_too() -> None:
    result = score([judged("a", 1, 1), judged("b", 1, 1), judged("c", 0, 0)], [1])
    assert result.intervals == {"pass@1": [*(wilson_interval(2, 3).bounds or ())]}


@pytest.mark.thorough
def test_several_samples_a_problem_have_the_bootstrap_interval_of_the_problems_scores() -> None:
    result = score([judged("a", 2, 2), judged("b", 1, 2), judged("c", 0, 2), judged("d", 0, 0)], [1, 2])
    assert result.interval_method == "bootstrap over problems"
    assert result.intervals == {
        "pass@1": [*(bootstrap_interval([1, 0.5, 0, 0]).bounds or ())],
        "pass@2": [*(bootstrap_interval([1, 1, 0, 0]).bounds or ())],
    }
    assert result.interval_reasons == {}
    for low, high in result.intervals.values():  # type: ignore[misc] - neither is None
        assert low < high


@pytest.mark.thorough
def test_pass_hat_k_says_how_often_all_of_k_pass() -> None:
    result = score([judged("a", 3, 3), judged("b", 2, 3), judged("c", 0, 0)], [1, 2, 3, 4])
    expected = {"pass^1": (1 + 2 / 3) / 3, "pass^2": (1 + 1 / 3) / 3, "pass^3": 1 / 3}
    assert result.to_json()["pass_hat_k"] == {name: pytest.approx(value) for name, value in expected.items()} | {
        "pass^4": None
    }
    assert result.pass_hat_k["pass^1"] == pytest.approx(result.pass_at_k["pass@1"])


@pytest.mark.parametrize(
    ("problems", "reason"),
    [
        ([], "there is no problem"),
        ([judged("a", 1, 1)], "there is one problem only"),
        ([judged("a", 1, 4)], "there is one problem only"),
        ([judged("a", 0, 0), judged("b", 0, 0)], "no problem has a sample"),
        (
            [judged("a", 2, 2), judged("b", 2, 2)],
            "all problems have the same value, so resampling them shows no spread",
        ),
        ([judged("a", 1, 1), judged("b", 0, 1, lost=1)], "1 program got no verdict"),
    ],
)
def test_an_interval_that_would_say_nothing_is_null_with_the_reason(problems, reason: str) -> None:
    values = score(problems, [1]).to_json()
    assert values["intervals"] == {"pass@1": None}
    assert values["interval_reasons"] == {"pass@1": reason}


LABELS = {
    "a": {"difficulty": "hard", "source": "codeforces"},
    "b": {"difficulty": "easy", "source": "codeforces"},
    "c": {"difficulty": "easy", "source": "codeforces"},
    "d": {"difficulty": "A", "source": "codeforces"},
}


@pytest.mark.thorough
def test_strata_are_scored_like_splits_of_their_own_in_the_schemas_order() -> None:
    results = [judged("a", 0, 2), judged("b", 2, 2), judged("c", 1, 2), judged("d", 2, 2)]
    result = score(results, [1, 3], labels=LABELS)
    strata = result.to_json()["strata"]
    assert list(strata) == ["difficulty"], "one source only divides nothing"
    assert list(strata["difficulty"]) == ["easy", "hard", "A"]
    alone = score([results[1], results[2]], [1, 3])
    assert strata["difficulty"]["easy"] == {
        "n_problems": 2,
        "complete": True,
        "pass_at_k": {"pass@1": 0.75, "pass@3": None},
        "reasons": {"pass@3": "2 of 2 problems have samples, but fewer than 3 (least 2)"},
        "intervals": alone.intervals,
        "interval_method": "bootstrap over problems",
        "interval_reasons": alone.interval_reasons,
        "pass_hat_k": {"pass^1": 0.75, "pass^3": None},
    }
    assert alone.intervals["pass@1"] == [0.5, 1.0]
    assert strata["difficulty"]["A"]["intervals"] == {"pass@1": None, "pass@3": None}
    assert strata["difficulty"]["A"]["interval_reasons"]["pass@1"] == "there is one problem only"
    sizes = [part["n_problems"] for part in strata["difficulty"].values()]
    assert sum(sizes) == len(result.problems)


def test_a_stratum_that_lost_nothing_is_complete_where_the_whole_is_not() -> None:
    results = [judged("a", 0, 1, lost=1), judged("b", 1, 1), judged("c", 0, 1), judged("d", 0, 1)]
    result = score(results, [1], labels=LABELS)
    assert result.pass_at_k == result.intervals == {"pass@1": None}
    assert result.pass_hat_k == {"pass^1": None}
    assert result.strata["difficulty"]["easy"].pass_at_k == {"pass@1": 0.5}
    assert result.strata["difficulty"]["hard"].pass_at_k == {"pass@1": None}


def test_without_labels_there_are_no_strata_and_a_problem_left_out_of_them_is_an_error() -> None:
    assert score([judged("a", 1, 1)], [1]).to_json()["strata"] == {}
    with pytest.raises(KeyError, match="z"):
        score([judged("z", 1, 1)], [1], labels=LABELS)


def test_labels_say_difficulty_and_source_in_words() -> None:
    split = [problem("a", difficulty=1, source=2), problem("b", difficulty=7, source=5), problem("c")]
    assert labels_of(prepare_for_evaluation([], split)) == {
        "a": {"difficulty": "easy", "source": "codeforces"},
        "b": {"difficulty": "A", "source": "atcoder"},
        "c": {"difficulty": "unknown_difficulty", "source": "unknown"},
    }


def test_two_results_are_compared_problem_by_problem() -> None:
    first = score([judged("a", 1, 1), judged("b", 0, 1), judged("c", 0, 0)], [1]).by_problem(1)
    second = score([judged("c", 1, 1), judged("b", 1, 1), judged("a", 1, 1)], [1]).by_problem(1)
    assert flips(first, second).gained == ("b", "c")
    assert mcnemar(2, 0) == 0.5
    assert paired_bootstrap(first, second).value == pytest.approx(2 / 3)


def test_what_is_undefined_or_incomplete_cannot_be_compared() -> None:
    with pytest.raises(ValueError, match="1 program got no verdict"):
        score([judged("a", 0, 2, lost=1)], [1]).by_problem(1)
    with pytest.raises(ValueError, match="k must lie between"):
        score([judged("a", 0, 2)], [1]).by_problem(3)


def test_a_result_in_json_is_plain_values_only() -> None:
    (candidate,) = scored([row("a", RIGHT)], split=[problem("a")]).to_json()["problems"][0]["candidates"]
    assert type(candidate["verdict"]) is str


def test_correct_and_incorrect_solutions_together_have_no_pass_at_k_among_the_lines():
    both = tuple(CandidateResult(0, group, Verdict.ACCEPTED, 1, 1) for group in ("correct", "incorrect"))
    facts = {"judge_error": JudgeError("local").to_json()}
    assert not any(line.startswith("pass@") for line in score([ProblemResult("p", both)], [1], facts).lines())
    assert any(line.startswith("pass@") for line in score([ProblemResult("p", both[:1])], [1], facts).lines())


def test_the_lines_show_how_many_problems_are_solved_always_sometimes_and_never():
    facts = {"judge_error": JudgeError("local").to_json()}
    results = [judged(f"p{number}", passed, 4) for number, passed in enumerate([0, 0, 0, 0, 0, 1, 2, 3, 4, 4])]
    lines = list(score(results, [1], facts).lines())
    at = lines.index("problems by the share of their samples that passed") + 1
    assert [line.split() for line in lines[at : at + 4]] == [
        ["none", "5", "#" * 20],
        ["less", "than", "half", "1", "#" * 4],
        ["half", "or", "more", "2", "#" * 8],
        ["all", "2", "#" * 8],
    ]
    assert "problems by" not in "".join(score(results[:9], [1], facts).lines())
    assert "problems by" not in "".join(score([judged(f"p{n}", 1, 1) for n in range(10)], [1], facts).lines())
    part = facts | {"shard": "1/3"}
    assert "problems by" not in "".join(score(results, [1], part).lines())
