"""A contender's process, which is started under a meter and runs batches."""

import contextlib
import os
import select
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from benchmarks.sandbox.contenders import Contender
from benchmarks.sandbox.meter import Meter, open_meter, settled
from benchmarks.sandbox.workloads import Batch

# Seconds for one answer: a batch takes a few.
PATIENCE = 600.0


class ContenderFailed(Exception):
    """A contender ended, or didn't answer; the message is its last words."""


@dataclass(frozen=True, slots=True)
class Sample:
    """One batch: executions asked for and right, wall and CPU seconds (None where CPU can't be counted)."""

    total: int
    right: int
    wall_seconds: float
    cpu_seconds: float | None


class Child:
    """A running contender; see `start_child`."""

    def __init__(self, process: subprocess.Popen[bytes], meter: Meter, scratch: Path) -> None:
        self.process, self.meter, self._scratch = process, meter, scratch
        self._buffer = b""

    def run(self, batch: Batch) -> Sample:
        """Run a batch; raises ContenderFailed."""
        with tempfile.TemporaryDirectory(dir=self._scratch) as folder:
            batch.write(Path(folder))
            self._ask(f"batch {folder}")
            before, started = settled(self.meter, self.process.pid), time.perf_counter()
            right = int(self._ask("go").removeprefix("done "))
            wall, after = time.perf_counter() - started, settled(self.meter, self.process.pid)
        cpu = None if before is None or after is None else after - before
        return Sample(batch.total, right, wall, cpu)

    @property
    def notes(self) -> list[str]:
        """What keeps the CPU figures from being complete."""
        strays = self.meter.strays(self.process.pid)
        left = [f"{strays} processes run outside the measured cgroup: CPU figures are too low"] if strays else []
        return [note for note in (self.meter.note, *left) if note]

    def _ask(self, question: str) -> str:
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(question.encode() + b"\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            raise ContenderFailed(self.last_words()) from None
        return self._answer()

    def _answer(self) -> str:
        assert self.process.stdout is not None
        ends = time.monotonic() + PATIENCE
        while b"\n" not in self._buffer:
            readable, _, _ = select.select([self.process.stdout], [], [], max(0.0, ends - time.monotonic()))
            if not readable:
                raise ContenderFailed(f"no answer in {PATIENCE:.0f} s")
            piece = os.read(self.process.stdout.fileno(), 1 << 16)
            if not piece:
                raise ContenderFailed(self.last_words())
            self._buffer += piece
        line, _, self._buffer = self._buffer.partition(b"\n")
        return line.decode()

    def last_words(self) -> str:
        """The last line that the contender wrote to stderr."""
        lines = (self._scratch / "stderr").read_text(errors="replace").split("\n")
        return next((line.strip() for line in reversed(lines) if line.strip()), "it ended without a word")[:300]


@contextlib.contextmanager
def start_child(contender: Contender, options: Mapping[str, str]) -> Iterator[Child]:
    """Start a contender under a new meter; at the end ask it to exit, then kill it."""
    with tempfile.TemporaryDirectory(prefix="gencode-bench-") as scratch, contextlib.closing(open_meter()) as meter:
        with Path(scratch, "stderr").open("wb") as stderr:
            process = subprocess.Popen(
                meter.wrap(contender.command(options)), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=stderr
            )
        try:
            yield Child(process, meter, Path(scratch))
        finally:
            _end(process)


def _end(process: subprocess.Popen[bytes]) -> None:
    assert process.stdin is not None and process.stdout is not None
    with contextlib.suppress(BrokenPipeError):
        process.stdin.close()
    try:
        process.wait(timeout=10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    process.stdout.close()
