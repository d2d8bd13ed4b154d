"""What judging a split gives, in the shape that results are written in."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from alpha_codium.verdict import OUTSIDE, Judgement, TestResult, Verdict


@dataclass(frozen=True, slots=True)
class CandidateResult:
    """One program's verdict and its tests'; `tests` holds what `--json` shows of each test.

    That a test's verdict was decided in the program's process (`"trust": "in_process"`) is said where it is so.
    """

    index: int
    group: str
    verdict: Verdict
    tests_passed: int
    tests_total: int
    tests: tuple[dict[str, Any], ...] = ()
    error: str = ""

    @classmethod
    def of(cls, index: int, group: str, judgement: Judgement) -> "CandidateResult":
        """The result of one judgement, without what the program printed; `error` says why there is no verdict."""
        lost = next((t.execution.stderr for t in judgement.tests if t.verdict is Verdict.INTERNAL_ERROR), "")
        error = (judgement.message or lost) if judgement.verdict is Verdict.INTERNAL_ERROR else ""
        tests = tuple(map(_shown, judgement.tests))
        return cls(index, group, judgement.verdict, judgement.tests_passed, judgement.tests_total, tests, error=error)

    def to_json(self) -> dict[str, Any]:
        """The result as `--json` and the journal write it."""
        values: dict[str, Any] = {
            "index": self.index,
            "group": self.group,
            "verdict": self.verdict.value,
            "tests_passed": self.tests_passed,
            "tests_total": self.tests_total,
            "tests": list(self.tests),
        }
        return values | ({"error": self.error} if self.error else {})

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> "CandidateResult":
        """Read back what `to_json` gave."""
        return cls(
            index=values["index"],
            group=values["group"],
            verdict=Verdict(values["verdict"]),
            tests_passed=values["tests_passed"],
            tests_total=values["tests_total"],
            tests=tuple(values["tests"]),
            error=values.get("error", ""),
        )


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
