"""Programs and jobs for a sandbox, as values that can be sent to another process or machine as JSON."""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Self

from alpha_codium.language_table import LANGUAGES
from alpha_codium.limits import Limits, too_little_memory
from alpha_codium.values import JsonValue, strings, surrogate_in

PYTHON = "python3"
# Bytes of the longest name in a path.
LONGEST_NAME = 255


@dataclass(frozen=True, slots=True)
class Program(JsonValue):
    """A program: its `language`, its files by their relative paths, and the path of the one to run.

    `variant` is one of the language's `variants` if it isn't compiled and run as usual.
    """

    optional: ClassVar[Sequence[str]] = ("variant",)

    language: str
    files: Mapping[str, str]
    main: str
    variant: str = ""

    def __post_init__(self) -> None:
        """Raise ValueError for an unknown variant, a missing main file, or a path out of the program's folder."""
        if self.variant and self.variant not in LANGUAGES[self.language].variants:
            raise ValueError(f"there is no variant {self.variant!r} of {self.language}")
        if self.main not in self.files:
            raise ValueError(f"the program has no file {self.main!r}")
        for path in self.files:
            if fault := _fault_of_path(path):
                raise ValueError(fault)

    @classmethod
    def from_source(cls, language: str, source: str, variant: str = "") -> Self:
        """Return a program of one file."""
        main = f"program{LANGUAGES[language].suffix if language in LANGUAGES else ''}"
        return cls(language, {main: source}, main, variant)

    @property
    def source(self) -> str:
        """The text of the main file."""
        return self.files[self.main]

    @property
    def digest(self) -> str:
        """SHA-256 of the program, in hexadecimal digits, as journals have it.

        For a Python program of one file it is that of its text, else that of the whole program as JSON.
        """
        if self == Program.from_source(PYTHON, self.source):
            return hashlib.sha256(self.source.encode("utf-8", "surrogatepass")).hexdigest()
        return hashlib.sha256(json.dumps(self.to_json(), sort_keys=True).encode()).hexdigest()

    def __hash__(self) -> int:
        return hash((self.language, self.main, self.source, self.variant))


def _fault_of_path(path: str) -> str:
    is_relative = "\0" not in path and {"", ".", ".."}.isdisjoint(path.split("/"))
    return "" if is_relative else f"the path of a program's file must be relative, without '..': not {path!r}"


def fault_of_paths(paths: Iterable[str]) -> str:
    """Return why files with these paths can't be written into a program's folder; empty if they can."""
    paths = list(paths)
    folders = {path[:at] for path in paths for at, sign in enumerate(path) if sign == "/"}
    for path in paths:
        if fault := _fault_of_path(path):
            return fault
        if reason := surrogate_in(path):
            return f"the path {path!r} is {reason}"
        if path in folders:
            return f"two files, or a file and a folder, have the name {path!r}"
        if max(len(name.encode()) for name in path.split("/")) > LONGEST_NAME:
            return f"a name of a file has more than {LONGEST_NAME} bytes: {path[:40]!r}..."
    return ""


def as_program(program: str | Program) -> Program:
    """Return the program; a string is the source of a Python program."""
    return Program.from_source(PYTHON, program) if isinstance(program, str) else program


@dataclass(frozen=True, slots=True)
class Job(JsonValue):
    """A program to compile once and run on each input, in order, each time in a process that shares nothing.

    `driver`, if given, is the source of a trusted script in the program's language that runs instead of the program, in
    its process. In Python, its global `program` is the program's code object. In C and C++ it is linked with the
    program, defines `__wrap_main`, which runs in place of `main`, and calls the program's as `__real_main`. With
    `stop_after_failure` no input is run after an execution whose status isn't `finished`.

    With `by_turns`, a Python program gets the first line of an input at once, and each other line only after it has
    written a line to stdout. Only sandboxes with `has_turns` run such jobs. With `keeps_bytes`, bytes of the outputs
    that aren't UTF-8 stand for themselves as lone surrogates (PEP 383), as far as the backend can do that.
    """

    optional: ClassVar[Sequence[str]] = ("by_turns", "keeps_bytes")

    program: Program
    inputs: Sequence[str] = ()
    limits: Limits = field(default_factory=Limits)
    driver: str = ""
    stop_after_failure: bool = False
    by_turns: bool = False
    keeps_bytes: bool = False

    def __post_init__(self) -> None:
        """Keep inputs as a tuple of strings; raises TypeError.

        Raises ValueError if an input is invalid Unicode, or if the memory is too little for any program in the
        language.
        """
        object.__setattr__(self, "inputs", strings("inputs", self.inputs))
        if self.by_turns and self.program.language != PYTHON:
            raise ValueError("only a program in Python gets its input by turns")
        if reason := surrogate_in(*self.inputs):
            raise ValueError(f"inputs: {reason}")
        if reason := too_little_memory(self.program.language, self.limits.memory_bytes):
            raise ValueError(f"limits: {reason}")


@dataclass(frozen=True, slots=True)
class Workspace:
    """A folder of trusted files, such as a repository, in which a sandbox runs programs.

    Programs see `folder` at the same path, read-only, and can import what is in `path`. `warm_up` is the source of a
    trusted script that is executed once; every program starts in a copy of its process, with the modules that it
    imported. A program's main file, whose path is relative to `folder`, covers the file of that name there, except in
    containers. The folder must be readable for all users. `libraries` are folders outside of it, for containers, whose
    interpreter isn't this machine's; they are importable, too.
    """

    folder: str
    path: tuple[str, ...] = ()
    warm_up: str = ""
    libraries: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Side(JsonValue):
    """One side of a pair: a program, its trusted driver (or none), its standard input, and its limits.

    Without `limits` it has those of the pair.
    """

    optional: ClassVar[Sequence[str]] = ("limits",)

    program: Program
    driver: str = ""
    input: str = ""
    limits: Limits | None = None


@dataclass(frozen=True, slots=True)
class Dialogue(JsonValue):
    """A pair in which the left side talks to an ordinary program, the right side, over its standard streams.

    The right side's stdin and stdout are pipes: it has no `input`. The left side reads what it prints from descriptor
    3, and writes to its stdin at descriptor 4. If the left side ends with an exit status in `accepting`, the right side
    runs to its own end; after any other end of the left side, it is ended. Both are ended when neither has used a
    processor for `idle_seconds`.
    """

    accepting: tuple[int, ...]
    idle_seconds: float

    def __post_init__(self) -> None:
        """Raise ValueError if the programs could never be idle for so long."""
        if not self.idle_seconds > 0:
            raise ValueError(f"idle_seconds must be above 0, not {self.idle_seconds}")


@dataclass(frozen=True, slots=True)
class PairJob(JsonValue):
    """Two programs to run at once, isolated except for a channel between them, or for the pipes of a `dialogue`."""

    optional: ClassVar[Sequence[str]] = ("dialogue",)

    left: Side
    right: Side
    limits: Limits = field(default_factory=Limits)
    dialogue: Dialogue | None = None

    @property
    def sides(self) -> tuple[Side, Side]:
        """The left side and the right side."""
        return self.left, self.right

    def limits_of(self, side: Side) -> Limits:
        """Return the limits of one side."""
        return side.limits or self.limits
