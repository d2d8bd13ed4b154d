"""The contract between the host and a warm interpreter, in a jail or in a container, that runs programs for it.

1. `open` starts the interpreter, which then runs one candidate after the other: `begin` starts a runner, whose answers
   say what came of compiling the program; `send` starts a test, `result` waits for its end, `outputs` returns what it
   wrote; `await_end` ends the candidate.
2. `descriptors` hands over open files, to a jail on this machine; `containers/frame_channel` sends frames over a stream
   of bytes, wherever it ends.
3. A channel is used once: after an error it is closed, and its worker opens another one.
"""

import contextlib
import os
import subprocess
from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass

from alpha_codium.limits import OVERHEAD_BYTES, Limits
from alpha_codium.sandbox.engine import files
from alpha_codium.sandbox.engine.cgroups import WorkerGroup, open_worker_group
from alpha_codium.sandbox.engine.inside import wire
from alpha_codium.sandbox.engine.inside.jail import PROGRAM_FOLDER
from alpha_codium.sandbox.engine.jail import Jail, RunnerProgram
from alpha_codium.sandbox.engine.outcome import Outputs

ANSWER_SECONDS = 10.0
# Seconds for a runner to end a test after its wall limit, before the runner is killed.
GRACE_SECONDS = 5.0
SIGKILL_STATUS = 9


class RunnerLost(Exception):
    """The runner died or hung; the worker may still be usable."""


@dataclass(frozen=True, slots=True)
class Wiring:
    """The descriptors by which a program is connected to the other program of a pair.

    `link` becomes the program's descriptor 3, and is closed here as soon as it was sent, so that the other end notices
    when the program closes it. The others stay open here: `streams` in place of stdin and stdout, `beside` as
    descriptors 3 and 4.
    """

    link: int | None = None
    streams: tuple[int, ...] = ()
    beside: tuple[int, ...] = ()


UNCONNECTED = Wiring()


@dataclass(frozen=True, slots=True)
class Result:
    """How a test ended, as its runner says.

    `cpu_seconds` is the total of all its processes, `peak_bytes` the memory of the largest. `touched`: it changed
    something in the folders that it can write to.
    """

    wait_status: int
    cpu_seconds: float
    wall_seconds: float
    peak_bytes: int
    processes: int
    touched: bool


class Channel(ABC):
    """One interpreter, from its start to its end, for programs that may use `memory_bytes` each.

    Used by one thread at a time, but `end_test`, `interrupt` and `scheduled` by any. Methods raise
    OSError if the interpreter is lost. `number` is that of its worker. Programs run in `folder`; the files of a program
    that the interpreter doesn't run are in `program_folder`. `group` is the control group that counts all of its
    processes, if there is one, `overhead_bytes` the memory that they may use in addition to the program's.
    """

    overhead_bytes = OVERHEAD_BYTES
    # Whether the runner measures the CPU time of tests as well as a control group does.
    has_exact_clock = True
    # Whether all memory was in use when a test's time was up.
    out_of_memory = False

    def __init__(self, jail: Jail, number: int, memory_bytes: int) -> None:
        self.jail, self.number, self.memory_bytes = jail, number, memory_bytes
        self.folder, self.program_folder = wire.FOLDER, PROGRAM_FOLDER
        self.group: WorkerGroup | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._stderr = -1

    @abstractmethod
    def open(self, seconds: float) -> dict[str, bool]:
        """Start the interpreter in so many seconds; return what it has: `namespaces`, `proc`, and maybe more.

        Raises SandboxError and OSError, which is a TimeoutError if it takes too long.
        """

    @abstractmethod
    def close(self) -> None:
        """End the interpreter with all that it runs, and release its resources; also after an error of `open`."""

    def has_room_for(self, limits: Limits) -> bool:
        """Whether the interpreter was started with enough memory for a program with these limits."""
        return True

    @abstractmethod
    def begin(self, program: RunnerProgram, limits: Limits, *, may_fork: bool) -> None:
        """Start a runner, whose tests `may_fork`."""

    @abstractmethod
    def answer(self, seconds: float) -> bytes | None:
        """Return the runner's next answer on compiling; None if there is none in time, empty if the runner is gone."""

    @abstractmethod
    def errors(self) -> bytes:
        """Return the end of what the runner wrote to stderr."""

    @abstractmethod
    def send(self, data: bytes, wiring: Wiring) -> float:
        """Start a test with `data` as its stdin; return `cpu_seconds` before it. Closes `wiring.link`."""

    @abstractmethod
    def result(self, seconds: float) -> Result | None:
        """Return how the test ended, None if it hasn't in time; raises RunnerLost."""

    @abstractmethod
    def outputs(self, limits: Limits) -> Outputs:
        """Return what the test has written, as far as it is known; until the next one is sent."""

    @abstractmethod
    def end_test(self) -> None:
        """Have the runner kill its test."""

    @abstractmethod
    def interrupt(self) -> None:
        """Kill the runner and everything that it runs."""

    @abstractmethod
    def await_end(self) -> int:
        """End the candidate, and wait until nothing of it is left; return the runner's wait status."""

    def scheduled(self) -> list[tuple[float, float]] | None:
        """Return for which time each thread of the current test ran and waited, see `processes.scheduled`."""
        return None

    @property
    def counts_memory(self) -> bool:
        """Whether the control group limits the memory and counts kills for memory."""
        return self.group is not None and self.group.counts_memory

    def cpu_seconds(self) -> float:
        """Return the CPU seconds of all processes so far; 0 if no group counts them."""
        return self.group.cpu_seconds() if self.group is not None else 0.0

    def last_words(self) -> str:
        """Return the end of what the interpreter wrote to stderr."""
        return files.last_words(self._stderr) if self._stderr >= 0 else ""

    def _count(self, processes: Iterable[int]) -> None:
        """Put processes, with all that they will start, into a control group, if this machine allows it."""
        for process in processes:
            if self.group is None:
                self.group = open_worker_group(f"gencode-{os.getpid()}-{self.number}")
            if self.group is None:
                return
            with contextlib.suppress(ProcessLookupError):
                self.group.add(process)

    def _release(self) -> None:
        """Kill what is left in the control group, remove it, and close the file with the interpreter's stderr."""
        group, self.group = self.group, None
        stderr, self._stderr = self._stderr, -1
        if group is not None:
            group.kill_and_remove()
        if stderr >= 0:
            os.close(stderr)
