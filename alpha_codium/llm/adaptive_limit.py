"""An adaptive limit on concurrent requests to a model, which grows until the model is overloaded.

1. The limit starts low and doubles with every round of answers until the first sign of overload; from then on it grows
   by one per round (additive increase). It grows only if there are as many requests in flight as it allows.
2. On overload it is multiplied by a factor below 1 (multiplicative decrease). Signs of overload are many refusals
   (status 429), or rising latency without rising throughput. Requests sent before the last decrease are ignored, so
   that a round causes only one decrease.
3. There are many refusals if their share of a round exceeds the usual share by `MANY`, since some providers refuse
   requests for other reasons. A smaller share s reduces the limit by s / 2, as in DCTCP (Alizadeh et al. 2010). A round
   has a minimum length, so that the share is meaningful, except for small limits, which must react soon. If a decrease
   doesn't make refusals rarer, they are considered random: that share is ignored, and the limit doubles again.
4. Latencies are compared only among similar answers, within a factor of two in completion tokens and of four in prompt
   tokens. The baseline is the fastest tenth of a long window of such answers. Latency is rising if the fastest tenth of
   a round is twice as slow as its baseline; slower answers are ignored, since the tail of latencies is long and noisy.
5. A model that batches requests is slower with more requests in flight, but has a higher throughput, which is requests
   in flight / latency (Little's law). If the requests in flight grew by slowness^1.5 or more, throughput grew by the
   square root of the slowness or more, which isn't overload.
6. If a decrease didn't reduce the latency, the overload has other causes: the baselines are measured again, and the
   limit grows.
"""

from collections import OrderedDict, deque
from dataclasses import dataclass
from math import log2
from statistics import median

from alpha_codium.llm.messages import Answer

FIRST_LIMIT = 16
DECREASE_FIRST = 0.5
DECREASE = 0.7
# A provider is full if the share of refusals in a round exceeds the usual share by this much.
MANY = 0.1
LEAST_ROUND, SMALL_LIMIT, LEAST_REFUSALS = 48, 12, 2
# The usual share is an average over about this many outcomes. It is limited, since a provider may be full for long.
MEMORY, MAX_USUAL = 128, 0.1
# The initial usual share. With 0, five refusals among the first 48 requests would be many.
FIRST_USUAL = 0.05
# A decrease didn't make refusals rarer if this part of their share remains until the limit has grown back.
NO_RARER, GROWN_BACK = 0.25, 0.85
# How often doubling may resume: a provider may both be full and refuse at random.
MAX_RESUMED = 3
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
    """A request that was sent: the number of decreases before it, and the requests in flight, including itself."""

    decreases: int
    in_flight: int


@dataclass(slots=True)
class _SinceCut:
    """A decrease because of refusals: the limit and the share of refusals before it, and the outcomes since."""

    limit: float
    share: float
    outcomes: int = 0
    refusals: int = 0


class _Kind:
    """The latest similar answers: their latencies in seconds, and the requests in flight."""

    def __init__(self) -> None:
        self._answers: deque[tuple[float, int]] = deque(maxlen=LONG_WINDOW)
        self._fast: tuple[float, float] | None = None
        self._added, self._next_look = 0, LEAST_OF_A_KIND

    def fast(self) -> tuple[float, float] | None:
        """Return the medians of both for the fastest tenth, updated rarely; None if there are too few answers."""
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
    """The limit for one model, between 1 and `ceiling`; with `adaptive = False` it is always the ceiling.

    `decreases` counts the decreases so far; `is_full` says whether many requests of the last round were refused.
    """

    def __init__(self, ceiling: int, *, adaptive: bool = True) -> None:
        self.ceiling = ceiling
        self._adaptive = adaptive
        self._limit = float(min(ceiling, FIRST_LIMIT) if adaptive else ceiling)
        self._doubling = True
        self.decreases = 0
        self._outcomes, self._refusals, self.is_full = 0, 0, False
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

    def sent(self, in_flight: int) -> SentRequest:
        """Record that a request is sent; `in_flight` includes it."""
        self._most_in_flight = max(self._most_in_flight, in_flight)
        return SentRequest(self.decreases, in_flight)

    def refused(self, request: SentRequest) -> None:
        """Record that a request was refused with status 429."""
        self._usual += (1.0 - self._usual) / MEMORY
        if request.decreases == self.decreases:
            self._refusals += 1
            self._note_outcome(request)

    def _note_outcome(self, request: SentRequest) -> None:
        """Count an outcome, and end the round after as many outcomes as requests in flight, or as the limit.

        The round ends early if so many requests were refused that the provider must be full.
        """
        self._outcomes += 1
        least = LEAST_ROUND if self._limit >= SMALL_LIMIT else LEAST_REFUSALS
        many = MANY + min(MAX_USUAL, self._usual)
        full = self._refusals >= max(min(LEAST_REFUSALS, self._limit / 2), many * max(self._limit, least))
        if not full and self._outcomes < max(least, min(self._limit, self._most_in_flight)):
            return
        outcomes, refusals = self._outcomes, self._refusals
        share = refusals / outcomes
        self.is_full = full or share >= many
        self._outcomes, self._refusals, self._most_in_flight = 0, 0, request.in_flight
        if not self._adaptive:
            return
        if self.is_full:
            before = self._limit
            self._decrease()
            self._since_cut = _SinceCut(before, share)
        else:
            self._learn(outcomes, refusals)
            self._limit = max(1.0, self._limit * (1.0 - max(0.0, share - self._random_share) / 2))

    def _learn(self, outcomes: int, refusals: int) -> None:
        """Check whether the last decrease made refusals rarer; if not, treat them as random."""
        cut = self._since_cut
        if cut is None:
            return
        cut.outcomes += outcomes
        cut.refusals += refusals
        if self._limit > GROWN_BACK * cut.limit:
            self._since_cut = None
        elif cut.outcomes >= LEAST_ROUND and cut.refusals >= max(LEAST_REFUSALS, NO_RARER * cut.share * cut.outcomes):
            self._since_cut, self._random_share = None, min(MAX_USUAL, cut.refusals / cut.outcomes)
            self._resumed += 1
            self._doubling = self._resumed <= MAX_RESUMED

    def answered(self, request: SentRequest, answers: list[Answer], in_flight: int) -> None:
        """Record that a request was answered; `in_flight` includes it."""
        self._usual -= self._usual / MEMORY
        if request.decreases == self.decreases:
            self._note_outcome(request)
        if not self._adaptive:
            return
        self._compare(request, answers)
        if request.decreases != self.decreases:
            return
        if self._is_overloaded():
            self._decrease()
        elif in_flight >= self.limit:
            step = 1.0 if self._doubling else 1.0 / self._limit
            self._limit = min(float(self.ceiling), self._limit + step)

    def _compare(self, request: SentRequest, answers: list[Answer]) -> None:
        """Compare an answer with the fastest similar ones: the ratios of latencies and of requests in flight."""
        kind, latency = self._kind(answers), answers[0].latency_seconds
        fast = kind.fast()
        if fast is not None and request.decreases == self.decreases:
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
        """Return whether a round has just ended that was slower without more throughput."""
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
        """Decrease the limit; requests sent before are ignored from now on."""
        self._limit = max(1.0, self._limit * (DECREASE_FIRST if self._doubling else DECREASE))
        self._doubling = False
        self.decreases += 1
        self._recent.clear()
