"""The results of judging a split, in the shape in which they are written."""

from dataclasses import dataclass
from typing import Any, ClassVar

from alpha_codium.eval.failures import Failure
from alpha_codium.values import JsonValue, Readers
from alpha_codium.verdict import OUTSIDE, Judgement, TestResult, Verdict


@dataclass(frozen=True, slots=True)
class CandidateResult(JsonValue):
    """One program's verdict and its tests'; `tests` holds what `--json` shows of each test.

    A test whose verdict was reached in the program's own process has `"trust": "in_process"`. `program` is the
    program's digest, `failure` its first failing test.
    """

    readers: ClassVar[Readers] = {
        "verdict": Verdict,
        "tests": tuple,
        "failure": lambda values: None if values is None else Failure.from_json(values),
    }
    optional: ClassVar[tuple[str, ...]] = ("error", "program", "failure")

    index: int
    group: str
    verdict: Verdict
    tests_passed: int
    tests_total: int
    tests: tuple[dict[str, Any], ...] = ()
    error: str = ""
    program: str = ""
    failure: Failure | None = None

    def to_row(self) -> dict[str, Any]:
        """The result as a row of a table, with the columns `ROW`."""
        values = self.to_json() | (self.failure.to_json() if self.failure else {})
        values |= {"verdict": self.verdict.value, "failed_test": self.failure.test if self.failure else None}
        return {name: values.get(name, "") for name in ROW}

    @classmethod
    def of(cls, index: int, group: str, judgement: Judgement, failure: Failure | None = None) -> "CandidateResult":
        """The result of one judgement, without the program's outputs; `error` says why there is no verdict."""
        lost = next((t.execution.stderr for t in judgement.tests if t.verdict is Verdict.INTERNAL_ERROR), "")
        error = (judgement.message or lost) if judgement.verdict is Verdict.INTERNAL_ERROR else ""
        tests = tuple(map(_shown, judgement.tests))
        passed, total = judgement.tests_passed, judgement.tests_total
        return cls(index, group, judgement.verdict, passed, total, tests, error, failure=failure)


# The columns of a program in a table, besides its problem.
ROW = (
    "index", "group", "verdict", "tests_passed", "tests_total", "program", "failed_test", "assertion",
    "expected", "actual", "stderr", "error",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class ProblemResult:
    """The results of one problem's programs; `skipped` programs are in a language that can't be run."""

    name: str
    candidates: tuple[CandidateResult, ...]
    skipped: int = 0

    def to_json(self) -> dict[str, Any]:
        """The result as `--json` writes it."""
        return {"name": self.name, "candidates": [candidate.to_json() for candidate in self.candidates]}


def _shown(test: TestResult) -> dict[str, Any]:
    shown = {
        "verdict": test.verdict.value,
        "wall_seconds": round(test.execution.wall_seconds, 4),
        "cpu_seconds": round(test.execution.cpu_seconds, 4),
        "max_rss_bytes": test.execution.max_rss_bytes,
    }
    return shown if test.trust == OUTSIDE else shown | {"trust": test.trust}
