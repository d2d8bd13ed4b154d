"""The host's side of the frames of `inside/frames`: what is written waits for nobody for ever, nor does what is read.

While it writes it reads, too: an agent that has much to say doesn't listen until it is said.
"""

import os
import select
import threading
import time

from alpha_codium.sandbox.oci.inside import frames

Frame = tuple[bytes, int, bytes]
CHUNK = 1 << 20


class StreamLost(Exception):
    """The container ended, stopped answering, or speaks in another way than an agent."""


class Stream:
    """Frames to and from a container, by the descriptors of its stdin and stdout, which it doesn't own.

    One thread reads; several may write. `largest` is the most bytes that a frame may hold.
    """

    def __init__(self, writer: int, reader: int, largest: int) -> None:
        self.writer, self.reader, self.largest = writer, reader, largest
        self._lock = threading.Lock()
        self._buffer = bytearray()
        self._ended = False
        for fd in (writer, reader):
            os.set_blocking(fd, False)

    def send(self, kind: bytes, number: int, *parts: bytes, seconds: float) -> None:
        """Send a frame; raises StreamLost where it isn't taken in time."""
        data = b"".join([frames.HEADER.pack(kind, number, sum(map(len, parts))), *parts])
        deadline = time.monotonic() + seconds
        if not self._lock.acquire(timeout=seconds):
            raise StreamLost("it takes nothing any more")
        try:
            self.write(data, deadline)
        finally:
            self._lock.release()

    def write(self, data: bytes, deadline: float) -> None:
        """Write bytes that are no frame, while nobody else writes."""
        view = memoryview(data)
        while view:
            try:
                view = view[os.write(self.writer, view) :]
            except BlockingIOError:
                self._wait(self.writer, deadline)
            except OSError as error:
                raise StreamLost("it has ended") from error

    def next(self, deadline: float, *, also: "dict[int, int] | None" = None) -> Frame | None:
        """The next frame, or None when the time is up, or before that when one of `also` (as for poll) is ready.

        Raises StreamLost.
        """
        while (frame := self._parse()) is None:
            if self._ended:
                raise StreamLost("it has ended")
            poll = select.poll()
            poll.register(self.reader, select.POLLIN)
            for fd, events in (also or {}).items():
                poll.register(fd, events)
            ready = poll.poll(max(0.0, deadline - time.monotonic()) * 1000)
            if any(fd == self.reader for fd, _ in ready):
                self._read()
            else:
                return None
        return frame

    def _wait(self, fd: int, deadline: float) -> None:
        left = deadline - time.monotonic()
        if left <= 0:
            raise StreamLost("it takes nothing any more")
        poll = select.poll()
        poll.register(fd, select.POLLOUT)
        if len(self._buffer) <= self.largest and not self._ended:
            poll.register(self.reader, select.POLLIN)
        if any(ready == self.reader for ready, _ in poll.poll(left * 1000)):
            self._read()

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
            raise StreamLost("it speaks in another way than an agent")
        end = frames.HEADER.size + size
        if len(self._buffer) < end:
            return None
        data = bytes(self._buffer[frames.HEADER.size : end])
        del self._buffer[:end]
        return kind, number, data
