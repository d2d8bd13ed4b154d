"""The record of a run: each item, which is a task and the number of the replica, with its turns."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from alpha_codium.repository.harness import PASSED, SKIPPED, RepositoryTestResult
from alpha_codium.repository.running.measures import Measures
from alpha_codium.solution import ErrorKind, SampleError
from alpha_codium.values import JsonValue


class TurnStatus(StrEnum):
    """What became of an answer. The values are those of the existing benchmark's results."""

    OK = "OK"
    FAILED = "FAILED"
    CRASHED = "CRUSHED"
    NOT_RUN = "NOT_RUN"


@dataclass(frozen=True, slots=True)
class Turn(JsonValue):
    """One answer, and what its tests said.

    `method` is the name of the method that the answer changes, and `code` its text; `reason` says why an answer was not
    run or how the tests' process ended. `feedback` is what the model is told.
    """

    status: TurnStatus
    answer: str
    method: str = ""
    code: str = ""
    reason: str = ""
    feedback: str = ""
    tests: tuple[RepositoryTestResult, ...] = ()
    measures: Measures = field(default_factory=Measures)
    cpu_seconds: float = 0.0

    @property
    def share_passed(self) -> float:
        """The share of tests that passed, of those that weren't skipped; 0 for an answer that wasn't run."""
        ran = [test for test in self.tests if test.status != SKIPPED]
        return sum(test.status == PASSED for test in ran) / len(ran) if ran else 0.0

    def short(self) -> dict[str, Any]:
        """Return the turn without long texts."""
        counts = {"tests_passed": sum(t.status == PASSED for t in self.tests), "tests_total": len(self.tests)}
        return {"status": self.status.value, "reason": self.reason, **counts, **self.measures.to_json()}


@dataclass(frozen=True, slots=True)
class ItemRun(JsonValue):
    """The turns of one item; `error` says why they ended early: a fault of the provider, the sandbox or a budget."""

    idx: int
    dp_id: str
    replica: int
    file_path: str
    method: str
    turns: tuple[Turn, ...]
    error: SampleError | None = None
    llm_calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float | None = 0.0
    model: str = ""

    @property
    def key(self) -> tuple[int, int]:
        """What is unique in a run: the task and the replica."""
        return self.idx, self.replica

    @property
    def is_final(self) -> bool:
        """Whether the item is done; others are run again when the run is resumed."""
        return self.error is None or self.error.kind is ErrorKind.MODEL

    @property
    def passed(self) -> bool:
        """Whether the last answer passed."""
        return bool(self.turns) and self.turns[-1].status is TurnStatus.OK

    def at(self, turn: int) -> Turn:
        """Return the last turn up to this one, which counts from 1; the item must have turns."""
        return self.turns[min(turn, len(self.turns)) - 1]

    def row(self) -> dict[str, Any]:
        """Return the line of `results.jsonl`."""
        return {"passed": self.passed, **self.to_json()}

    def short_row(self) -> dict[str, Any]:
        """Return the line of the short results."""
        row: Mapping[str, Any] = self.to_json()
        return {"passed": self.passed, **row, "turns": [turn.short() for turn in self.turns]}
