"""Messages between the host and its child: a header of JSON and raw bytes after it.

A message is two lengths of four bytes, the header, then the parts, whose sizes are in the header under `sizes`. JSON
and raw bytes are safe to parse, although answers contain output of hostile programs.
"""

from __future__ import annotations

import json
import struct

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any, BinaryIO

LENGTHS = struct.Struct(">II")


def pack(header: dict[str, Any], parts: Sequence[bytes] = ()) -> bytes:
    """Return a message as bytes."""
    blob = b"".join(parts)
    text = json.dumps({**header, "sizes": [len(part) for part in parts]}).encode()
    return LENGTHS.pack(len(text), len(blob)) + text + blob


def unpack(text: bytes, blob: bytes) -> tuple[dict[str, Any], list[bytes]]:
    """Return the header of a message and its parts."""
    header = json.loads(text)
    return header, list(_cut(blob, header.pop("sizes")))


def _cut(blob: bytes, sizes: Sequence[int]) -> Iterator[bytes]:
    start = 0
    for size in sizes:
        yield blob[start : start + size]
        start += size


def read(stream: BinaryIO) -> tuple[dict[str, Any], list[bytes]] | None:
    """Return the next message of a blocking stream, None at its end."""
    lengths = stream.read(LENGTHS.size)
    if len(lengths) < LENGTHS.size:
        return None
    first, second = LENGTHS.unpack(lengths)
    return unpack(stream.read(first), stream.read(second))
