"""The doctor's findings as lines of text."""

from collections.abc import Iterator, Sequence

from alpha_codium.eval.doctor.examination import CaseFinding, CaseResult, Examination
from alpha_codium.eval.doctor.kit import ANY, REJECTIONS
from alpha_codium.eval.doctor.known_verdicts import KnownReport, KnownResult, table
from alpha_codium.languages import LANGUAGES


def kit_lines(examination: Examination) -> Iterator[str]:
    """The kit's sections with how often what was found, and each case that isn't as it should be."""
    shown = [f for f in CaseFinding if f is CaseFinding.RIGHT or any(r.finding is f for r in examination.results)]
    yield f"{'kit':<16}" + "".join(f"{finding.value:>12}" for finding in shown)
    for section, counts in examination.sections.items():
        yield f"{section:<16}" + "".join(f"{counts[finding]:>12}" for finding in shown)
    yield from (_case_line(result) for result in examination.results if result.finding is not CaseFinding.RIGHT)


def known_lines(report: KnownReport) -> Iterator[str]:
    """The tables of labels and verdicts, the shares, and each submission whose verdict is of another class."""
    if report.confirmed:
        yield from _table_lines("confirmed", report.confirmed)
    else:
        yield f"no confirmed {' or '.join(LANGUAGES)} submission: nothing was shown"
    if report.unconfirmed:
        yield from _table_lines("not confirmed", report.unconfirmed)
    right, total = report.class_share
    if total:
        yield f"the right class of rejection: {right} of {total} ({right / total:.1%})"
    for name, count in sorted(report.not_run.items()):
        yield f"not run: {count} in {name}"
    for confirmed in (True, False):
        for result in report.confirmed if confirmed else report.unconfirmed:
            if result.reason:
                yield _line(result, confirmed)


def _case_line(result: CaseResult) -> str:
    name = f"  {result.finding.value}: {result.case.section}: {result.case.name}"
    if result.verdict is None:
        return f"{name}: {result.reason}"
    wanted = {ANY: "any verdict", REJECTIONS: "a rejection"}.get(result.case.expected)
    why = f" ({result.reason})" if result.reason else ""
    return f"{name}: {result.verdict}, not {wanted or ' or '.join(sorted(result.case.expected))}{why}"


def _line(result: KnownResult, confirmed: bool) -> str:
    submission, verdict = result.submission, result.verdict
    label = submission.label if confirmed else f"{submission.label}, not confirmed"
    name = f"{submission.problem}: {submission.file}"
    if not result.judged:
        return f"  not judged: {name} ({label}): {result.reason}"
    kind = "other class" if result.right else "WRONG" if confirmed else "otherwise"
    return f"  {kind}: {name} ({label}): {verdict}; {result.reason}"


def _table_lines(title: str, results: Sequence[KnownResult]) -> Iterator[str]:
    counts = table(results)
    verdicts = sorted({verdict for row in counts.values() for verdict in row})
    yield f"{title:<16}" + "".join(f"{verdict:>{len(verdict) + 2}}" for verdict in verdicts)
    for label, row in counts.items():
        yield f"{label:<16}" + "".join(f"{row.get(verdict, 0):>{len(verdict) + 2}}" for verdict in verdicts)
