"""A judge that also records observations.

1. `ObservingJudge` replaces a `Judge`. Each program's observation is one line of `observations.jsonl`, on disk before
   the verdict is returned, so every program in a run's journal has an observation.
2. Verdicts are returned without their tests, which would fill the memory on a large split. A program with an internal
   error on any test has no verdict, even if an earlier test failed: validation needs all tests, so the program is
   judged again when the run is resumed.
3. Known-correct programs that ran out of time are run on those tests once more, with `WIDER` times the limit: this
   distinguishes a tight limit from a program that never ends.
"""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from alpha_codium.eval.validation.alternatives import alternatives_for
from alpha_codium.eval.validation.observation import Observation, Wider, observe
from alpha_codium.judge import Judge, ProblemJudge
from alpha_codium.problem import Problem, TestCase
from alpha_codium.program import Program
from alpha_codium.runs import Journal
from alpha_codium.verdict import Judgement, Verdict

WIDER = 4.0
FILE = "observations.jsonl"


@dataclass(frozen=True, slots=True)
class ObservingJudge:
    """A judge that writes its programs' observations to an open journal."""

    judge: Judge
    journal: Journal

    def for_problem(self, problem: Problem) -> "ObservingProblemJudge":
        """The observing judge of one problem; raises Unjudgeable as `Judge` does."""
        return ObservingProblemJudge(problem, self.judge.for_problem(problem), self.judge, self.journal)


@dataclass(frozen=True, slots=True)
class ObservingProblemJudge:
    """The observing judge of one problem."""

    problem: Problem
    inner: ProblemJudge
    judge_of_all: Judge
    journal: Journal

    async def judge(self, program: Program, tests: Sequence[TestCase]) -> Judgement:
        """Judge `program` by all tests and record its observation; the verdict comes without its tests."""
        judgement = await self.inner.judge(program, tests, stop_early=False)
        if judgement.tests:
            await self._record(program, tests, judgement)
        # No test was left out, so results and tests pair up if there are results.
        lost = [
            result
            for test, result in zip(tests, judgement.tests, strict=False)
            if result.verdict is Verdict.INTERNAL_ERROR and not self.inner.kind.fault_of(test)
        ]
        if not lost:
            return replace(judgement, tests=())
        why = lost[0].execution.stderr or judgement.message
        return replace(judgement, verdict=Verdict.INTERNAL_ERROR, message=why, tests=())

    async def _record(self, program: Program, tests: Sequence[TestCase], judgement: Judgement) -> None:
        is_correct = any(solution.code == program.source for solution in self.problem.solutions)
        seen = await asyncio.to_thread(
            observe,
            tests,
            judgement,
            alternatives_for(self.problem),
            keep_outputs=is_correct,
            printed=self.problem.execution.kind != "assertions",
            wider=await self._again(program, tests, judgement) if is_correct else {},
        )
        line = {"problem": self.problem.name, "program": program.digest, "observation": seen.to_json()}
        await asyncio.to_thread(self.journal.append, line)

    async def _again(self, program: Program, tests: Sequence[TestCase], judgement: Judgement) -> dict[int, Wider]:
        """Run the tests that ran out of time again with the wider limit, up to the first that does so again."""
        late = [p for p, result in enumerate(judgement.tests) if result.verdict is Verdict.TIME_LIMIT_EXCEEDED]
        if not late:
            return {}
        limits = self.judge_of_all.rules.limits_for(self.problem)
        rules = replace(self.judge_of_all.rules, cpu_seconds=limits.cpu_seconds * WIDER)
        wide = replace(self.judge_of_all, rules=rules).for_problem(self.problem)
        again: dict[int, Wider] = {}
        for place in late:
            (result,) = (await wide.judge(program, [tests[place]], stop_early=False)).tests
            again[place] = Wider(result.verdict, round(result.execution.cpu_seconds, 4))
            if result.verdict is Verdict.TIME_LIMIT_EXCEEDED:
                break
        return again


class Observations:
    """The observations in a run's file, each read when it is asked for."""

    def __init__(self, path: Path) -> None:
        """Raises JournalError if the file can't be read, or a line of it isn't an observation."""
        self.path = path
        self._offsets = {key: offset for offset, key in Journal(path).placed(_key)}

    def __contains__(self, key: object) -> bool:
        """Whether there is one for (problem, digest of the program)."""
        return key in self._offsets

    def get(self, problem: str, program: Program) -> Observation | None:
        """The last observation of a program, None if there is none."""
        offset = self._offsets.get((problem, program.digest))
        if offset is None:
            return None
        with self.path.open("rb") as lines:
            lines.seek(offset)
            return Observation.from_json(json.loads(lines.readline())["observation"])


def _key(line: dict[str, Any]) -> tuple[str, str]:
    Observation.from_json(line["observation"])
    return line["problem"], line["program"]
