"""A worker: an interpreter in its jail, which runs one candidate at a time and is replaced when it misbehaves."""

import itertools
import threading
from collections.abc import Callable

from alpha_codium.errors import SandboxError
from alpha_codium.limits import DEFAULT_MEMORY_BYTES, Limits
from alpha_codium.sandbox.engine.cancellation import WorkerLost
from alpha_codium.sandbox.engine.cgroups import WorkerGroup
from alpha_codium.sandbox.engine.channel import Channel
from alpha_codium.sandbox.engine.jail import Jail, RunnerProgram

START_SECONDS = 60.0
_numbers = itertools.count()
# Makes the channel to an interpreter: by its jail, the number of its worker, and the memory of its programs.
Connect = Callable[[Jail, int, int], Channel]


class NotReady(WorkerLost):
    """The jail isn't ready in time, which doesn't mean that it can't be made."""


class Worker:
    """An interpreter, started when it is needed. Used by one thread at a time.

    `interrupt`, `end_test`, `close` and `scheduled` may be called from any thread.
    """

    def __init__(self, jail: Jail, connect: Connect) -> None:
        self.jail, self.connect = jail, connect
        self.number = next(_numbers)
        # What the interpreter has, see `Channel.open`.
        self.facts: dict[str, bool] = {}
        self._channel: Channel | None = None
        self._memory = DEFAULT_MEMORY_BYTES
        self._lock = threading.Lock()
        self._closing = False

    @property
    def running(self) -> bool:
        """Whether an interpreter was started; it may have died since."""
        return self._channel is not None

    @property
    def group(self) -> WorkerGroup | None:
        """The control group that counts all of its processes, if there is one."""
        return self._channel.group if self._channel is not None else None

    def start(self) -> Channel:
        """Start the interpreter; raises WorkerLost with the reason if that fails, and NotReady if it takes too long."""
        try:
            with self._lock:
                if self._closing:
                    raise WorkerLost("the sandbox is closed")
                self._channel = channel = self.connect(self.jail, self.number, self._memory)
            self.facts = channel.open(START_SECONDS)
        except TimeoutError as error:
            self.discard()
            raise NotReady(f"the sandbox isn't ready after {START_SECONDS:g} s: is the machine overloaded?") from error
        except (OSError, ValueError, SandboxError) as error:
            said = self.last_words()
            self.discard()
            raise WorkerLost(f"cannot make the jail: {said or error}") from error
        return channel

    def begin(self, program: RunnerProgram, limits: Limits) -> Channel:
        """Start a runner, and the interpreter if there is none; return its channel. Raises WorkerLost."""
        channel = self._channel_for(limits)
        try:
            # A compiler consists of several processes, each with the limits; `runner_request` keeps them together.
            compiles = program.native is not None and program.native["writable"]
            channel.begin(program, limits, may_fork=self.may_fork or (compiles and self.has_namespaces))
        except OSError as error:
            raise self._lost(error) from error
        if self._closing:
            # Before there was a runner, there was nothing to interrupt.
            raise self._lost("the sandbox is closed")
        return channel

    def _channel_for(self, limits: Limits) -> Channel:
        """Return a channel whose programs may use as much memory as the next one may; raises WorkerLost."""
        if self._closing:
            raise WorkerLost("the sandbox is closed")
        self._memory = max(self._memory, limits.memory_bytes)
        if self._channel is not None and not self._channel.has_room_for(limits):
            self.discard()
        channel = self._channel or self.start()
        if channel.group is not None and channel.counts_memory:
            # Reset the count: earlier kills belong to another program.
            channel.group.was_killed_for_memory()
            if not channel.group.set_memory(limits.memory_bytes + channel.overhead_bytes):
                raise self._lost("it uses more memory than the next program may have")
        return channel

    def end_test(self) -> None:
        """Have the runner kill its test."""
        if (channel := self._channel) is not None:
            channel.end_test()

    def interrupt(self) -> None:
        """Kill the runner and everything that it runs."""
        if (channel := self._channel) is not None:
            channel.interrupt()

    def await_end(self) -> int:
        """End the candidate with all that is left of it; return the runner's wait status. Raises WorkerLost."""
        assert self._channel is not None
        try:
            return self._channel.await_end()
        except OSError as error:
            raise self._lost(error) from error

    def scheduled(self) -> list[tuple[float, float]] | None:
        """Return for which time each thread of the current test ran and waited for a processor, if that is known."""
        return channel.scheduled() if (channel := self._channel) is not None else None

    def close(self) -> None:
        """Refuse further programs, and end the one that runs."""
        with self._lock:
            self._closing = True
        self.interrupt()

    def discard(self) -> None:
        """End the interpreter and release its resources; the next candidate gets a new one."""
        with self._lock:
            channel, self._channel = self._channel, None
        if channel is not None:
            channel.close()

    def was_killed_for_memory(self) -> bool:
        """Whether a process was killed for memory since the last call, or there was none left when time was up."""
        killed = self.group is not None and self.group.was_killed_for_memory()
        return killed or (self._channel is not None and self._channel.out_of_memory)

    @property
    def counts_memory(self) -> bool:
        """Whether a control group limits the memory and counts kills for memory."""
        return self._channel is not None and self._channel.counts_memory

    @property
    def bounded(self) -> bool:
        """Whether a control group counts the memory and the CPU time of all processes together."""
        return self.group is not None and self.group.complete

    @property
    def may_fork(self) -> bool:
        """Whether a test may have several processes: only if the sum of their CPU time and memory is known."""
        return self.bounded and self.has_namespaces

    @property
    def has_namespaces(self) -> bool:
        """Whether all processes of a test can be ended together, whatever they do."""
        return self.facts.get("namespaces", False)

    def last_words(self) -> str:
        """Return what the interpreter said last, perhaps the reason of its end."""
        return self._channel.last_words() if self._channel is not None else ""

    def _lost(self, reason: object) -> WorkerLost:
        said = self.last_words()
        self.discard()
        return WorkerLost(f"the sandbox's worker was lost: {said or reason}")
