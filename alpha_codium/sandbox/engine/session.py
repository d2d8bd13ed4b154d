"""Sessions that run one program on a worker, and the rules for retries; pairs of them are in `pairs`.

1. If the runner dies while compiling, compilation is tried once more. If that fails through the program's fault, the
   program doesn't compile; otherwise the result is `internal_error`.
2. If a runner or worker is lost in a test, the test is run again on a fresh worker; if that is lost too, the result is
   `internal_error`.
3. After a test that wrote in its folder, the next one gets a new runner, and with it a new folder.
4. A test that only just exceeded its CPU limit on a busy machine is run once more, alone. So is one that exceeded its
   wall limit and may have waited for a processor, but only once per program, since a program that sleeps would hold up
   all others. A test that was too slow when run alone isn't run again.
"""

import contextlib
from collections.abc import Callable, Generator

from alpha_codium.limits import CLOSE_CALL_FACTOR, STARVED_SHARE, Limits
from alpha_codium.program import Job, Side
from alpha_codium.sandbox.engine.cancellation import Cancellation, WorkerLost
from alpha_codium.sandbox.engine.channel import UNCONNECTED, RunnerLost, Wiring
from alpha_codium.sandbox.engine.exclusive_lock import ExclusiveLock, is_loaded
from alpha_codium.sandbox.engine.jail import SCRATCH_BYTES, RunnerProgram
from alpha_codium.sandbox.engine.outcome import lost
from alpha_codium.sandbox.engine.runner_client import RunnerClient
from alpha_codium.sandbox.engine.worker import Worker
from alpha_codium.values import surrogate_in
from alpha_codium.verdict import Execution, Status
from alpha_codium.wording import without_paths

# The program must leave room for its own files.
LARGEST_PROGRAM = SCRATCH_BYTES // 2
TRIES = 2
# Returns what runs, or why it can't be built.
Building = Callable[[Cancellation], RunnerProgram | Execution]


class Session:
    """One program on one worker."""

    def __init__(
        self,
        worker: Worker,
        lock: ExclusiveLock,
        cancellation: Cancellation,
        what: Job | Side,
        limits: Limits,
        build: Building | None = None,
    ) -> None:
        """`build` is for a program that the interpreter doesn't run."""
        self.worker, self.lock, self.cancellation, self.limits = worker, lock, cancellation, limits
        self.invalid = surrogate_in(*what.program.files.values())
        source = what.program.source.encode("utf-8", "replace")
        by_turns = isinstance(what, Job) and what.by_turns
        self.program = RunnerProgram(source, what.driver.encode(), what.program.main, by_turns=by_turns)
        # What is done about bytes of outputs that aren't UTF-8.
        self.errors = "surrogateescape" if isinstance(what, Job) and what.keeps_bytes else "replace"
        self.build = build
        self._client: RunnerClient | None = None
        self._may_wait_again = self._may_rerun = True

    def executions(self, job: Job) -> Generator[Execution, None, None]:
        """See `Sandbox.execute`; the session ends after the last execution, or when the iterator is closed."""
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
        """Compile the program, tried twice."""
        if self.invalid:
            return Execution(Status.COMPILATION_ERROR, stderr=f"the program is {self.invalid}")
        size = len(self.program.source)
        if size > LARGEST_PROGRAM:
            message = f"the program is too large: {size} bytes, and {LARGEST_PROGRAM} are the most"
            return Execution(Status.COMPILATION_ERROR, stderr=message)
        if self.build is not None:
            built = self.build(self.cancellation)
            if isinstance(built, Execution):
                return built
            self.program = built
        failed = Execution(Status.INTERNAL_ERROR)
        for _ in range(TRIES):
            try:
                return self._start_runner().compile()
            except RunnerLost as error:
                failed = Execution(Status.COMPILATION_ERROR, stderr=without_paths(error))
            except (WorkerLost, OSError) as error:
                failed = lost(error)
            self._discard_worker()
        return failed

    def execute(self, data: bytes) -> Execution:
        """Run the program on one input, tried twice."""
        reason: object = ""
        for _ in range(TRIES):
            try:
                return self._execute(data)
            except (RunnerLost, WorkerLost, OSError) as error:
                reason = error
                self._discard_worker()
        return lost(reason)

    def execute_linked(self, data: bytes, wiring: Wiring, partner: Worker) -> Execution:
        """Run the program on one input, connected to another program, on worker `partner`, tried once."""
        try:
            return self._test(data, wiring, partner)
        except (RunnerLost, WorkerLost, OSError) as error:
            self._discard_worker()
            return lost(error)

    @property
    def has_ended(self) -> bool:
        """Whether the program has ended, with all its processes."""
        return self._client is None

    def end(self) -> None:
        """End the runner; discard the worker if it doesn't end."""
        client, self._client = self._client, None
        if client is not None:
            try:
                client.close()
            except WorkerLost:
                self.worker.discard()

    def is_close_call(self, execution: Execution, in_all: float = 0.0) -> bool:
        """Whether a time limit was exceeded so narrowly that other load may be the reason.

        `in_all` is the CPU time of both programs of a pair: each waits for the other.
        """
        if execution.status is not Status.TIME_LIMIT_EXCEEDED or not self._may_rerun:
            return False
        if execution.cpu_seconds >= self.limits.cpu_seconds:
            return execution.cpu_seconds < CLOSE_CALL_FACTOR * self.limits.cpu_seconds
        return self._may_wait_again and max(execution.cpu_seconds, in_all) >= STARVED_SHARE * self.limits.cpu_seconds

    def _start_runner(self) -> RunnerClient:
        self.cancellation.check()
        self._client = client = RunnerClient(self.worker, self.program, self.limits)
        self.cancellation.check()
        return client

    def _execute(self, data: bytes) -> Execution:
        with self.lock.shared():
            crowded = self.lock.is_crowded()
            execution = self._test(data)
            crowded = crowded or self.lock.is_crowded()
        if self.is_close_call(execution) and (crowded or is_loaded(self.lock)):
            # Of executions that reach the wall limit, only one of a program is run again.
            self._may_wait_again &= execution.cpu_seconds >= self.limits.cpu_seconds
            with self.lock.exclusive():
                execution = self._test(data)
            self._may_rerun = execution.status is not Status.TIME_LIMIT_EXCEEDED
        return execution

    def _test(self, data: bytes, wiring: Wiring = UNCONNECTED, partner: Worker | None = None) -> Execution:
        if self._client is None:
            self._start_runner().compile()
        self.cancellation.check()
        assert self._client is not None
        self._client.partner = partner
        outcome, prefix = self._client.run(data, wiring), self._client.prefix
        if outcome.touched or outcome.killed_for_memory:
            self.end()
        return outcome.execution(self.limits, prefix, self.errors)

    def _discard_worker(self) -> None:
        """Discard the worker, so that the next try uses a new one."""
        self.cancellation.check()
        with contextlib.suppress(WorkerLost):
            self.worker.interrupt()
            self.end()
        self.worker.discard()
