"""An append-only file of JSON lines that survives being killed.

A line is written with one call and synced before `append` returns. A line that was cut off by a kill has no line
end; it is dropped when the journal is opened again, and so never joins with the next one. Nor does one for which the
disk had no room: it is taken back.
"""

import contextlib
import json
import os
import threading
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from alpha_codium.errors import UserError


class JournalError(UserError):
    """A line can't be written, or one in the middle is no JSON: the file was changed by somebody else."""


class Journal:
    """The journal at `path`; a context manager, used from any thread."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._fd: int | None = None
        self._lock = threading.Lock()

    def __enter__(self) -> Self:
        """Open for appending; cut off a torn last line."""
        self._fd = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        whole = self._size_of_whole_lines()
        os.ftruncate(self._fd, whole)
        os.lseek(self._fd, whole, os.SEEK_SET)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the file, after a line that a thread is writing: its number may be another file's the next moment."""
        with self._lock:
            if self._fd is not None:
                os.close(self._fd)
                self._fd = None

    def append(self, entry: dict[str, Any]) -> None:
        """Add one entry; when this returns it is on the disk. Raises JournalError where it can't be written."""
        line = json.dumps(entry, ensure_ascii=True).encode() + b"\n"
        with self._lock:
            assert self._fd is not None, "the journal is not open"
            end = os.lseek(self._fd, 0, os.SEEK_CUR)
            try:
                _write(self._fd, line)
            except OSError as error:
                with contextlib.suppress(OSError):
                    os.lseek(self._fd, end, os.SEEK_SET)
                    os.ftruncate(self._fd, end)
                raise JournalError(f"{self.path} can't be written: {error.strerror}") from error

    def entries(self) -> Iterator[dict[str, Any]]:
        """All whole entries, in order; raises JournalError where a line inside is broken."""
        if not self.path.exists():
            return
        with self.path.open("rb") as lines:
            for number, line in enumerate(lines, 1):
                if not line.endswith(b"\n"):
                    return
                try:
                    yield json.loads(line)
                except ValueError as error:
                    said = f"{self.path}, line {number}, was changed: it is no JSON ({error}); delete the line"
                    raise JournalError(
                        f"{said}, and its sample is run again from the answers that were kept"
                    ) from error

    def _size_of_whole_lines(self) -> int:
        size = 0
        with self.path.open("rb") as lines:
            for line in lines:
                size += len(line) if line.endswith(b"\n") else 0
        return size


def _write(fd: int, line: bytes) -> None:
    left = memoryview(line)
    while left:
        left = left[os.write(fd, left) :]
    os.fsync(fd)
