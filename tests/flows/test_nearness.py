"""How near a program is to passing: an order, and a distance of outputs."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alpha_codium.flows.nearness import Nearness, output_distance
from alpha_codium.problem import TestCase
from alpha_codium.verdict import Execution, Judgement, Status, TestResult, Verdict

CRASHES = [v for v in Verdict if v not in (Verdict.ACCEPTED, Verdict.WRONG_ANSWER, Verdict.NO_TESTS)]
numbers = st.integers(-(10**6), 10**6).map(str)
tokens = st.one_of(numbers, st.floats().map(str), st.text(st.characters(codec="utf-8"), max_size=8))
outputs = st.lists(tokens, max_size=8).map(" ".join)


def judged(*outcomes):
    """The nearness of a program with these verdicts, each with its output, on tests that expect 10."""
    results = tuple(TestResult(verdict, Execution(Status.FINISHED, stdout=text)) for verdict, text in outcomes)
    return Nearness.of(Judgement(Verdict.WRONG_ANSWER, results, len(results)), [TestCase("", "10")] * len(results))


verdicts = st.sampled_from([v for v in Verdict if v is not Verdict.NO_TESTS])
outcomes = st.lists(st.tuples(verdicts, outputs), min_size=1, max_size=5)


@given(outputs, outputs)
def test_a_distance_lies_between_nothing_and_one(expected, actual):
    assert 0.0 <= output_distance(expected, actual) <= 1.0


@given(outputs)
def test_an_output_has_no_distance_from_itself(output):
    assert output_distance(output, output) == 0.0
    assert output_distance(output, f" {output} \n") == 0.0


@given(st.lists(numbers, max_size=8), st.lists(numbers, max_size=8))
def test_the_distance_is_nothing_only_between_equal_tokens(expected, actual):
    assert (output_distance(" ".join(expected), " ".join(actual)) == 0.0) == (expected == actual)


@given(st.lists(numbers, max_size=8).map(" ".join), st.lists(numbers, max_size=8).map(" ".join))
def test_the_distance_of_numbers_is_the_same_both_ways(one, other):
    assert output_distance(one, other) == output_distance(other, one)


@given(st.integers(0, 10**6), st.integers(1, 10**6), st.integers(1, 10**6))
def test_a_number_further_off_is_further(wanted, near, further):
    distances = [output_distance(str(wanted), str(wanted + d)) for d in (0, near, near + further)]
    assert distances == sorted(distances)


def test_one_number_written_in_two_ways_has_no_distance():
    assert output_distance("0", "0.0") == output_distance("1", "1.00") == output_distance("0", "-0") == 0.0


def test_numbers_that_are_none_are_as_far_as_can_be():
    for token in ("nan", "inf", "-inf", "1e999", "9" * 400):
        assert output_distance("7", token) == output_distance(token, "7") == 1.0


def test_missing_and_superfluous_tokens_count_whole():
    assert output_distance("1 2 3 4", "1 2") == output_distance("1 2", "1 2 3 4") == 0.5
    assert output_distance("", "") == 0.0
    assert output_distance("", "x") == output_distance("x", "") == 1.0


def test_texts_are_compared_by_their_letters():
    assert 0 < output_distance("YES", "YEs") < output_distance("YES", "no") == 1.0


@pytest.mark.thorough
@given(outcomes, outcomes)
def test_nearness_orders_any_two_programs(one, other):
    left, right = judged(*one), judged(*other)
    assert (left < right) + (left == right) + (left > right) == 1


@given(st.sampled_from(CRASHES), outputs, outputs)
def test_a_crash_is_never_nearer_than_a_wrong_answer(crash, printed, wrong):
    assert judged((crash, printed)) < judged((Verdict.WRONG_ANSWER, wrong))


@given(outcomes, st.integers(0, 4), outputs)
def test_passing_one_more_test_is_nearer(outcomes, which, output):
    index = which % len(outcomes)
    if outcomes[index][0] is not Verdict.ACCEPTED:
        better = [*outcomes[:index], (Verdict.ACCEPTED, "10"), *outcomes[index + 1 :]]
        assert judged(*better) > judged(*outcomes)


@given(outcomes, st.integers(0, 4), outputs)
def test_a_wrong_answer_in_place_of_a_crash_is_nearer(outcomes, which, output):
    index = which % len(outcomes)
    if outcomes[index][0] in CRASHES:
        better = [*outcomes[:index], (Verdict.WRONG_ANSWER, output), *outcomes[index + 1 :]]
        assert judged(*better) > judged(*outcomes)


def test_having_run_comes_before_tests_passed_and_those_before_distance():
    ordered = [Nearness(), Nearness(True, 0, -2.0), Nearness(True, 0, -1.0), Nearness(True, 1, -9.0)]
    assert all(one < other for one, other in pairwise(ordered))


def test_tests_that_were_not_run_count_as_failed():
    tests = [TestCase("", "10")] * 3
    one = TestResult(Verdict.WRONG_ANSWER, Execution(Status.FINISHED, stdout="9"))
    stopped = Nearness.of(Judgement(Verdict.WRONG_ANSWER, (one,), 3), tests)
    assert stopped.closeness < Nearness.of(Judgement(Verdict.WRONG_ANSWER, (one, one, one), 3), tests).closeness
