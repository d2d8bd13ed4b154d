"""The host's side of a runner, which compiles one candidate's program and runs it on one input after another.

A result is accepted only with the test's nonce, which the runner reads after the test's last process is dead.
"""

import array
import os
import signal
import socket
import struct
import time
from dataclasses import dataclass

from alpha_codium.limits import COMPILE_SECONDS, MOST_WAIT_FACTOR, Limits
from alpha_codium.sandbox.engine import files
from alpha_codium.sandbox.engine.cancellation import WorkerLost
from alpha_codium.sandbox.engine.inside import wire
from alpha_codium.sandbox.engine.jail import RunnerProgram
from alpha_codium.sandbox.engine.outcome import HIDDEN_SECONDS, STDERR_KEPT, Outcome, execution_of
from alpha_codium.sandbox.engine.worker import Worker
from alpha_codium.verdict import Execution, Status

# Seconds for a runner to end a test after its wall limit, before the runner is killed.
GRACE_SECONDS = 5.0
SIGKILL_STATUS = 9
# Signals with which the kernel ends a process for its own faults. If the compiler ends by another signal, and not for
# lack of memory, the program isn't to blame.
OWN_ENDS = frozenset(
    {signal.SIGSEGV, signal.SIGBUS, signal.SIGILL, signal.SIGFPE, signal.SIGABRT, signal.SIGSYS, signal.SIGTRAP}
    | {signal.SIGXCPU, signal.SIGXFSZ}
)
# The processes of a test are ended when their total CPU time reaches this multiple of the CPU limit.
CROWD_FACTOR = 1.25
SHORTEST_WAIT = 1e-3
# Asked once: it takes 20 microseconds.
PROCESSORS = os.cpu_count() or 1
TIMEVAL = struct.Struct("@ll")


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


class RunnerClient:
    """A program in a runner of `worker`, under limits that are the same for all its tests."""

    def __init__(self, worker: Worker, program: RunnerProgram, limits: Limits) -> None:
        """Start the runner; raises WorkerLost."""
        self.worker, self.limits = worker, limits
        self._socket, self._errors = worker.begin(program, limits)
        # Where the program's files are.
        self._prefix = f"{worker.folder if program.native is None else worker.program_folder}/".encode()
        # The peak of a compiled program decides: a control group allows for the sandbox's own processes, too. So does
        # that of a runtime whose memory nothing else counts.
        native = program.native or {"image": False, "memory": None}
        uncounted = native["memory"] and not worker.counts_memory
        self._most_bytes = limits.memory_bytes + (0 if native["image"] else worker.overhead_bytes)
        if not (native["image"] or uncounted):
            self._most_bytes = 0
        self._patience = self._waited = 0.0
        self._awaited = False
        # What is done about bytes of outputs that aren't UTF-8.
        self.errors = "replace"
        # The worker of the other program of a pair, for whose answers this one may wait.
        self.partner: Worker | None = None
        self._begun = worker.group.cpu_seconds() if worker.group is not None else 0.0

    def compile(self) -> Execution:
        """Compile the program; raises RunnerLost if that killed the runner, WorkerLost if something else did."""
        if self._answer(COMPILE_SECONDS, 1) != wire.COMPILING:
            raise WorkerLost(files.last_words(self._errors) or "the runner didn't begin to compile")
        answer = self._answer(COMPILE_SECONDS, 1)
        if answer is None:
            group = self.worker.group
            if group is not None and group.cpu_seconds() - self._begun < COMPILE_SECONDS / 2:
                raise WorkerLost("the runner stopped while it compiled")
            self.worker.interrupt()
            return Execution(Status.COMPILATION_ERROR, stderr="compiling takes too long")
        if answer == wire.COMPILED:
            return Execution(Status.FINISHED, exit_code=0)
        if answer != wire.NOT_COMPILED:
            raise self._reason_of_death()
        said = files.end(self._errors, files.size_of(self._errors), STDERR_KEPT)
        stderr = said.replace(self._prefix, b"")
        return Execution(Status.COMPILATION_ERROR, stderr=stderr.decode("utf-8", "replace"), exit_code=1)

    def test(self, data: bytes, wiring: Wiring = UNCONNECTED) -> tuple[Outcome, Execution]:
        """Run the program on one input; raises RunnerLost."""
        outcome, stdout, stderr = self.output(data, wiring)
        status = outcome.status(stderr, self.limits)
        return outcome, execution_of(outcome, status, stdout, stderr, self._prefix, errors=self.errors)

    def output(self, data: bytes, wiring: Wiring = UNCONNECTED) -> tuple[Outcome, bytes, bytes]:
        """Run the program as `test` does; return how it ended, and what it wrote to stdout and stderr."""
        fds: list[int] = []
        link = wiring.link
        try:
            fds.append(files.input_file(data))
            fds.append(files.output_file("stdout"))
            fds.append(files.output_file("stderr"))
            if link is not None:
                fds.append(link)
                link = None
            outcome = self._run(fds, fds[1], fds[2], wiring)
            stdout = files.beginning(fds[1], outcome.stdout_bytes, self.limits.output_bytes)
            stderr = files.end(fds[2], outcome.stderr_bytes, STDERR_KEPT)
        finally:
            for fd in fds if link is None else [*fds, link]:
                os.close(fd)
        return outcome, stdout, stderr

    def close(self) -> None:
        """End the runner and everything that it runs; raises WorkerLost if it doesn't end."""
        self._socket.close()
        os.close(self._errors)
        if self.worker.running and not self._awaited:
            self.worker.await_end()

    def _reason_of_death(self) -> RunnerLost | WorkerLost:
        """Return why the runner died while compiling: RunnerLost if the program is to blame, else WorkerLost."""
        said = files.last_words(self._errors)
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

    def _run(self, fds: list[int], stdout: int, stderr: int, wiring: Wiring) -> Outcome:
        nonce = os.urandom(wire.NONCE_BYTES)
        group = self.worker.group
        try:
            given = array.array("i", [*(wiring.streams or fds[:2]), *fds[2:], *wiring.beside])
            self._socket.sendmsg([wire.TEST, nonce], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, given)])
            if len(fds) > wire.LINK:
                os.close(fds.pop())
        except OSError as error:
            raise RunnerLost(str(error)) from error
        # Start here: the time to send a large input into a container doesn't count.
        used = group.cpu_seconds() if group is not None else 0.0
        start = time.monotonic()
        answer = self._answer_in_time(start, used)
        timed_out = answer is None
        if timed_out:
            self.worker.end_test()
            answer = self._answer(GRACE_SECONDS)
        wall_seconds = time.monotonic() - start
        if answer is None or len(answer) != wire.RESULT.size or answer[: wire.NONCE_BYTES] != nonce:
            if self.worker.was_killed_for_memory():
                sizes, peak = (files.size_of(stdout), files.size_of(stderr)), self.limits.memory_bytes
                # All of its time counts as waiting for memory, so that memory is the limit that it exceeded.
                return Outcome(
                    SIGKILL_STATUS, 0.0, wall_seconds, peak, *sizes, killed_for_memory=True, waited_seconds=wall_seconds
                )
            raise RunnerLost(files.last_words(self._errors) or "it gave no answer")
        _, status, cpu_seconds, inner_seconds, peak, processes = wire.RESULT.unpack(answer)
        killed = (status == SIGKILL_STATUS or processes > 1) and self.worker.was_killed_for_memory()
        if self._most_bytes and peak * 1024 > self._most_bytes:
            status, killed = SIGKILL_STATUS, True
        if group is not None:
            in_all = group.cpu_seconds() - used
            cpu_seconds = in_all if in_all > cpu_seconds + HIDDEN_SECONDS else cpu_seconds
        return Outcome(
            status,
            cpu_seconds,
            wall_seconds if timed_out else inner_seconds,
            peak * 1024,
            files.size_of(stdout),
            files.size_of(stderr),
            killed_for_memory=killed,
            touched=self.worker.touched,
            waited_seconds=self._waited,
        )

    def _answer_in_time(self, start: float, used: float) -> bytes | None:
        """Return the answer, or None when the CPU limit of all processes together, or the wall limit, is passed.

        Time for which the test waited for a processor doesn't count.
        """
        group, most = self.worker.group, CROWD_FACTOR * self.limits.cpu_seconds
        left, burned, self._waited = self.limits.wall_seconds, 0.0, 0.0
        while left > 0 and burned < most:
            # The limit can't be reached sooner, even by using all processors.
            soonest = max(0.02, (most - burned) / PROCESSORS) if group is not None else left
            answer = self._answer(min(left, soonest))
            if answer is not None:
                return answer
            left = start + self.limits.wall_seconds - time.monotonic()
            if left <= 0:
                self._waited = min(self._processor_wait, MOST_WAIT_FACTOR * self.limits.wall_seconds)
                left += self._waited
            burned = group.cpu_seconds() - used if group is not None else 0.0
        # This process may have been suspended while the answer came.
        return self._answer(SHORTEST_WAIT)

    @property
    def _processor_wait(self) -> float:
        """Seconds for which the program, or its partner in a pair, has waited for a processor."""
        return self.worker.processor_wait + (self.partner.processor_wait if self.partner is not None else 0.0)

    def _answer(self, seconds: float, most: int = wire.RESULT.size) -> bytes | None:
        """Return the runner's next answer; None if there is none in time, empty if the runner is gone."""
        if seconds != self._patience:
            self._patience = seconds
            # A timeout of the socket saves a poll before each answer. 0 would mean none.
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, timeval(max(seconds, SHORTEST_WAIT)))
        try:
            return self._socket.recv(most)
        except BlockingIOError:
            return None
        except ConnectionError:
            return b""


def timeval(seconds: float) -> bytes:
    """Return a time as the socket option SO_RCVTIMEO takes it."""
    whole, part = divmod(seconds, 1)
    return TIMEVAL.pack(int(whole), int(part * 1e6))
