"""The limit on concurrent requests to a model: it grows while all goes well and shrinks when the model is overloaded.

1. The limit starts low and doubles with every round of answers until the first sign of overload; from then on it grows
   by one a round (additive increase). It grows only while it is what holds requests back.
2. A sign of overload multiplies it (multiplicative decrease): many refusals (status 429), or rising latency without
   rising throughput. A round counts once: requests sent before the last decrease are ignored.
3. Refusals are many if their share of a round is `MANY` above the usual share, since some providers refuse requests
   for other reasons. A smaller share s cuts the limit by s / 2, as in DCTCP (Alizadeh et al. 2010). A share of few
   outcomes says little, so a round has a minimal length, except for the smallest limits, which mustn't react late. If
   a decrease made refusals no rarer, they are random: that share cuts nothing, and the limit doubles once more.
4. Latencies are compared among similar answers, within a factor of two in completion tokens and of four in prompt
   tokens. Each is compared with the fastest tenth of a long window of its kind. Once a round, the fastest tenth of a
   short window must be twice as slow; only the fastest are compared, since the tail of latencies is long and noisy.
5. A model that batches is slower with more requests in flight and yet does more. By Little's law throughput is in
   flight / latency. If the requests in flight grew by slowness^1.5 or more, it grew by the square root of the slowness
   or more, which isn't overload.
6. If a decrease made nothing faster, the overload isn't ours: the usual latencies are measured anew, and the limit
   grows.
"""

from collections import OrderedDict, deque
from dataclasses import dataclass
from math import log2
from statistics import median

from alpha_codium.llm.messages import Answer

FIRST_LIMIT = 16
DECREASE_FIRST = 0.5
DECREASE = 0.7
# The share of refusals in a round, above the usual share, at which a provider counts as full.
MANY = 0.1
LEAST_ROUND, SMALL_LIMIT, LEAST_REFUSALS = 48, 12, 2
# The usual share is over about so many outcomes, and has a maximum: a provider that is full for long isn't usual.
MEMORY, MOST_USUAL = 128, 0.1
# The usual share at the start. Without it, five refusals of the first 48 would be many.
FIRST_USUAL = 0.05
# A decrease made refusals no rarer if this part of their share is left before the limit has grown back.
NO_RARER, GROWN_BACK = 0.25, 0.85
# How often it may double once more: a provider may be full and refuse at random, too.
MOST_RESUMED = 3
SLOWER = 2.0
FASTER = 0.85
FAST_PART = 10
SHORT_WINDOW = 48
LONG_WINDOW = 1000
LEAST_OF_A_KIND = 10
KINDS_KEPT = 64
NOT_OVERLOADED = (0.0, 0.0)


@dataclass(frozen=True, slots=True)
class SentRequest:
    """A request that was sent: the decreases before it, and the requests in flight, itself included."""

    decreases: int
    in_flight: int


@dataclass(slots=True)
class _SinceCut:
    """A decrease because of refusals: the limit and the share of refusals then, and the outcomes since."""

    limit: float
    share: float
    outcomes: int = 0
    refusals: int = 0


class _Kind:
    """The last answers of one kind: their latencies in seconds and the requests in flight."""

    def __init__(self) -> None:
        self._answers: deque[tuple[float, int]] = deque(maxlen=LONG_WINDOW)
        self._fast: tuple[float, float] | None = None
        self._added, self._next_look = 0, LEAST_OF_A_KIND

    def fast(self) -> tuple[float, float] | None:
        """The medians of both for the fastest tenth; None for too few answers. Updated rarely, as sorting is slow."""
        if self._added >= self._next_look:
            fast = sorted(self._answers)[: max(1, len(self._answers) // FAST_PART)]
            self._fast = median(latency for latency, _ in fast), median(in_flight for _, in_flight in fast)
            self._next_look = self._added + max(LEAST_OF_A_KIND, len(self._answers) // FAST_PART)
        return self._fast

    def add(self, latency: float, in_flight: int) -> None:
        """Add an answer."""
        self._answers.append((latency, in_flight))
        self._added += 1


class AdaptiveLimit:
    """The limit for one model, between 1 and `ceiling`; with `adaptive` false always the ceiling."""

    def __init__(self, ceiling: int, *, adaptive: bool = True) -> None:
        self.ceiling = ceiling
        self._adaptive = adaptive
        self._limit = float(min(ceiling, FIRST_LIMIT) if adaptive else ceiling)
        self._doubling = True
        self._decreases = 0
        self._outcomes, self._refusals, self._full = 0, 0, False
        self._usual = FIRST_USUAL
        self._since_cut: _SinceCut | None = None
        self._random_share, self._resumed = 0.0, 0
        self._most_in_flight = 0
        self._kinds: OrderedDict[tuple[int, int], _Kind] = OrderedDict()
        self._recent: list[tuple[float, float]] = []
        self._overload_before = NOT_OVERLOADED

    @property
    def limit(self) -> int:
        """The number of requests that may be in flight."""
        return int(self._limit)

    @property
    def decreases(self) -> int:
        """The number of decreases so far."""
        return self._decreases

    def sent(self, in_flight: int) -> SentRequest:
        """Record that a request is sent; `in_flight` includes it."""
        self._most_in_flight = max(self._most_in_flight, in_flight)
        return SentRequest(self._decreases, in_flight)

    @property
    def is_full(self) -> bool:
        """Whether many requests of the last round were refused."""
        return self._full

    def refused(self, request: SentRequest) -> None:
        """Record that a request was refused with status 429."""
        self._usual += (1.0 - self._usual) / MEMORY
        if request.decreases == self._decreases:
            self._refusals += 1
            self._note_outcome(request)

    def _note_outcome(self, request: SentRequest) -> None:
        """Count an outcome of the round, which has as many as were in flight, or as the limit.

        It ends early if so many requests were refused that the provider must be full.
        """
        self._outcomes += 1
        least = LEAST_ROUND if self._limit >= SMALL_LIMIT else LEAST_REFUSALS
        many = MANY + min(MOST_USUAL, self._usual)
        full = self._refusals >= max(min(LEAST_REFUSALS, self._limit / 2), many * max(self._limit, least))
        if not full and self._outcomes < max(least, min(self._limit, self._most_in_flight)):
            return
        outcomes, refusals = self._outcomes, self._refusals
        share = refusals / outcomes
        self._full = full or share >= many
        self._outcomes, self._refusals, self._most_in_flight = 0, 0, request.in_flight
        if not self._adaptive:
            return
        if self._full:
            before = self._limit
            self._decrease()
            self._since_cut = _SinceCut(before, share)
        else:
            self._learn(outcomes, refusals)
            self._limit = max(1.0, self._limit * (1.0 - max(0.0, share - self._random_share) / 2))

    def _learn(self, outcomes: int, refusals: int) -> None:
        """Check whether the last decrease made refusals rarer; if not, they are random."""
        cut = self._since_cut
        if cut is None:
            return
        cut.outcomes += outcomes
        cut.refusals += refusals
        if self._limit > GROWN_BACK * cut.limit:
            self._since_cut = None
        elif cut.outcomes >= LEAST_ROUND and cut.refusals >= max(LEAST_REFUSALS, NO_RARER * cut.share * cut.outcomes):
            self._since_cut, self._random_share = None, min(MOST_USUAL, cut.refusals / cut.outcomes)
            self._resumed += 1
            self._doubling = self._resumed <= MOST_RESUMED

    def answered(self, request: SentRequest, answers: list[Answer], in_flight: int) -> None:
        """Record that a request was answered; `in_flight` includes it."""
        self._usual -= self._usual / MEMORY
        if request.decreases == self._decreases:
            self._note_outcome(request)
        if not self._adaptive:
            return
        self._compare(request, answers)
        if request.decreases != self._decreases:
            return
        if self._is_overloaded():
            self._decrease()
        elif in_flight >= self.limit:
            step = 1.0 if self._doubling else 1.0 / self._limit
            self._limit = min(float(self.ceiling), self._limit + step)

    def _compare(self, request: SentRequest, answers: list[Answer]) -> None:
        """Compare an answer with the fastest of its kind: how much slower it is, and how many more are in flight."""
        kind, latency = self._kind(answers), answers[0].latency_seconds
        fast = kind.fast()
        if fast is not None and request.decreases == self._decreases:
            self._recent.append((max(latency, 1e-9) / max(fast[0], 1e-9), request.in_flight / fast[1]))
        kind.add(latency, request.in_flight)

    def _kind(self, answers: list[Answer]) -> _Kind:
        written = sum(answer.completion_tokens for answer in answers)
        key = (round(log2(written + 1)), round(log2(answers[0].prompt_tokens + 1) / 2))
        kind = self._kinds.setdefault(key, _Kind())
        self._kinds.move_to_end(key)
        if len(self._kinds) > KINDS_KEPT:
            self._kinds.popitem(last=False)
        return kind

    def _is_overloaded(self) -> bool:
        """Whether a round that has just ended was slow without more throughput."""
        if len(self._recent) < max(SHORT_WINDOW, self.limit):
            return False
        slower = median(sorted(slower for slower, _ in self._recent)[: len(self._recent) // FAST_PART])
        more_in_flight = median(more for _, more in self._recent)
        self._recent.clear()
        if slower < SLOWER or more_in_flight >= slower**1.5:
            return False
        slower_before, more_before = self._overload_before
        self._overload_before = (slower, more_in_flight)
        if more_in_flight < FASTER * more_before and slower > FASTER * slower_before:
            self._overload_before = NOT_OVERLOADED
            self._kinds.clear()
            return False
        return True

    def _decrease(self) -> None:
        """Multiply the limit; requests sent before are ignored from now on."""
        self._limit = max(1.0, self._limit * (DECREASE_FIRST if self._doubling else DECREASE))
        self._doubling = False
        self._decreases += 1
        self._recent.clear()
