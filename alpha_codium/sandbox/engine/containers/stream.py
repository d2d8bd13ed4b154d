"""The host's side of the frames of `inside/frames`, with deadlines for reading and writing.

1. While it writes, it also reads, unless another thread does: an agent that sends much data doesn't read meanwhile.
2. Once closed, it no longer uses its descriptors, whose numbers may have been reused.
"""

import os
import select
import threading
import time

from alpha_codium.sandbox.engine.containers.inside import frames

Frame = tuple[bytes, int, bytes]
CHUNK = 1 << 20
# Seconds that a thread waits to write before it tries again to read, if another thread is reading.
PAUSE_SECONDS = 0.02


class StreamLost(ConnectionError):
    """The container ended, stopped answering, or sent a malformed frame."""


class AgentStream:
    """Frames to and from a container, by the descriptors of its stdin and stdout, which it doesn't own.

    Several threads may write, and one may read. `largest` is the most bytes that a frame may hold.
    """

    def __init__(self, writer: int, reader: int, largest: int) -> None:
        self.writer, self.reader, self.largest = writer, reader, largest
        self._writing, self._reading = threading.Lock(), threading.Lock()
        self._buffer = bytearray()
        self._ended = self._closed = False
        for fd in (writer, reader):
            os.set_blocking(fd, False)

    def send(self, kind: bytes, number: int, *parts: bytes, seconds: float) -> None:
        """Send a frame; raises StreamLost if it isn't read in time."""
        self.write(b"".join([frames.HEADER.pack(kind, number, sum(map(len, parts))), *parts]), seconds=seconds)

    def write(self, data: bytes, *, seconds: float) -> None:
        """Write bytes, which need not be a frame; raises StreamLost if they aren't read in time."""
        deadline = time.monotonic() + seconds
        if not self._writing.acquire(timeout=seconds):
            raise StreamLost("it doesn't read any more")
        try:
            view = memoryview(data)
            while view:
                if self._closed:
                    raise StreamLost("it was closed")
                try:
                    view = view[os.write(self.writer, view) :]
                except BlockingIOError:
                    self._wait(deadline)
                except OSError as error:
                    raise StreamLost("it has ended") from error
        finally:
            self._writing.release()

    def close(self) -> None:
        """Forbid further writing; waits for a write in another thread."""
        with self._writing:
            self._closed = True

    def next(self, deadline: float, *, also: "dict[int, int] | None" = None) -> Frame | None:
        """Return the next frame; None when the time is up, or when one of `also` (events by descriptor) is ready.

        Raises StreamLost.
        """
        if not self._reading.acquire(timeout=max(0.0, deadline - time.monotonic())):
            return None
        try:
            while (frame := self._parse()) is None:
                if self._ended:
                    raise StreamLost("it has ended")
                if not self._await_more(deadline, also or {}):
                    return None
            return frame
        finally:
            self._reading.release()

    def _await_more(self, deadline: float, also: dict[int, int]) -> bool:
        """Read available data; return whether there was any before the deadline and before one of `also` was ready."""
        poll = select.poll()
        poll.register(self.reader, select.POLLIN)
        for fd, events in also.items():
            poll.register(fd, events)
        ready = poll.poll(max(0.0, deadline - time.monotonic()) * 1000)
        if all(fd != self.reader for fd, _ in ready):
            return False
        self._read()
        return True

    def _wait(self, deadline: float) -> None:
        """Wait until more can be written, and read meanwhile unless another thread does."""
        left = deadline - time.monotonic()
        if left <= 0:
            raise StreamLost("it doesn't read any more")
        poll = select.poll()
        poll.register(self.writer, select.POLLOUT)
        if not self._reading.acquire(blocking=False):
            poll.poll(min(left, PAUSE_SECONDS) * 1000)
            return
        try:
            if len(self._buffer) <= self.largest and not self._ended:
                poll.register(self.reader, select.POLLIN)
            if any(fd == self.reader for fd, _ in poll.poll(left * 1000)):
                self._read()
        finally:
            self._reading.release()

    def _read(self) -> None:
        try:
            chunk = os.read(self.reader, CHUNK)
        except BlockingIOError:
            return
        self._ended = self._ended or not chunk
        self._buffer += chunk

    def _parse(self) -> Frame | None:
        if len(self._buffer) < frames.HEADER.size:
            return None
        kind, number, size = frames.HEADER.unpack_from(self._buffer)
        if size > self.largest:
            raise StreamLost("it sent a malformed frame")
        end = frames.HEADER.size + size
        if len(self._buffer) < end:
            return None
        data = bytes(self._buffer[frames.HEADER.size : end])
        del self._buffer[:end]
        return kind, number, data
