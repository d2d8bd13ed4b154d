"""Figures of runs, and differences between two."""

import math
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from alpha_codium.comparison.figures import Costs, Figures, figures_of, ratio_interval
from alpha_codium.comparison.pairs import Pair, budget_notes, pairs_of
from alpha_codium.comparison.tables import sentence
from alpha_codium.statistics import mcnemar, wilson_interval
from tests.comparison.comparing_runs import FAIL, LOST, PASS, figures, record_of, verdicts_on, write_run


def one_each(solved: str, failed: str) -> dict:
    return {name: [PASS] for name in solved} | {name: [FAIL] for name in failed}


def pair_of(first: Figures, second: Figures, k: int) -> Pair:
    (pair,) = pairs_of({run.name: run.score for run in (first, second)}, (k,))
    return pair


def test_a_run_in_numbers(tmp_path: Path) -> None:
    run = figures(tmp_path, "r", {"a": [PASS, FAIL], "b": [FAIL, ""], "c": [PASS, PASS]}, ks=(1, 2, 5))
    assert run.score.pass_at_k == {"pass@1": 0.5, "pass@2": pytest.approx(2 / 3), "pass@5": None}
    assert (run.asked, run.finished, run.unfinished, run.solved, run.no_program["count"]) == (6, 6, 0, 2, 1)
    assert run.costs == Costs(12, 240, 3.0)
    assert (run.per_sample, run.per_problem, run.per_solved) == (
        Costs(2, 40, 0.5),
        Costs(4, 80, 1.0),
        Costs(6, 120, 1.5),
    )
    assert run.to_json()["by_problem"]["b"] == ["wrong_answer", "wrong_answer"]


def test_a_price_that_is_unknown_once_is_unknown_and_nothing_solved_has_no_price(tmp_path: Path) -> None:
    run = figures(tmp_path, "r", one_each("", "ab"), cost=None)
    assert run.costs.dollars is None and run.per_sample is not None and run.per_sample.dollars is None
    assert run.per_solved is None and run.to_json()["per_solved"] is None


def test_what_was_lost_or_never_made_is_unfinished_and_takes_nothing(tmp_path: Path) -> None:
    run = figures(tmp_path, "r", {"a": [PASS, LOST], "b": [PASS]})
    assert (run.asked, run.finished, run.unfinished) == (4, 2, 2)
    assert (run.score.complete, run.score.pass_at_k) == (False, {"pass@1": None})
    assert [(low.value, high.value) for low, high in run.score.bounds] == [(0.5, 1.0)]
    assert run.per_sample == Costs(2, 40, 0.5)


def test_one_sample_each_is_compared_by_flips_and_mcnemar(tmp_path: Path) -> None:
    first, second = (
        figures(tmp_path, n, m) for n, m in (("x", one_each("abcd", "efghijkl")), ("y", one_each("defghijk", "abcl")))
    )
    pair = pair_of(first, second, 1)
    assert (pair.better, pair.worse) == (tuple("efghijk"), tuple("abc"))
    assert (pair.test, pair.p_value) == ("McNemar", mcnemar(7, 3))
    assert pair.difference is not None and pair.difference.value == pytest.approx(4 / 12)
    assert not pair.shown and pair.detectable is not None
    assert sentence(pair).startswith("no difference shown at pass@1: y minus x: +0.3333, 95 % interval ")
    assert f"12 problems like these show a difference of {pair.detectable:.4f}" in sentence(pair)
    assert list(first.score.intervals["pass@1"] or ()) == list(wilson_interval(4, 12).bounds or ())


def test_a_difference_is_shown_by_enough_flips_one_way_and_said_in_its_direction(tmp_path: Path) -> None:
    first, second = figures(tmp_path, "x", one_each("", "abcdefgh")), figures(tmp_path, "y", one_each("abcdefg", "h"))
    assert sentence(pair_of(first, second, 1)).startswith("y is better than x at pass@1: +0.8750, 95 % interval ")
    assert sentence(pair_of(second, first, 1)).startswith("x is worse than y at pass@1: -0.8750, 95 % interval ")


def test_few_flips_show_nothing_whatever_the_interval_says(tmp_path: Path) -> None:
    first, second = figures(tmp_path, "x", one_each("", "abcdef")), figures(tmp_path, "y", one_each("abcde", "f"))
    pair = pair_of(first, second, 1)
    assert not pair.shown and pair.difference is not None and (pair.difference.interval.bounds or (0,))[0] > 0
    assert "5 of 6 problems differ; fewer than 6 can't show a difference" in sentence(pair)


def test_several_samples_are_compared_by_the_bootstrap(tmp_path: Path) -> None:
    first = figures(tmp_path, "x", {name: [FAIL, FAIL] for name in "abcdefgh"})
    second = figures(tmp_path, "y", {name: [PASS, FAIL if name < "e" else PASS] for name in "abcdefgh"})
    pair = pair_of(first, second, 1)
    assert (pair.test, pair.shown, len(pair.better)) == ("paired bootstrap", True, 8)


def test_an_unfinished_run_is_not_compared_but_the_difference_is_bounded(tmp_path: Path) -> None:
    first, second = (
        figures(tmp_path, "x", one_each("ab", "cd")),
        figures(tmp_path, "y", {"a": [PASS], "b": [FAIL], "c": [LOST], "d": [FAIL]}),
    )
    pair = pair_of(first, second, 1)
    assert (pair.difference, pair.bounds) == (None, (-0.25, 0.0))
    assert sentence(pair).endswith("y: 1 program got no verdict; the difference lies between -0.2500 and +0.0000")
    assert pair_of(second, first, 1).bounds == (0.0, 0.25)


def test_a_k_above_the_samples_is_not_compared_and_says_why(tmp_path: Path) -> None:
    first, second = (
        figures(tmp_path, "x", one_each("a", "b"), ks=(5,)),
        figures(tmp_path, "y", one_each("a", "b"), ks=(5,)),
    )
    pair = pair_of(first, second, 5)
    assert pair.difference is None and pair.bounds is None
    assert "x: 2 of 2 problems have samples, but fewer than 5 (least 1)" in sentence(pair)


def test_runs_are_compared_in_pairs_or_each_with_the_baseline(tmp_path: Path) -> None:
    runs = {name: figures(tmp_path, name, one_each("a", "b")).score for name in "xyz"}
    assert [(p.first, p.second) for p in pairs_of(runs, (1,))] == [("x", "y"), ("x", "z"), ("y", "z")]
    assert [(p.first, p.second) for p in pairs_of(runs, (1,), "y")] == [("y", "x"), ("y", "z")]


@pytest.mark.parametrize(
    ("first", "second", "said"),
    [
        ({"llm_calls": 4}, {"llm_calls": 5}, None),
        ({"llm_calls": 4}, {"llm_calls": 6}, "unequal budgets: a sample took 4.0 calls in x and 6.0 in y"),
        ({"llm_calls": 0}, {"llm_calls": 1}, "unequal budgets: a sample took 0.0 calls"),
        ({"prompt_tokens": 990}, {}, "equal in calls but not in tokens: a sample took 1000 tokens in x and 40 in y"),
    ],
)
def test_a_comparison_says_where_it_is_not_at_equal_budget(
    tmp_path: Path, first: dict, second: dict, said: str | None
) -> None:
    notes = budget_notes(
        [figures(tmp_path, "x", one_each("a", "b"), **first), figures(tmp_path, "y", one_each("a", "b"), **second)]
    )
    assert [note[: len(said or "")] for note in notes] == ([said] if said else [])


def test_one_call_twelve_times_and_twelve_calls_once_are_equal_for_a_problem_not_for_a_sample(tmp_path: Path) -> None:
    often = figures(tmp_path, "often", {"a": [PASS] * 12}, llm_calls=1)
    long = figures(tmp_path, "long", {"a": [PASS]}, llm_calls=12)
    (note,) = budget_notes([often, long])
    assert note.endswith("(a problem took about as many in both: 12.0 and 12.0)")


SPLITS = st.lists(st.tuples(st.integers(0, 20), st.booleans()), min_size=1, max_size=12)


@settings(max_examples=40, deadline=None)
@given(SPLITS, st.randoms(use_true_random=False))
def test_the_interval_of_a_cost_holds_the_cost_and_knows_no_order(split: list[tuple[int, bool]], random) -> None:
    interval = ratio_interval(*zip(*split, strict=True), resamples=400)
    solved = sum(is_solved for _, is_solved in split)
    if interval.bounds is None:
        assert not solved or len(set(split)) == 1
        return
    low, high = interval.bounds
    assert low <= sum(cost for cost, _ in split) / solved <= high
    random.shuffle(split)
    assert ratio_interval(*zip(*split, strict=True), resamples=400) == interval


def test_a_cost_of_one_solved_problem_among_many_has_no_upper_bound() -> None:
    bounds = ratio_interval([1.0] * 10, [True] + [False] * 9).bounds
    assert bounds is not None and bounds[0] >= 1 and math.isinf(bounds[1])


@pytest.mark.thorough
@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=2, max_size=15))
def test_swapping_two_runs_turns_the_difference_round(tmp_path_factory: pytest.TempPathFactory, both: list) -> None:
    root = tmp_path_factory.mktemp("swap")
    made = [{str(i): [PASS if solved[side] else FAIL] for i, solved in enumerate(both)} for side in (0, 1)]
    first, second = figures(root, "x", made[0]), figures(root, "y", made[1])
    there, back = pair_of(first, second, 1), pair_of(second, first, 1)
    assert there.difference is not None and back.difference is not None
    assert there.difference.value == pytest.approx(-back.difference.value)
    assert (there.better, there.worse, there.p_value) == (back.worse, back.better, back.p_value)
    if there.difference.interval.bounds is not None:
        low, high = there.difference.interval.bounds
        assert low <= there.difference.value <= high


def test_the_name_of_a_run_may_be_another_than_its_folders(tmp_path: Path) -> None:
    from alpha_codium.comparison.records import read_run

    folder = write_run(tmp_path, "r", {"a": [PASS]})
    assert (record_of(folder).name, read_run(folder, "/x/r").name) == ("r", "/x/r")


def test_the_samples_of_a_run_are_looked_through_once_not_once_a_problem(tmp_path: Path) -> None:
    class Name(str):
        compared = 0
        __hash__ = str.__hash__

        def __eq__(self, other: object) -> bool:
            Name.compared += 1
            return str.__eq__(self, other)

    made = {f"p{i}": [PASS, FAIL] for i in range(200)}
    record = record_of(write_run(tmp_path, "r", made))
    run = figures_of(record, [Name(name) for name in made], verdicts_on(record), [1])
    assert (run.finished, run.solved, run.costs.calls) == (400, 200, 800)
    assert Name.compared < 20 * run.finished
