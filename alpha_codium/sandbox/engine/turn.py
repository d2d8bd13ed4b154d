"""One use of a worker, which another thread can call off without harm to the next use, and how it can fail."""

import contextlib
import threading
from collections.abc import Callable, Iterator


class CalledOff(Exception):
    """Nobody waits for the result any more."""


class WorkerLost(Exception):
    """The worker ended or stopped answering: nothing is known of the program that it ran."""


class Turn:
    """Ends, when it is called off, what runs in it; `check` says so at the next step."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._interrupts: list[Callable[[], None]] = []
        self._called_off = False

    @contextlib.contextmanager
    def of(self, interrupt: Callable[[], None]) -> Iterator[None]:
        """While `interrupt` ends something that runs in this turn; raises CalledOff if that is too late already."""
        with self._lock:
            self._interrupts.append(interrupt)
        try:
            self.check()
            yield
        finally:
            with self._lock:
                self._interrupts.remove(interrupt)

    def check(self) -> None:
        """Raise CalledOff where the turn was called off."""
        with self._lock:
            if self._called_off:
                raise CalledOff

    def call_off(self) -> None:
        """End what runs in this turn, or would run."""
        with self._lock:
            self._called_off = True
            for interrupt in self._interrupts:
                interrupt()
