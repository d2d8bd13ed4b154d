"""One use of a worker, which can be called off from another thread without harm to the next one."""

import contextlib
import threading
from collections.abc import Callable, Iterator


class CalledOff(Exception):
    """Nobody waits for the result any more."""


class Turn:
    """Ends, when it is called off, what runs in it; `check` says so at the next step."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._interrupt: Callable[[], None] | None = None
        self._called_off = False

    @contextlib.contextmanager
    def of(self, interrupt: Callable[[], None]) -> Iterator[None]:
        """While `interrupt` ends what runs in this turn; raises CalledOff where that is too late already."""
        with self._lock:
            self._interrupt = interrupt
        try:
            self.check()
            yield
        finally:
            with self._lock:
                self._interrupt = None

    def check(self) -> None:
        """Raise CalledOff where the turn was called off."""
        with self._lock:
            if self._called_off:
                raise CalledOff

    def call_off(self) -> None:
        """End what runs in this turn, or would run."""
        with self._lock:
            self._called_off = True
            if self._interrupt is not None:
                self._interrupt()
