"""pass@k so far, on stderr, while programs are judged: a changing line on a terminal, else one every 10 s."""

import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from alpha_codium.eval.results import CandidateResult
from alpha_codium.statistics import mean_pass_at_k
from alpha_codium.wording import counted

# Seconds between two lines, on a terminal and elsewhere.
LIVE_EVERY, PLAIN_EVERY = 0.2, 10.0


class LiveScore:
    """Counts of passes by problem; a problem enters the score with its last program."""

    def __init__(self, ks: Sequence[int], shown: bool = True) -> None:
        self.ks, self.shown = ks, shown
        self.programs: Mapping[str, int] = {}
        self.counts: dict[str, tuple[int, int]] = {}
        self.last = 0.0

    @contextmanager
    def over(self, programs: Mapping[str, int]) -> Iterator[None]:
        """Begin, with the number of programs of each problem; the score is shown at the end, too."""
        self.programs, self.counts, self.last = programs, {}, time.monotonic()
        try:
            yield
        finally:
            if self.shown:
                self._write(end="\n")

    def add(self, name: str, result: CandidateResult) -> None:
        """Count one program, and show the score if the last time was long enough ago."""
        judged, passed = self.counts.get(name, (0, 0))
        self.counts[name] = (judged + 1, passed + (result.verdict == "accepted"))
        live = sys.stderr.isatty()
        if self.shown and time.monotonic() - self.last > (LIVE_EVERY if live else PLAIN_EVERY):
            self._write(end="" if live else "\n")

    def line(self) -> str:
        """`APPS: 3/10 problems, pass@1 0.333`."""
        done = [counts for name, counts in self.counts.items() if counts[0] == self.programs[name]]
        done += [(0, 0) for programs in self.programs.values() if not programs]
        estimates = [mean_pass_at_k(done, k) for k in self.ks]
        known = "".join(f", pass@{e.k} {e.value:.3f}" for e in estimates if e.value is not None)
        return f"APPS: {len(done)}/{counted(len(self.programs), 'problem')}{known}"

    def _write(self, end: str) -> None:
        self.last = time.monotonic()
        sys.stderr.write(("\r\x1b[K" if sys.stderr.isatty() else "") + self.line() + end)
        sys.stderr.flush()
