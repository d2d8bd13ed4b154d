"""One problem with what its known programs did: what findings are made of."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from alpha_codium.eval.prepare import CORRECT, INCORRECT
from alpha_codium.eval.validation.alternatives import Alternative
from alpha_codium.eval.validation.observation import Observation
from alpha_codium.languages import LANGUAGES
from alpha_codium.limits import Limits
from alpha_codium.problem import CheckerSpec, Problem, Solution, TestCase, TestType
from alpha_codium.verdict import Verdict


@dataclass(frozen=True, slots=True)
class Known:
    """A known program that ran: its label, its place in the dataset's list of that label, and what it did."""

    label: str
    index: int
    program: str
    seen: Observation

    def evidence(self) -> dict[str, Any]:
        """The program in an entry of evidence."""
        column = {CORRECT: "solutions", INCORRECT: "incorrect_solutions"}[self.label]
        return {"column": column, "solution": self.index}


@dataclass(frozen=True, slots=True)
class TestPosition:
    """Where a test stands: the column of its type, and its place there. `test_code` is a column of one."""

    column: str
    index: int

    def __str__(self) -> str:
        return f"{self.column}[{self.index}]"

    def evidence(self) -> dict[str, Any]:
        """The test in an entry of evidence."""
        return {"test_type": self.column, "test": self.index}


@dataclass(frozen=True)
class ObservedProblem:
    """A problem, the tests asked for with where they stand, the rules in force, and the known programs that ran.

    `malformed` says of tests that are none why; `not_run` counts known programs in other languages.
    """

    problem: Problem
    tests: tuple[TestCase, ...]
    places: tuple[TestPosition, ...]
    checker: CheckerSpec | None
    limits: Limits
    alternatives: Sequence[Alternative]
    correct: tuple[Known, ...] = ()
    incorrect: tuple[Known, ...] = ()
    malformed: Mapping[int, str] | None = None
    not_run: int = 0
    wording: str = ""

    @cached_property
    def independent(self) -> tuple[Known, ...]:
        """The known-correct programs whose texts differ in more than comments and white space."""
        by_text = {_essence(known.program): known for known in reversed(self.correct)}
        return tuple(known for known in self.correct if by_text[_essence(known.program)] is known)

    @cached_property
    def usable(self) -> tuple[int, ...]:
        """The tests that can be run."""
        return tuple(p for p in range(len(self.tests)) if p not in (self.malformed or {}))


def places_of(problem: Problem, test_types: Sequence[TestType]) -> tuple[TestPosition, ...]:
    """Where the tests stand that `problem.tests(test_types)` gives, in the same order."""
    found: list[TestPosition] = []
    for kind in TestType:
        if kind not in test_types:
            continue
        found += [TestPosition(kind.value, index) for index in range(len(getattr(problem, kind.value)))]
        if kind is TestType.PRIVATE and len(problem.tests([kind])) > len(problem.private_tests):
            found.append(TestPosition("test_code", 0))
    return tuple(found)


def runnable(solutions: Sequence[Solution]) -> list[tuple[int, Solution]]:
    """The solutions that can be run, each with its place in the list."""
    return [(index, solution) for index, solution in enumerate(solutions) if solution.language in LANGUAGES]


def rejections(known: Known, places: Sequence[int]) -> list[int]:
    """The tests among `places` that the program isn't accepted on."""
    return [place for place in places if known.seen.verdicts[place] is not Verdict.ACCEPTED]


def _essence(program: str) -> str:
    """A program without its comment lines, its empty lines and the white space at its lines' ends."""
    lines = (line.rstrip() for line in program.splitlines())
    return "\n".join(line for line in lines if line and not line.lstrip().startswith("#"))
