"""Writing files into the current folder, in drivers. Standard library only, CPython 3.9 and later."""

import os


def write_file(name: bytes, data: bytes) -> None:
    """Write a file into the current folder, and make its folders; a name that ends in / is a folder."""
    folder, _, last = name.rpartition(b"/")
    os.makedirs(folder or b".", exist_ok=True)  # noqa: PTH103 - pathlib takes long to import
    if last:
        with open(name, "wb") as file:  # noqa: PTH123
            file.write(data)
