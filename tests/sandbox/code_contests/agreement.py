"""The same programs on the same tests in two backends, verdict by verdict: what the agreement tests compare.

Programs: the human solutions of the real training split, and the published model programs of the test split.
"""

import asyncio
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from alpha_codium.judge import Judge, Rules
from alpha_codium.problem import Problem, TestCase
from alpha_codium.sandbox import Sandbox
from alpha_codium.verdict import TestResult
from tests.support import shared_path

Pair = tuple[str, str]


@dataclass(frozen=True)
class Job:
    """One program and its tests."""

    label: str
    program: str
    tests: tuple[TestCase, ...]


@dataclass
class Agreement:
    """How often two backends said the same; `apart` has each test on which they didn't."""

    table: Counter[Pair] = field(default_factory=Counter)
    apart: list[tuple[str, int, TestResult, TestResult]] = field(default_factory=list)

    def count(self, job: Job, left: Sequence[TestResult], right: Sequence[TestResult]) -> None:
        for index, (ours, theirs) in enumerate(zip(left, right, strict=True)):
            self.table[ours.verdict.value, theirs.verdict.value] += 1
            if ours.verdict is not theirs.verdict:
                self.apart.append((job.label, index, ours, theirs))

    def lines(self) -> Iterator[str]:
        """The table, and each disagreement with what either backend saw."""
        total = sum(self.table.values())
        yield f"{total} tests, {total - len(self.apart)} with the same verdict"
        for (ours, theirs), count in sorted(self.table.items()):
            yield f"{count:>7}  local {ours:<24} C++ {theirs}"
        for label, index, ours, theirs in self.apart:
            yield f"{label} test {index}: local {seen(ours)} / C++ {seen(theirs)}"


def seen(result: TestResult) -> str:
    """A test's verdict, and the last line of what was said with it."""
    said = result.execution.stderr.strip().splitlines()[-1:] or [""]
    return f"{result.verdict} {result.execution.cpu_seconds:.2f}s {said[0][:100]}".strip()


def jobs_of(name: str, most_tests: int) -> Iterator[Job]:
    """The programs of a file of the shared data, each with its first tests."""
    for line in shared_path(f"data/{name}.jsonl").read_text("utf-8").splitlines():
        record = json.loads(line)
        groups = [record[key] for key in ("public_tests", "private_tests", "generated_tests")]
        pairs = [pair for group in groups for pair in zip(group["input"], group["output"], strict=True)]
        tests = tuple(TestCase(*pair) for pair in pairs[:most_tests])
        for index, program in enumerate(programs_of(record)):
            yield Job(f"{record['name']} #{index}", program, tests)


def programs_of(record: dict) -> Iterable[str]:
    """The python3 programs of a record: by people, and by models."""
    solutions = record["solutions"]
    yield from (code for code, lang in zip(solutions["solution"], solutions["language"], strict=True) if lang == 3)
    yield from (sample["code"] for sample in record["x_meta"].get("model_samples", ()))


async def compare(jobs: Iterable[Job], left: Sandbox, right: Sandbox, rules: Rules) -> Agreement:
    """Judge each program in both, one after the other: neither slows down the other."""
    agreement, problem = Agreement(), Problem("agreement")
    for job in jobs:
        results = [
            await Judge(each, rules).for_problem(problem).judge(job.program, job.tests) for each in (left, right)
        ]
        if len(results[0].tests) == len(results[1].tests):
            agreement.count(job, results[0].tests, results[1].tests)
        else:
            agreement.table[results[0].verdict.value, results[1].verdict.value] += 1
        await asyncio.sleep(0)
    return agreement
