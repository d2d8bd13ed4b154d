"""The judge of the settings: a sandbox opened, its identity, and programs judged and scored with it."""

import asyncio
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from alpha_codium.eval.known import error_of_human_solutions, split_known, with_known, without_disputed
from alpha_codium.eval.prepare import EvaluationSet, EvaluationTask, HumanSolutions
from alpha_codium.eval.rates import rates_of
from alpha_codium.eval.results import ProblemResult
from alpha_codium.eval.running import OnResult, run_evaluation
from alpha_codium.eval.scoring import Score, human_facts, labels_of, score
from alpha_codium.judge import Judge, Rules
from alpha_codium.languages.python.prelude import check_header
from alpha_codium.runs import Journal
from alpha_codium.sandbox import Sandbox, sandbox_of
from alpha_codium.verdict import Identity

if TYPE_CHECKING:
    from alpha_codium.config import Settings


@dataclass(frozen=True)
class OpenJudge:
    """A judge whose sandbox is open. `known_solutions` of each kind are judged beside a problem's candidates."""

    judge: Judge
    identity: Identity
    workers: int = 0
    known_solutions: int = 0

    def with_known(self, tasks: Iterable[EvaluationTask]) -> Iterable[EvaluationTask]:
        """The tasks with known solutions among their entries."""
        return with_known(tasks, self.known_solutions)

    async def run(
        self, tasks: Iterable[EvaluationTask], journal: Journal | None = None, on_result: OnResult | None = None
    ) -> list[ProblemResult]:
        """The results of every program of the tasks; what the journal holds isn't judged again."""
        return await run_evaluation(tasks, self.judge, journal=journal, on_result=on_result, workers=self.workers)

    async def score(
        self,
        tasks: EvaluationSet,
        ks: Sequence[int],
        rows: Iterable[Mapping[str, Any]] | None = None,
        journal: Journal | None = None,
        on_result: OnResult | None = None,
    ) -> Score:
        """Judge candidates, and known solutions beside them, and score the candidates.

        `rows` of the Solutions dataset, where there are any, tell the rates of truncated answers. Human solutions are
        known themselves: they are judged alone, and tell the judge's own error.
        """
        judged = await self.run(self._entries(tasks), journal, on_result)
        if isinstance(tasks, HumanSolutions):
            results: Sequence[ProblemResult] = judged
            undisputed = without_disputed(judged, tasks)
            error = error_of_human_solutions(undisputed, self.identity.backend)
            facts = human_facts(undisputed)
        else:
            results, error = split_known(judged, self.identity.backend, self.known_solutions)
            facts = {"rates": rates_of(tasks.predictions if rows is None else rows, results).to_json()}
        facts |= {"judge_error": error.to_json(), "sandbox": self.identity.to_json()}
        return await asyncio.to_thread(score, results, ks, facts, labels_of(tasks))

    def _entries(self, tasks: EvaluationSet) -> Iterable[EvaluationTask]:
        return tasks if isinstance(tasks, HumanSolutions) else self.with_known(tasks)

    def total(self, tasks: EvaluationSet) -> int:
        """How many programs `score` judges."""
        return sum(len(task.entries) for task in self._entries(tasks))


@asynccontextmanager
async def open_judge(
    settings: "Settings", sandbox: Sandbox | None = None, rules: Rules | None = None
) -> AsyncIterator[OpenJudge]:
    """The judge of the settings, or on another sandbox, or with other rules.

    Raises UserError where the settings are invalid, and SandboxError where this machine can't give the sandbox.
    """
    code_tester = settings.code_tester
    check_header(code_tester.header)
    async with sandbox or sandbox_of(settings) as opened:
        judge = Judge(opened, rules or Rules.of(code_tester))
        yield OpenJudge(judge, await opened.identity(), code_tester.workers, code_tester.known_solutions)
