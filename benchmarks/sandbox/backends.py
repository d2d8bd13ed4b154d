"""A comparison of all backends on this machine: conformance, isolation, and speed."""

import asyncio
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from xml.etree import ElementTree

from alpha_codium.config import load_settings
from alpha_codium.errors import UserError
from alpha_codium.sandbox import open_sandbox
from benchmarks.sandbox.contenders import CONTENDERS, OURS
from benchmarks.sandbox.probes import PROBES, Bait, lay_bait, probe
from benchmarks.sandbox.rounds import Line, Plan, measure
from benchmarks.sandbox.workloads import WORKLOADS

# Names in the table -> the backend and its isolation.
BACKENDS: Mapping[str, tuple[str, bool]] = {
    "local": ("local", True),
    "portable": ("portable", True),
    "local, sandbox = false": ("local", False),
    "code_contests": ("code_contests", True),
    "gvisor": ("gvisor", True),
    "oci": ("oci", True),
}
# Names in the table -> names in the conformance suite, where they differ.
IN_SUITE = {"local, sandbox = false": "local-unsafe"}
OUTCOMES = ("passed", "failed", "known", "skipped")


@dataclass(frozen=True, slots=True)
class Row:
    """One backend: why it isn't available here (if so), what programs can reach in it, its speed, its conformance.

    `conformance` counts the suite's tests by outcome; `known` are differences that are listed with a reason.
    """

    name: str
    missing: str = ""
    reached: Mapping[str, bool | None] = field(default_factory=dict)
    line: Line | None = None
    conformance: Mapping[str, int] = field(default_factory=dict)


def compare_backends(plan: Plan, suite: Mapping[str, Mapping[str, int]]) -> list[Row]:
    """A row for each backend; `suite` is what `read_suite` gave."""
    rows = []
    with lay_bait() as bait:
        for name, (backend, isolation) in BACKENDS.items():
            row = replace(asyncio.run(_probed(name, backend, isolation, bait)),
                          conformance=suite.get(IN_SUITE.get(name, name), {}))  # fmt: skip
            rows.append(row if row.missing else replace(row, line=_pace(backend, isolation, plan)))
    return rows


async def _probed(name: str, backend: str, isolation: bool, bait: Bait) -> Row:
    try:
        own = load_settings().sandbox.options_of(backend)
        async with open_sandbox(backend, workers=1, isolation=isolation, **own) as sandbox:
            return Row(name, reached=await probe(sandbox, bait))
    except UserError as error:
        return Row(name, missing=str(error))


def _pace(backend: str, isolation: bool, plan: Plan) -> Line:
    own = json.dumps(load_settings().sandbox.options_of(backend))
    options = plan.options | {"sandbox": backend, "isolation": str(isolation).lower(), "own": own}
    return measure(WORKLOADS["b"], [CONTENDERS[OURS]], replace(plan, tests=plan.tests[:1], options=options))[0]


def read_suite(junit: Path) -> dict[str, Counter[str]]:
    """How the conformance suite went by backend, from what `pytest --junitxml` wrote; raises UserError.

    The backend is the first parameter in a test's name: `test_it[local-more]`.
    """
    try:
        cases = ElementTree.parse(junit).iter("testcase")
    except (OSError, ElementTree.ParseError) as error:
        raise UserError(f"{junit} is no result of pytest --junitxml: {error}") from error
    known = sorted((IN_SUITE.get(name, name) for name in BACKENDS), key=len, reverse=True)
    found: dict[str, Counter[str]] = {}
    for case in cases:
        parameters = (case.get("name") or "").partition("[")[2].rstrip("]")
        backend = next((name for name in known if parameters == name or parameters.startswith(name + "-")), "")
        if backend:
            found.setdefault(backend, Counter())[_outcome(case)] += 1
    return found


def _outcome(case: ElementTree.Element) -> str:
    skipped = case.find("skipped")
    if skipped is not None:
        return "known" if skipped.get("type") == "pytest.xfail" else "skipped"
    return "failed" if case.find("failure") is not None or case.find("error") is not None else "passed"


def as_markdown(rows: Sequence[Row]) -> str:
    """Return the table, followed by the reasons why backends aren't available here."""
    head = ["backend", "conformance", *PROBES, "tests/s", "CPU ms/test"]
    lines = [_line(head), _line(["---"] * len(head)), *(_line(_cells(row)) for row in rows)]
    missing = [f"- {row.name}: {row.missing}" for row in rows if row.missing]
    return "\n".join([*lines, "", *missing]).rstrip()


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _cells(row: Row) -> list[str]:
    counts = [f"{row.conformance[outcome]} {outcome}" for outcome in OUTCOMES if row.conformance.get(outcome)]
    reached = [{True: "**yes**", False: "no", None: "-"}[row.reached.get(name)] for name in PROBES]
    return [row.name, ", ".join(counts) or "-", *reached, *_pace_cells(row.line)]


def _pace_cells(line: Line | None) -> list[str]:
    if line is None or not line.all_right:
        return ["-", line.failure if line else "-"]
    # If processes of a daemon do the work, our control group doesn't count it.
    cpu = "-" if line.cpu_ms is None else f"{line.cpu_ms:.2f}"
    return [f"{line.tests_per_second or 0:.0f}", cpu]
