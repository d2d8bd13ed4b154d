"""A lock for running tests: together, or one alone if its time was a close call."""

import contextlib
import os
import threading
from collections.abc import Iterator


class ExclusiveLock:
    """A lock that many can share, or one can have alone."""

    def __init__(self) -> None:
        self._condition = threading.Condition()
        self._running = 0
        self._waiting_alone = 0
        self._alone = False

    @contextlib.contextmanager
    def shared(self) -> Iterator[None]:
        """Run beside others, after those that want to run alone."""
        with self._condition:
            while self._alone or self._waiting_alone:
                self._condition.wait()
            self._running += 1
        try:
            yield
        finally:
            self._leave()

    @contextlib.contextmanager
    def exclusive(self) -> Iterator[None]:
        """Run while nobody else does."""
        with self._condition:
            self._waiting_alone += 1
            try:
                while self._alone or self._running:
                    self._condition.wait()
            finally:
                self._waiting_alone -= 1
            self._alone = True
            self._running += 1
        try:
            yield
        finally:
            self._alone = False
            self._leave()

    def is_crowded(self) -> bool:
        """Whether others run beside the caller."""
        return self._running > 1

    def _leave(self) -> None:
        with self._condition:
            self._running -= 1
            if not self._running:
                self._condition.notify_all()


def is_loaded(lock: ExclusiveLock) -> bool:
    """Whether others run, here or elsewhere, so that not everything had a processor."""
    return lock.is_crowded() or os.getloadavg()[0] > (os.cpu_count() or 1)
