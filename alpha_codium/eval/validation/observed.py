"""One problem with the observations of its known programs, on which findings are based."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from alpha_codium.data.schema import TEST_CODE
from alpha_codium.eval.prepare import CORRECT
from alpha_codium.eval.validation.alternatives import Alternative
from alpha_codium.eval.validation.observation import Observation
from alpha_codium.limits import Limits
from alpha_codium.problem import CheckerSpec, Problem, TestCase, TestType
from alpha_codium.verdict import Verdict


@dataclass(frozen=True, slots=True)
class Known:
    """A known program that ran: its label, its place in the dataset's list of that label, and its observation."""

    label: str
    index: int
    program: str
    seen: Observation

    def evidence(self) -> dict[str, Any]:
        """The program in an entry of evidence."""
        column = "solutions" if self.label == CORRECT else "incorrect_solutions"
        return {"column": column, "solution": self.index}


@dataclass(frozen=True, slots=True)
class TestPosition:
    """The column of a test's type, and its place there. `test_code` is a column of one test."""

    column: str
    index: int

    def __str__(self) -> str:
        return f"{self.column}[{self.index}]"

    def evidence(self) -> dict[str, Any]:
        """The test in an entry of evidence."""
        return {"test_type": self.column, "test": self.index}


@dataclass(frozen=True)
class ObservedProblem:
    """A problem, the tests asked for and their places, the rules in force, and the known programs that ran.

    `malformed` maps tests that can't be run to the reason; `not_run` counts known programs in other languages.
    `not_judged` says why the problem can't be judged, `unjudged` counts known programs that got no verdict through no
    fault of theirs.
    """

    problem: Problem
    tests: tuple[TestCase, ...]
    places: tuple[TestPosition, ...]
    checker: CheckerSpec | None
    limits: Limits
    alternatives: Sequence[Alternative]
    correct: tuple[Known, ...] = ()
    incorrect: tuple[Known, ...] = ()
    malformed: Mapping[int, str] = field(default_factory=dict)
    not_run: int = 0
    wording: str = ""
    not_judged: str = ""
    unjudged: int = 0

    @cached_property
    def independent(self) -> tuple[Known, ...]:
        """The known-correct programs whose texts differ in more than comments and white space."""
        by_text = {_essence(known.program): known for known in reversed(self.correct)}
        return tuple(known for known in self.correct if by_text[_essence(known.program)] is known)

    @cached_property
    def usable(self) -> tuple[int, ...]:
        """The tests that can be run."""
        return tuple(p for p in range(len(self.tests)) if p not in self.malformed)

    def evidence(self, known: Known, place: int) -> dict[str, Any]:
        """A program's verdict on a test, as evidence."""
        verdict = known.seen.verdicts[place].value
        return known.evidence() | self.places[place].evidence() | {"verdict": verdict}


def places_of(problem: Problem, test_types: Sequence[TestType]) -> tuple[TestPosition, ...]:
    """The places of the tests that `problem.tests(test_types)` gives, in the same order."""
    found: list[TestPosition] = []
    for kind in (kind for kind in TestType if kind in test_types):
        found += [TestPosition(kind.value, index) for index in range(len(getattr(problem, kind.value)))]
        if kind is TestType.PRIVATE and len(problem.tests([kind])) > len(problem.private_tests):
            found.append(TestPosition(TEST_CODE, 0))
    return tuple(found)


def rejections(known: Known, places: Sequence[int]) -> list[int]:
    """The tests among `places` that the program isn't accepted on."""
    return [place for place in places if known.seen.verdicts[place] is not Verdict.ACCEPTED]


def _essence(program: str) -> str:
    """A program without its comment lines, its empty lines and the white space at its lines' ends."""
    lines = (line.rstrip() for line in program.splitlines())
    return "\n".join(line for line in lines if line and not line.lstrip().startswith("#"))
