"""Results as text and as JSON."""

import os
import platform
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.sandbox.contenders import OURS
from benchmarks.sandbox.rounds import Line, ratio_to_ours

HEAD = ("", "isolates", "tests/candidate", "tests/s", "CPU ms/test", "(lowest-highest)", "CPU / ours")


def as_text(lines: Sequence[Line]) -> str:
    """Return one workload's table, followed by failures and other problems."""
    workload = lines[0].workload
    shown = [HEAD, *(_cells(line, lines) for line in lines if line.samples)]
    widths = [max(len(row[column]) for row in shown) for column in range(len(HEAD))]
    rows = ["  ".join(_pad(cell, width, column) for column, (cell, width) in enumerate(zip(row, widths, strict=True)))
            for row in shown]  # fmt: skip
    return "\n".join([f"workload {workload.name}: {workload.what}", *map(str.rstrip, rows), *_remarks(lines)])


def as_json(lines: Sequence[Line]) -> list[dict[str, Any]]:
    """One object a line, with every round's figures."""
    return [
        {
            "workload": line.workload.name,
            "contender": line.contender.name,
            "title": line.contender.title,
            "isolates": line.contender.isolates,
            "tests_per_candidate": line.tests,
            "all_right": line.all_right,
            "tests_per_second": line.tests_per_second,
            "cpu_ms_per_test": line.cpu_ms,
            "cpu_ratio_to_ours": ratio_to_ours(line, lines),
            "cpu_ms_by_round": line.cpu_ms_by_round,
            "wall_ms_by_round": [1000 * sample.wall_seconds / sample.total for sample in line.samples],
            "executions_by_round": [sample.total for sample in line.samples],
            "notes": list(line.notes),
            "failure": line.failure,
        }
        for line in lines
    ]


def machine() -> dict[str, Any]:
    """Return a description of this machine."""
    model = [line for line in _lines_of("/proc/cpuinfo") if line.startswith("model name")]
    return {
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
        "cores": os.cpu_count(),
        "cpu": model[0].partition(":")[2].strip() if model else platform.processor(),
        "load_average": list(os.getloadavg()),
    }


def machine_text(facts: dict[str, Any]) -> str:
    """The machine in one line."""
    load = " ".join(f"{value:.2f}" for value in facts["load_average"])
    return f"{facts['cpu']}, {facts['cores']} cores, {facts['system']}, CPython {facts['python']}, load {load}"


def _cells(line: Line, lines: Sequence[Line]) -> tuple[str, ...]:
    by_round, ratio = line.cpu_ms_by_round, ratio_to_ours(line, lines)
    spread = f"({min(by_round):.2f}-{max(by_round):.2f})" if by_round else ""
    cpu = "-" if line.cpu_ms is None else f"{line.cpu_ms:.2f}"
    shown = "" if line.contender.name == OURS else "-" if ratio is None else f"{ratio:.2f}x"
    return (line.contender.title, line.contender.isolates, str(line.tests), f"{line.tests_per_second or 0:.0f}",
            cpu, spread, shown)  # fmt: skip


def _remarks(lines: Sequence[Line]) -> list[str]:
    remarks = {
        f"{OURS} takes {1 / ratio:.2f}x the CPU time of the {line.contender.name}": None
        for line in lines
        if line.contender.name == "floor" and (ratio := ratio_to_ours(line, lines))
    }
    for line in lines:
        if line.failure:
            remarks[f"{line.contender.title}: {line.failure}"] = None
        if line.samples and not line.all_right:
            wrong = sum(sample.total - sample.right for sample in line.samples)
            remarks[f"{line.contender.title}: {wrong} of {sum(s.total for s in line.samples)} WRONG, no ratio"] = None
        remarks |= {f"{line.contender.title}: {note}": None for note in line.notes}
    return [f"  {remark}" for remark in remarks]


def _pad(cell: str, width: int, column: int) -> str:
    return cell.ljust(width) if column < 2 else cell.rjust(width)


def _lines_of(path: str) -> list[str]:
    try:
        return Path(path).read_text().splitlines()
    except OSError:
        return []
