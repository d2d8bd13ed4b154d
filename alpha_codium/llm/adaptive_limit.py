"""An adaptive limit on concurrent requests to a model: additive increase, multiplicative decrease.

1. The limit starts low and doubles with every round of answers until the first round with many refusals (status 429);
   from then on it grows by one per round. It grows only if there are as many requests in flight as it allows.
2. A round is as many outcomes as the limit. A round with many refusals multiplies the limit by 1 - share / 2, as in
   DCTCP (Alizadeh et al. 2010). Requests sent before the last decrease are ignored, since they exceeded a higher limit.
3. A share of refusals up to `MANY` changes nothing, since some providers refuse requests for other reasons. Otherwise a
   provider that always refuses 5 % would be sent about 40 requests at a time, where growth and cuts are in balance.
"""

FIRST_LIMIT = 16
MANY = 0.15


class AdaptiveLimit:
    """The limit for one model, between 1 and `ceiling`; with `adaptive = False` it is always the ceiling.

    `decreases` counts the decreases so far; `is_full` says whether many of the last or this round were refused.
    """

    def __init__(self, ceiling: int, *, adaptive: bool = True) -> None:
        self.ceiling = ceiling
        self._adaptive = adaptive
        self._limit = float(min(ceiling, FIRST_LIMIT) if adaptive else ceiling)
        self._doubling = True
        self.decreases = 0
        self._outcomes, self._refusals, self.is_full = 0, 0, False

    @property
    def limit(self) -> int:
        """The number of requests that may be in flight."""
        return int(self._limit)

    def refused(self, decreases: int) -> None:
        """Record that a request was refused with status 429; `decreases` is the number when it was sent."""
        if decreases == self.decreases:
            self._refusals += 1
            self._note_outcome()

    def answered(self, decreases: int, in_flight: int) -> None:
        """Record that a request was answered; `in_flight` includes it."""
        if decreases != self.decreases:
            return
        if in_flight >= self.limit:
            step = 1.0 if self._doubling else 1.0 / self._limit
            self._limit = min(float(self.ceiling), self._limit + step)
        self._note_outcome()

    def _note_outcome(self) -> None:
        self._outcomes += 1
        many = self._refusals > MANY * self.limit
        self.is_full = self.is_full or many
        if self._outcomes < self.limit:
            return
        if many and self._adaptive:
            self._limit = max(1.0, self._limit * (1.0 - self._refusals / self._outcomes / 2))
            self._doubling = False
            self.decreases += 1
        self._outcomes, self._refusals, self.is_full = 0, 0, many
