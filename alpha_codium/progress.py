"""Progress of long commands on stderr: a live line on a terminal; elsewhere plain lines, one a minute at least."""

import sys
import threading
import time
from collections.abc import Callable
from typing import Any, Self

# Seconds between two plain lines: while steps are done, and while a step takes long.
PLAIN_EVERY, PLAIN_WITHOUT_STEPS = 10.0, 60.0
# Steps reported in the first seconds may have been done by the run that is resumed, and the first step has to wait for
# the start; the time left is estimated without them.
RESUMING_SECONDS = 1.0
# Of the bar, in characters.
WIDTH = 10


class Progress:
    """A context manager that counts steps of `total` and shows `status()` beside them."""

    def __init__(self, what: str, total: int | None, quiet: bool = False, status: Callable[[], str] = str) -> None:
        self.what, self.total, self.quiet, self.status = what, total, quiet, status
        self.done, self.started, self.shown = 0, time.monotonic(), time.monotonic()
        self._said = 0
        # The step from which the time left is estimated, and when it was done.
        self._first: tuple[int, float] | None = None
        self._live: Any = None
        self._task: Any = None
        self._ended = threading.Event()

    def __enter__(self) -> Self:
        """Start the display."""
        self.started = time.monotonic()
        if sys.stderr.isatty() and not self.quiet:
            self._live = _live_display()
            self._task = self._live.add_task(self.what, total=self.total, status="")
            self._live.start()
        elif not self.quiet:
            threading.Thread(target=self._show_waiting, daemon=True, name="gencode-progress").start()
        return self

    def __exit__(self, *_exc: object) -> None:
        """Stop the display; a plain one prints a last line."""
        self._ended.set()
        if self._live is not None:
            self._refresh()
            self._live.stop()
        elif not self.quiet and self.done != self._said:
            self._plain()

    def advance(self, steps: int = 1) -> None:
        """Count steps, and refresh the display."""
        self.done += steps
        if self._first is None or time.monotonic() - self.started < RESUMING_SECONDS:
            self._first = self.done, time.monotonic()
        self._refresh()

    def reach(self, done: int) -> None:
        """Set how many steps are done, and refresh the display."""
        self.done = done
        self._refresh()

    def _refresh(self) -> None:
        if self._live is not None:
            self._live.update(self._task, completed=self.done, status=self.status())
        elif not self.quiet and time.monotonic() - self.shown > PLAIN_EVERY:
            self._plain()

    def _show_waiting(self) -> None:
        while not self._ended.wait(max(self.shown + PLAIN_WITHOUT_STEPS - time.monotonic(), 0.1)):
            if time.monotonic() - self.shown >= PLAIN_WITHOUT_STEPS:
                self._plain()

    def _plain(self) -> None:
        self.shown, self._said = time.monotonic(), self.done
        seconds = self.shown - self.started
        of_total = f"{self.done}/{self.total}" if self.total is not None else str(self.done)
        first, since = self._first or (self.done, self.shown)
        timed = self.done - first
        left = (self.total - self.done) * (self.shown - since) / timed if self.total and timed > 0 else 0.0
        eta = f", about {left:.0f} s left" if left >= 1 else ""
        status = self.status()
        line = f"{self.what}: {of_total} in {seconds:.0f} s{eta}{', ' + status if status else ''}"
        sys.stderr.write(f"{line}\n")
        sys.stderr.flush()


def _live_display() -> Any:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as RichProgress
    from rich.table import Column

    whole = Column(no_wrap=True)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(WIDTH, table_column=whole),
        MofNCompleteColumn(table_column=whole),
        TimeRemainingColumn(table_column=whole),
        # The status continues on further lines where the terminal is narrow.
        TextColumn("{task.fields[status]}", table_column=Column()),
    )
    return RichProgress(*columns, console=Console(stderr=True))
