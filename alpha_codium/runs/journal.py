"""An append-only file of JSON lines that survives being killed.

1. A line is written with one call and synced before `append` returns.
2. A line that was cut off by a kill has no line end; it is dropped, and that is said, when the journal is opened again,
   and so never joins with the next one. Nor does one for which the disk had no room: it is taken back.
3. Whatever else stands in the file is somebody else's: it is an error that names the line, and nothing is written.
"""

import contextlib
import json
import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

from loguru import logger

from alpha_codium.errors import UserError

T = TypeVar("T")
# What a kill leaves of a line begins as one, and what a power cut leaves is zeros.
TORN = (b"{", b"\0")


class JournalError(UserError):
    """The file can't be read or written, or a line in it is none of ours: it was changed by somebody else."""


class Journal:
    """The journal at `path`; a context manager, used from any thread."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._fd: int | None = None
        self._lock = threading.Lock()

    def __enter__(self) -> Self:
        """Open for appending; cut off a torn last line. Raises JournalError where there is no such file to be had."""
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
        """All whole entries, in order; raises JournalError where the file can't be read, or a line of it is broken."""
        return self.read(dict)

    def read(self, parse: Callable[[dict[str, Any]], T]) -> Iterator[T]:
        """What `parse` makes of each whole entry, in order.

        Raises JournalError as `entries` does, and where an entry isn't what `parse` takes.
        """
        return (parsed for _, parsed in self.placed(parse))

    def placed(self, parse: Callable[[dict[str, Any]], T]) -> Iterator[tuple[int, T]]:
        """The same, each behind the place in the file where its line begins, in bytes."""
        place = 0
        for number, line in enumerate(self._lines(), 1):
            if not line.endswith(b"\n"):
                return
            yield place, self._parsed(line, number, parse)
            place += len(line)

    def _parsed(self, line: bytes, number: int, parse: Callable[[dict[str, Any]], T]) -> T:
        where = f"{self.path}, line {number}, was changed"
        mend = "delete the line, and what it told is done again"
        try:
            entry = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise JournalError(f"{where}: it is no JSON ({error}); {mend}") from error
        if not isinstance(entry, dict):
            raise JournalError(f"{where}: it is no JSON object; {mend}")
        try:
            return parse(entry)
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            raise JournalError(f"{where}: it is no entry of such a run ({error!r}); {mend}") from error

    def _lines(self) -> Iterator[bytes]:
        try:
            with self.path.open("rb") as lines:
                yield from lines
        except FileNotFoundError as error:
            if self.path.is_symlink():
                raise self._unusable(error) from error
        except OSError as error:
            raise self._unusable(error) from error

    def _cut_torn_line(self, fd: int) -> None:
        whole, torn = 0, b""
        for line in self._lines():
            whole, torn = (whole + len(line), b"") if line.endswith(b"\n") else (whole, line)
        if torn and not torn.startswith(TORN):
            raise JournalError(
                f"{self.path} was changed: its last {len(torn)} bytes are no line of a journal; delete them"
            )
        if torn:
            logger.warning("{}: its last line was cut off ({} bytes): what it told is done again", self.path, len(torn))
            os.ftruncate(fd, whole)
        os.lseek(fd, whole, os.SEEK_SET)

    def _unusable(self, error: OSError) -> JournalError:
        return JournalError(
            f"{self.path} can't be used: {error.strerror}; mend it, or move it away, and what it told is done again"
        )


def _write(fd: int, line: bytes) -> None:
    left = memoryview(line)
    while left:
        left = left[os.write(fd, left) :]
    os.fsync(fd)
