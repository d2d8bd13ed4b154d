"""One program through a worker: what is tried again, and what is our fault.

1. A runner that dies of a program that it compiles is tried once more; then the program doesn't compile. One that is
   ended by something else is tried once more; then it is `internal_error`.
2. A runner or worker that is lost in a test: the test again, on a fresh worker; lost again it is `internal_error`.
3. Where a test wrote in its folder, the next one gets a new runner, and with it a new folder.
4. Too much CPU time by less than a fifth on a busy machine: once more, alone. Too much waiting, perhaps for a
   processor: the same, but once for a program, since it may as well have slept to hold up all others. What was too
   slow alone is not asked again.
"""

import contextlib
from collections.abc import Generator

from alpha_codium.limits import CLOSE_CALL_FACTOR, STARVED_SHARE, Limits
from alpha_codium.program import Job, Side
from alpha_codium.sandbox.engine.exclusive_lock import ExclusiveLock, is_loaded
from alpha_codium.sandbox.engine.jail import SCRATCH_BYTES
from alpha_codium.sandbox.engine.outcome import Outcome
from alpha_codium.sandbox.engine.runner_client import RunnerClient, RunnerLost
from alpha_codium.sandbox.engine.turn import Turn, WorkerLost
from alpha_codium.sandbox.engine.worker import Worker
from alpha_codium.verdict import Execution, Status

# Where it lies there must be room for what it writes, too.
LARGEST_PROGRAM = SCRATCH_BYTES // 2
TRIES = 2


class Session:
    """One program on one worker."""

    def __init__(self, worker: Worker, lock: ExclusiveLock, turn: Turn, what: Job | Side, limits: Limits) -> None:
        self.worker, self.lock, self.turn, self.limits = worker, lock, turn, limits
        self.source, self.driver = what.program.source.encode("utf-8", "replace"), what.driver.encode()
        self._client: RunnerClient | None = None
        self._may_wait_again = self._may_rerun = True

    def executions(self, job: Job) -> Generator[Execution, None, None]:
        """See `Sandbox.execute`; the session ends with the last execution, or when the iterator is closed."""
        try:
            execution = self.compile()
            yield execution
            if not execution.finished:
                return
            for text in job.inputs:
                execution = self.execute(text.encode("utf-8", "replace"))
                yield execution
                if job.stop_after_failure and not execution.finished:
                    return
        finally:
            self.end()

    def compile(self) -> Execution:
        """How compiling went, tried twice."""
        if len(self.source) > LARGEST_PROGRAM:
            said = f"the program is too large: {len(self.source)} bytes, and {LARGEST_PROGRAM} are the most"
            return Execution(Status.COMPILATION_ERROR, stderr=said)
        lost = Execution(Status.INTERNAL_ERROR)
        for _ in range(TRIES):
            try:
                return self._begin()
            except RunnerLost as error:
                lost = Execution(Status.COMPILATION_ERROR, stderr=str(error))
            except (WorkerLost, OSError) as error:
                lost = Execution(Status.INTERNAL_ERROR, stderr=f"sandbox: {error}")
            self._abandon()
        return lost

    def execute(self, data: bytes) -> Execution:
        """Run on one input, tried twice."""
        problem: object = ""
        for _ in range(TRIES):
            try:
                return self._execute(data)
            except (RunnerLost, WorkerLost, OSError) as error:
                problem = error
                self._abandon()
        return Execution(Status.INTERNAL_ERROR, stderr=f"sandbox: {problem}")

    def execute_linked(self, data: bytes, link: int) -> Execution:
        """Run on one input with a link to another program, which can't be had twice."""
        try:
            return self._test(data, link)[1]
        except (RunnerLost, WorkerLost, OSError) as error:
            self._abandon()
            return Execution(Status.INTERNAL_ERROR, stderr=f"sandbox: {error}")

    @property
    def has_ended(self) -> bool:
        """Whether nothing of the program runs any more."""
        return self._client is None

    def end(self) -> None:
        """End the runner; a worker that doesn't manage that is thrown away."""
        client, self._client = self._client, None
        if client is not None:
            try:
                client.close()
            except WorkerLost:
                self.worker.discard()

    def _begin(self) -> Execution:
        self.turn.check()
        self._client = RunnerClient(self.worker, self.source, self.driver, self.limits)
        self.turn.check()
        return self._client.compile()

    def _execute(self, data: bytes) -> Execution:
        with self.lock.shared():
            crowded = self.lock.is_crowded()
            _, execution = self._test(data)
            crowded = crowded or self.lock.is_crowded()
        if self.is_close_call(execution) and (crowded or is_loaded(self.lock)):
            with self.lock.exclusive():
                _, execution = self._test(data)
            self._may_rerun = execution.status is not Status.TIME_LIMIT_EXCEEDED
        return execution

    def _test(self, data: bytes, link: int | None = None) -> tuple[Outcome, Execution]:
        if self._client is None:
            self._begin()
        self.turn.check()
        assert self._client is not None
        outcome, execution = self._client.test(data, link)
        if outcome.touched or outcome.killed_for_memory:
            self.end()
        return outcome, execution

    def _abandon(self) -> None:
        """The next try gets a worker made anew."""
        self.turn.check()
        with contextlib.suppress(WorkerLost):
            self.worker.interrupt()
            self.end()
        self.worker.discard()

    def is_close_call(self, execution: Execution) -> bool:
        """Whether the time limit was exceeded by so little that other load may be the reason."""
        if execution.status is not Status.TIME_LIMIT_EXCEEDED or not self._may_rerun:
            return False
        if execution.cpu_seconds >= self.limits.cpu_seconds:
            return execution.cpu_seconds < CLOSE_CALL_FACTOR * self.limits.cpu_seconds
        starved, self._may_wait_again = self._may_wait_again, False
        return starved and execution.cpu_seconds >= STARVED_SHARE * self.limits.cpu_seconds
