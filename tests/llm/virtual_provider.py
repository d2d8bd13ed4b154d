"""A provider in virtual time: nobody waits for it, and it does the same every time.

It refuses what is beyond its `capacity` at once; how long an answer takes is a function of how many are in flight.
"""

import heapq
import itertools
import random
from collections.abc import Callable
from dataclasses import dataclass, field

from alpha_codium.llm.adaptive_limit import AdaptiveLimit

RETRY_SECONDS = 1.0


@dataclass
class Outcome:
    """What a simulation came to: virtual seconds, refusals by call, and the limit after every event."""

    seconds: float = 0.0
    answered: int = 0
    refusals: list[int] = field(default_factory=list)
    limits: list[int] = field(default_factory=list)
    most_in_flight: int = 0


def simulate(
    limit: AdaptiveLimit,
    calls: int,
    latency: Callable[[int], float],
    *,
    capacity: Callable[[float], int] = lambda _time: 10**9,
    concurrency: int = 10**9,
    seed: int = 0,
) -> Outcome:
    """Answer so many calls, `concurrency` of them open at a time."""
    chance, order = random.Random(seed), itertools.count()
    outcome = Outcome(refusals=[0] * calls)
    events: list[tuple[float, int, str, int, int]] = []
    ready, later = list(range(min(calls, concurrency)))[::-1], list(range(min(calls, concurrency), calls))[::-1]
    in_flight, now = 0, 0.0
    while outcome.answered < calls:
        while ready and in_flight < limit.limit:
            call, in_flight = ready.pop(), in_flight + 1
            is_refused = in_flight > capacity(now)
            event, seconds = ("refused", 0.05) if is_refused else ("answered", latency(in_flight))
            heapq.heappush(events, (now + seconds, next(order), event, call, limit.decreases))
        outcome.most_in_flight = max(outcome.most_in_flight, in_flight)
        now, _, event, call, decreases = heapq.heappop(events)
        if event == "ready":
            ready.insert(0, call)
        elif event == "refused":
            limit.refused(decreases)
            in_flight -= 1
            outcome.refusals[call] += 1
            wait = RETRY_SECONDS * 2 ** min(6, outcome.refusals[call] - 1) * chance.uniform(0.5, 1.0)
            heapq.heappush(events, (now + wait, next(order), "ready", call, 0))
        else:
            limit.answered(decreases, in_flight)
            in_flight -= 1
            outcome.answered += 1
            if later:
                ready.insert(0, later.pop())
        outcome.limits.append(limit.limit)
    outcome.seconds = now
    return outcome
