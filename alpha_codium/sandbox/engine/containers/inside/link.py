"""One end of a link between the two sides of a pair, carried through the host in frames.

A chunk is read only after the previous one was written at the far end, so at most one is buffered.
"""

from __future__ import annotations

import _socket
import select

from alpha_codium.sandbox.engine.containers.inside import frames

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


class Link:
    """Carries data between `end`, a stream socket that it owns, and frames, which `send` sends by kind and data."""

    def __init__(self, end: _socket.socket, send: Callable[[bytes, bytes], None]) -> None:
        self.end: _socket.socket | None = end
        self.send = send
        self.pending = b""
        self.may_read, self.closing = True, False
        end.setblocking(False)

    def events(self) -> dict[int, int]:
        """Return what to poll for: events by descriptor."""
        events = select.POLLIN * self.may_read | select.POLLOUT * bool(self.pending)
        return {self.end.fileno(): events} if self.end is not None and events else {}

    def carry(self) -> None:
        """Write and read as much as possible without blocking."""
        self.write()
        if self.may_read:
            self.read()

    def receive(self, kind: bytes, data: bytes) -> None:
        """Handle a frame of the far end."""
        if self.end is None:
            return
        if kind == frames.TAKEN:
            self.may_read = True
        elif kind == frames.LINK:
            self.pending += data
            self.write()
        elif kind == frames.CLOSED:
            self.closing = True
            self.write()

    def write(self) -> None:
        """Write what can be written without waiting, and report when that is all."""
        if self.end is None:
            return
        if self.pending:
            try:
                self.pending = self.pending[self.end.send(self.pending) :]
            except BlockingIOError:
                return
            except OSError:
                self.close()
                return
            if self.pending:
                return
            self.send(frames.TAKEN, b"")
        if self.closing:
            self.close()

    def read(self) -> bool:
        """Send one chunk; return False if there is none now."""
        if self.end is None:
            return False
        try:
            data = self.end.recv(frames.CHUNK)
        except BlockingIOError:
            return False
        except OSError:
            data = b""
        if not data:
            self.close()
            return False
        self.may_read = False
        self.send(frames.LINK, data)
        return True

    def drain(self) -> None:
        """Send what the ended program left in the socket, and close."""
        while self.read():
            pass
        self.close()

    def close(self) -> None:
        """Close this end and report it; may be called again."""
        end, self.end, self.pending = self.end, None, b""
        if end is not None:
            end.close()
            self.send(frames.CLOSED, b"")
