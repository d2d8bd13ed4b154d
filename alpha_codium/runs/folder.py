"""The folder of one run.

It contains `run.toml` with the options, `journal.jsonl` with finished work, and `results.json`. docs/runs.md lists
what commands add, such as `transcripts/` and `solutions/` of generated samples. A process that works in the folder
locks `.lock`.
"""

import fcntl
import itertools
import json
import os
import shutil
import tempfile
import time
import tomllib
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any, Self

from alpha_codium.errors import UserError, nearest
from alpha_codium.paths import runs_folder
from alpha_codium.runs.journal import Journal
from alpha_codium.values import surrogate_in

RUN_FILE = "run.toml"
JOURNAL = "journal.jsonl"
ANSWERS = "answers.sqlite"
PROGRAMS = "programs.jsonl"
PROBLEM = "problem.json"
MACHINES = "machines.json"
# The entry `command` of runs of `gencode repo run`.
REPOSITORY_COMMAND = "repo_run"
# Commands whose journal has samples, not verdicts.
SOLVE_PROBLEM = "solve_problem"
WITHOUT_VERDICTS = ("solve_set", SOLVE_PROBLEM)
# The entries that a run of each command must have, besides the command.
NEEDED = {
    "solve_set": ("dataset_name", "fingerprint", "samples", "sample_rate", "flow", "flow_fingerprint", "settings"),
}
# Where the result was written besides the run's folder.
WRITTEN_TO = "written_to"
# The folder from which the run was started. Entries that may be paths from there: of what exists, and of what is
# written, which has a `/` unless it is a name.
BEGAN_IN = "began_in"
INPUTS = {"dataset", "dataset_name", "problems", "file", "solutions", "sdist", "checkout"}
OUTPUTS = {"output", "output_dataset_name"}
REMEDY = "restore it, or start a new run"


class RunFolder:
    """One run's folder; a context manager that locks it, so that only one process writes to it.

    `judged_by` is the digest of the judge whose verdicts the journals have; "" if they have none, or if all are read.
    """

    def __init__(self, path: Path, judged_by: str = "") -> None:
        self.path, self.judged_by = path, judged_by
        self._others: frozenset[str] = frozenset()
        self._lock: IO[bytes] | None = None

    @classmethod
    def create(cls, root: Path, name: str, description: Mapping[str, Any] | None) -> "RunFolder":
        """Create the folder of a new run, and lock it; raises UserError if the name is taken or invalid.

        Without a description it isn't a run before `describe` is called.
        """
        path, text = _path_of(root, name), None if description is None else to_toml(description)
        if path.name.startswith("-") or not name.isprintable():
            raise UserError(f"{name!r} isn't a valid name for a run")
        try:
            path.mkdir(parents=True, exist_ok=True)
            folder = cls(path)
            folder._others = frozenset(each.name for each in path.iterdir())
        except OSError as error:
            raise UserError(f"cannot create the run folder {path}: {error.strerror}") from error
        folder.__enter__()
        try:
            # Locked, so that of two processes with one name only one goes on.
            if any(os.path.lexists(path / file) for file in (RUN_FILE, JOURNAL, ANSWERS)):
                raise UserError(f"run {name!r} exists already ({path}): use `resume` {name}, or choose another name")
            if text is not None:
                write_atomically(path / RUN_FILE, text)
        except BaseException as error:
            folder.__exit__()
            if isinstance(error, OSError):
                raise UserError(f"cannot create the run folder {path}: {error.strerror}") from error
            raise
        return folder

    @classmethod
    def reopen(cls, root: Path, name: str) -> "RunFolder":
        """Return the folder of an earlier run; raises UserError if it, or its `run.toml`, doesn't exist."""
        path = _path_of(root, name)
        if os.path.lexists(path / RUN_FILE):
            return cls(path)
        known = [p.parent.name for p in root.glob(f"*/{RUN_FILE}")]
        raise UserError(f"there is no run {name!r}{nearest(name, known)}: {path / RUN_FILE} doesn't exist")

    def __enter__(self) -> Self:
        """Lock the folder; raises UserError if another process has locked it, or it can't be written."""
        if self._lock is not None:
            return self
        path, lock = self.path / ".lock", None
        try:
            lock = path.open("ab")
            _lock(lock)
        except OSError as error:
            if lock is not None:
                lock.close()
            if isinstance(error, BlockingIOError):
                raise UserError(f"run {self.path.name!r} is in use by another process") from None
            raise UserError(f"{path} can't be locked: {error.strerror}: delete it, or copy the run's folder") from error
        self._lock = lock
        return self

    def __exit__(self, *_exc: object) -> None:
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def discard(self) -> None:
        """Delete a new run, but not what was in its folder before."""
        for path in self.path.iterdir():
            if path.name not in self._others:
                shutil.rmtree(path) if path.is_dir() else path.unlink()
        if not self._others:
            self.path.rmdir()

    @property
    def in_use(self) -> bool:
        """Whether a process has locked the folder."""
        try:
            with (self.path / ".lock").open("rb") as lock:
                fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        except OSError:
            return False
        return False

    @property
    def name(self) -> str:
        """The run's name."""
        return self.path.name

    @property
    def journal(self) -> Journal:
        """The journal of finished work."""
        return self.journal_in(JOURNAL)

    def journal_in(self, name: str) -> Journal:
        """The journal in one of the run's files."""
        return Journal(self.path / name, self.judged_by)

    def describe(self, description: Mapping[str, Any]) -> None:
        """Replace `run.toml`; raises UserError if it can't be written."""
        self._write(RUN_FILE, [to_toml(description)])

    def note_output(self, path: Path) -> None:
        """Note in `run.toml` that the result was written there, too, so that a resume may replace it."""
        if (self.path / RUN_FILE).exists():  # a temporary folder has none, and isn't resumed
            self.describe(self.description() | {WRITTEN_TO: str(path.absolute())})

    def has_written(self, path: Path) -> bool:
        """Whether the result was written there, too; any finished run of an earlier version may have done so."""
        described = self.description()
        if BEGAN_IN not in described:
            return (self.path / "results.json").exists()
        return described.get(WRITTEN_TO) == str(path.absolute())

    def description(self) -> dict[str, Any]:
        """Return the entries of `run.toml`; raises UserError if it can't be read or is invalid.

        Paths that are relative to the folder where the run began are absolute, if this process isn't there.
        """
        path = self.path / RUN_FILE
        try:
            values = tomllib.loads(path.read_text("utf-8"))
        except OSError as error:
            raise UserError(f"{path} can't be read: {error.strerror}: {REMEDY}") from error
        except (ValueError, RecursionError) as error:
            raise UserError(f"{path} can't be read: invalid TOML ({error}): {REMEDY}") from error
        missing = [entry for entry in ("command", *NEEDED.get(str(values.get("command")), ())) if entry not in values]
        if missing:
            raise UserError(f"{path} was changed or cut off: it lacks {', '.join(missing)}: {REMEDY}")
        if not isinstance(values["command"], str) or not isinstance(values.get("settings", {}), dict):
            raise UserError(f"{path} was changed: it isn't a valid run description: {REMEDY}")
        began_in = values.get(BEGAN_IN)
        return absolute_paths(values, began_in) if began_in and began_in != str(Path.cwd()) else values

    def write_json(self, name: str, value: Any) -> Path:
        """Write a JSON file of the run atomically; raises UserError if it can't be written.

        Objects in it that have a method `to_json` are converted when their turn comes: a large result takes several
        times its memory as JSON.
        """
        pieces = json.JSONEncoder(indent=1, ensure_ascii=False, default=lambda each: each.to_json()).iterencode(value)
        return self._write(name, itertools.chain(pieces, ["\n"]))

    def write_lines(self, name: str, values: Iterable[Any]) -> Path:
        """Write a file of JSON lines as `write_json` does, one line after the other."""
        return self._write(name, (json.dumps(value) + "\n" for value in values))

    def _write(self, name: str, texts: Iterable[str]) -> Path:
        target = self.path / name
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(target, texts)
        except OSError as error:
            raise UserError(f"{target} can't be written: {error.strerror}") from error
        return target


def _lock(file: IO[bytes]) -> None:
    """Lock a file; raises BlockingIOError if another process has locked it for longer than a look (`in_use`) takes."""
    for seconds in (0.01, 0.05, 0.2):
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            time.sleep(seconds)
        else:
            return
    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def new_run_name(kind: str) -> str:
    """Return a default name for a run: its kind, the time, and random digits."""
    return f"{kind}-{datetime.now(UTC):%Y%m%d-%H%M%S}-{os.urandom(2).hex()}"


def found_by(folder: Path) -> str:
    """Return what to type for a run: its name, or its path if it isn't in the folder of runs."""
    return folder.name if folder.parent == runs_folder() else str(folder)


def _path_of(root: Path, name: str) -> Path:
    if not name or name in (".", "..") or "\0" in name:
        raise UserError(f"{name!r} isn't a valid name for a run")
    return Path(name).absolute() if "/" in name else root / name


def absolute_paths(values: Mapping[str, Any], folder: str) -> dict[str, Any]:
    """Return entries of `run.toml` with absolute paths in place of those that are relative to a folder."""
    found = dict(values)
    for key, value in values.items():
        if key == "options" and isinstance(value, Mapping):
            found[key] = absolute_paths(value, folder)
        elif isinstance(value, str) and _is_path(key, value, folder):
            found[key] = os.path.normpath(Path(folder, value))
    return found


def _is_path(key: str, text: str, folder: str) -> bool:
    return (key in INPUTS and Path(folder, text).exists()) or (key in OUTPUTS and "/" in text)


def to_toml(description: Mapping[str, Any]) -> str:
    """Return the values as TOML, which has no null: keys whose value is None are left out.

    Raises UserError for a text that TOML can't hold, such as a path that isn't UTF-8.
    """
    import toml

    encoder = toml.TomlEncoder()
    encoder.dump_funcs[str] = _toml_text
    return toml.dumps(dict(description), encoder)


def _toml_text(text: str) -> str:
    if surrogate_in(text):
        raise UserError(f"{text!a} isn't valid Unicode, so the run can't be recorded: rename it")
    # toml's own encoding loses backslashes before an x, and control characters.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def write_atomically(path: Path, content: str | bytes | Iterable[str]) -> None:
    """Write a file completely or, on an error, not at all; raises OSError."""
    fd, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(fd, "wb") as file:
            for piece in [content] if isinstance(content, str | bytes) else content:
                file.write(piece.encode("utf-8", "backslashreplace") if isinstance(piece, str) else piece)
            file.flush()
            os.fsync(file.fileno())
        Path(name).chmod(0o644)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
