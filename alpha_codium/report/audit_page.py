"""A page on an audit: what a grader gets wrong, each with the program that shows it."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from alpha_codium.audit.graders.report import CHOICES, FAULTS, Audit, Disagreement
from alpha_codium.audit.kit.cases import kit_version
from alpha_codium.errors import UserError
from alpha_codium.report.hiding import Hiding
from alpha_codium.report.highlighting import colours_of
from alpha_codium.report.markup import rendered
from alpha_codium.runs.folder import write_atomically

# The headings of the lists.
HEADINGS = {
    "false_rejects": "Right programs that it rejects",
    "false_accepts": "Wrong programs that it accepts",
    "hangs": "Cases on which it hangs",
    "crashes": "Cases on which it raises an error or ends",
    "races": "Answers that change by chance",
    "load": "Answers that are wrong only under load",
    CHOICES: "Choices of comparison, which aren't faults",
}


def write_audit_page(audit: Audit, path: Path) -> None:
    """Write the page on an audit; raises UserError if it can't be written."""
    kinds = (*FAULTS, CHOICES)
    values = {
        "audit": audit,
        "names": [*FAULTS.values(), CHOICES],
        "lists": [(HEADINGS[kind], list(map(_shown, found))) for kind in kinds if (found := audit.of(kind))],
        "known": sum(each.known for each in audit.disagreements),
        "kit": kit_version(),
        "made": f"{datetime.now(UTC):%F %H:%M} UTC",
    }
    try:
        write_atomically(path, [Hiding.here().hide(rendered("audit.html.j2", values))])
    except OSError as error:
        raise UserError(f"{path} can't be written: {error.strerror}") from error


def _shown(found: Disagreement) -> dict[str, Any]:
    case = found.case
    return {
        "found": found,
        "code": list(_coloured(case.program, case.language)),
        "tests": [(test.input, test.output) for test in case.tests],
    }


def _coloured(source: str, language: str) -> Iterator[tuple[str, str]]:
    """Yield the parts of a program, each after the kind of its colour, "" for none."""
    colours, at = colours_of(source, language), 0
    for kind, length in zip(colours[::2], map(int, colours[1::2]), strict=True):
        yield str(kind), source[at : at + length]
        at += length
    if at < len(source):
        yield "", source[at:]
