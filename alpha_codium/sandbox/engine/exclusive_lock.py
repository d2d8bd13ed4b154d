"""A lock with which tests run concurrently, or one alone if its time was close to the limit."""

import contextlib
import os
import threading
from collections.abc import Iterator


class ExclusiveLock:
    """A lock that can be held by many (shared) or by one (exclusive)."""

    def __init__(self) -> None:
        self._condition = threading.Condition()
        self._running = 0
        self._waiting_alone = 0
        self._alone = False

    @contextlib.contextmanager
    def shared(self) -> Iterator[None]:
        """Hold the lock together with others; threads that wait for exclusive use go first."""
        with self._condition:
            self._condition.wait_for(lambda: not (self._alone or self._waiting_alone))
            self._running += 1
        try:
            yield
        finally:
            self._leave()

    @contextlib.contextmanager
    def exclusive(self) -> Iterator[None]:
        """Hold the lock alone."""
        with self._condition:
            self._waiting_alone += 1
            try:
                self._condition.wait_for(lambda: not (self._alone or self._running))
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
        """Whether others hold the lock, too."""
        return self._running > 1

    def _leave(self) -> None:
        with self._condition:
            self._running -= 1
            if not self._running:
                self._condition.notify_all()


def is_loaded(lock: ExclusiveLock) -> bool:
    """Whether other tests or processes run, so that a test may have waited for a processor."""
    return lock.is_crowded() or os.getloadavg()[0] > (os.cpu_count() or 1)
