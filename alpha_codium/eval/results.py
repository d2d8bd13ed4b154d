"""The results of judging a split, in the shape in which they are written."""

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, NotRequired, TypedDict

from alpha_codium.eval.failures import Failure
from alpha_codium.eval.languages import Skipped
from alpha_codium.values import JsonValue, Readers, named
from alpha_codium.verdict import OUTSIDE, Judgement, TestResult, Verdict


class ShownTest(TypedDict):
    """A test of a program: its verdict, what it used, where it was judged if not outside, and limits that were near."""

    verdict: str
    wall_seconds: float
    cpu_seconds: float
    max_rss_bytes: int
    trust: NotRequired[str]
    near_limit: NotRequired[list[str]]


@dataclass(frozen=True, slots=True)
class CandidateResult(JsonValue):
    """One program's verdict and its tests'; `tests` holds what the JSON result has of each test.

    A test whose verdict was reached in the program's own process has `"trust": "in_process"`, and one that was near
    limits has their names in `near_limit`. `program` is the program's digest, `failure` its first failing test.
    `rechecked` means that the program was judged three more times, alone, and this is the median.
    """

    # A run may have millions of tests, whose keys JSON would read as so many strings.
    readers: ClassVar[Readers] = {"tests": lambda tests: tuple({sys.intern(k): v for k, v in t.items()} for t in tests)}
    optional: ClassVar[tuple[str, ...]] = ("error", "program", "failure", "rechecked")

    index: int
    group: str
    verdict: Verdict
    tests_passed: int
    tests_total: int
    tests: tuple[ShownTest, ...] = ()
    error: str = ""
    program: str = ""
    failure: Failure | None = None
    rechecked: bool = False

    @property
    def near_limit(self) -> bool:
        """Whether the verdict may depend on the machine's load: a test that decides it was near a limit.

        For an accepted program that is any test, for a failed one all tests that failed.
        """
        if self.verdict is Verdict.ACCEPTED:
            return any(test.get("near_limit") for test in self.tests)
        failed = [test for test in self.tests if test["verdict"] != Verdict.ACCEPTED]
        judged = self.verdict is not Verdict.INTERNAL_ERROR
        return judged and bool(failed) and all(test.get("near_limit") for test in failed)

    def to_row(self) -> dict[str, Any]:
        """The result as a row of a table, with the columns `ROW`."""
        values = self.to_json() | (self.failure.to_json() if self.failure else {})
        values |= {"verdict": self.verdict.value, "failed_test": self.failure.test if self.failure else None}
        return {name: values.get(name, "") for name in ROW}

    @classmethod
    def of(
        cls,
        index: int,
        group: str,
        judgement: Judgement,
        failure: Failure | None = None,
    ) -> "CandidateResult":
        """The result of one judgement, without the program's outputs; `error` says why there is no verdict."""
        error = judgement.message if judgement.verdict is Verdict.INTERNAL_ERROR else ""
        tests = tuple(map(_shown, judgement.tests))
        passed, total = judgement.tests_passed, judgement.tests_total
        return cls(index, group, judgement.verdict, passed, total, tests, error, failure=failure)


# The columns of a program in a table, besides its problem.
ROW = (
    "index", "group", "verdict", "tests_passed", "tests_total", "program", "failed_test", "assertion",
    "expected", "actual", "stderr", "error",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class ProblemResult(JsonValue):
    """The results of one problem's programs; `skipped` programs weren't run."""

    in_json: ClassVar[Mapping[str, str]] = named("name", "candidates")

    name: str
    candidates: tuple[CandidateResult, ...]
    skipped: Skipped = field(default_factory=Skipped)


def _shown(test: TestResult) -> ShownTest:
    used = test.execution
    shown: ShownTest = {
        "verdict": test.verdict.value,
        "wall_seconds": round(used.wall_seconds, 4),
        "cpu_seconds": round(used.cpu_seconds, 4),
        "max_rss_bytes": used.max_rss_bytes,
    }
    if test.trust != OUTSIDE:
        shown["trust"] = test.trust
    if test.near_limit:
        shown["near_limit"] = list(test.near_limit)
    return shown
