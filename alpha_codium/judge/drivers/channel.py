"""Messages over the channel of a pair: values, each behind its length."""

import os

from alpha_codium.judge.codec import MAX_SIZE, Malformed, decode, encode

TYPE_CHECKING = False  # as in typing, which takes long to import
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

FD = 3
DIGITS = 8
ENDED = "the program has ended"


class Gone(Exception):
    """The other side has closed the channel."""


def send(value: "Any", refer: "Callable[[Any], int | None] | None" = None) -> None:
    """Send one value; raises Unencodable, and Gone where nobody listens any more."""
    send_text(encode(value, refer))


def send_text(text: str) -> None:
    """Send a value that is encoded already; raises Gone where nobody listens any more."""
    message = memoryview(b"%0*x%s" % (DIGITS, len(text), text.encode("ascii")))
    try:
        while message:
            message = message[os.write(FD, message) :]
    except OSError:
        raise Gone(ENDED) from None


def receive(referred: "Callable[[int], Any] | None" = None) -> "Any":
    """The next value; raises Gone at the end of the channel, Malformed for what no `send` sent."""
    try:
        return decode(_read(_size(_read(DIGITS))).decode("ascii"), referred=referred)
    except UnicodeDecodeError:
        raise Malformed("a message that isn't ASCII") from None
    except OSError:
        raise Gone(ENDED) from None


def _size(digits: bytes) -> int:
    try:
        size = int(digits, 16)
    except ValueError:
        raise Malformed("a message without its size") from None
    if not 0 <= size <= MAX_SIZE:
        raise Malformed("a message of an impossible size")
    return size


def _read(size: int) -> bytes:
    chunks = []
    while size:
        chunk = os.read(FD, min(size, 1 << 20))
        if not chunk:
            raise Gone(ENDED)
        chunks.append(chunk)
        size -= len(chunk)
    return b"".join(chunks)
