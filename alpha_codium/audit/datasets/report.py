"""The report on a split: rates with their counts, the calibration of limits, and the findings as text."""

import os
import platform
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, TypedDict

from alpha_codium.audit.datasets.assessment import ROW, Assessment
from alpha_codium.audit.datasets.findings import Reason
from alpha_codium.audit.datasets.timing import Calibration
from alpha_codium.values import JsonValue, Table, named
from alpha_codium.wording import counted

# Findings shown of each reason; the JSON result has all.
SHOWN = 10


@dataclass(frozen=True, slots=True)
class Rate(JsonValue):
    """`count` of `total`; if `total` is 0, `why` says why."""

    in_json: ClassVar[Mapping[str, str]] = named("count", "total", rate="value", reason="why")
    optional: ClassVar[Sequence[str]] = ("reason",)

    label: str
    count: int
    total: int
    why: str = ""

    @property
    def value(self) -> float | None:
        """The rate, None if `total` is 0."""
        return self.count / self.total if self.total else None

    def __str__(self) -> str:
        """`12 of 184 (6.5 %)`, or `n/a` with the reason."""
        if not self.total:
            return f"n/a ({self.why})" if self.why else "n/a"
        return f"{self.count} of {self.total} ({100 * self.count / self.total:.1f} %)"


class Machine(TypedDict):
    """The machine that the measurements were made on."""

    cpu: str
    cores: int | None
    system: str
    python: str


def machine() -> Machine:
    """Return the machine that the measurements were made on."""
    return {
        "cpu": _cpu_name(),
        "cores": os.cpu_count(),
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
    }


def _cpu_name() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, "") or platform.machine()


@dataclass(frozen=True, slots=True)
class ValidationReport(Table, JsonValue):
    """The assessments of a split and the calibration of its limits; as a table, it has a row for each problem.

    `stored` is the path of the problems written with these columns, if they were; `shard` the part that these are.
    """

    columns: ClassVar[tuple[str, ...]] = ROW
    in_json: ClassVar[Mapping[str, str]] = named(
        *("shard", "n_problems", "complete", "rates", "reasons", "calibration", "machine", "problems")
    )
    optional: ClassVar[Sequence[str]] = ("shard",)

    problems: tuple[Assessment, ...]
    calibration: Calibration
    machine: Machine = field(default_factory=machine)
    stored: Path | None = None
    shard: str = ""

    @property
    def n_problems(self) -> int:
        """The number of problems."""
        return len(self.problems)

    @property
    def complete(self) -> bool:
        """Whether all programs got a verdict."""
        return not self.unjudged

    @property
    def reasons(self) -> dict[Reason, int]:
        """The number of problems with a finding, by its reason."""
        counts = Counter(reason for p in self.problems for reason in {f.reason for f in p.findings})
        return dict(sorted(counts.items()))

    @property
    def unjudged(self) -> int:
        """Programs that got no verdict through a fault of gencode."""
        return sum(problem.unjudged for problem in self.problems)

    @property
    def rates(self) -> dict[str, Rate]:
        """The rates of the split, by name."""
        return rates_of(self.problems)

    def rows(self) -> list[dict[str, Any]]:
        """Return one row for each problem: its assessment, its counts, and the reasons of its findings."""
        return [problem.to_row() for problem in self.problems]

    def lines(self) -> Iterator[str]:
        """Yield the rates, the calibration, and the first findings of each reason."""
        yield counted(len(self.problems), "problem")
        for rate in self.rates.values():
            yield f"  {rate.label:<38}{rate}"
        yield _calibration_line(self.calibration)
        for reason in Reason:
            found = [(p.name, f) for p in self.problems for f in p.findings if f.reason is reason]
            if found:
                yield f"\n{reason.value} ({counted(len({name for name, _ in found}), 'problem')})"
            for name, finding in found[:SHOWN]:
                yield f"  {name}: {finding.text}"
                yield from (f"    {_evidence(entry)}" for entry in finding.evidence[:1])
            if len(found) > SHOWN:
                yield f"  and {len(found) - SHOWN} more: see the JSON result"


def _calibration_line(calibration: Calibration) -> str:
    if calibration["factor"] is None:
        return f"calibration  n/a ({calibration['reason']})"
    return (
        f"calibration  factor {calibration['factor']:g}: the slowest known-correct program of a problem takes "
        f"{calibration['median_share']:.1%} of the limit (median), {calibration['share_at_95_percent']:.1%} (95 % of "
        f"{counted(calibration['problems'], 'problem')}), {calibration['largest_share']:.1%} (most)"
    )


def _evidence(entry: dict[str, Any]) -> str:
    """Return one entry of evidence as a line."""
    rest = dict(entry)
    places = (("column", "solution"), ("test_type", "test"))
    where = [f"{rest.pop(column)}[{rest.pop(place)}]" for column, place in places if column in rest]
    return " ".join([*where, *(f"{k}={v!r}" if isinstance(v, str) else f"{k}={v}" for k, v in rest.items())])


def rates_of(problems: Sequence[Assessment]) -> dict[str, Rate]:
    """Return the rates of a split, in the order of the report."""
    rates = {}
    for row in _ROWS:
        among = [problem for problem in problems if row.among(problem)]
        count, total = sum(map(row.count, among)), sum(map(row.total, among))
        rates[row.name] = Rate(row.label, count, total, "" if total else row.why)
    return rates


@dataclass(frozen=True, slots=True)
class _Row:
    """A line of the report: `count` of `total`, each summed over the problems that `among` takes."""

    name: str
    label: str
    count: Callable[[Assessment], int]
    total: Callable[[Assessment], int] = lambda _problem: 1
    among: Callable[[Assessment], int] = lambda _problem: True
    why: str = "there are no problems"


def _count(name: str) -> Callable[[Assessment], int]:
    return lambda problem: getattr(problem.counts, name)


def _has(reason: Reason) -> Callable[[Assessment], int]:
    return lambda problem: problem.has(reason)


_NO_CORRECT = "no known-correct program could be run"
_CORRECT: dict[str, Any] = {"among": _count("correct_run"), "why": _NO_CORRECT}
_INCORRECT: dict[str, Any] = {
    "among": _count("incorrect_run"),
    "why": "no known-incorrect program could be run",
}
_COMPARED: dict[str, Any] = {
    "among": _count("comparable_tests"),
    "why": "no test was finished by two independent known-correct programs",
}
_ROWS = (
    _Row("valid_problems", "valid problems", lambda p: p.is_valid_problem is True,
         among=lambda p: p.is_valid_problem is not None, why=_NO_CORRECT),
    _Row("undecided_problems", "  undecided", lambda p: p.is_valid_problem is None),
    _Row("problems_with_correct", "with known-correct programs run", lambda p: p.counts.correct_run > 0),
    _Row("problems_with_incorrect", "with known-incorrect programs run", lambda p: p.counts.incorrect_run > 0),
    _Row("known_programs_not_run", "known programs not run (not python3)", _count("not_run"),
         lambda p: p.counts.correct_run + p.counts.incorrect_run + p.counts.not_run, why="there are no known programs"),
    _Row("correct_accepted", "known-correct accepted", _count("correct_accepted"), _count("correct_run"), **_CORRECT),
    _Row("incorrect_rejected", "known-incorrect rejected", _count("incorrect_rejected"), _count("incorrect_run"),
         **_INCORRECT),
    _Row("no_tests", "without tests", _has(Reason.NO_TESTS)),
    _Row("not_judged", "that can't be judged", _has(Reason.NOT_JUDGED)),
    _Row("malformed_tests", "malformed tests", _count("malformed_tests"), _count("tests"), why="there are no tests"),
    _Row("problems_with_wrong_tests", "with wrong tests", _has(Reason.WRONG_TEST), **_COMPARED),
    _Row("wrong_tests", "  wrong tests", _count("wrong_tests"), _count("comparable_tests"), **_COMPARED),
    _Row("several_by_wording", "several answers by wording", lambda p: bool(p.wording)),
    _Row("multiple_answers", "several answers seen", lambda p: p.multiple_answers is True, **_CORRECT),
    _Row("multiple_answers_undecided", "  undecided", lambda p: p.multiple_answers is None, **_CORRECT),
    _Row("answers_misjudged", "  seen, and one rejected",
         lambda p: any(f.reason is Reason.SEVERAL_ANSWERS and f.fault for f in p.findings), **_CORRECT),
    _Row("strict_checkers", "checker too strict", _has(Reason.STRICT_CHECKER), **_CORRECT),
    _Row("other_checkers", "another checker suggested",
         lambda p: p.suggested_checker is not None and p.suggested_checker != p.checker, **_CORRECT),
    _Row("rejected_solutions", "known-correct rejected otherwise", _has(Reason.REJECTED_SOLUTION), **_CORRECT),
    _Row("tight_limits", "limits too tight", _has(Reason.TIGHT_LIMIT), **_CORRECT),
    _Row("near_limits", "limits near", _has(Reason.NEAR_LIMIT), **_CORRECT),
    _Row("weak_tests", "tests catch too little", _has(Reason.WEAK_TESTS), **_INCORRECT),
    _Row("undetected_incorrect", "  known-incorrect not caught", lambda p: p.undetected_incorrect or 0,
         _count("incorrect_run"), **_INCORRECT),
)  # fmt: skip
