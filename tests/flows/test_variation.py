"""How the samples of one problem differ."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alpha_codium.flows.variation import HIGHEST, Variation
from tests.flows.scripted_flow import NO_FIXES, ONE, chosen, plans, program

samples = st.integers(0, 50)
temperatures = st.floats(0, 2)


@given(samples, temperatures)
def test_a_temperature_is_never_lowered_and_never_raised_above_the_highest(sample, own):
    raised = Variation(sample).temperature(own)
    assert raised >= round(own, 2) or raised == own
    assert raised <= max(own, HIGHEST)


@given(samples, temperatures)
def test_a_later_sample_is_never_cooler(sample, own):
    assert Variation(sample + 1).temperature(own) >= Variation(sample).temperature(own)


def test_temperatures_rise_step_by_step():
    assert [Variation(i).temperature(0.2) for i in range(7)] == [0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.7]


@given(samples, st.lists(st.integers(), max_size=9))
def test_rotating_keeps_all_items_in_their_round(sample, items):
    turned = Variation(sample).rotate(items)
    assert sorted(turned) == sorted(items)
    assert not items or turned == (items * 2)[sample % len(items) :][: len(items)]


@given(st.integers(1, 9))
def test_as_many_samples_as_items_begin_each_at_another(count):
    assert {Variation(sample).rotate(range(count))[0] for sample in range(count)} == set(range(count))


@pytest.mark.thorough
@given(samples, temperatures, st.lists(st.integers()))
def test_switched_off_all_samples_are_alike(sample, own, items):
    off = Variation(sample, enabled=False)
    assert (off.temperature(own), off.rotate(items)) == (own, items)


@pytest.mark.thorough
async def test_each_sample_takes_another_plan_at_a_higher_temperature(bench):
    answers = {"possible_solutions": plans("a", "b", "c"), "choose_best": chosen("b")}
    outcomes = [await bench.solve(ONE, answers, sample=number) for number in range(4)]
    users = [outcome.user("initial_code") for outcome in outcomes]
    assert [user.partition("Use this solution: ")[2][0] for user in users] == ["b", "a", "c", "b"]
    asked = [outcome.of("initial_code")[0].body["temperature"] for outcome in outcomes]
    assert asked == [0.3, 0.4, 0.5, 0.6]


async def test_a_rotated_plan_still_tries_the_chosen_one_later(bench):
    answers = {"possible_solutions": plans("a", "b"), "choose_best": chosen("b"), "initial_code": program("print(0)")}
    settings = NO_FIXES | {"initial_code_generation.max_attempts": 3}
    outcome = await bench.solve(ONE, answers, settings, sample=1)
    tried = [call.user.partition("Use this solution: ")[2][0] for call in outcome.of("initial_code")]
    assert tried == ["a", "a", "b"]
