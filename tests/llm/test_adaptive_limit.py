"""How many requests a model is sent at a time, shown with providers in virtual time."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from alpha_codium.llm.adaptive_limit import FIRST_LIMIT, AdaptiveLimit
from tests.llm.virtual_provider import simulate


def steady(_in_flight: int) -> float:
    return 1.0


def batching(in_flight: int) -> float:
    """Slower with more in flight, and yet more is done."""
    return 1 + 0.02 * in_flight


def thrashing(in_flight: int) -> float:
    """Beyond 40 in flight, less is done the more there are."""
    return max(1.0, in_flight / 40) ** 2


def refuse(limit: AdaptiveLimit, requests: int) -> None:
    for _ in range(requests):
        limit.refused(limit.decreases)


def answer(limit: AdaptiveLimit, requests: int, in_flight: int | None = None) -> None:
    """Answer requests one by one, with as many in flight as the limit allows if the number isn't given."""
    for _ in range(requests):
        limit.answered(limit.decreases, limit.limit if in_flight is None else in_flight)


def test_it_doubles_with_every_round_until_its_ceiling():
    limit = AdaptiveLimit(100)
    assert limit.limit == FIRST_LIMIT
    for expected in (32, 64, 100, 100):
        answer(limit, limit.limit)
        assert limit.limit == expected


def test_it_does_not_grow_while_nothing_waits_for_it():
    limit = AdaptiveLimit(100)
    answer(limit, 200, in_flight=3)
    assert limit.limit == FIRST_LIMIT


def test_a_round_of_refusals_decreases_it_once():
    limit = AdaptiveLimit(100)
    for _ in range(30):
        limit.refused(0)
    assert (limit.limit, limit.decreases) == (8, 1)
    refuse(limit, 8)
    assert (limit.limit, limit.decreases) == (4, 2)


def test_it_is_never_less_than_one():
    limit = AdaptiveLimit(100)
    refuse(limit, 100)
    assert limit.limit == 1


def test_a_round_with_many_refusals_cuts_it_by_half_their_share():
    limit = AdaptiveLimit(FIRST_LIMIT)
    refuse(limit, 4)
    answer(limit, 12)
    assert (limit.limit, limit.decreases) == (14, 1)


@pytest.mark.parametrize("refused", [1, 2])
def test_few_refusals_in_a_round_neither_decrease_it_nor_end_the_doubling(refused):
    limit = AdaptiveLimit(100)
    refuse(limit, refused)
    answer(limit, FIRST_LIMIT - refused)
    assert (limit.limit, limit.decreases) == (2 * FIRST_LIMIT - refused, 0)
    assert not limit.is_full


def test_one_refusal_among_many_answers_changes_nothing():
    limit = AdaptiveLimit(64)
    for _ in range(20):
        answer(limit, 99)
        refuse(limit, 1)
        assert not limit.is_full
    assert (limit.limit, limit.decreases) == (64, 0)


def test_it_is_full_from_many_refusals_until_a_round_with_few():
    limit = AdaptiveLimit(FIRST_LIMIT, adaptive=False)
    refuse(limit, 2)
    assert not limit.is_full
    refuse(limit, 1)
    assert limit.is_full
    answer(limit, FIRST_LIMIT - 3 + FIRST_LIMIT - 1)
    assert limit.is_full
    answer(limit, 1)
    assert not limit.is_full


def test_after_a_round_of_refusals_it_grows_by_one_a_round():
    limit = AdaptiveLimit(100)
    refuse(limit, FIRST_LIMIT)
    for expected in (9, 10, 11):
        answer(limit, expected)
        assert limit.limit == expected


def test_requests_sent_before_a_decrease_do_not_let_it_grow():
    limit = AdaptiveLimit(100)
    refuse(limit, FIRST_LIMIT)
    for _ in range(FIRST_LIMIT):
        limit.answered(0, FIRST_LIMIT)
    assert limit.limit == 8


def test_a_fixed_limit_stays_the_same():
    limit = AdaptiveLimit(100, adaptive=False)
    refuse(limit, 100)
    assert (limit.limit, limit.decreases) == (100, 0)


@settings(max_examples=25, deadline=None)
@given(st.integers(1, 60), st.integers(1, 200), st.integers(0, 10**6))
def test_any_capacity_is_found_and_used(capacity, ceiling, seed):
    """Every call is answered, within the limits, after few refusals, in not much more time than it takes at best."""
    calls = 40 * min(capacity, ceiling)
    outcome = simulate(AdaptiveLimit(ceiling), calls, steady, capacity=lambda _time: capacity, seed=seed)
    best = calls / min(capacity, ceiling)
    assert outcome.answered == calls
    assert all(1 <= limit <= ceiling for limit in outcome.limits)
    assert outcome.most_in_flight <= ceiling
    assert max(outcome.refusals) <= 5  # the retries that one call has by default
    assert outcome.seconds <= 1.6 * best + 10


@settings(max_examples=8, deadline=None)
@given(st.integers(20, 60), st.integers(2, 10), st.integers(0, 10**6))
def test_it_follows_a_capacity_that_shrinks_and_recovers(high, low, seed):
    def capacity(time: float) -> int:
        return low if 20 < time < 60 else high

    outcome = simulate(AdaptiveLimit(64), 60 * high, steady, capacity=capacity, concurrency=64, seed=seed)
    assert min(outcome.limits[len(outcome.limits) // 4 :]) <= low
    assert outcome.limits[-1] > 0.45 * high  # it may just have been halved


@pytest.mark.parametrize("latency", [batching, thrashing])
def test_a_provider_that_only_slows_down_is_sent_as_much_as_the_ceiling_allows(latency):
    """Also one that does less the more it is sent: users set a lower ceiling for it."""
    assert simulate(AdaptiveLimit(200), 4000, latency).limits[-1] == 200


@pytest.mark.thorough
@pytest.mark.parametrize(("share", "ceiling"), [(0.01, 200), (0.05, 50), (0.05, 200)])
def test_random_refusals_do_not_reduce_throughput(share, ceiling):
    """However few it is sent: so it isn't full."""
    seconds = []
    for seed in range(8):
        chance, calls = random.Random(seed), 40 * ceiling
        outcome = simulate(
            AdaptiveLimit(ceiling),
            calls,
            steady,
            capacity=lambda _time, chance=chance: 0 if chance.random() < share else 10**9,
            concurrency=ceiling,
            seed=seed,
        )
        seconds.append(outcome.seconds / (calls / ceiling))
    assert max(seconds) <= 1.5


@settings(max_examples=15, deadline=None)
@given(st.integers(5, 80), st.sampled_from([50, 200]), st.sampled_from([0.02, 0.05]), st.integers(0, 10**6))
def test_a_full_provider_with_random_refusals_is_used_well(capacity, ceiling, share, seed):
    chance, calls = random.Random(seed), 40 * min(capacity, ceiling)

    def left(_time: float) -> int:
        return 0 if chance.random() < share else capacity

    outcome = simulate(AdaptiveLimit(ceiling), calls, steady, capacity=left, concurrency=ceiling, seed=seed)
    assert outcome.answered == calls
    assert sum(outcome.refusals) <= 0.4 * calls + 40
    assert outcome.seconds <= 2 * calls / min(capacity, ceiling) + 10
