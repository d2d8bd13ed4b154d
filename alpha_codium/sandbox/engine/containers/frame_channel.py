"""The channel to an agent in a container: the frames of `inside/frames`, over the stdin and stdout of a command.

1. The command that starts a container waits in a shell until its process is in the worker's control group, so that
   memory and CPU time of the whole container are counted and limited.
2. The container's interpreter gets its modules first, then the configuration, then one candidate after another. Inputs
   and outputs cross as bytes; the agent uses a nonce of its own to protect results from programs.
3. Data from the container is parsed as bounded numbers and bytes only.
4. CPU time is that of the container's control group, if there is one: gVisor's clock includes the time that a process
   waited for a processor (observed: 5.9 s instead of 1.9 s). The CPU time to send a large input doesn't count.
5. A test that can't be ended in time gets a time limit status; its container is discarded.
6. A container that has no memory left is discarded, too, since everything in it is slow until the kernel kills a
   process. A test that reaches its time limit in it gets the status of the memory limit.
7. While it waits for a test, it also serves the link between the two sides of a pair (see `inside/link`).
"""

import marshal
import math
import platform
import select
import socket
import subprocess
import time
from collections.abc import Callable
from typing import Any

from loguru import logger

from alpha_codium.errors import SandboxError
from alpha_codium.limits import Limits
from alpha_codium.sandbox.engine import files
from alpha_codium.sandbox.engine.channel import (
    ANSWER_SECONDS,
    GRACE_SECONDS,
    SIGKILL_STATUS,
    Channel,
    Result,
    RunnerLost,
    Wiring,
)
from alpha_codium.sandbox.engine.containers.inside import frames
from alpha_codium.sandbox.engine.containers.inside.link import Link
from alpha_codium.sandbox.engine.containers.launch import Launch
from alpha_codium.sandbox.engine.containers.sources import modules_of
from alpha_codium.sandbox.engine.containers.stream import AgentStream, StreamLost
from alpha_codium.sandbox.engine.inside import wire
from alpha_codium.sandbox.engine.jail import OWN_PROCESSES, Jail, RunnerProgram, runner_request
from alpha_codium.sandbox.engine.outcome import STDERR_KEPT, Outputs, largest_file
from alpha_codium.sandbox.engine.processes import end
from alpha_codium.sandbox.engine.seccomp import build_guard

# Waits for a line, which is sent when the control group is ready.
WAIT = 'read -r _ && exec "$@"'
# Seconds for the agent to read a message, plus one for each `SLOWEST` bytes of an input.
SEND_SECONDS = 10.0
SLOWEST = 4 << 20
# Seconds for the agent to read an urgent message before the container is killed.
URGENT_SECONDS = 0.2
# Seconds to end a test after its limit; less than `RunnerClient` waits for it.
END_SECONDS = 0.8 * GRACE_SECONDS
# Time for the other side to read what this one wrote before it ended.
LINGER_SECONDS = 0.5
LEAVE_SECONDS = 5.0
# The CPU limit in the container, as a multiple of the wall limit: more than a test can use on all processors.
CPU_LIMIT_FACTOR = 64
MIB = 1 << 20


class FrameChannel(Channel):
    """The channel to an agent, which `launcher` says how to start for programs of so many bytes; see the module."""

    def __init__(self, jail: Jail, number: int, memory_bytes: int, launcher: Callable[[int], Launch]) -> None:
        super().__init__(jail, number, memory_bytes)
        self.launcher = launcher
        self._launch: Launch | None = None
        self._facts: dict[str, bool] = {}
        self._stream: AgentStream
        # The number of the candidate, and its limits.
        self._candidate, self._limits = 0, Limits()
        self._errors = b""
        # `_lost`: a test couldn't be ended when its time was up, or the container was out of memory then.
        self._lost = False
        self._expired = 0.0
        self._outputs = Outputs()
        self._link: Link | None = None

    def open(self, seconds: float) -> dict[str, bool]:
        """See `Channel`."""
        launch = self._launch = self.launcher(self.memory_bytes)
        self.overhead_bytes = launch.overhead
        self.folder, self.program_folder = launch.folders
        self._spawn(launch)
        self._facts = dict(zip(launch.facts, map(bool, self._configure(launch, seconds)), strict=True))
        if launch.members is not None:
            self._count(launch.members())
        return self._facts

    def close(self) -> None:
        """See `Channel`."""
        self._close_link()
        if self._process is not None:
            self._stream.close()
            for pipe in (self._process.stdin, self._process.stdout):
                assert pipe is not None
                pipe.close()
            end(self._process, LEAVE_SECONDS)
        try:
            if self._launch is not None:
                self._launch.remove()
        except SandboxError as error:
            logger.warning(f"a container may be left behind: {error}")
        finally:
            self._release()

    def has_room_for(self, limits: Limits) -> bool:
        """See `Channel`; an engine starts a container with a limit of its own."""
        return self._launch is None or self._launch.members is None or limits.memory_bytes <= self.memory_bytes

    def begin(self, program: RunnerProgram, limits: Limits, *, may_fork: bool) -> None:
        """See `Channel`."""
        self._candidate += 1
        self._limits, self._errors = limits, b""
        self._stream.largest = largest_frame(limits)
        request = self._request(program, limits, may_fork=may_fork) | {"output_bytes": limits.output_bytes}
        self._send(frames.BEGIN, marshal.dumps([bytes(program.source), program.driver, request], 2))

    def answer(self, seconds: float) -> bytes | None:
        """See `Channel`."""
        try:
            frame = self._next(time.monotonic() + seconds, wire.COMPILING, wire.COMPILED, wire.NOT_COMPILED)
        except RunnerLost:
            return b""
        if frame is None:
            return None
        kind, self._errors = frame
        return kind

    def errors(self) -> bytes:
        """See `Channel`."""
        return self._errors

    def send(self, data: bytes, wiring: Wiring) -> float:
        """See `Channel`."""
        self._close_link()
        self._expired, self._outputs = 0.0, Outputs()
        if wiring.link is not None:
            self._link = Link(socket.socket(fileno=wiring.link), self._send)
        if len(data) > frames.LARGE_INPUT and self.group is not None and self.group.counts_memory:
            # It is in memory twice while it is forwarded.
            self.group.set_memory(self._limits.memory_bytes + self.overhead_bytes + 2 * len(data))
        used, patience = self.cpu_seconds(), SEND_SECONDS + len(data) / SLOWEST
        self._stream.send(frames.TEST, self._candidate, bytes([self._link is not None]), data, seconds=patience)
        if len(data) >= frames.LARGE_INPUT:
            if self._next(time.monotonic() + patience, frames.HELD) is None:
                raise StreamLost("it doesn't read an input")
            used = self.cpu_seconds()
        return used

    def result(self, seconds: float) -> Result | None:
        """See `Channel`."""
        if self.out_of_memory:
            raise RunnerLost("the container is out of memory")
        frame = self._next(time.monotonic() + seconds, frames.RESULT)
        return self._give_up(seconds) if frame is None else self._result(frame[1])

    def outputs(self, limits: Limits) -> Outputs:
        """See `Channel`."""
        return self._outputs

    def end_test(self) -> None:
        """See `Channel`; the test gets `END_SECONDS` to end."""
        self._expired = time.monotonic()
        if not self.has_exact_clock and self.group is not None and self.group.is_out_of_memory():
            self._lost = self.out_of_memory = True
        self._send_urgently(frames.END_TEST)

    def interrupt(self) -> None:
        """See `Channel`."""
        self._send_urgently(frames.KILL)

    def await_end(self) -> int:
        """See `Channel`."""
        if self._lost:
            raise StreamLost("it didn't end a test")
        self._send(frames.END)
        deadline = time.monotonic() + ANSWER_SECONDS
        while time.monotonic() < deadline:
            frame = self._stream.next(deadline)
            if frame is not None and frame[:2] == (frames.ENDED, self._candidate):
                if len(frame[2]) != wire.WAIT_STATUS.size:
                    raise StreamLost("it sent a malformed frame")
                return wire.WAIT_STATUS.unpack(frame[2])[0]
        raise StreamLost("it didn't report the end of a runner")

    def _spawn(self, launch: Launch) -> None:
        """Start the command, in the control group unless an engine starts the container."""
        self._stderr = files.output_file("stderr")
        process = subprocess.Popen(
            ["/bin/sh", "-c", WAIT, "sh", *launch.command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._stderr,
            # So that Ctrl-C at a terminal reaches gencode only.
            process_group=0,
            bufsize=0,
        )
        assert process.stdin is not None and process.stdout is not None
        # In this order: another thread that finds a process uses the stream.
        self._stream = AgentStream(process.stdin.fileno(), process.stdout.fileno(), MIB)
        self._process = process
        if launch.members is None:
            self._count([process.pid])

    def _configure(self, launch: Launch, seconds: float) -> bytes:
        """Send the interpreter its modules and its configuration; return its READY message."""
        deadline = time.monotonic() + seconds
        modules = modules_of(launch.modules)
        self._stream.write(b"\n" + frames.SIZE.pack(len(modules)) + modules, seconds=seconds)
        config = self.jail.configuration(0, None) | {"environment": dict(self.jail.environment)} | dict(launch.config)
        self._stream.send(frames.CONFIGURE, 0, marshal.dumps(config, 2), seconds=seconds)
        frame = self._stream.next(deadline)
        if frame is None or frame[0] != frames.READY:
            raise StreamLost("it doesn't answer")
        return frame[2]

    def _request(self, program: RunnerProgram, limits: Limits, *, may_fork: bool) -> dict[str, Any]:
        """Return the limits of a candidate for the agent."""
        assert self._launch is not None
        if self._launch.request is not None:
            if self.group is not None:
                self.group.set_processes(limits.processes + OWN_PROCESSES)
            return self._launch.request(limits, program, self.counts_memory)
        walls = not self._facts["namespaces"]
        request = runner_request(limits, program, may_fork=may_fork, walls=walls, counted=self.counts_memory)
        self.has_exact_clock = self.group is None or not self.group.complete
        if not self.has_exact_clock:
            # The group's CPU time is the limit; the clock in the container would stop the test too soon.
            request["cpu_seconds"] = math.ceil(CPU_LIMIT_FACTOR * limits.wall_seconds)
        return request | {"guard": build_guard(platform.machine())}

    def _next(self, deadline: float, *wanted: bytes) -> tuple[bytes, bytes] | None:
        """Return the kind and the data of the next `wanted` frame about the candidate, None if there is none in time.

        It serves the link meanwhile. Raises RunnerLost.
        """
        link = self._link
        try:
            while True:
                frame = self._stream.next(deadline, also=link.events() if link is not None else {})
                if link is not None:
                    link.carry()
                if frame is not None and frame[1] == self._candidate:
                    kind, _, data = frame
                    if kind in wanted:
                        return kind, data
                    if kind == frames.GONE:
                        self._errors = data
                        raise RunnerLost(files.text_of(data) or "the runner is gone")
                    if link is not None:
                        link.receive(kind, data)
                # Also after a frame: there may always be another one.
                if time.monotonic() >= deadline:
                    return None
        except StreamLost as error:
            reason = f"the agent was lost: {error}"
            self._errors = reason.encode()
            raise RunnerLost(reason) from error

    def _result(self, data: bytes) -> Result:
        """Return a test's result, and keep its outputs."""
        if len(data) < frames.OUTCOME.size:
            raise RunnerLost("the agent was lost: it sent a malformed frame")
        head = frames.OUTCOME.unpack_from(data)
        status, cpu_seconds, wall_seconds, peak, processes, touched, *sizes, kept, _ = head
        body = data[frames.OUTCOME.size :]
        # However large the container says that they are.
        sizes = [min(size, largest_file(self._limits)) for size in sizes]
        self._outputs = Outputs(body[:kept][: sizes[0]], body[kept:][: sizes[1]], *sizes)
        self._linger()
        return Result(status, cpu_seconds, wall_seconds, peak * 1024, processes, touched)

    def _give_up(self, seconds: float) -> Result | None:
        """Return a result for a test that couldn't be ended, None while it may still run."""
        if not self._expired or time.monotonic() < self._expired + END_SECONDS:
            return None
        self._lost = True
        return Result(SIGKILL_STATUS, 0.0, seconds, 0, 1, touched=True)

    def _linger(self) -> None:
        """Write what the other side of the pair sent before it ended, and close the link."""
        link = self._link
        if link is not None:
            deadline = time.monotonic() + LINGER_SECONDS
            while link.end is not None and link.pending and time.monotonic() < deadline:
                select.select([], [link.end], [], LINGER_SECONDS)
                link.write()
        self._close_link()

    def _close_link(self) -> None:
        link, self._link = self._link, None
        if link is not None and link.end is not None:
            link.end.close()

    def _send(self, kind: bytes, data: bytes = b"") -> None:
        """Send a frame about the candidate; raises StreamLost if it isn't read in time."""
        self._stream.send(kind, self._candidate, data, seconds=SEND_SECONDS)

    def _send_urgently(self, kind: bytes) -> None:
        """Send a frame that ends something; kill the container if it isn't read at once."""
        process = self._process
        if process is not None:
            try:
                self._stream.send(kind, self._candidate, seconds=URGENT_SECONDS)
            except OSError:
                process.kill()


def largest_frame(limits: Limits) -> int:
    """Return the most bytes that an agent may send in one frame."""
    return frames.OUTCOME.size + limits.output_bytes + STDERR_KEPT + frames.CHUNK
