"""Comparison of frozen files, row by row."""

import argparse
import itertools
import json
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from benchmarks.verdicts.rows import PROGRAM, STOP_EARLY, Frozen, Key, Row

TEST_FIELDS = ("verdict", "status", "trust", "stdout_sha256", "cpu_limit")
PROGRAM_FIELDS = ("verdict", "compilation", "executions_run", "cpu_limit")
WORDS = {True: ("stderr_sha256",), False: ("message",)}
NEAR = 0.2
# Two rows, or one where the other is missing, and the fields that differ.
Difference = tuple[Row | None, Row | None, list[str]]


@dataclass
class Comparison:
    """The result of a comparison: rows by set, differences, and fields that weren't compared."""

    rows: Counter[str] = field(default_factory=Counter)
    differences: list[Difference] = field(default_factory=list)
    near_limit: list[Difference] = field(default_factory=list)
    unsettled: list[tuple[Row, list[str]]] = field(default_factory=list)
    left_out: int = 0

    def add(self, baselines: Sequence[Row], new: Row, *, words: bool) -> None:
        """Compare a row with those of the baselines."""
        self.rows[new["set"]] += 1
        fields = fields_of(new, words=words)
        disputed = [each for each in fields if len({row[each] for row in baselines}) > 1]
        if disputed:
            self.unsettled.append((baselines[0], disputed))
        moved = [each for each in fields if each not in disputed and new[each] != baselines[0][each]]
        if moved:
            near = all(by_time(each, new) for each in moved) and any(map(near_limit, (*baselines, new)))
            (self.near_limit if near else self.differences).append((baselines[0], new, moved))


def fields_of(row: Row, *, words: bool) -> tuple[str, ...]:
    """Return the fields of a row that are compared; with `words`, also texts of programs and judge."""
    is_test = "test_index" in row
    return (TEST_FIELDS if is_test else PROGRAM_FIELDS) + (WORDS[is_test] if words else ())


def by_time(name: str, row: Row) -> bool:
    """Whether a field may differ because a program took slightly more or less time."""
    return name != "cpu_limit" and (name != "executions_run" or row["mode"] == STOP_EARLY)


def near_limit(row: Row) -> bool:
    """Whether the CPU time is within a fifth of the limit."""
    return abs(row["cpu_seconds"] - row["cpu_limit"]) <= NEAR * row["cpu_limit"]


def compared(baselines: Sequence[Frozen], new: Frozen, *, words: bool = False, common: bool = False) -> Comparison:
    """Compare row by row; with `common`, only programs that all files have."""
    result, files = Comparison(), (*baselines, new)
    for key in dict.fromkeys(itertools.chain(*(each.rows for each in files))):
        before = [each.rows[key] for each in baselines if key in each.rows]
        row = new.rows.get(key)
        if row is not None and before:
            result.add(before, row, words=words)
        elif 0 < len(before) < len(baselines) or (common and len(programs_of(key, files)) < len(files)):
            result.left_out += 1
        else:
            stopped_by_time = key[2] == STOP_EARLY and any(map(near_limit, programs_of(key, files)))
            missing = result.near_limit if stopped_by_time else result.differences
            missing.append((before[0] if before else None, row, ["row"]))
    return result


def programs_of(key: Key, files: Sequence[Frozen]) -> list[Row]:
    """The rows of a test's program, in the files that have it."""
    program = (*key[:-1], PROGRAM)
    return [each.rows[program] for each in files if program in each.rows]


def compare(arguments: argparse.Namespace) -> int:
    """Compare the last file with the others; return 1 for differences that timing doesn't explain."""
    *others, last = arguments.files
    paths = [*arguments.baseline, *others]
    if not paths:
        sys.exit("there is nothing to compare with: give two files, or a --baseline")
    result = compared(
        [Frozen.read(path) for path in paths], Frozen.read(last), words=arguments.words, common=arguments.common
    )
    show_table(result)
    show_unsettled(result)
    show_differences("near the limit", result.near_limit, arguments.show)
    show_differences("DIFFERENT", result.differences, arguments.show)
    return int(bool(result.differences))


def show_table(result: Comparison) -> None:
    """Counts by set."""
    near, other = (
        Counter((old or new or {})["set"] for old, new, _ in some) for some in (result.near_limit, result.differences)
    )
    unsettled = Counter(row["set"] for row, _ in result.unsettled)
    print(f"{'set':24}{'rows':>8}{'different':>11}{'near limit':>12}{'unsettled':>11}")
    for name in sorted({*result.rows, *near, *other}):
        print(f"{name:24}{result.rows[name]:8}{other[name]:11}{near[name]:12}{unsettled[name]:11}")
    print(
        f"{'all':24}{result.rows.total():8}{other.total():11}{near.total():12}{unsettled.total():11}"
        f"   {result.left_out} rows aren't in all files and were left out"
    )


def show_unsettled(result: Comparison) -> None:
    """The fields in which the baselines disagree, which weren't compared."""
    fields = Counter(name for _, names in result.unsettled for name in names)
    if fields:
        print(f"\nthe baselines disagree, not compared: {dict(fields)}")
    for row, names in result.unsettled:
        print(f"  {place_of(row)}: {', '.join(names)}")


def show_differences(label: str, differences: Sequence[Difference], most: int) -> None:
    """Print differences, with both rows; at most `most`."""
    if differences:
        print(f"\n{label}: {len(differences)}")
    for old, new, names in differences[:most]:
        print(f"  {place_of(old or new or {})}: {', '.join(names)}")
        print(f"    - {json.dumps(old)}\n    + {json.dumps(new)}")
    if len(differences) > most:
        print(f"  and {len(differences) - most} more: --show")


def place_of(row: Row) -> str:
    """Where a row stands, in words."""
    test = f"test {row['test_index']}" if "test_index" in row else "the program"
    return f"{row['set']} {row['problem']!r} {row['program']} (index {row['program_index']}, {row['mode']}), {test}"
