"""A validation report as lines of text."""

from collections.abc import Iterator
from typing import Any

from alpha_codium.eval.validation.assessment import Assessment
from alpha_codium.eval.validation.findings import Reason
from alpha_codium.eval.validation.report import ValidationReport

# Findings shown of each reason; `--json` has all.
SHOWN = 10


def report_lines(report: ValidationReport) -> Iterator[str]:
    """The rates, the calibration, and the first findings of each reason."""
    yield f"{len(report.problems)} problems"
    for rate in report.rates.values():
        yield f"  {rate.label:<38}{rate}"
    yield _calibration_line(report.calibration)
    yield from _finding_lines(report.problems)


def _calibration_line(calibration: dict[str, Any]) -> str:
    if calibration["factor"] is None:
        return f"calibration  n/a ({calibration['reason']})"
    return (
        f"calibration  factor {calibration['factor']:g}: the slowest known-correct program of a problem takes "
        f"{calibration['median_share']:.1%} of the limit (median), {calibration['share_at_95_percent']:.1%} (95 % of "
        f"{calibration['problems']} problems), {calibration['largest_share']:.1%} (most)"
    )


def _finding_lines(problems: tuple[Assessment, ...]) -> Iterator[str]:
    for reason in Reason:
        found = [(p.name, f) for p in problems for f in p.findings if f.reason is reason]
        if found:
            names = len({name for name, _ in found})
            yield f"\n{reason.value} ({names} {'problem' if names == 1 else 'problems'})"
        for name, finding in found[:SHOWN]:
            yield f"  {name}: {finding.text}"
            for entry in finding.evidence[:1]:
                yield f"    {_evidence(entry)}"
        if len(found) > SHOWN:
            yield f"  and {len(found) - SHOWN} more: see --json"


def _evidence(entry: dict[str, Any]) -> str:
    """One entry of evidence as a line."""
    where = [
        f"{entry[key]}[{entry[place]}]"
        for key, place in (("column", "solution"), ("test_type", "test"))
        if key in entry
    ]
    rest = {k: v for k, v in entry.items() if k not in ("column", "solution", "test_type", "test")}
    return " ".join(
        [*where, *(f"{key}={value!r}" if isinstance(value, str) else f"{key}={value}" for key, value in rest.items())]
    )
