"""Receipts: what each verdict of a run depends on, as hashes, so that others can judge the same again."""

import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from alpha_codium.eval.prepare import EvaluationTask
from alpha_codium.judge import Rules
from alpha_codium.values import JsonValue, plain
from alpha_codium.verdict import Identity

# The receipts in the folder of a run.
RECEIPTS = "receipts.jsonl"


@dataclass(frozen=True, slots=True)
class Receipt(JsonValue):
    """What the verdict on a program depends on: SHA-256 of the program, the tests, the checker and the limits.

    `tests` are the inputs, the outputs and how they run a program. `rules` is the version of the judging rules, and
    `judged_by` the digest of the judge's identity, which includes it.
    """

    problem: str
    program: str
    tests: str
    checker: str
    limits: str
    rules: int
    judged_by: str

    def changed_since(self, other: "Receipt") -> list[str]:
        """Return which of the tests, the checker and the limits differ from those of another receipt."""
        return [name for name in ("tests", "checker", "limits") if getattr(self, name) != getattr(other, name)]


def receipts_of(tasks: Iterable[EvaluationTask], rules: Rules, judge: Identity) -> Iterator[Receipt]:
    """Yield a receipt for each distinct program of each problem."""
    for task in tasks:
        problem = task.problem
        tests = _hash_of([rules.execution_of(problem), problem.input_file, problem.output_file, task.tests])
        checker = _hash_of(rules.checker_for(problem))
        programs = {entry.to_program().digest: entry.language for entry in task.entries}
        for program, language in programs.items():
            limits = _hash_of(rules.limits_for(problem, language))
            yield Receipt(task.name, program, tests, checker, limits, judge.rules, judge.digest)


def _hash_of(value: Any) -> str:
    text = json.dumps(plain(value), sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()
