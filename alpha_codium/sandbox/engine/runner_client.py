"""The host's side of a runner: one candidate's program, compiled once, run on one input after another.

What the runner says is believed only with the nonce that it could read after the test's last process was dead.
"""

import array
import os
import signal
import socket
import struct
import time

from alpha_codium.limits import COMPILE_SECONDS, MOST_WAIT_FACTOR, Limits
from alpha_codium.sandbox.engine import files
from alpha_codium.sandbox.engine.cancellation import WorkerLost
from alpha_codium.sandbox.engine.inside import wire
from alpha_codium.sandbox.engine.outcome import HIDDEN_SECONDS, STDERR_KEPT, Outcome, execution_of
from alpha_codium.sandbox.engine.worker import Worker
from alpha_codium.verdict import Execution, Status

# What a runner may take beyond the wall limit to end a test, before it is ended itself.
GRACE_SECONDS = 5.0
SIGKILL_STATUS = 9
# What the kernel ends a process with for what it did itself. Any other end of a compiler, but for want of memory, is
# somebody else's doing.
OWN_ENDS = frozenset(
    {signal.SIGSEGV, signal.SIGBUS, signal.SIGILL, signal.SIGFPE, signal.SIGABRT, signal.SIGSYS, signal.SIGTRAP}
    | {signal.SIGXCPU, signal.SIGXFSZ}
)
# All processes together may use more than the limit by so much, to tell a close call from a crowd that burns.
CROWD = 1.25
SHORTEST_WAIT = 1e-3
TIMEVAL = struct.Struct("@ll")


class RunnerLost(Exception):
    """The runner died or hung; the worker may be well."""


class RunnerClient:
    """A program in a runner of `worker`, under limits that are the same for all its tests."""

    def __init__(self, worker: Worker, source: bytes, driver: bytes, limits: Limits) -> None:
        """Start the runner; raises WorkerLost where there is no worker to do it."""
        self.worker, self.limits = worker, limits
        self._socket, self._errors = worker.begin(source, driver, limits)
        self._prefix = f"{worker.folder}/".encode()
        self._patience = self._waited = 0.0
        self._awaited = False
        self._begun = worker.group.cpu_seconds() if worker.group is not None else 0.0

    def compile(self) -> Execution:
        """How compiling went; raises RunnerLost where the runner died of it, WorkerLost where of something else."""
        if self._answer(COMPILE_SECONDS, 1) != wire.COMPILING:
            raise WorkerLost(files.last_words(self._errors) or "the runner didn't come to compile")
        answer = self._answer(COMPILE_SECONDS, 1)
        if answer is None and self._has_computed(COMPILE_SECONDS / 2):
            self.worker.interrupt()
            return Execution(Status.COMPILATION_ERROR, stderr="it takes too long to compile")
        if answer is None:
            raise WorkerLost("the runner stopped while it compiled")
        if answer == wire.COMPILED:
            return Execution(Status.FINISHED, exit_code=0)
        if answer != wire.NOT_COMPILED:
            raise self._reason_of_death()
        said = files.end(self._errors, files.size_of(self._errors), STDERR_KEPT)
        stderr = said.replace(self._prefix, b"")
        return Execution(Status.COMPILATION_ERROR, stderr=stderr.decode("utf-8", "replace"), exit_code=1)

    def test(self, data: bytes, link: int | None = None) -> tuple[Outcome, Execution]:
        """Run the program on one input; raises RunnerLost. A `link` is the program's alone from then on."""
        fds: list[int] = []
        try:
            fds.append(files.input_file(data))
            fds.append(files.output_file("stdout"))
            fds.append(files.output_file("stderr"))
            if link is not None:
                fds.append(link)
                link = None
            outcome = self._run(fds, fds[1], fds[2])
            stdout = files.beginning(fds[1], outcome.stdout_bytes, self.limits.output_bytes)
            stderr = files.end(fds[2], outcome.stderr_bytes, STDERR_KEPT)
        finally:
            for fd in fds if link is None else [*fds, link]:
                os.close(fd)
        return outcome, execution_of(outcome, outcome.status(stderr, self.limits), stdout, stderr, self._prefix)

    def close(self) -> None:
        """End the runner and all that it runs, and wait for that; raises WorkerLost where it doesn't come about."""
        self._socket.close()
        os.close(self._errors)
        if self.worker.running and not self._awaited:
            self.worker.await_end()

    def _reason_of_death(self) -> RunnerLost | WorkerLost:
        """Why the runner is gone, which had only compiled so far: by its own doing, or not."""
        said = files.last_words(self._errors)
        killed_for_memory = self.worker.was_killed_for_memory()
        # One that only closed its end would keep us waiting.
        self.worker.interrupt()
        self._awaited = True
        try:
            status = self.worker.await_end()
        except WorkerLost as error:
            return RunnerLost("it takes too much memory to compile") if killed_for_memory else error
        if killed_for_memory:
            return RunnerLost(said or "it takes too much memory to compile")
        if os.WIFSIGNALED(status) and os.WTERMSIG(status) not in OWN_ENDS:
            return WorkerLost(f"the compiler was ended by signal {os.WTERMSIG(status)} {said}".rstrip())
        return RunnerLost(said or "the compiler died of this program")

    def _run(self, fds: list[int], stdout: int, stderr: int) -> Outcome:
        nonce = os.urandom(wire.NONCE_BYTES)
        group = self.worker.group
        try:
            handed = (socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))
            self._socket.sendmsg([wire.TEST, nonce], [handed])
            if len(fds) > wire.LINK:
                # Its other end must see when the program lets go of it.
                os.close(fds.pop())
        except OSError as error:
            raise RunnerLost(str(error)) from error
        # From here on: carrying a large input into a container takes time and CPU that aren't the program's.
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
                return self._killed_for_memory(wall_seconds, stdout, stderr)
            raise RunnerLost(files.last_words(self._errors) or "it gave no answer")
        _, status, cpu_seconds, inner_seconds, peak, processes = wire.RESULT.unpack(answer)
        killed = (status == SIGKILL_STATUS or processes > 1) and self.worker.was_killed_for_memory()
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

    def _killed_for_memory(self, wall_seconds: float, stdout: int, stderr: int) -> Outcome:
        """The kernel took the runner too."""
        sizes = files.size_of(stdout), files.size_of(stderr)
        return Outcome(SIGKILL_STATUS, 0.0, wall_seconds, self.limits.memory_bytes, *sizes, killed_for_memory=True)

    def _answer_in_time(self, start: float, used: float) -> bytes | None:
        """The answer, or None where the CPU limit of all processes together, or the wall limit, is passed.

        The time for which the test waited for a processor doesn't count.
        """
        group, most = self.worker.group, CROWD * self.limits.cpu_seconds
        left, burned, self._waited = self.limits.wall_seconds, 0.0, 0.0
        while left > 0 and burned < most:
            # No sooner can it be used up, on all processors at once.
            soonest = max(0.02, (most - burned) / (os.cpu_count() or 1)) if group is not None else left
            answer = self._answer(min(left, soonest))
            if answer is not None:
                return answer
            left = start + self.limits.wall_seconds - time.monotonic()
            if left <= 0:
                self._waited = min(self.worker.processor_wait, MOST_WAIT_FACTOR * self.limits.wall_seconds)
                left += self._waited
            burned = group.cpu_seconds() - used if group is not None else 0.0
        # We may have been stopped ourselves, and the answer be there.
        return self._answer(SHORTEST_WAIT)

    def _has_computed(self, seconds: float) -> bool:
        """Whether the worker used so much CPU time since this candidate began; yes where that isn't known."""
        group = self.worker.group
        return group is None or group.cpu_seconds() - self._begun >= seconds

    def _answer(self, seconds: float, most: int = wire.RESULT.size) -> bytes | None:
        """The runner's next answer; None where there is none in time, empty where it is gone."""
        if seconds != self._patience:
            self._patience = seconds
            # Nothing at all would mean to wait for ever.
            whole, part = divmod(max(seconds, SHORTEST_WAIT), 1)
            # The kernel's own limit of a wait spares us a poll before each answer.
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, TIMEVAL.pack(int(whole), int(part * 1e6)))
        try:
            return self._socket.recv(most)
        except BlockingIOError:
            return None
        except ConnectionError:
            return b""
