"""The connection to a runner in a container, with the methods of a socket that `RunnerClient` uses.

1. `RunnerClient` sends a test with open files and a nonce, and gets a `RESULT` with that nonce. Frames carry the
   contents of the files into the container, where the agent uses its own nonce to protect results from programs.
2. Data from the container is parsed as bounded numbers and bytes only.
3. CPU time is that of the container's control group, if there is one: gVisor's clock includes the time that a process
   waited for a processor (observed: 5.9 s instead of 1.9 s). The CPU time to send a large input doesn't count.
4. A test that can't be ended in time gets a time limit status; its container is discarded.
5. A container that has no memory left is discarded, too, since everything in it is slow until the kernel kills a
   process. A test that reaches its time limit in it gets the status of the memory limit.
6. While it waits for an answer, it also serves the link between the two sides of a pair (see `inside/link`).
"""

import os
import select
import socket
import time
from collections.abc import Callable, Sequence
from typing import Any

from alpha_codium.limits import Limits
from alpha_codium.sandbox.engine import files
from alpha_codium.sandbox.engine.cgroups import WorkerGroup
from alpha_codium.sandbox.engine.containers.inside import frames
from alpha_codium.sandbox.engine.containers.inside.link import Link
from alpha_codium.sandbox.engine.containers.stream import AgentStream, StreamLost
from alpha_codium.sandbox.engine.inside import wire
from alpha_codium.sandbox.engine.outcome import STDERR_KEPT, largest_file
from alpha_codium.sandbox.engine.runner_client import GRACE_SECONDS, SIGKILL_STATUS, TIMEVAL

# Seconds for the agent to read a message, plus one for each `SLOWEST` bytes of an input.
SEND_SECONDS = 10.0
SLOWEST = 4 << 20
# Seconds to end a test after its limit; less than `RunnerClient` waits for it.
END_SECONDS = 0.8 * GRACE_SECONDS
# Time for the other side to read what this one wrote before it ended.
LINGER_SECONDS = 0.5


class RunnerChannel:
    """The connection to runner `number` of `stream`; `group` counts what the whole container uses.

    `make_room` is called with the size of each input before it is sent.
    """

    def __init__(
        self,
        stream: AgentStream,
        number: int,
        limits: Limits,
        errors: int,
        group: WorkerGroup | None = None,
        make_room: Callable[[int], object] = int,
    ) -> None:
        self.stream, self.number, self.limits, self.errors, self.group = stream, number, limits, errors, group
        self.make_room = make_room
        # `touched`: the last test wrote something. `lost`: it couldn't be ended when its time was up, or the container
        # was `out_of_memory` then.
        self.touched = self.lost = self.out_of_memory = False
        self._expired = 0.0
        self._seconds = 0.0
        self._nonce = b""
        self._fds: list[int] = []
        self._link: Link | None = None
        self._used = 0.0

    def setsockopt(self, _level: int, _name: int, value: bytes) -> None:
        """Set how long `recv` waits, as SO_RCVTIMEO does."""
        whole, part = TIMEVAL.unpack(value)
        self._seconds = whole + part / 1e6

    def sendmsg(self, buffers: Sequence[bytes], ancillary: Sequence[tuple[int, int, Any]]) -> None:
        """Send a test: its nonce and its files, one of which may be a link. Raises OSError."""
        self._nonce = buffers[1]
        self._fds = list(ancillary[0][2])
        linked = len(self._fds) > wire.LINK
        if linked:
            self._link = Link(socket.socket(fileno=os.dup(self._fds[wire.LINK])), self._send)
        self._expired = 0.0
        self.make_room(files.size_of(self._fds[0]))
        data = bytes([linked]) + wire.read_all(self._fds[0])
        self._used = self._in_all()
        patience = SEND_SECONDS + len(data) / SLOWEST
        self._send(frames.TEST, data, patience)
        if len(data) > frames.LARGE_INPUT:
            self._await_held(patience)
            self._used = self._in_all()

    def recv(self, _most: int) -> bytes:
        """Return the runner's next message, empty if it is gone; raises BlockingIOError if there is none in time."""
        deadline = time.monotonic() + self._seconds
        try:
            while not self.out_of_memory:
                answer = self._answer(deadline)
                if answer is not None:
                    return answer
                if time.monotonic() >= deadline:
                    return self._give_up()
        except StreamLost as error:
            os.pwrite(self.errors, f"the container was lost: {error}".encode(), 0)
        return b""

    def expire(self) -> None:
        """Give the test `END_SECONDS` to end; may be called from any thread."""
        self._expired = time.monotonic()
        if self.group is not None and self.group.is_out_of_memory():
            self.lost = self.out_of_memory = True

    def close(self) -> None:
        """Close the link."""
        link, self._link = self._link, None
        if link is not None and link.end is not None:
            link.end.close()

    def _await_held(self, patience: float) -> None:
        """Wait until the agent has read a large input; raises OSError if the runner is gone."""
        deadline = time.monotonic() + patience
        try:
            while time.monotonic() < deadline:
                frame = self.stream.next(deadline)
                if frame is None or frame[1] != self.number:
                    continue
                if frame[0] == frames.HELD:
                    return
                if frame[0] == frames.GONE:
                    os.pwrite(self.errors, frame[2], 0)
                    raise OSError("the runner is gone")
        except StreamLost as error:
            raise OSError(str(error)) from error
        raise OSError("the container doesn't read an input")

    def _answer(self, deadline: float) -> bytes | None:
        """Return the message in the next frame; None if there is none before the deadline, or it isn't a message."""
        link = self._link
        frame = self.stream.next(deadline, also=link.events() if link is not None else {})
        if link is not None:
            link.carry()
        if frame is None:
            return None
        kind, number, data = frame
        if number != self.number:
            return None
        if kind in (wire.COMPILING, wire.COMPILED, wire.NOT_COMPILED):
            os.pwrite(self.errors, data, 0)
            return kind
        if kind == frames.GONE:
            os.pwrite(self.errors, data, 0)
            return b""
        if kind == frames.RESULT:
            return self._result(data)
        if self._link is not None:
            self._link.receive(kind, data)
        return None

    def _result(self, data: bytes) -> bytes:
        """Write the outputs to the test's files, and return the result as a runner would send it."""
        if len(data) < frames.OUTCOME.size:
            raise StreamLost("it sent a malformed frame")
        head = frames.OUTCOME.unpack_from(data)
        status, cpu, wall, peak, processes, self.touched, *sizes, kept, _ = head
        body = data[frames.OUTCOME.size :]
        for fd, size, text in zip(self._fds[1:3], sizes, (body[:kept], body[kept:]), strict=True):
            whole = min(size, largest_file(self.limits))
            os.ftruncate(fd, whole)
            # The agent sends the beginning of stdout and the end of stderr.
            os.pwrite(fd, text[:whole], 0 if fd == self._fds[1] else max(0, whole - len(text)))
        if self.group is not None:
            cpu = self._in_all() - self._used
        self._linger()
        return wire.RESULT.pack(self._nonce, status, cpu, wall, peak, processes)

    def _give_up(self) -> bytes:
        """Return a result for a test that couldn't be ended; raises BlockingIOError while it may still run."""
        if not self._expired or time.monotonic() < self._expired + END_SECONDS:
            raise BlockingIOError
        self.touched = self.lost = True
        return wire.RESULT.pack(self._nonce, SIGKILL_STATUS, self._in_all() - self._used, self._seconds, 0, 1)

    def _in_all(self) -> float:
        """Return the container's total CPU seconds so far."""
        return self.group.cpu_seconds() if self.group is not None else 0.0

    def _linger(self) -> None:
        """Write what the other side of the pair sent before it ended, and close the link."""
        link = self._link
        if link is not None:
            deadline = time.monotonic() + LINGER_SECONDS
            while link.end is not None and link.pending and time.monotonic() < deadline:
                select.select([], [link.end], [], LINGER_SECONDS)
                link.write()
        self.close()

    def _send(self, kind: bytes, data: bytes, patience: float = SEND_SECONDS) -> None:
        """Send the runner a frame; raises OSError if it isn't read within `patience` seconds."""
        try:
            self.stream.send(kind, self.number, data, seconds=patience)
        except StreamLost as error:
            raise OSError(str(error)) from error


def largest_frame(limits: Limits) -> int:
    """Return the most bytes that an agent may send in one frame."""
    return frames.OUTCOME.size + limits.output_bytes + STDERR_KEPT + frames.CHUNK
