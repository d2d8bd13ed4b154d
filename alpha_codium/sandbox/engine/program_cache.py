"""A folder of built programs, `$GENCODE_HOME/cache/programs`, which any number of processes share.

1. A program is kept by the hash of its files, the command that builds it and the compiler's version. One process at a
   time builds it; entries are renamed into place. The entries that were not used for the longest time are removed when
   the folder gets too large.
2. An entry has a digest of its name and content. One that doesn't fit is removed and built again: after a power cut, or
   if a process was killed while it removed the entry, files may be missing, empty or cut.
"""

import contextlib
import fcntl
import functools
import hashlib
import json
import os
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from loguru import logger

from alpha_codium.languages.tools import Build

# Bytes of all that is kept.
MOST_KEPT = 4 << 30
# In an entry: the file with its digest.
CHECK = "sha256"
LOCKS = 64


class ProgramCache:
    """A folder of built programs and precompiled headers, shared by all processes."""

    def __init__(self, folder: Path, most_bytes: int = MOST_KEPT) -> None:
        self.folder, self.most_bytes = folder, most_bytes

    def find(self, build: Build) -> Path | None:
        """Return the file that `build` made, and note that it was used; None if there is none, or it is damaged."""
        entry = self.folder / digest_of(build)
        try:
            os.utime(entry)
        except OSError:
            return None
        if is_whole(entry, (build.artifact, *build.kept)):
            return entry / build.artifact
        logger.warning("{} was damaged, and is built again", entry)
        self._remove(entry)
        return None

    def keep(self, build: Build, made: bytes) -> Path:
        """Store what `build` made."""
        entry = self.folder / digest_of(build)
        with tempfile.TemporaryDirectory(dir=self.folder, prefix="new-", ignore_cleanup_errors=True) as name:
            new = Path(name) / "entry"
            (new / build.artifact).parent.mkdir(parents=True)
            (new / build.artifact).write_bytes(made)
            for path in build.kept:
                (new / path).write_text(build.files[path])
            (new / CHECK).write_text(digest_of_entry(new, entry.name, (build.artifact, *build.kept)))
            with contextlib.suppress(OSError):
                new.rename(entry)
        self._make_room()
        return entry / build.artifact

    @contextlib.contextmanager
    def building(self, build: Build) -> Iterator[None]:
        """Keep other threads and processes from building the same."""
        number = int(digest_of(build)[:4], 16) % LOCKS
        self.folder.mkdir(parents=True, exist_ok=True)
        with (self.folder / f"lock-{number}").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def _make_room(self) -> None:
        """Remove the entries that were not used for the longest time, until the rest is small enough."""
        found = []
        for entry in self.folder.iterdir():
            with contextlib.suppress(OSError):
                if entry.is_dir() and not entry.name.startswith("new-"):
                    size = sum(file.stat().st_size for file in entry.rglob("*") if file.is_file())
                    found.append((entry.stat().st_mtime, size, entry))
        left = sum(size for _, size, _ in found)
        for _, size, entry in sorted(found):
            if left <= self.most_bytes:
                break
            self._remove(entry)
            left -= size

    def _remove(self, entry: Path) -> None:
        """Rename an entry away before it is removed, so that nobody finds half of it."""
        with tempfile.TemporaryDirectory(dir=self.folder, prefix="new-", ignore_cleanup_errors=True) as name:
            with contextlib.suppress(OSError):
                entry.rename(Path(name) / "entry")


def is_whole(entry: Path, paths: tuple[str, ...]) -> bool:
    """Whether the files of an entry are those that were stored. Files that didn't change since aren't read again."""
    try:
        states = [(entry / path).stat() for path in (CHECK, *paths)]
        return _is_whole(entry, paths, tuple((state.st_ino, state.st_size, state.st_mtime_ns) for state in states))
    except OSError:
        return False


@functools.lru_cache(maxsize=1024)
def _is_whole(entry: Path, paths: tuple[str, ...], _states: tuple[tuple[int, ...], ...]) -> bool:
    """Compare the digest of an entry; the states of its files are only part of the cache key."""
    return (entry / CHECK).read_bytes() == digest_of_entry(entry, entry.name, paths).encode()


def digest_of_entry(folder: Path, name: str, paths: Sequence[str]) -> str:
    """Return the digest of an entry's name and of the lengths and contents of its files; raises OSError."""
    digest = hashlib.sha256(name.encode())
    for path in paths:
        data = (folder / path).read_bytes()
        digest.update(b"%d " % len(data))
        digest.update(data)
    return digest.hexdigest()


def digest_of(build: Build) -> str:
    """Return the name under which what `build` makes is kept."""
    named = (build.files, build.environment)
    others = [digest_of(build.otherwise)] if build.otherwise else []
    parts = [*others, build.command, build.artifact, build.version, *(sorted(each.items()) for each in named)]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()
