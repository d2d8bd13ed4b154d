"""A driver's input of several texts, and files that drivers write. Standard library only, CPython 3.9 and later."""

import os
from collections.abc import Sequence


def pack(texts: "Sequence[str]") -> str:
    """Return a line with the sizes of `texts` in bytes of UTF-8, followed by the texts."""
    sizes = [len(text.encode("utf-8", "replace")) for text in texts]
    return " ".join(map(str, sizes)) + "\n" + "".join(texts)


def unpack(packed: bytes) -> "list[bytes]":
    """Return the texts; raises ValueError if their sizes don't add up."""
    line, _, rest = packed.partition(b"\n")
    sizes = [int(size) for size in line.split()]
    if sum(sizes) != len(rest) or min(sizes, default=0) < 0:
        raise ValueError(f"{len(rest)} bytes of texts whose sizes are {sum(sizes)} bytes")
    texts, at = [], 0
    for size in sizes:
        texts.append(rest[at : at + size])
        at += size
    return texts


def write_file(name: bytes, data: bytes) -> None:
    """Write a file into the current folder, and make its folders; a name that ends in / is a folder."""
    folder, _, last = name.rpartition(b"/")
    os.makedirs(folder or b".", exist_ok=True)  # noqa: PTH103 - pathlib takes long to import
    if last:
        with open(name, "wb") as file:  # noqa: PTH123
            file.write(data)
