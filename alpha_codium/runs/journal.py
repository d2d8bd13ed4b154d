"""An append-only file of JSON lines that stays valid if the process is killed.

1. Lines are written and synced before `append` returns. If the disk is full, what was written of them is removed.
2. If the process is killed while it writes a line, the line has no line end. It is removed, with a warning, when the
   journal is opened again.
3. Any other invalid line is an error that names the line, and nothing is written.
4. Lines of verdicts have the digest of the judge as `judged_by`. Those of another judge are kept, but not read.
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
from alpha_codium.wording import counted

T = TypeVar("T")
# Possible beginnings of a partial line; after a power cut it may consist of zeros.
PARTIAL = (b"{", b"\0")


class JournalError(UserError):
    """The file can't be read or written, or contains an invalid line."""


class Journal:
    """The journal in the file `path`; a context manager that can be used from any thread.

    `judged_by` is the digest of the judge that decides about the entries; "" if they aren't verdicts.
    """

    def __init__(self, path: Path, judged_by: str = "") -> None:
        self.path, self.judged_by = path, judged_by
        self._fd: int | None = None
        self._lock = threading.Lock()

    def __enter__(self) -> Self:
        """Open for appending, and remove a partial last line; raises JournalError if the file can't be used."""
        try:
            fd = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except OSError as error:
            raise self._unusable(error) from error
        try:
            self._remove_partial_line(fd)
        except BaseException:
            os.close(fd)
            raise
        self._fd = fd
        return self

    def __exit__(self, *_exc: object) -> None:
        with self._lock:  # another thread may be writing, and the descriptor's number may be reused at once
            if self._fd is not None:
                os.close(self._fd)
                self._fd = None

    def append(self, *entries: dict[str, Any]) -> None:
        """Append entries, which are on the disk when this returns; raises JournalError if they can't be written."""
        judge = {"judged_by": self.judged_by} if self.judged_by else {}
        lines = memoryview(b"".join(json.dumps(entry | judge).encode() + b"\n" for entry in entries))
        with self._lock:
            assert self._fd is not None, "the journal is not open"
            end = os.lseek(self._fd, 0, os.SEEK_CUR)
            try:
                while lines:
                    lines = lines[os.write(self._fd, lines) :]
                os.fsync(self._fd)
            except OSError as error:
                with contextlib.suppress(OSError):
                    os.lseek(self._fd, end, os.SEEK_SET)
                    os.ftruncate(self._fd, end)
                raise JournalError(f"{self.path} can't be written: {error.strerror}") from error

    def entries(self) -> Iterator[dict[str, Any]]:
        """Yield all complete entries; raises JournalError if the file can't be read or a line is invalid."""
        return self.read(dict)

    def read(self, parse: Callable[[dict[str, Any]], T]) -> Iterator[T]:
        """Yield the results of `parse` for all complete entries.

        Raises the errors of `entries`, and JournalError if `parse` rejects an entry.
        """
        return (parsed for _, parsed in self.placed(parse))

    def placed(self, parse: Callable[[dict[str, Any]], T]) -> Iterator[tuple[int, T]]:
        """Yield the results of `read`, each after the offset of its line in bytes."""
        offset = 0
        for number, line in enumerate(self._lines(), 1):
            if not line.endswith(b"\n"):
                return
            try:
                entry = json.loads(line)
                if not isinstance(entry, dict):
                    raise TypeError("not a JSON object")
                is_read = not self.judged_by or entry.pop("judged_by", "") == self.judged_by
                parsed = parse(entry)
            except (LookupError, TypeError, ValueError, AttributeError, RecursionError) as error:
                raise JournalError(
                    f"{self.path}, line {number}, was changed: it isn't an entry of this run ({error!r}); delete the "
                    "line, and the work it recorded will be repeated"
                ) from error
            if is_read:
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

    def _remove_partial_line(self, fd: int) -> None:
        end, rest = 0, b""
        for line in self._lines():
            end, rest = (end + len(line), b"") if line.endswith(b"\n") else (end, line)
        if rest and not rest.startswith(PARTIAL):
            raise JournalError(
                f"{self.path} was changed: its end ({counted(len(rest), 'byte')}) is no line of the journal; delete it"
            )
        if rest:
            logger.warning(
                "{}: the last line was cut off ({}): the work it recorded will be repeated",
                self.path,
                counted(len(rest), "byte"),
            )
            os.ftruncate(fd, end)
        os.lseek(fd, end, os.SEEK_SET)

    def _unusable(self, error: OSError) -> JournalError:
        return JournalError(
            f"{self.path} can't be used: {error.strerror}; repair it, or move it away, and the work it recorded will "
            "be repeated"
        )
