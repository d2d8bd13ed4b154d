"""How many requests a model is sent at a time: it grows while all goes well and shrinks when the model is pressed.

1. The limit starts low and doubles with every round of answers until the first sign of pressure; from then on it grows
   by one a round (additive increase). It only grows while it is what holds requests back.
2. A sign of pressure multiplies it (multiplicative decrease): many refusals by status 429, or latency that rises
   without more being done. A round counts once: what was sent before the last decrease says nothing about the limit
   since.
3. Many refusals are a share of `MANY` of a round beyond the share that is usual: some providers refuse for reasons of
   their own, however little they are sent. A smaller share s cuts the limit by s / 2, as DCTCP does it (Alizadeh et al.
   2010): one in a hundred costs next to nothing. A few tell nothing of a share, so a round has some length, but for
   the smallest limits: those mustn't be late. Where a decrease made refusals no rarer, they come by chance: such a
   share cuts nothing, and the limit doubles once more.
4. Latency is compared among like answers, within a factor of two in tokens written and of four in tokens read,
   for a long answer isn't a slow model. Each answer is set against the fast ones (the lowest tenth) of a long window
   of its kind. Once a round, the fast ones of a short window must be twice as slow: fast ones against fast ones, for
   the tail of latencies is long and says little.
5. A model that batches is slower with more in flight and yet does more. By Little's law the work done is in flight /
   latency; where that grew by the square root of the slowness or more, more in flight was worth it.
6. Where a decrease made nothing faster, the pressure isn't ours: what is usual is learned anew, and the limit grows.
"""

from collections import OrderedDict, deque
from dataclasses import dataclass
from math import log2
from statistics import median

from alpha_codium.llm.messages import Answer

FIRST_LIMIT = 16
DECREASE_FIRST = 0.5
DECREASE = 0.7
# The share of a round's refusals, beyond the usual one, that says that a provider is full.
MANY = 0.1
LEAST_ROUND, SMALL_LIMIT, LEAST_REFUSALS = 48, 12, 2
# Of how many outcomes the usual share is, about, and what it is at most: a provider that is full for long isn't usual.
MEMORY, MOST_USUAL = 128, 0.1
# Before anything is known of it. Without it, five refusals of the first 48 would be many.
FIRST_USUAL = 0.05
# A decrease for refusals made them no rarer where this part of their share is left, before the limit has grown back.
NO_RARER, GROWN_BACK = 0.25, 0.85
# So often it may double once more: a provider may be full and refuse by chance, too.
MOST_RESUMED = 3
SLOWER = 2.0
FASTER = 0.85
FAST_PART = 10
SHORT_WINDOW = 48
LONG_WINDOW = 1000
LEAST_OF_A_KIND = 10
KINDS_KEPT = 64
NOT_PRESSED = (0.0, 0.0)


@dataclass(frozen=True, slots=True)
class SentRequest:
    """A request that was sent: after how many decreases, and with how many in flight, itself among them."""

    decreases: int
    in_flight: int


@dataclass(slots=True)
class _SinceCut:
    """A decrease for refusals: the limit and the share of refusals then, and what came since."""

    limit: float
    share: float
    outcomes: int = 0
    refusals: int = 0


class _Kind:
    """The last answers of one kind: the latency of the fast ones, in seconds, and with how many in flight they came."""

    def __init__(self) -> None:
        self._answers: deque[tuple[float, int]] = deque(maxlen=LONG_WINDOW)
        self._fast: tuple[float, float] | None = None
        self._added, self._next_look = 0, LEAST_OF_A_KIND

    def fast(self) -> tuple[float, float] | None:
        """Both figures, None while there are too few; they lag, for sorting at every answer would cost too much."""
        if self._added >= self._next_look:
            fast = sorted(self._answers)[: max(1, len(self._answers) // FAST_PART)]
            self._fast = median(latency for latency, _ in fast), median(in_flight for _, in_flight in fast)
            self._next_look = self._added + max(LEAST_OF_A_KIND, len(self._answers) // FAST_PART)
        return self._fast

    def add(self, latency: float, in_flight: int) -> None:
        """Count one more."""
        self._answers.append((latency, in_flight))
        self._added += 1


class AdaptiveLimit:
    """The limit for one model, between 1 and `ceiling`; `adaptive` false keeps it at the ceiling."""

    def __init__(self, ceiling: int, *, adaptive: bool = True) -> None:
        self.ceiling = ceiling
        self._adaptive = adaptive
        self._limit = float(min(ceiling, FIRST_LIMIT) if adaptive else ceiling)
        self._doubling = True
        self._decreases = 0
        self._outcomes, self._refusals, self._full = 0, 0, False
        self._usual = FIRST_USUAL
        self._since_cut: _SinceCut | None = None
        self._by_chance, self._resumed = 0.0, 0
        self._most_in_flight = 0
        self._kinds: OrderedDict[tuple[int, int], _Kind] = OrderedDict()
        self._recent: list[tuple[float, float]] = []
        self._pressed_before = NOT_PRESSED

    @property
    def limit(self) -> int:
        """How many requests may be in flight."""
        return int(self._limit)

    @property
    def decreases(self) -> int:
        """How often it was decreased."""
        return self._decreases

    def sent(self, in_flight: int) -> SentRequest:
        """Note that a request is sent, with which so many are in flight."""
        self._most_in_flight = max(self._most_in_flight, in_flight)
        return SentRequest(self._decreases, in_flight)

    @property
    def is_full(self) -> bool:
        """Whether many requests of the last round were refused."""
        return self._full

    def refused(self, request: SentRequest) -> None:
        """Note that a request met status 429."""
        self._usual += (1.0 - self._usual) / MEMORY
        if request.decreases == self._decreases:
            self._refusals += 1
            self._note_outcome(request)

    def _note_outcome(self, request: SentRequest) -> None:
        """Count an outcome of a round: of as many as were in flight, or the limit.

        It ends early where so many were refused that the provider can only be full.
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
            self._limit = max(1.0, self._limit * (1.0 - max(0.0, share - self._by_chance) / 2))

    def _learn(self, outcomes: int, refusals: int) -> None:
        """See whether the last decrease for refusals made them rarer; if not, they come by chance."""
        cut = self._since_cut
        if cut is None:
            return
        cut.outcomes += outcomes
        cut.refusals += refusals
        if self._limit > GROWN_BACK * cut.limit:
            self._since_cut = None
        elif cut.outcomes >= LEAST_ROUND and cut.refusals >= max(LEAST_REFUSALS, NO_RARER * cut.share * cut.outcomes):
            self._since_cut, self._by_chance = None, min(MOST_USUAL, cut.refusals / cut.outcomes)
            self._resumed += 1
            self._doubling = self._resumed <= MOST_RESUMED

    def answered(self, request: SentRequest, answers: list[Answer], in_flight: int) -> None:
        """Note a request that was answered while so many were in flight, itself among them."""
        self._usual -= self._usual / MEMORY
        if request.decreases == self._decreases:
            self._note_outcome(request)
        if not self._adaptive:
            return
        self._compare(request, answers)
        if request.decreases != self._decreases:
            return
        if self._is_pressed():
            self._decrease()
        elif in_flight >= self.limit:
            step = 1.0 if self._doubling else 1.0 / self._limit
            self._limit = min(float(self.ceiling), self._limit + step)

    def _compare(self, request: SentRequest, answers: list[Answer]) -> None:
        """Set an answer against the fast ones of its kind: how much slower it is, and with how many more in flight."""
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

    def _is_pressed(self) -> bool:
        """Whether a round that has just ended was slow, and no more was done for it."""
        if len(self._recent) < max(SHORT_WINDOW, self.limit):
            return False
        slower = median(sorted(slower for slower, _ in self._recent)[: len(self._recent) // FAST_PART])
        more_in_flight = median(more for _, more in self._recent)
        self._recent.clear()
        if slower < SLOWER or more_in_flight >= slower**1.5:
            return False
        slower_before, more_before = self._pressed_before
        self._pressed_before = (slower, more_in_flight)
        if more_in_flight < FASTER * more_before and slower > FASTER * slower_before:
            self._pressed_before = NOT_PRESSED
            self._kinds.clear()
            return False
        return True

    def _decrease(self) -> None:
        """Multiply the limit; what was sent before says nothing about it from now on."""
        self._limit = max(1.0, self._limit * (DECREASE_FIRST if self._doubling else DECREASE))
        self._doubling = False
        self._decreases += 1
        self._recent.clear()
