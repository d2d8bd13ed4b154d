"""The submissions that clients can ask for by their tokens."""

from collections import OrderedDict

from alpha_codium.serve.dialects.judge0.submissions import Submission

MOST_KEPT, MOST_BYTES = 10_000, 256 << 20


class Store:
    """Submissions by their tokens; the oldest of those that are done are dropped. For use in one event loop."""

    def __init__(self, most: int = MOST_KEPT, most_bytes: int = MOST_BYTES) -> None:
        self.most, self.most_bytes = most, most_bytes
        self._unfinished: dict[str, Submission] = {}
        self._done: OrderedDict[str, Submission] = OrderedDict()
        self._bytes = self._unfinished_bytes = 0

    def add(self, submission: Submission) -> None:
        """Keep a submission, at least until it is done."""
        self._unfinished[submission.token] = submission
        self._unfinished_bytes += submission.size_given

    def finish(self, submission: Submission) -> None:
        """Note that a submission is done, and drop others if there are too many."""
        if self._unfinished.pop(submission.token, None) is not None:
            self._unfinished_bytes -= submission.size_given
        self._done[submission.token] = submission
        self._bytes += submission.size
        while len(self._done) > self.most or (self._bytes > self.most_bytes and len(self._done) > 1):
            self._bytes -= self._done.popitem(last=False)[1].size

    def get(self, token: str) -> Submission | None:
        """Return a submission, None if there is none."""
        return self._unfinished.get(token) or self._done.get(token)

    @property
    def is_full(self) -> bool:
        """Whether there are so many unfinished submissions that no more should be added."""
        return self._unfinished_bytes > self.most_bytes

    @property
    def unfinished(self) -> int:
        """The number of submissions that aren't done."""
        return len(self._unfinished)
