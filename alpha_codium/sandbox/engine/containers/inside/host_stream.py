"""An agent's side of the frames: stdin and stdout of its process."""

from __future__ import annotations

import os

from alpha_codium.sandbox.engine.containers.inside import frames
from alpha_codium.sandbox.engine.inside import wire

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


class HostStream:
    """The connection to the host; when it ends, so does this process."""

    def __init__(self) -> None:
        """Take over stdin and stdout, and put /dev/null in their place."""
        self.reader, self.writer = os.dup(0), os.dup(1)
        null = os.open(os.devnull, os.O_RDWR)
        os.dup2(null, 0)
        os.dup2(null, 1)
        os.close(null)

    def receive(self) -> tuple[bytes, int, bytes]:
        """Return the next frame: its kind, its candidate's number, its data."""
        kind, number, size = self.begin()
        return kind, number, self.take(size)

    def begin(self) -> tuple[bytes, int, int]:
        """Return a frame's kind, its candidate's number, and the size of its data, which must be read next."""
        return frames.HEADER.unpack(self.take(frames.HEADER.size))

    def send(self, kind: bytes, number: int, *parts: bytes) -> None:
        """Send a frame."""
        data = b"".join([frames.HEADER.pack(kind, number, sum(map(len, parts))), *parts])
        try:
            wire.write_all(self.writer, data)
        except OSError:
            os._exit(0)

    def take(self, size: int) -> bytes:
        """Read `size` bytes."""
        return b"".join(self.chunks(size))

    def chunks(self, size: int) -> Iterator[bytes]:
        """Read `size` bytes, in chunks as they come."""
        while size:
            chunk = os.read(self.reader, min(size, 1 << 20))
            if not chunk:
                os._exit(0)
            size -= len(chunk)
            yield chunk
