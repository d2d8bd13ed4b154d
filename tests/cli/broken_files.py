"""A home with runs of every kind, and ways to break a file of it."""

import contextlib
import ctypes
import json
import os
import shutil
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from alpha_codium import coroutines
from tests.gen.running import KEY, Done, model_arguments, problem_record, run_cli, signed, write_flow
from tests.servers.scripted import ScriptedServer

KINDS = ("gone", "empty", "torn", "garbage", "shape", "folder", "dangling", "unreadable")
# JSON or TOML that is none of ours.
SHAPES = {
    ".json": b"[1, 2]\n",
    ".jsonl": b'{"a": 1}\n{"a": 2}\n',
    ".toml": b'command = 5\nsettings = "all"\nconfig = 3\n',
}
GARBAGE = bytes(range(255, 127, -1)) * 20 + b"\n"
# Only those who may do what is forbidden (CAP_DAC_OVERRIDE and CAP_DAC_READ_SEARCH of linux/capability.h).
FORBIDDEN = 0b110
HUMAN = {
    "solutions": {"language": [3], "solution": ["print(input())"]},
    "incorrect_solutions": {"language": [3], "solution": ["print('no')"]},
}
SUBMISSION = {"file": "a.py", "language": 3, "expected_verdict": "AC", "code": "print(input())"}


class Home:
    """A folder with a home, as it was made; `commands` are what a user types, by a name."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "place"
        self._whole = folder / "whole"
        judged = ("--evaluation_test_type", "private_tests")
        self.commands: dict[str, tuple[object, ...]] = {
            "solve_set": ("gen", "solve_set", "--resume", "r"),
            "eval_gen_solutions": ("eval", "eval_gen_solutions", "--solution_dataset", self.run("r") / "solutions",
                                   "--ground_truth_dataset", "echoes", *judged, "--resume", "e"),
            "pass_at_k": ("eval", "pass_at_k", "--dataset_name", "echoes", *judged, "--resume", "p"),
            "doctor": ("eval", "doctor", "--skip_kit", "--known_verdicts", self.folder / "known.jsonl",
                       "--resume", "d"),
            "validate": ("data", "validate", "echoes", "--resume", "v"),
            "score": ("eval", "score", self.folder / "samples.jsonl", "--dataset_name", "echoes"),
            "compare": ("compare", "r", "s"),
            "replay": ("replay", "r"),
            "stats": ("cache", "stats"),
            "clear": ("cache", "clear", "--older_than", 0),
            "list": ("data", "list"),
            "show": ("data", "show", "echoes"),
            "etl": ("data", "etl", "--source", self.folder / "problems.jsonl", "--output_dataset_name", "echoes",
                    "--split_name", "valid"),
            "settings": ("settings", "--config", self.folder / "mine.toml"),
        }  # fmt: skip

    def run(self, name: str) -> Path:
        """The folder of a run."""
        return self.folder / "home" / "runs" / name

    def make(self) -> None:
        """Make it all, once."""
        self.folder.mkdir()
        problems = [problem_record(number) | HUMAN for number in range(2)]
        self._write("problems.jsonl", problems)
        self._write("known.jsonl", [problem | {"submissions": [SUBMISSION]} for problem in problems])
        self._write("samples.jsonl", [{"task_id": p["name"], "solution": "print(input())"} for p in problems])
        (self.folder / "mine.toml").write_text("[config]\ntemperature = 0.5\n")
        self._done(*self.commands["etl"][:-1], "train")
        with ScriptedServer(signed) as server:
            flow = write_flow(self.folder / "steps", 1)
            job = ("gen", "solve_set", "--dataset_name", "echoes", "--flow", flow, *model_arguments(server))
            self._done(*job, "--run", "r")
            self._done(*job, "--run", "s", "--temperature", 0.7)
        for name in ("eval_gen_solutions", "pass_at_k", "doctor", "validate"):
            self._done(*("--run" if word == "--resume" else word for word in self.commands[name]))
        self._done(*self.commands["compare"])
        shutil.copytree(self.folder, self._whole)

    def mend(self) -> None:
        """Put everything back as it was made."""
        shutil.rmtree(self.folder)
        shutil.copytree(self._whole, self.folder)

    def gencode(self, command: str) -> Done:
        """Run one of the commands."""
        return run_cli(*self.commands[command])

    def files(self) -> dict[str, bytes | str]:
        """What every file holds, but for locks and what SQLite keeps beside a file; a link is where it points to."""
        passed = (".lock", "-wal", "-shm", "answers.lock")
        return {
            str(path.relative_to(self.folder)): _content(path)
            for path in sorted(self.folder.rglob("*"))
            if not path.name.endswith(passed)
        }

    def _write(self, name: str, records: list[dict]) -> None:
        (self.folder / name).write_text("".join(json.dumps(record) + "\n" for record in records))

    def _done(self, *command: object) -> None:
        done = run_cli(*command)
        assert done.returncode == 0, done.stderr


@contextlib.contextmanager
def made(folder: Path) -> Iterator[Home]:
    """The home, in force as GENCODE_HOME."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GENCODE_HOME", str(folder / "place" / "home"))
        patch.setenv("OPENAI_API_KEY", KEY)
        patch.setenv("COLUMNS", "200")
        patch.chdir(folder)
        home = Home(folder)
        home.make()
        yield home


@contextlib.contextmanager
def broken(path: Path, kind: str) -> Iterator[None]:
    """The file, or folder, broken in one of the ways of `KINDS`."""
    whole = path.read_bytes() if path.is_file() else b""
    if kind == "unreadable":
        path.chmod(0)
        with _as_others():
            yield
        path.chmod(0o755 if path.is_dir() else 0o644)
        return
    shutil.rmtree(path) if path.is_dir() else path.unlink()
    if kind == "dangling":
        path.symlink_to(path.parent / "no" / "where")
    elif kind == "folder":
        path.mkdir()
    elif kind == "shape" and path.suffix == ".sqlite":
        with contextlib.closing(sqlite3.connect(path)) as connection:
            connection.execute("CREATE TABLE answers (question TEXT)")
    elif kind != "gone":
        end = len(whole) * 2 // 3
        # In the middle of a line, or a table of TOML would only lack its last entries.
        end = whole.rindex(b"=", 0, end) + 1 if path.name == "run.toml" else end
        contents = {"empty": b"", "torn": whole[:end], "garbage": GARBAGE}
        path.write_bytes(contents[kind] if kind in contents else SHAPES[path.suffix])
    yield


def _content(path: Path) -> bytes | str:
    if path.is_symlink():
        return str(path.readlink())
    return path.read_bytes() if path.is_file() else ""


class _Header(ctypes.Structure):
    _fields_ = (("version", ctypes.c_uint32), ("pid", ctypes.c_int))


class _Capabilities(ctypes.Structure):
    _fields_ = (("effective", ctypes.c_uint32), ("permitted", ctypes.c_uint32), ("inheritable", ctypes.c_uint32))


@contextlib.contextmanager
def _as_others() -> Iterator[None]:
    """Be held to the permissions of files, also as root (capget(2), version 3 of its header)."""
    libc, header = ctypes.CDLL(None, use_errno=True), ctypes.byref(_Header(0x20080522, 0))
    had, has = (_Capabilities * 2)(), (_Capabilities * 2)()
    for capabilities in (had, has):
        if libc.capget(header, capabilities):
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    has[0].effective &= ~FORBIDDEN
    libc.capset(header, has)
    coroutines.BACKGROUND.forget()  # its thread would keep what it had
    try:
        yield
    finally:
        libc.capset(header, had)
        coroutines.BACKGROUND.forget()
