"""The configured judge: an open sandbox, its identity, and methods to judge and score programs."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Collection, Iterable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from alpha_codium.errors import SandboxError
from alpha_codium.eval.facts import Facts, SkippedPrograms
from alpha_codium.eval.known import judge_error, split_known, with_known, without_disputed
from alpha_codium.eval.languages import Skipped
from alpha_codium.eval.prepare import EvaluationSet, EvaluationTask, HumanSolutions
from alpha_codium.eval.rates import broken_programs, rates_of
from alpha_codium.eval.results import ProblemResult
from alpha_codium.eval.running import OnResult, recheck_near_limit, run_evaluation
from alpha_codium.eval.scoring import Score, labels_of, score
from alpha_codium.eval.shards import Shard
from alpha_codium.judge import Judge, Rules
from alpha_codium.judge.executors import Executor, executor_named
from alpha_codium.language_table import LANGUAGES
from alpha_codium.languages.python.prelude import check_header
from alpha_codium.program import PYTHON
from alpha_codium.runs import Journal
from alpha_codium.sandbox import sandbox_of
from alpha_codium.sandbox.blocking import AnySandbox, opened
from alpha_codium.verdict import JUDGING_RULES, Identity

if TYPE_CHECKING:
    from alpha_codium.config import Settings


@dataclass(frozen=True)
class OpenJudge:
    """A judge whose sandbox is open. `known_solutions` of each kind are judged beside a problem's candidates."""

    judge: Judge
    identity: Identity
    executor: Executor
    workers: int = 0
    known_solutions: int = 0
    recheck_near_limit: bool = False
    shard: Shard | None = None

    def with_known(self, tasks: Iterable[EvaluationTask]) -> Iterable[EvaluationTask]:
        """The tasks with known solutions among their entries, if those are in the shard, as their own must be.

        Human solutions are known themselves.
        """
        known = tasks if isinstance(tasks, HumanSolutions) else with_known(tasks, self.known_solutions)
        return known if self.shard is None else self.shard.tasks(known)

    async def run(
        self, tasks: Iterable[EvaluationTask], journal: Journal | None = None, on_result: OnResult | None = None
    ) -> list[ProblemResult]:
        """The results of every program of the tasks; programs whose verdict is in the journal aren't judged again."""
        return await run_evaluation(tasks, self.judge, self.executor, journal=journal, on_result=on_result)

    async def score(
        self,
        tasks: EvaluationSet,
        ks: Sequence[int],
        journal: Journal | None = None,
        on_result: OnResult | None = None,
    ) -> Score:
        """Judge candidates, and known solutions beside them, and score the candidates.

        Human solutions are judged alone: their own verdicts give the judge's error.
        """
        results = await self.run(self.with_known(tasks), journal, on_result)
        if self.recheck_near_limit:
            results = await recheck_near_limit(self.with_known(tasks), results, self.judge, journal, self.executor)
        facts: Facts
        if isinstance(tasks, HumanSolutions):
            undisputed = without_disputed(results, self.with_known(tasks))
            error = judge_error(undisputed, self.identity.backend)
            facts = {"agreement": error.agreement, **_skipped(results)}
        else:
            results, error = split_known(results, self.identity.backend, self.known_solutions)
            facts = {}
            if self.shard is None:
                facts = {"rates": rates_of(tasks.entries, results)}
                if broken := broken_programs(tasks.entries, results):
                    facts["broken_programs"] = broken
        if self.shard is not None:
            facts["shard"] = str(self.shard)
        facts |= {"subset": tasks.subset, "judge_error": error.to_json(), "sandbox": self.identity.to_json()}
        if self.identity.is_unsafe:
            facts["unsafe"] = "sandbox = false: untrusted programs ran with all your rights"
        # A pass@k of a part would mean nothing.
        return await asyncio.to_thread(score, results, () if self.shard else ks, facts, labels_of(tasks))

    def languages(self, tasks: Iterable[EvaluationTask]) -> Counter[str]:
        """The number of programs that `score` judges, by language."""
        return Counter(entry.language for task in self.with_known(tasks) for entry in task.entries)

    def tools(self) -> dict[str, str]:
        """The version of the compiler or runtime for each of the languages that can be run."""
        found = {}
        for language in LANGUAGES:
            with suppress(SandboxError):
                found[language] = self.judge.sandbox.tool_version(language)
        return found

    def tools_of(self, languages: Collection[str]) -> dict[str, Any]:
        """The version of the compiler and the time limit factor for each of these languages but Python, as JSON.

        Verdicts depend on them, besides the settings and the sandbox. Raises SandboxError if programs in one of the
        languages can't be run.
        """
        others, rules = sorted(set(languages) - {PYTHON}), self.judge.rules
        return {
            name: {
                "version": self.judge.sandbox.tool_version(name),
                "time_limit_factor": rules.time_limit_factors.get(name, rules.time_limit_factor),
            }
            for name in others
        }


def _skipped(results: Iterable[ProblemResult]) -> Facts:
    """Return the numbers of programs that weren't run, in all and by language and reason."""
    counts = sum((result.skipped for result in results), Skipped())
    rows = [SkippedPrograms(language=each[0], reason=each[1], programs=n) for each, n in counts.most_common()]
    return {"skipped_solutions": counts.total(), "skipped_by_language": rows}


@asynccontextmanager
async def open_judge(
    settings: "Settings", sandbox: AnySandbox | None = None, rules: Rules | None = None
) -> AsyncIterator[OpenJudge]:
    """Open the judge of the settings, with another sandbox, open or not, or other rules if given.

    Raises UserError if the settings are invalid, and SandboxError if this machine can't provide the sandbox.
    """
    code_tester = settings.code_tester
    check_header(code_tester.header)
    async with opened(sandbox or sandbox_of(settings)) as box:
        judge = Judge(box, rules or Rules.of(code_tester, settings.languages.time_limit_factors))
        workers = code_tester.workers or box.workers
        async with executor_named(code_tester.executor, box, workers, settings) as executor:
            yield OpenJudge(
                judge,
                replace(await box.identity(), rules=JUDGING_RULES),
                executor,
                workers,
                code_tester.known_solutions,
                code_tester.recheck_near_limit,
            )
