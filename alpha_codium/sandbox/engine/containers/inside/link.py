"""One end of a link, carried through the host: what a program writes goes out in frames, and the other way round.

A chunk is read when the one before was taken at the far end, and no more is held: who doesn't read, isn't written to.
"""

from __future__ import annotations

import _socket

from alpha_codium.sandbox.engine.containers.inside import frames

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


class Link:
    """Carries between `end` (a stream socket, ours) and frames; `say` sends one, of a kind, with bytes."""

    def __init__(self, end: _socket.socket, say: Callable[[bytes, bytes], None]) -> None:
        self.end: _socket.socket | None = end
        self.say = say
        self.pending = b""
        self.may_read, self.closing = True, False
        end.setblocking(False)

    @property
    def reads(self) -> bool:
        """Whether it waits for something to read."""
        return self.end is not None and self.may_read

    @property
    def writes(self) -> bool:
        """Whether it waits until it can write."""
        return self.end is not None and bool(self.pending)

    def hear(self, kind: bytes, data: bytes) -> None:
        """Obey a frame of the far end."""
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
        """Write what can be written; say so when it is all."""
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
            self.say(frames.TAKEN, b"")
        if self.closing:
            self.close()

    def read(self) -> bool:
        """Send one chunk of what there is; False where there is nothing now."""
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
        self.say(frames.LINK, data)
        return True

    def drain(self) -> None:
        """Send all that is left of a program that has ended, which isn't more than a socket holds, and close."""
        while self.read():
            pass
        self.close()

    def close(self) -> None:
        """Close this end, and say so; again is harmless."""
        end, self.end, self.pending = self.end, None, b""
        if end is not None:
            end.close()
            self.say(frames.CLOSED, b"")
