"""What a split holds, counted while its records pass."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from alpha_codium.data.schema import SOLUTION_COLUMNS, TEST_COLUMNS


@dataclass
class SplitCounts:
    """Counts over stored records; those of `tests` by type, of solutions by language."""

    problems: int = 0
    tests: Counter[str] = field(default_factory=Counter)
    solutions: dict[str, Counter[str]] = field(default_factory=lambda: {c: Counter() for c in SOLUTION_COLUMNS})
    sources: Counter[str] = field(default_factory=Counter)
    difficulties: Counter[str] = field(default_factory=Counter)
    repeated_names: int = 0
    _names: set[str] = field(default_factory=set)

    def add(self, stored: Mapping[str, Any]) -> None:
        """Count one stored record."""
        self.problems += 1
        self.repeated_names += stored["name"] in self._names
        self._names.add(stored["name"])
        self.sources[stored["source_name"]] += 1
        self.difficulties[stored["difficulty_name"]] += 1
        for column in TEST_COLUMNS:
            self.tests[column] += len(stored[column]["input"])
        # The test code of a problem with assertions is a private test more.
        self.tests["private_tests"] += bool(((stored["execution"] or {}).get("test_code") or "").strip())
        for column in SOLUTION_COLUMNS:
            self.solutions[column].update(stored[column]["language_name"])

    def as_record(self) -> dict[str, Any]:
        """The counts as JSON."""
        return {
            "problems": self.problems,
            "repeated_names": self.repeated_names,
            "tests": dict(self.tests),
            **{column: dict(self.solutions[column]) for column in SOLUTION_COLUMNS},
            "sources": dict(self.sources),
            "difficulties": dict(self.difficulties),
        }
