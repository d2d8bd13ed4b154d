"""The host's side of a runner, which compiles one candidate's program and runs it on one input after another.

The host decides when a test's time is up, by its own clock and by the control group's, and what came of the test.
"""

import os
import signal
import time

from alpha_codium.limits import COMPILE_SECONDS, MOST_WAIT_FACTOR, Limits
from alpha_codium.sandbox.engine import files
from alpha_codium.sandbox.engine.cancellation import WorkerLost
from alpha_codium.sandbox.engine.channel import (
    GRACE_SECONDS,
    SIGKILL_STATUS,
    UNCONNECTED,
    Result,
    RunnerLost,
    Wiring,
)
from alpha_codium.sandbox.engine.inside import wire
from alpha_codium.sandbox.engine.jail import RunnerProgram
from alpha_codium.sandbox.engine.outcome import HIDDEN_SECONDS, Outcome
from alpha_codium.sandbox.engine.worker import Worker
from alpha_codium.verdict import Execution, Status

# Signals with which the kernel ends a process for its own faults. If the compiler ends by another signal, and not for
# lack of memory, the program isn't to blame.
OWN_ENDS = frozenset(
    {signal.SIGSEGV, signal.SIGBUS, signal.SIGILL, signal.SIGFPE, signal.SIGABRT, signal.SIGSYS, signal.SIGTRAP}
    | {signal.SIGXCPU, signal.SIGXFSZ}
)
# The processes of a test are ended when their total CPU time reaches this multiple of the CPU limit.
CROWD_FACTOR = 1.25
LAST_LOOK_SECONDS = 1e-3
# Asked once: it takes 20 microseconds.
PROCESSORS = os.cpu_count() or 1


class RunnerClient:
    """A program in a runner of `worker`, under limits that are the same for all its tests."""

    def __init__(self, worker: Worker, program: RunnerProgram, limits: Limits) -> None:
        """Start the runner; raises WorkerLost."""
        self.worker, self.limits = worker, limits
        self.channel = channel = worker.begin(program, limits)
        # Where the program's files are.
        is_in_folder = program.native is None or program.native["writable"]
        self.prefix = f"{channel.folder if is_in_folder else channel.program_folder}/".encode()
        # The peak of a compiled program decides: a control group allows for the sandbox's own processes, too. So does
        # that of a runtime whose memory nothing else counts.
        native = program.native or {"image": False, "memory": None}
        uncounted = native["memory"] and not worker.counts_memory
        self._most_bytes = limits.memory_bytes + (0 if native["image"] else channel.overhead_bytes)
        if not (native["image"] or uncounted):
            self._most_bytes = 0
        self._waited = 0.0
        self._awaited = False
        # The worker of the other program of a pair, for whose answers this one may wait.
        self.partner: Worker | None = None
        self._begun = channel.cpu_seconds()

    def compile(self) -> Execution:
        """Compile the program; raises RunnerLost if that killed the runner, WorkerLost if something else did."""
        channel = self.channel
        if channel.answer(COMPILE_SECONDS) != wire.COMPILING:
            raise WorkerLost(files.text_of(channel.errors()) or "the runner didn't begin to compile")
        answer = channel.answer(COMPILE_SECONDS)
        if answer is None:
            if channel.group is not None and channel.cpu_seconds() - self._begun < COMPILE_SECONDS / 2:
                raise WorkerLost("the runner stopped while it compiled")
            self.worker.interrupt()
            return Execution(Status.COMPILATION_ERROR, stderr="compiling takes too long")
        if answer == wire.COMPILED:
            return Execution(Status.FINISHED, exit_code=0)
        if answer != wire.NOT_COMPILED:
            raise self._reason_of_death()
        stderr = channel.errors().replace(self.prefix, b"")
        return Execution(Status.COMPILATION_ERROR, stderr=stderr.decode("utf-8", "replace"), exit_code=1)

    def run(self, data: bytes, wiring: Wiring = UNCONNECTED) -> Outcome:
        """Run the program on one input; return how it ended, and what it wrote. Raises RunnerLost."""
        try:
            used = self.channel.send(data, wiring)
            start = time.monotonic()
            try:
                return self._outcome(start, used)
            except RunnerLost:
                if not self.worker.was_killed_for_memory():
                    raise
                # All of its time counts as waiting for memory, so that memory is the limit that it exceeded.
                wall_seconds, outputs = time.monotonic() - start, self.channel.outputs(self.limits)
                end = (SIGKILL_STATUS, 0.0, wall_seconds, self.limits.memory_bytes, outputs)
                return Outcome(*end, killed_for_memory=True, waited_seconds=wall_seconds)
        except OSError as error:
            raise RunnerLost(str(error)) from error

    def close(self) -> None:
        """End the runner and everything that it runs; raises WorkerLost if it doesn't end."""
        if self.worker.running and not self._awaited:
            self.worker.await_end()

    def _reason_of_death(self) -> RunnerLost | WorkerLost:
        """Return why the runner died while compiling: RunnerLost if the program is to blame, else WorkerLost."""
        said = files.text_of(self.channel.errors())
        killed_for_memory = self.worker.was_killed_for_memory()
        # The runner may only have closed its socket, and never end.
        self.worker.interrupt()
        self._awaited = True
        try:
            status = self.worker.await_end()
        except WorkerLost as error:
            return RunnerLost("compiling takes too much memory") if killed_for_memory else error
        if killed_for_memory:
            return RunnerLost(said or "compiling takes too much memory")
        if os.WIFSIGNALED(status) and os.WTERMSIG(status) not in OWN_ENDS:
            return WorkerLost(f"the compiler was ended by signal {os.WTERMSIG(status)} {said}".rstrip())
        return RunnerLost(said or "the compiler died of this program")

    def _outcome(self, start: float, used: float) -> Outcome:
        """Wait until the test has ended, and end it when its time is up; raises RunnerLost."""
        channel = self.channel
        result = self._result_in_time(start, used)
        timed_out = result is None
        if result is None:
            self.worker.end_test()
            result = channel.result(GRACE_SECONDS)
        wall_seconds = time.monotonic() - start
        if result is None:
            raise RunnerLost(files.text_of(channel.errors()) or "it gave no answer")
        status, peak = result.wait_status, result.peak_bytes
        killed = (status == SIGKILL_STATUS or result.processes > 1) and self.worker.was_killed_for_memory()
        if self._most_bytes and peak > self._most_bytes:
            status, killed = SIGKILL_STATUS, True
        return Outcome(
            status,
            self._cpu_seconds(result, used),
            wall_seconds if timed_out else result.wall_seconds,
            peak,
            channel.outputs(self.limits),
            killed_for_memory=killed,
            touched=result.touched,
            waited_seconds=self._waited,
        )

    def _cpu_seconds(self, result: Result, used: float) -> float:
        """Return the CPU time of a test: the runner's figure, or the group's if processes hid from the runner."""
        if self.channel.group is None:
            return result.cpu_seconds
        in_all = self.channel.cpu_seconds() - used
        hidden = in_all > result.cpu_seconds + HIDDEN_SECONDS
        return in_all if hidden or not self.channel.has_exact_clock else result.cpu_seconds

    def _result_in_time(self, start: float, used: float) -> Result | None:
        """Return the result, or None when the CPU limit of all processes together, or the wall limit, is passed.

        Time for which the test waited for a processor doesn't count. Raises RunnerLost.
        """
        channel, most = self.channel, CROWD_FACTOR * self.limits.cpu_seconds
        left, burned, self._waited = self.limits.wall_seconds, 0.0, 0.0
        while left > 0 and burned < most:
            # The limit can't be reached sooner, even by using all processors.
            soonest = max(0.02, (most - burned) / PROCESSORS) if channel.group is not None else left
            result = channel.result(min(left, soonest))
            if result is not None:
                return result
            left = start + self.limits.wall_seconds - time.monotonic()
            if left <= 0:
                # Its own wait, and that of its partner in a pair.
                waited = sum(processor_wait(worker) for worker in (self.worker, self.partner) if worker is not None)
                self._waited = min(waited, MOST_WAIT_FACTOR * self.limits.wall_seconds)
                left += self._waited
            burned = channel.cpu_seconds() - used
        # This process may have been suspended while the result came.
        return channel.result(LAST_LOOK_SECONDS)


def processor_wait(worker: Worker) -> float:
    """Return the seconds that a test was ready to run but waited for a processor; 0 if that isn't known.

    The longest wait of all threads counts, not the sum: threads that wait for each other's processor use up their CPU
    time meanwhile.
    """
    return max((waited for _, waited in worker.scheduled() or ()), default=0.0)
