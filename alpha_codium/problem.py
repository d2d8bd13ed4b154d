"""Problems and their test cases, in the terms of the CodeContests schema."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from numbers import Integral, Real
from types import NoneType
from typing import Any, ClassVar, TypedDict

from alpha_codium.language_table import LANGUAGES
from alpha_codium.values import JsonValue, require, require_tuple


class TestType(StrEnum):
    """The three sets of tests that a problem may have."""

    __test__ = False  # for pytest, which collects classes called Test...

    PUBLIC = "public_tests"
    PRIVATE = "private_tests"
    GENERATED = "generated_tests"


@dataclass(frozen=True, slots=True)
class TestCase(JsonValue):
    """One input and its expected output."""

    __test__: ClassVar[bool] = False  # for pytest, which collects classes called Test...

    input: str
    output: str

    def __post_init__(self) -> None:
        """Raise TypeError if one of them isn't a string."""
        require("input", self.input, str)
        require("output", self.output, str)


@dataclass(frozen=True, slots=True)
class Solution(JsonValue):
    """A program that a human submitted; `language` is a name of `LANGUAGE_NAMES`."""

    language: str
    code: str


class ShownChecker(TypedDict):
    """A checker without the programs among its arguments."""

    name: str
    arguments: dict[str, Any]


@dataclass(frozen=True, slots=True)
class CheckerSpec(JsonValue):
    """The name of the checker that compares outputs, and its arguments."""

    optional: ClassVar[Sequence[str]] = ("arguments",)

    name: str
    arguments: dict[str, Any] = field(default_factory=dict)

    @property
    def shown(self) -> ShownChecker:
        """The checker without the programs among its arguments: they may be long."""
        return {"name": self.name, "arguments": {key: each for key, each in self.arguments.items() if key != "files"}}


EXECUTION_KINDS = ("stdin", "call", "assertions")


@dataclass(frozen=True, slots=True)
class ExecutionSpec(JsonValue):
    """How a test runs a program.

    `stdin`: the program reads the test's input and must print its output. `call`: the input is a JSON list of arguments
    for `entry_point` (a method of `class Solution`, else a function), the output the expected result as JSON.
    `assertions`: the input is code with assertions; `test_code` is another, private test. `setup_code` runs before the
    program, in its namespace. `language` is that of assertions and setup code; programs in other languages can't be
    judged by the former, and get no setup code.
    """

    optional: ClassVar[Sequence[str]] = ("entry_point", "test_code", "setup_code")

    kind: str = "stdin"
    entry_point: str = ""
    test_code: str = ""
    setup_code: str = ""
    language: str = "python3"

    @property
    def is_function(self) -> bool:
        """Whether tests call functions of a program, which otherwise reads an input and prints an output."""
        return self.kind != "stdin"

    @property
    def has_outputs(self) -> bool:
        """Whether a test has an output, with which that of a program is compared; assertions compare by themselves."""
        return self.kind != "assertions"


@dataclass(frozen=True, slots=True)
class Statement:
    """The part of a problem that flows and prompts may use."""

    name: str
    description: str
    public_tests: tuple[TestCase, ...] = ()

    def __post_init__(self) -> None:
        """Raise TypeError if a field has the wrong type."""
        require("name", self.name, str)
        require("description", self.description, str)
        require_tuple("public_tests", self.public_tests, TestCase)


# The kinds of items in the tuples of a problem.
_ITEMS = {
    **{kind.value: TestCase for kind in TestType},
    "solutions": Solution,
    "incorrect_solutions": Solution,
    "tags": str,
}


@dataclass(frozen=True, slots=True)
class Problem(JsonValue):
    """One problem with its tests and known solutions.

    `time_limit_seconds` and `memory_limit_bytes` are the problem's own, or None. `input_file` and `output_file` name
    files that programs use in place of stdin and stdout.
    """

    optional: ClassVar[Sequence[str]] = (
        *("description", "public_tests", "private_tests", "generated_tests", "source", "difficulty", "tags"),
        *("solutions", "incorrect_solutions", "time_limit_seconds", "memory_limit_bytes", "checker"),
        *("input_file", "output_file"),
    )

    name: str
    description: str = ""
    public_tests: tuple[TestCase, ...] = ()
    private_tests: tuple[TestCase, ...] = ()
    generated_tests: tuple[TestCase, ...] = ()
    source: int = 0
    difficulty: int = 0
    tags: tuple[str, ...] = ()
    solutions: tuple[Solution, ...] = ()
    incorrect_solutions: tuple[Solution, ...] = ()
    time_limit_seconds: float | None = None
    memory_limit_bytes: int | None = None
    checker: CheckerSpec | None = None
    execution: ExecutionSpec = field(default_factory=ExecutionSpec)
    input_file: str = ""
    output_file: str = ""

    def __post_init__(self) -> None:
        """Raise TypeError if a field has the wrong type."""
        for name in ("name", "description", "input_file", "output_file"):
            require(name, getattr(self, name), str)
        require("checker", self.checker, CheckerSpec | None, "CheckerSpec")
        require("execution", self.execution, ExecutionSpec)
        for name in ("source", "difficulty"):
            if type(value := getattr(self, name)) is not int:
                require(name, value, Integral, "whole number")
                object.__setattr__(self, name, int(value))  # of NumPy, which JSON doesn't know
        for name in ("time_limit_seconds", "memory_limit_bytes"):
            if type(value := getattr(self, name)) not in (NoneType, int, float):
                require(name, value, Real, "number")
                object.__setattr__(self, name, float(value))
        memory = self.memory_limit_bytes
        if isinstance(memory, float) and math.isfinite(memory):  # others are refused by the judge
            object.__setattr__(self, "memory_limit_bytes", int(memory))
        for name, kind in _ITEMS.items():
            require_tuple(name, getattr(self, name), kind)

    @property
    def statement(self) -> Statement:
        """The part of the problem that a flow may use."""
        return Statement(self.name, self.description, self.public_tests)

    def tests(self, test_types: Sequence[TestType]) -> tuple[TestCase, ...]:
        """Return the tests of the given types in the dataset's order, public ones first; `test_code` is private."""
        code = "" if self.execution.has_outputs else self.execution.test_code
        by_type = {
            TestType.PUBLIC: self.public_tests,
            TestType.PRIVATE: self.private_tests + ((TestCase(code, ""),) if code.strip() else ()),
            TestType.GENERATED: self.generated_tests,
        }
        return tuple(test for kind in TestType if kind in test_types for test in by_type[kind])


# The enumerations of the CodeContests schema, by number; what can be run is in `alpha_codium.languages`
# (github.com/google-deepmind/code_contests, contest_problem.proto). From 5 on, the numbers of languages are ours.
OF_CODE_CONTESTS = ("unknown", "python2", "cpp", "python3", "java")
LANGUAGE_NAMES = (*OF_CODE_CONTESTS, *(name for name in LANGUAGES if name not in OF_CODE_CONTESTS))
SOURCE_NAMES = {0: "unknown", 1: "codechef", 2: "codeforces", 3: "hackerearth", 4: "codejam", 5: "atcoder", 6: "aizu"}
