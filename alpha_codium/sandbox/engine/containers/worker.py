"""The host's side of one container: it runs one candidate at a time, and is thrown away when it misbehaves.

1. The command that starts a container waits in a shell until its process is in the worker's control group: all that
   it starts is born there, so memory and CPU time of the whole container are counted and bounded.
2. The interpreter in there gets its modules first, then the configuration, then one candidate after another.
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
from alpha_codium.sandbox.engine.jail import Jail, runner_request
from alpha_codium.sandbox.engine.seccomp import build_guard
from alpha_codium.sandbox.engine.worker import ANSWER_SECONDS, START_SECONDS, Worker

# Nothing runs in a container before the line comes that says that its control group is ready.
WAIT = 'read -r _ && exec "$@"'
# What an order that can't wait has to be taken, before the container is ended instead.
URGENT_SECONDS = 0.2
# What an agent needs of root's rights, where it is root of a kernel that is the container's own: namespaces for
# runners, their user, their end, their folders.
CAPABILITIES = ("SYS_ADMIN", "SETUID", "SETGID", "SETPCAP", "KILL", "CHOWN", "DAC_OVERRIDE", "FOWNER")
LEAVE_SECONDS = 5.0
# A clock that runs as time does, for each processor, can't reach so many times the wall limit.
PATIENCE = 64
MIB = 1 << 20


@dataclass(frozen=True, slots=True)
class Launch:
    """How to start a container, and what to do when it is to be no more, however it ended.

    `overhead` is what the container itself takes of its group's memory, in bytes. `members`, where an engine starts
    it, gives the processes of the container, as far as they are ours to count; none where all is born in our group.
    `own_root` is an empty folder in which the agent makes a root for itself, where it is started in no container's.
    """

    command: tuple[str, ...]
    remove: Callable[[], None]
    overhead: int
    members: Callable[[], Iterable[int]] | None = None
    own_root: str = ""


class ContainerWorker(Worker):
    """One container with a warm interpreter; `launcher` says how to start one that gives programs so much memory."""

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
        """Where programs find themselves."""
        return wire.FOLDER

    @property
    def touched(self) -> bool:
        """Whether the last test changed anything where it could write."""
        return self._channel is None or self._channel.touched

    @property
    def may_fork(self) -> bool:
        """Whether a test may have several processes: where they can be ended, and their memory's sum is bounded."""
        return bool(self.facts.get("nested")) and self.bounded

    @property
    def bounded(self) -> bool:
        """Whether memory and CPU time of the whole container are counted by us."""
        return self.group is not None and self.group.complete

    def start(self) -> None:
        """Start the container; raises WorkerLost with the reason where that fails."""
        if self._closing:
            raise WorkerLost("the sandbox is closed")
        try:
            self._launch = self.launcher(self._memory)
            self._spawn_container(self._launch)
            facts = self._introduce()
            if self._launch.members is not None:
                self._adopt(self._launch.members())
            self.facts = dict(zip(("nested", "proc"), map(bool, facts), strict=True))
        except (OSError, ValueError, StreamLost, SandboxError) as error:
            said = files.last_words(self._stderr) if self._stderr >= 0 else ""
            self.discard()
            raise WorkerLost(f"the container can't be started: {said or error}") from error

    def begin(self, source: bytes, driver: bytes, limits: Limits) -> tuple[Any, int]:
        """Have a runner started: what `RunnerClient` speaks to it by, and a file for what it says on stderr."""
        if limits.memory_bytes > self._memory and self.running and self._launch and self._launch.members:
            # The engine was told of less.
            self.discard()
        self._memory = max(self._memory, limits.memory_bytes)
        if self._closing:
            raise WorkerLost("the sandbox is closed")
        if not self.running:
            self.start()
        assert self._stream is not None and self._launch is not None
        if self.group is not None and self.counts_memory:
            self.was_killed_for_memory()
            self._room = limits.memory_bytes + self._launch.overhead
            if not self.group.set_memory(self._room):
                raise self._lost("it holds more memory than the next program may have")
        self._candidates += 1
        self._stream.largest = largest_frame(limits)
        request = runner_request(
            limits, may_fork=self.may_fork, walls=not self.facts["nested"], counted=self.counts_memory
        )
        request |= {"output_bytes": limits.output_bytes, "guard": build_guard(platform.machine())}
        if self.bounded:
            # It is ended by what its group has used; by the clock in there it would be ended too soon.
            request["cpu_seconds"] = math.ceil(PATIENCE * limits.wall_seconds)
        self._say(frames.BEGIN, marshal.dumps([source, driver, request], 2))
        if self._closing:
            # While the container was started there was nothing that could be ended.
            raise self._lost("the sandbox is closed")
        errors = files.output_file("stderr")
        group = self.group if self.bounded else None
        self._channel = RunnerChannel(self._stream, self._candidates, limits, errors, group, self._make_room)
        return self._channel, errors

    def _make_room(self, size: int) -> None:
        """Let a large input come on top of what the container may have: it is there twice while it is handed on."""
        if size > frames.LARGE_INPUT and self.group is not None and self.counts_memory:
            self.group.set_memory(self._room + 2 * size)

    def end_test(self) -> None:
        """Have the runner kill the test that it runs."""
        line = self._channel
        if line is not None:
            line.expire()
        self._urge(frames.END_TEST)

    def interrupt(self) -> None:
        """Kill the runner, and with it all that it runs."""
        self._urge(frames.KILL)

    def await_end(self) -> int:
        """End the candidate, and wait until nothing of it is left; the runner's wait status."""
        if self._channel is not None and self._channel.lost:
            raise self._lost("it didn't end a test")
        self._say(frames.END)
        deadline = time.monotonic() + ANSWER_SECONDS
        try:
            while time.monotonic() < deadline:
                assert self._stream is not None
                frame = self._stream.next(deadline)
                if frame is not None and frame[:2] == (frames.ENDED, self._candidates):
                    return wire.WAIT_STATUS.unpack(frame[2])[0]
        except (StreamLost, struct.error) as error:
            raise self._lost(error) from error
        raise self._lost("it gave no word of the end")

    def discard(self) -> None:
        """Take the container down and reap it; the next candidate gets a new one."""
        with self._lock:
            process, self._process = self._process, None
            stderr, self._stderr = self._stderr, -1
            launch, self._launch = self._launch, None
            group, self.group = self.group, None
            stream, self._stream = self._stream, None
            self._channel, self._kills = None, 0
        if stream is not None:
            stream.close()
        if process is not None:
            end(process)
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
        """Start the command, in the worker's group where that counts anything."""
        self._stderr = files.output_file("stderr")
        with self._lock:
            if self._closing:
                raise OSError("the sandbox is closed")
            process = self._process = subprocess.Popen(
                ["/bin/sh", "-c", WAIT, "sh", *launch.command],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._stderr,
                # Its own, so that Ctrl-C at a terminal reaches gencode only.
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
        """Take processes that others started into the worker's group."""
        members = list(members)
        self.group = open_worker_group(f"gencode-{os.getpid()}-{self.number}") if members else None
        for member in members:
            assert self.group is not None
            with contextlib.suppress(ProcessLookupError):
                self.group.add(member)

    def _introduce(self) -> bytes:
        """Give the interpreter its modules and its configuration; what it says of the container."""
        assert self._stream is not None and self._launch is not None
        deadline = time.monotonic() + START_SECONDS
        modules = modules_of()
        self._stream.write(b"\n" + frames.SIZE.pack(len(modules)) + modules, seconds=START_SECONDS)
        config = self.jail.configuration(0, None)
        config |= {"environment": dict(self.jail.environment), "own_root": self._launch.own_root}
        self._stream.send(frames.CONFIGURE, 0, marshal.dumps(config, 2), seconds=START_SECONDS)
        frame = self._stream.next(deadline)
        if frame is None or frame[0] != frames.READY:
            raise StreamLost("it says nothing")
        return frame[2]

    def _say(self, kind: bytes, data: bytes = b"") -> None:
        """Send a frame about the present candidate; raises WorkerLost."""
        try:
            assert self._stream is not None
            self._stream.send(kind, self._candidates, data, seconds=ANSWER_SECONDS)
        except StreamLost as error:
            raise self._lost(error) from error

    def _urge(self, kind: bytes) -> None:
        """Send an order that ends something; where it isn't taken at once, end the container."""
        stream, process = self._stream, self._process
        if stream is None or process is None:
            return
        try:
            stream.send(kind, self._candidates, seconds=URGENT_SECONDS)
        except (StreamLost, OSError):
            process.kill()


def end(process: "subprocess.Popen[bytes]") -> None:
    """Wait until the container has ended by itself, now that nobody speaks to it; kill one that doesn't."""
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            pipe.close()
    try:
        process.wait(LEAVE_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
