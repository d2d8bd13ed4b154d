"""The text of a recorded request, which each program reads, and with which the requests of assertions are compared.

A message of plain values is written by `marshal`, ten times as fast as by `codec`, after an `m`. Plain are exact types
of which equal marshalled bytes mean equal values. `marshal` writes bytes as it writes other buffers, and sets in any
order: these aren't plain, and neither is what is nested deep.
"""

import marshal
from typing import Any

from alpha_codium.judge.codec import Unencodable, decode, encode, unreferred

PLAIN = frozenset((int, float, complex, bool, str, type(None)))
# A version without references, in which a value doesn't depend on what else refers to it.
VERSION = 2
DEEPEST = 20


def request_text(message: "tuple[Any, ...]") -> str:
    """Return the text of a message; raises Unencodable."""
    return "m" + marshal.dumps(message, VERSION).hex() if is_plain(message) else encode(message, unreferred)


def message_in(text: str) -> "tuple[Any, ...]":
    """Return the message in a text of `request_text`."""
    return marshal.loads(bytes.fromhex(text[1:])) if text.startswith("m") else decode(text)  # noqa: S302 - our own


def is_text_of(text: str, message: "tuple[Any, ...]") -> bool:
    """Whether a text is that of a message."""
    try:
        if text.startswith("m"):
            return text[1:] == marshal.dumps(message, VERSION).hex()
        return text == encode(message, unreferred)
    except (ValueError, Unencodable):
        return False


def is_plain(value: "Any", depth: int = DEEPEST) -> bool:
    """Whether equal marshalled bytes mean equal values."""
    kind = type(value)
    if kind in PLAIN:
        return True
    if depth == 0:
        return False
    if kind is dict:
        return all(is_plain(key, depth - 1) and is_plain(item, depth - 1) for key, item in value.items())
    return kind in (list, tuple) and all(is_plain(each, depth - 1) for each in value)
