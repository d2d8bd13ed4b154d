"""How many requests a model is sent at a time, shown with providers in virtual time."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from alpha_codium.llm.adaptive_limit import FIRST_LIMIT, AdaptiveLimit
from alpha_codium.llm.messages import Answer
from tests.llm.virtual_provider import simulate

ANSWER = Answer("", "x", prompt_tokens=100, completion_tokens=100, latency_seconds=1.0)


def steady(_in_flight: int, _chance: random.Random) -> tuple[float, int]:
    return 1.0, 100


def batching(in_flight: int, _chance: random.Random) -> tuple[float, int]:
    """Slower with more in flight, and yet more is done."""
    return 1 + 0.02 * in_flight, 100


def queueing(servers: int):
    def latency(in_flight: int, chance: random.Random) -> tuple[float, int]:
        return max(1.0, in_flight / servers) * chance.uniform(0.9, 1.1), 100

    return latency


def thrashing(servers: int):
    """Beyond so many in flight, less is done the more there are."""
    return lambda in_flight, _chance: (max(1.0, in_flight / servers) ** 2, 100)


def test_it_doubles_with_every_round_until_its_ceiling():
    limit = AdaptiveLimit(100)
    assert limit.limit == FIRST_LIMIT
    for expected in (32, 64, 100, 100):
        requests = [limit.sent(number + 1) for number in range(limit.limit)]
        for request in requests:
            limit.answered(request, [ANSWER], 10**6)
        assert limit.limit == expected


def test_it_does_not_grow_while_nothing_waits_for_it():
    limit = AdaptiveLimit(100)
    for _ in range(200):
        limit.answered(limit.sent(3), [ANSWER], 3)
    assert limit.limit == FIRST_LIMIT


def refuse_all(limit, requests):
    for request in requests:
        limit.refused(request)


def test_a_round_of_refusals_decreases_it_once():
    limit = AdaptiveLimit(100)
    refuse_all(limit, [limit.sent(16) for _ in range(30)])
    assert (limit.limit, limit.decreases) == (8, 1)
    refuse_all(limit, [limit.sent(8) for _ in range(8)])
    assert (limit.limit, limit.decreases) == (5, 2)  # 8 * 0.7, rounded down


def test_a_round_with_few_refusals_cuts_it_by_half_their_share():
    limit = AdaptiveLimit(100, adaptive=True)
    while limit.limit < 100:
        limit.answered(limit.sent(limit.limit), [ANSWER], limit.limit)
    limit.answered(limit.sent(1), [ANSWER], 1)  # ends the round
    refuse_all(limit, [limit.sent(100) for _ in range(8)])
    for request in [limit.sent(100) for _ in range(92)]:
        limit.answered(request, [ANSWER], 1)
    assert (limit.limit, limit.decreases) == (96, 0)


def test_one_refusal_among_many_answers_changes_nothing():
    limit = AdaptiveLimit(64)
    for number in range(2000):
        request = limit.sent(64)
        if number % 100 == 99:
            limit.refused(request)
            assert not limit.is_full
        else:
            limit.answered(request, [ANSWER], 64)
    assert (limit.limit, limit.decreases) == (64, 0)


def test_after_a_round_of_refusals_it_grows_by_one_a_round():
    limit = AdaptiveLimit(100)
    refuse_all(limit, [limit.sent(16) for _ in range(16)])
    for expected in (9, 10, 11):
        for _ in range(expected):
            limit.answered(limit.sent(limit.limit), [ANSWER], limit.limit)
        assert limit.limit == expected


def test_requests_sent_before_a_decrease_do_not_let_it_grow():
    limit = AdaptiveLimit(100)
    old = [limit.sent(16) for _ in range(16)]
    refuse_all(limit, [limit.sent(16) for _ in range(16)])
    for request in old:
        limit.answered(request, [ANSWER], 16)
    assert limit.limit == 8


def test_a_fixed_limit_stays_the_same():
    limit = AdaptiveLimit(100, adaptive=False)
    refuse_all(limit, [limit.sent(100) for _ in range(100)])
    assert limit.limit == 100


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
    assert outcome.limits[-1] > 0.6 * high


@pytest.mark.thorough
@settings(max_examples=8, deadline=None)
@given(st.sampled_from([20, 40]), st.integers(0, 10**6))
def test_rising_latency_decreases_it_without_any_refusal(servers, seed):
    held, free = (
        simulate(AdaptiveLimit(300, adaptive=adaptive), 6000, queueing(servers), seed=seed)
        for adaptive in (True, False)
    )
    assert held.limits[-1] < 0.75 * free.limits[-1]
    assert held.seconds <= 1.1 * free.seconds  # no less is done


def test_a_thrashing_provider_has_more_throughput_with_it():
    held, free = (simulate(AdaptiveLimit(300, adaptive=adaptive), 6000, thrashing(40)) for adaptive in (True, False))
    assert held.seconds < free.seconds / 2


def test_a_batching_provider_gets_full_batches():
    assert simulate(AdaptiveLimit(200), 4000, batching).limits[-1] == 200


@settings(max_examples=8, deadline=None)
@given(st.integers(0, 10**6))
def test_long_answers_do_not_count_as_a_slow_model(seed):
    """First all answers are short, then all are long and take 80 times as long."""
    made = iter(range(10**6))

    def latency(_in_flight: int, chance: random.Random) -> tuple[float, int]:
        tokens = (10, 1000)[next(made) // 500 % 2]
        return tokens / 100 * chance.uniform(0.7, 1.3), tokens

    limits = simulate(AdaptiveLimit(200), 4000, latency, seed=seed).limits
    assert limits[-1] == max(limits) == 200


def test_the_limit_recovers_when_a_model_becomes_slower_for_good():
    made = iter(range(10**6))

    def latency(_in_flight: int, _chance: random.Random) -> tuple[float, int]:
        return (1.0 if next(made) < 1500 else 4.0), 100

    limits = simulate(AdaptiveLimit(100), 6000, latency).limits
    assert min(limits[2000:]) < 100
    assert limits[-1] == 100


@pytest.mark.parametrize("tokens", [0, 1, 10**9])
def test_answers_without_tokens_or_latency_are_accepted(tokens):
    limit = AdaptiveLimit(100)
    for _ in range(300):
        answer = Answer("", "x", prompt_tokens=tokens, completion_tokens=tokens, latency_seconds=0.0)
        limit.answered(limit.sent(1), [answer], 1)
    assert limit.limit == FIRST_LIMIT


@pytest.mark.parametrize("refused", [0, 1, 15])
def test_one_refusal_in_the_first_round_neither_halves_it_nor_ends_the_doubling(refused):
    """Refusals come first, and the first requests were sent while hardly any other was in flight."""
    limit = AdaptiveLimit(100)
    requests = [limit.sent(number + 1) for number in range(FIRST_LIMIT)]
    limit.refused(requests.pop(refused))
    for request in requests:
        limit.answered(request, [ANSWER], FIRST_LIMIT)
    assert (limit.limit > FIRST_LIMIT, limit.decreases) == (True, 0)


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
    assert sorted(seconds)[-2] <= 1.3
    # A burst of refusals at the start can't be told from a provider that is full, but it is found out.
    assert max(seconds) <= 2


@settings(max_examples=15, deadline=None)
@given(st.integers(5, 80), st.sampled_from([50, 200]), st.sampled_from([0.02, 0.05, 0.1]), st.integers(0, 10**6))
def test_a_full_provider_with_random_refusals_is_used_well(capacity, ceiling, share, seed):
    chance, calls = random.Random(seed), 40 * min(capacity, ceiling)

    def left(_time: float) -> int:
        return 0 if chance.random() < share else capacity

    outcome = simulate(AdaptiveLimit(ceiling), calls, steady, capacity=left, concurrency=ceiling, seed=seed)
    assert outcome.answered == calls
    assert sum(outcome.refusals) <= 0.4 * calls + 40
    assert outcome.seconds <= 2.5 * calls / min(capacity, ceiling) + 10
