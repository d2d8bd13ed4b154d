"""Several texts as one, for a sandbox that hands a program one input: first their sizes, then one after another.

Nothing that stands in a text can be taken for its end. Driver-side code reads it too: CPython 3.9 and later.
"""

TYPE_CHECKING = False  # as in typing, which takes long to import
if TYPE_CHECKING:
    from collections.abc import Sequence


def pack(texts: "Sequence[str]") -> str:
    """The sizes of `texts` in bytes of UTF-8, in one line, and the texts."""
    sizes = [len(text.encode("utf-8", "replace")) for text in texts]
    return " ".join(map(str, sizes)) + "\n" + "".join(texts)


def unpack(packed: bytes) -> "list[bytes]":
    """The texts; raises ValueError where they aren't as long as they say."""
    line, _, rest = packed.partition(b"\n")
    sizes = [int(size) for size in line.split()]
    if sum(sizes) != len(rest) or min(sizes, default=0) < 0:
        raise ValueError(f"{len(rest)} bytes came where {sum(sizes)} were sent")
    texts, at = [], 0
    for size in sizes:
        texts.append(rest[at : at + size])
        at += size
    return texts
