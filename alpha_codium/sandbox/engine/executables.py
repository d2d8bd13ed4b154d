"""Executables in memory: the most recently used ones are kept, so that running a program again doesn't copy it again.

Nobody can write to them. Their mode keeps programs that run as another user from changing their times, with which a
test could pass a message to the next one.
"""

import os
from pathlib import Path

from alpha_codium.sandbox.engine import files

# How many programs are kept at most, and how large, in bytes, each may be.
MOST_KEPT = 16
LARGEST_KEPT = 4 << 20


class Executable:
    """A file in memory, sealed, which is closed when nothing refers to it any more."""

    fd = -1

    def __init__(self, data: bytes) -> None:
        self.fd = files.input_file(data)
        os.fchmod(self.fd, 0o555)

    def __del__(self) -> None:
        if self.fd >= 0:
            os.close(self.fd)

    def __len__(self) -> int:
        return files.size_of(self.fd)

    def __bytes__(self) -> bytes:
        return files.beginning(self.fd, len(self), len(self))


def executable_at(path: Path) -> Executable:
    """Read an executable; raises OSError."""
    return Executable(path.read_bytes())


class Executables:
    """The executables that the programs of one slot used last. Used by one thread at a time."""

    def __init__(self) -> None:
        self._kept: dict[Path, Executable] = {}

    def of(self, path: Path) -> Executable:
        """Return the executable that is stored at `path`, where it never changes; raises OSError."""
        found = self._kept.pop(path, None) or executable_at(path)
        if len(found) <= LARGEST_KEPT:
            self._kept[path] = found
        if len(self._kept) > MOST_KEPT:
            del self._kept[next(iter(self._kept))]
        return found

    def close(self) -> None:
        """Keep none any longer."""
        self._kept.clear()
