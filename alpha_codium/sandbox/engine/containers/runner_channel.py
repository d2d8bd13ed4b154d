"""A runner in a container, as the local backend's `RunnerClient` knows its own: by something like a socket.

1. `RunnerClient` sends a test with open files and a nonce, and gets a `RESULT` with that nonce. Files can't cross a
   container's wall: their contents do, in frames. The nonce that guards against programs is the agent's, in there.
2. What the container says is taken as numbers within bounds and as bytes, nothing else.
3. CPU time is that of the container's control group, where there is one: gVisor's own clock counts the time that a
   process waited for a processor, so its figures grow with the load (seen: 5.9 s told where 1.9 s were used). What it
   takes to carry a large input there is not the test's.
4. A test that can't be ended when its time is up has used up its time; its container is thrown away.
5. While an answer is waited for, a link between the two sides of a pair is carried as well (see `inside/link`).
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

# What the agent has to take an order.
SEND_SECONDS = 10.0
# And for each so many bytes of an input a second more: what is taken slower than that isn't taken at all.
SLOWEST = 4 << 20
# What a test whose time is up has to be ended; less than what `RunnerClient` waits for that.
END_SECONDS = 0.8 * GRACE_SECONDS
# What the other side has to read of what this one wrote before it ended.
LINGER_SECONDS = 0.5


class RunnerChannel:
    """Speaks with one runner, number `number` of `stream`; `group` counts what the whole container uses.

    `make_room` is told the size of each input, before it is sent.
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
        # Whether the last test wrote anything; whether it could not be ended when its time was up.
        self.touched = self.lost = False
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
        """Hand over a test: its nonce, and its files, one of which may be a link. Raises OSError."""
        self._nonce = buffers[1]
        self._fds = list(ancillary[0][2])
        linked = len(self._fds) > wire.LINK
        if linked:
            self._link = Link(socket.socket(fileno=os.dup(self._fds[wire.LINK])), self._say)
        self._expired = 0.0
        self.make_room(files.size_of(self._fds[0]))
        data = bytes([linked]) + wire.read_all(self._fds[0])
        self._used = self._in_all()
        patience = SEND_SECONDS + len(data) / SLOWEST
        self._say(frames.TEST, data, patience)
        if len(data) > frames.LARGE_INPUT:
            self._await_held(patience)
            self._used = self._in_all()

    def recv(self, _most: int) -> bytes:
        """The runner's next word; empty where it is gone. Raises BlockingIOError where none comes in time."""
        deadline = time.monotonic() + self._seconds
        try:
            while True:
                answer = self._answer(deadline)
                if answer is not None:
                    return answer
                if time.monotonic() >= deadline:
                    return self._give_up()
        except StreamLost as error:
            os.pwrite(self.errors, f"the container was lost: {error}".encode(), 0)
            return b""

    def expire(self) -> None:
        """From now on the test has `END_SECONDS` to end; may be called from any thread."""
        self._expired = time.monotonic()

    def close(self) -> None:
        """Let go of a link."""
        link, self._link = self._link, None
        if link is not None and link.end is not None:
            link.end.close()

    def _await_held(self, patience: float) -> None:
        """Wait until a large input is where its test can read it; raises OSError where the runner is gone."""
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
        raise OSError("the container doesn't take an input")

    def _answer(self, deadline: float) -> bytes | None:
        """What the next frame means to who waits, if it comes soon and means anything to him."""
        frame = self.stream.next(deadline, also=self._waiting())
        self._carry()
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
            self._link.hear(kind, data)
        return None

    def _result(self, data: bytes) -> bytes:
        """Put the outputs where they are expected; the result as a runner would give it."""
        if len(data) < frames.OUTCOME.size:
            raise StreamLost("it speaks in another way than an agent")
        head = frames.OUTCOME.unpack_from(data)
        status, cpu, wall, peak, processes, self.touched, *sizes, kept, _ = head
        body = data[frames.OUTCOME.size :]
        for fd, size, text in zip(self._fds[1:3], sizes, (body[:kept], body[kept:]), strict=True):
            whole = min(size, largest_file(self.limits))
            os.ftruncate(fd, whole)
            # Of stdout the beginning came, of stderr the end.
            os.pwrite(fd, text[:whole], 0 if fd == self._fds[1] else max(0, whole - len(text)))
        if self.group is not None:
            cpu = self._in_all() - self._used
        self._linger()
        return wire.RESULT.pack(self._nonce, status, cpu, wall, peak, processes)

    def _give_up(self) -> bytes:
        """What is said where nothing comes in time; raises BlockingIOError while the test may still run."""
        if not self._expired or time.monotonic() < self._expired + END_SECONDS:
            raise BlockingIOError
        self.touched = self.lost = True
        return wire.RESULT.pack(self._nonce, SIGKILL_STATUS, self._in_all() - self._used, self._seconds, 0, 1)

    def _in_all(self) -> float:
        """CPU seconds of the container so far."""
        return self.group.cpu_seconds() if self.group is not None else 0.0

    def _waiting(self) -> dict[int, int]:
        """What a link waits for."""
        link = self._link
        if link is None or link.end is None or not (link.reads or link.writes):
            return {}
        return {link.end.fileno(): select.POLLIN * link.reads | select.POLLOUT * link.writes}

    def _carry(self) -> None:
        """Carry what can be carried."""
        if self._link is not None:
            self._link.write()
            if self._link.reads:
                self._link.read()

    def _linger(self) -> None:
        """Give the other side what this one wrote before it ended."""
        link = self._link
        if link is not None:
            deadline = time.monotonic() + LINGER_SECONDS
            while link.end is not None and link.pending and time.monotonic() < deadline:
                select.select([], [link.end], [], LINGER_SECONDS)
                link.write()
        self.close()

    def _say(self, kind: bytes, data: bytes, patience: float = SEND_SECONDS) -> None:
        """Send the runner a frame; raises OSError where nobody takes it in so many seconds."""
        try:
            self.stream.send(kind, self.number, data, seconds=patience)
        except StreamLost as error:
            raise OSError(str(error)) from error


def largest_frame(limits: Limits) -> int:
    """The most bytes that an agent has to say at once."""
    return frames.OUTCOME.size + limits.output_bytes + STDERR_KEPT + frames.CHUNK
