"""The folder of one run, and what stands in it.

`run.toml` says what was asked for; `journal.jsonl` what is done; `answers.sqlite` every answered call;
`transcripts/` how each sample came about; `solutions/` the Dataset; `results.json` the scores.
"""

import fcntl
import json
import os
import tempfile
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from alpha_codium.errors import UserError, nearest
from alpha_codium.runs.description import MEND, read_description
from alpha_codium.runs.journal import Journal

RUN_FILE = "run.toml"


class RunFolder:
    """One run's folder, locked while it is in use so that two processes can't write to it; a context manager."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock: int | None = None

    @classmethod
    def create(cls, root: Path, name: str, description: Mapping[str, Any]) -> "RunFolder":
        """Make the folder of a new run; raises UserError where the name is taken or no name."""
        path = _path_of(root, name)
        try:
            if _is_there(path / RUN_FILE):
                raise UserError(
                    f"run {name!r} exists already ({path}): go on with --resume {name}, or choose another name"
                )
            if _is_left_of_a_run(path):
                raise UserError(f"{path} is of an earlier run, whose {RUN_FILE} is gone: choose another name")
            path.mkdir(parents=True, exist_ok=True)
            write_atomically(path / RUN_FILE, to_toml(description))
        except OSError as error:
            raise UserError(f"the run folder {path} can't be made: {error.strerror}") from error
        return cls(path)

    @classmethod
    def reopen(cls, root: Path, name: str) -> "RunFolder":
        """The folder of an earlier run; raises UserError where there is none, or it has lost its `run.toml`."""
        path = _path_of(root, name)
        try:
            if _is_there(path / RUN_FILE):
                return cls(path)
            left = _is_left_of_a_run(path)
        except OSError as error:
            raise UserError(f"the run folder {path} can't be read: {error.strerror}") from error
        if left:
            raise UserError(f"{path / RUN_FILE} is gone, which says what the run is: {MEND}")
        known = [p.parent.name for p in root.glob(f"*/{RUN_FILE}")]
        raise UserError(f"there is no run {name!r} in {root}{nearest(name, known)}")

    def __enter__(self) -> Self:
        """Take the lock; raises UserError where another process has it, or the folder can't be written."""
        path = self.path / ".lock"
        try:
            lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except OSError as error:
            raise UserError(
                f"{path} can't be written: {error.strerror}: mend or delete it, or copy the run's folder"
            ) from error
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            os.close(lock)
            if not isinstance(error, BlockingIOError):
                raise UserError(f"{path} can't be locked: {error.strerror}: copy the run's folder") from error
            raise UserError(f"run {self.path.name!r} is in use by another process") from error
        self._lock = lock
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Give the lock back."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    @property
    def name(self) -> str:
        """The run's name."""
        return self.path.name

    @property
    def journal(self) -> Journal:
        """The journal of finished work."""
        return Journal(self.path / "journal.jsonl")

    def description(self) -> dict[str, Any]:
        """What `run.toml` says; raises UserError where it can't be read, or was changed."""
        return read_description(self.path / RUN_FILE)

    def write_json(self, name: str, value: Any) -> Path:
        """Write a JSON file of the run, whole or not at all; raises UserError where it can't be written."""
        target = self.path / name
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(target, json.dumps(value, indent=1, ensure_ascii=False) + "\n")
        except OSError as error:
            raise UserError(f"{target} can't be written: {error.strerror}") from error
        return target


def new_run_name(kind: str) -> str:
    """A name for a run that was given none: its kind, the time, and a few letters that tell it from its twins."""
    return f"{kind}-{datetime.now(UTC):%Y%m%d-%H%M%S}-{os.urandom(2).hex()}"


def _path_of(root: Path, name: str) -> Path:
    if not name or name in (".", "..") or "\0" in name:
        raise UserError(f"{name!r} is no name for a run")
    return Path(name).absolute() if "/" in name else root / name


def _is_left_of_a_run(path: Path) -> bool:
    return any(_is_there(path / name) for name in ("journal.jsonl", "answers.sqlite"))


def _is_there(path: Path) -> bool:
    """Whether there is such a file, be it a link to nowhere; raises OSError where its folder can't be searched."""
    try:
        path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    return True


def to_toml(description: Mapping[str, Any]) -> str:
    """The values as TOML that reads back as the same, but for what isn't given."""
    import toml

    encoder = toml.TomlEncoder()
    # toml's own encoding of strings loses backslashes before an x, and control characters.
    encoder.dump_funcs[str] = lambda text: json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
    return toml.dumps(without_none(description), encoder)


def without_none(value: Any) -> Any:
    """TOML has no null: what isn't given isn't written. Tuples become lists, which is what `toml` can write."""
    if isinstance(value, Mapping):
        return {k: without_none(v) for k, v in value.items() if v is not None}
    if isinstance(value, list | tuple):
        return [without_none(v) for v in value]
    return value


def write_atomically(path: Path, text: str) -> None:
    """Write a file as a whole or, if that fails, not at all; raises OSError."""
    fd, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(fd, "w", encoding="utf-8", errors="backslashreplace") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        Path(name).chmod(0o644)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
