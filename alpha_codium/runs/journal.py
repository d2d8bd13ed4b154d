"""An append-only file of JSON lines that survives a kill.

1. A line is written and synced before `append` returns. If the disk is full, the partial line is removed.
2. A line that was cut off by a kill has no line end. It is removed, with a warning, when the journal is opened again,
   so that it never joins with the next one.
3. Anything else that isn't a line of the journal is an error that names the line, and nothing is written.
"""

import contextlib
import json
import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Self, TypeVar

from loguru import logger

from alpha_codium.errors import UserError

T = TypeVar("T")
# The beginning of what a kill leaves of a line; a power cut leaves zeros.
TORN = (b"{", b"\0")


class JournalError(UserError):
    """The file can't be read or written, or holds a line that isn't the journal's."""


class Journal:
    """The journal in the file `path`; a context manager, used from any thread."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._fd: int | None = None
        self._lock = threading.Lock()

    def __enter__(self) -> Self:
        """Open for appending and cut off a torn last line; raises JournalError if the file can't be used."""
        try:
            fd = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except OSError as error:
            raise self._unusable(error) from error
        try:
            self._cut_torn_line(fd)
        except BaseException:
            os.close(fd)
            raise
        self._fd = fd
        return self

    def __exit__(self, *_exc: object) -> None:
        with self._lock:  # another thread may be writing: the descriptor's number may be reused at once
            if self._fd is not None:
                os.close(self._fd)
                self._fd = None

    def append(self, entry: dict[str, Any]) -> None:
        """Append an entry, which is on the disk when this returns; raises JournalError if it can't be written."""
        line = memoryview(json.dumps(entry, ensure_ascii=True).encode() + b"\n")
        with self._lock:
            assert self._fd is not None, "the journal is not open"
            end = os.lseek(self._fd, 0, os.SEEK_CUR)
            try:
                while line:
                    line = line[os.write(self._fd, line) :]
                os.fsync(self._fd)
            except OSError as error:
                with contextlib.suppress(OSError):
                    os.lseek(self._fd, end, os.SEEK_SET)
                    os.ftruncate(self._fd, end)
                raise JournalError(f"{self.path} can't be written: {error.strerror}") from error

    def entries(self) -> Iterator[dict[str, Any]]:
        """All complete entries, in order; raises JournalError if the file can't be read or a line is invalid."""
        return self.read(dict)

    def read(self, parse: Callable[[dict[str, Any]], T]) -> Iterator[T]:
        """The results of `parse` for all complete entries, in order.

        Raises JournalError as `entries` does, and if `parse` rejects an entry.
        """
        return (parsed for _, parsed in self.placed(parse))

    def placed(self, parse: Callable[[dict[str, Any]], T]) -> Iterator[tuple[int, T]]:
        """Like `read`, each result with the offset of its line in bytes."""
        offset = 0
        for number, line in enumerate(self._lines(), 1):
            if not line.endswith(b"\n"):
                return
            try:
                entry = json.loads(line)
                if not isinstance(entry, dict):
                    raise TypeError("not a JSON object")
                parsed = parse(entry)
            except (LookupError, TypeError, ValueError, AttributeError, RecursionError) as error:
                raise JournalError(
                    f"{self.path}, line {number}, was changed: it isn't an entry of this run ({error!r}); delete the "
                    "line, and the work it recorded will be repeated"
                ) from error
            yield offset, parsed
            offset += len(line)

    def _lines(self) -> Iterator[bytes]:
        try:
            with self.path.open("rb") as lines:
                yield from lines
        except OSError as error:
            if isinstance(error, FileNotFoundError) and not self.path.is_symlink():
                return
            raise self._unusable(error) from error

    def _cut_torn_line(self, fd: int) -> None:
        end, torn = 0, b""
        for line in self._lines():
            end, torn = (end + len(line), b"") if line.endswith(b"\n") else (end, line)
        if torn and not torn.startswith(TORN):
            raise JournalError(
                f"{self.path} was changed: its last {len(torn)} bytes aren't a line of the journal; delete them"
            )
        if torn:
            logger.warning(
                "{}: the last line was cut off ({} bytes): the work it recorded will be repeated", self.path, len(torn)
            )
            os.ftruncate(fd, end)
        os.lseek(fd, end, os.SEEK_SET)

    def _unusable(self, error: OSError) -> JournalError:
        return JournalError(
            f"{self.path} can't be used: {error.strerror}; repair it, or move it away, and the work it recorded will "
            "be repeated"
        )
