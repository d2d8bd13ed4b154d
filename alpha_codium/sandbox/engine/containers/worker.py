"""The host's side of one container, which runs one candidate at a time and is discarded when it misbehaves.

1. The command that starts a container waits in a shell until its process is in the worker's control group, so that
   memory and CPU time of the whole container are counted and limited.
2. The container's interpreter gets its modules first, then the configuration, then one candidate after another.
3. Used by one thread at a time; `interrupt`, `end_test` and `close` may be called from any.
"""

import contextlib
import marshal
import math
import os
import platform
import struct
import subprocess
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from loguru import logger

from alpha_codium.errors import SandboxError
from alpha_codium.limits import DEFAULT_MEMORY_BYTES, Limits
from alpha_codium.sandbox.engine import files
from alpha_codium.sandbox.engine.cancellation import WorkerLost
from alpha_codium.sandbox.engine.cgroups import open_worker_group
from alpha_codium.sandbox.engine.containers.inside import frames
from alpha_codium.sandbox.engine.containers.runner_channel import RunnerChannel, largest_frame
from alpha_codium.sandbox.engine.containers.sources import modules_of
from alpha_codium.sandbox.engine.containers.stream import AgentStream, StreamLost
from alpha_codium.sandbox.engine.inside import wire
from alpha_codium.sandbox.engine.jail import Jail, RunnerProgram, runner_request
from alpha_codium.sandbox.engine.processes import end
from alpha_codium.sandbox.engine.seccomp import build_guard
from alpha_codium.sandbox.engine.worker import ANSWER_SECONDS, START_SECONDS, Worker

# Waits for a line, which is sent when the control group is ready.
WAIT = 'read -r _ && exec "$@"'
# Seconds for the agent to read an urgent message before the container is killed.
URGENT_SECONDS = 0.2
# The capabilities that an agent needs as root of its container's own kernel: for the namespaces, users, signals and
# folders of runners.
CAPABILITIES = ("SYS_ADMIN", "SETUID", "SETGID", "SETPCAP", "KILL", "CHOWN", "DAC_OVERRIDE", "FOWNER")
LEAVE_SECONDS = 5.0
# The CPU limit in the container, as a multiple of the wall limit: more than a test can use on all processors.
CPU_LIMIT_FACTOR = 64
MIB = 1 << 20


@dataclass(frozen=True, slots=True)
class Launch:
    """The commands that start and remove a container, and its properties.

    `overhead` is the memory of the container itself, in bytes. `members`, if an engine starts the container, returns
    those of its processes that we may count. `own_root`, if the agent is started outside a container, is an empty
    folder in which it makes its root.
    """

    command: tuple[str, ...]
    remove: Callable[[], None]
    overhead: int
    members: Callable[[], Iterable[int]] | None = None
    own_root: str = ""


class ContainerWorker(Worker):
    """One container with a warm interpreter; `launcher` returns how to start one for programs of so many bytes."""

    def __init__(self, jail: Jail, launcher: Callable[[int], Launch]) -> None:
        super().__init__(jail)
        self.launcher = launcher
        self._launch: Launch | None = None
        self._stream: AgentStream | None = None
        self._channel: RunnerChannel | None = None
        self._candidates = 0
        self._memory = DEFAULT_MEMORY_BYTES
        self._room = 0

    @property
    def folder(self) -> str:
        """The folder that programs run in."""
        return wire.FOLDER

    @property
    def touched(self) -> bool:
        """Whether the last test changed anything in the folders that it can write to."""
        return self._channel is None or self._channel.touched

    @property
    def may_fork(self) -> bool:
        """Whether a test may have several processes: only if they can be ended, and their memory is limited."""
        return self.has_namespaces and self.bounded

    @property
    def has_namespaces(self) -> bool:
        """Whether all processes of a test can be ended together."""
        return bool(self.facts.get("nested"))

    @property
    def bounded(self) -> bool:
        """Whether a control group counts memory and CPU time of the whole container."""
        return self.group is not None and self.group.complete

    def start(self) -> None:
        """Start the container; raises WorkerLost with the reason if that fails."""
        if self._closing:
            raise WorkerLost("the sandbox is closed")
        try:
            self._launch = self.launcher(self._memory)
            self.overhead_bytes = self._launch.overhead
            self._spawn_container(self._launch)
            facts = self._configure()
            if self._launch.members is not None:
                self._adopt(self._launch.members())
            self.facts = dict(zip(("nested", "proc"), map(bool, facts), strict=True))
        except (OSError, ValueError, StreamLost, SandboxError) as error:
            message = files.last_words(self._stderr) if self._stderr >= 0 else ""
            self.discard()
            raise WorkerLost(f"cannot start the container: {message or error}") from error

    def begin(self, program: RunnerProgram, limits: Limits) -> tuple[Any, int]:
        """Start a runner; return the connection for `RunnerClient`, and a file with the runner's stderr."""
        if limits.memory_bytes > self._memory and self.running and self._launch and self._launch.members:
            # The engine started the container with less memory.
            self.discard()
        self._memory = max(self._memory, limits.memory_bytes)
        self._start_for(limits)
        assert self._stream is not None
        self._room = limits.memory_bytes + self.overhead_bytes
        self._candidates += 1
        self._stream.largest = largest_frame(limits)
        request = runner_request(
            limits,
            program,
            may_fork=self.may_fork_for(program),
            walls=not self.has_namespaces,
            counted=self.counts_memory,
        )
        request |= {"output_bytes": limits.output_bytes, "guard": build_guard(platform.machine())}
        if self.bounded:
            # The group's CPU time is the limit; the clock in the container would stop the test too soon.
            request["cpu_seconds"] = math.ceil(CPU_LIMIT_FACTOR * limits.wall_seconds)
        self._send(frames.BEGIN, marshal.dumps([bytes(program.source), program.driver, request], 2))
        if self._closing:
            # While the container was started there was nothing to interrupt.
            raise self._lost("the sandbox is closed")
        errors = files.output_file("stderr")
        group = self.group if self.bounded else None
        self._channel = RunnerChannel(self._stream, self._candidates, limits, errors, group, self._make_room)
        return self._channel, errors

    def _make_room(self, size: int) -> None:
        """Allow the container more memory for a large input, which is in memory twice while it is forwarded."""
        if size > frames.LARGE_INPUT and self.group is not None and self.counts_memory:
            self.group.set_memory(self._room + 2 * size)

    def was_killed_for_memory(self) -> bool:
        """See `Worker`; also whether the container had no memory left when a test's time was up."""
        killed = super().was_killed_for_memory()
        return killed or (self._channel is not None and self._channel.out_of_memory)

    def end_test(self) -> None:
        """Have the runner kill its test."""
        channel = self._channel
        if channel is not None:
            channel.expire()
        self._send_urgently(frames.END_TEST)

    def interrupt(self) -> None:
        """Kill the runner and everything that it runs."""
        self._send_urgently(frames.KILL)

    def await_end(self) -> int:
        """End the candidate, and wait until nothing of it is left; return the runner's wait status."""
        if self._channel is not None and self._channel.lost:
            raise self._lost("it didn't end a test")
        self._send(frames.END)
        deadline = time.monotonic() + ANSWER_SECONDS
        try:
            while time.monotonic() < deadline:
                assert self._stream is not None
                frame = self._stream.next(deadline)
                if frame is not None and frame[:2] == (frames.ENDED, self._candidates):
                    return wire.WAIT_STATUS.unpack(frame[2])[0]
        except (StreamLost, struct.error) as error:
            raise self._lost(error) from error
        raise self._lost("it didn't report the end of a runner")

    def discard(self) -> None:
        """End the container and release its resources; the next candidate gets a new one."""
        with self._lock:
            process, self._process = self._process, None
            stderr, self._stderr = self._stderr, -1
            launch, self._launch = self._launch, None
            group, self.group = self.group, None
            stream, self._stream = self._stream, None
            self._channel = None
        if stream is not None:
            stream.close()
        if process is not None:
            for pipe in (process.stdin, process.stdout):
                assert pipe is not None
                pipe.close()
            end(process, LEAVE_SECONDS)
        try:
            if launch is not None:
                launch.remove()
        except SandboxError as error:
            logger.warning(f"a container may be left behind: {error}")
        finally:
            if group is not None:
                group.kill_and_remove()
            if stderr >= 0:
                os.close(stderr)

    def _spawn_container(self, launch: Launch) -> None:
        """Start the command, in the worker's group unless an engine starts the container."""
        self._stderr = files.output_file("stderr")
        with self._lock:
            if self._closing:
                raise OSError("the sandbox is closed")
            process = self._process = subprocess.Popen(
                ["/bin/sh", "-c", WAIT, "sh", *launch.command],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._stderr,
                # So that Ctrl-C at a terminal reaches gencode only.
                process_group=0,
                bufsize=0,
            )
        assert process.stdin is not None and process.stdout is not None
        self._stream = AgentStream(process.stdin.fileno(), process.stdout.fileno(), MIB)
        if launch.members is None:
            self.group = open_worker_group(f"gencode-{os.getpid()}-{self.number}")
            if self.group is not None:
                self.group.add(process.pid)

    def _adopt(self, members: Iterable[int]) -> None:
        """Move processes that an engine started into the worker's group."""
        members = list(members)
        self.group = open_worker_group(f"gencode-{os.getpid()}-{self.number}") if members else None
        for member in members:
            assert self.group is not None
            with contextlib.suppress(ProcessLookupError):
                self.group.add(member)

    def _configure(self) -> bytes:
        """Send the interpreter its modules and its configuration; return its READY message."""
        assert self._stream is not None and self._launch is not None
        deadline = time.monotonic() + START_SECONDS
        modules = modules_of()
        self._stream.write(b"\n" + frames.SIZE.pack(len(modules)) + modules, seconds=START_SECONDS)
        config = self.jail.configuration(0, None)
        config |= {"environment": dict(self.jail.environment), "own_root": self._launch.own_root}
        self._stream.send(frames.CONFIGURE, 0, marshal.dumps(config, 2), seconds=START_SECONDS)
        frame = self._stream.next(deadline)
        if frame is None or frame[0] != frames.READY:
            raise StreamLost("it doesn't answer")
        return frame[2]

    def _send(self, kind: bytes, data: bytes = b"") -> None:
        """Send a frame about the current candidate; raises WorkerLost."""
        try:
            assert self._stream is not None
            self._stream.send(kind, self._candidates, data, seconds=ANSWER_SECONDS)
        except StreamLost as error:
            raise self._lost(error) from error

    def _send_urgently(self, kind: bytes) -> None:
        """Send a frame that ends something; kill the container if it isn't read at once."""
        stream, process = self._stream, self._process
        if stream is None or process is None:
            return
        try:
            stream.send(kind, self._candidates, seconds=URGENT_SECONDS)
        except (StreamLost, OSError):
            process.kill()
