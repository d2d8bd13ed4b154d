"""An examination of the judge by the built-in cases.

1. Cases are judged like candidates: by the judge, in the configured sandbox, several at a time. The first case is
   repeated at the end, to check that the others haven't affected the judge.
2. A case without a verdict (`internal_error`, or a backend that can't run such tests) is not as expected.
3. Without isolation, programs that would harm the machine aren't run, and count as not held.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import ClassVar

from alpha_codium.audit.kit.cases import ANY, REJECTIONS, Case
from alpha_codium.errors import UserError
from alpha_codium.eval.languages import Languages
from alpha_codium.judge import Judge
from alpha_codium.judge.executors import Executor, LocalPool, Task
from alpha_codium.judge.many import judge_all
from alpha_codium.program import Program
from alpha_codium.values import JsonValue, named
from alpha_codium.verdict import Judgement, Status, Verdict
from alpha_codium.wording import counted

CHEATS = "cheats"
AFTERWARDS = "after all of these: "


class CaseFinding(StrEnum):
    """The outcome of one case."""

    RIGHT = "right"
    WRONG = "wrong"
    NOT_HELD = "not held"
    NOT_JUDGED = "not judged"
    NOT_RUN = "not run"


@dataclass(frozen=True, slots=True)
class CaseResult(JsonValue):
    """The result of one case; `verdict` is None if none was reached, and `reason` says why."""

    in_json: ClassVar[Mapping[str, str]] = named(
        *("verdict", "finding", "reason"), name="case.name", section="case.section", expected="case.expected"
    )
    optional: ClassVar[Sequence[str]] = ("reason",)

    case: Case
    finding: CaseFinding
    verdict: Verdict | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Examination(JsonValue):
    """The results of all cases."""

    in_json: ClassVar[Mapping[str, str]] = named("faultless", "total", "findings", cases="results")

    results: tuple[CaseResult, ...]

    @property
    def faultless(self) -> bool:
        """Whether every case that could be run was as expected, and none was unjudged or not held."""
        return all(result.finding in (CaseFinding.RIGHT, CaseFinding.NOT_RUN) for result in self.results)

    @property
    def total(self) -> int:
        """The number of cases."""
        return len(self.results)

    @property
    def findings(self) -> dict[CaseFinding, int]:
        """The number of cases by finding."""
        counts = Counter(result.finding for result in self.results)
        return {finding: counts[finding] for finding in CaseFinding}

    @property
    def sections(self) -> dict[str, Counter[CaseFinding]]:
        """The number of cases by finding, for each section."""
        counts: dict[str, Counter[CaseFinding]] = {}
        for result in self.results:
            counts.setdefault(result.case.section, Counter())[result.finding] += 1
        return counts

    def lines(self) -> Iterator[str]:
        """Yield the sections with their findings, and each case that isn't as expected."""
        shown = [f for f in CaseFinding if f is CaseFinding.RIGHT or any(r.finding is f for r in self.results)]
        yield f"{'kit':<16}" + "".join(f"{finding.value:>12}" for finding in shown)
        for section, counts in self.sections.items():
            yield f"{section:<16}" + "".join(f"{counts[finding]:>12}" for finding in shown)
        as_expected = (CaseFinding.RIGHT, CaseFinding.NOT_RUN)
        yield from (_line(result) for result in self.results if result.finding not in as_expected)
        not_run = Counter(result.reason for result in self.results if result.finding is CaseFinding.NOT_RUN)
        yield from (f"  not run: {counted(count, 'case')}: {reason}" for reason, count in not_run.items())


async def examine(
    judge: Judge,
    cases: Sequence[Case],
    executor: Executor | None = None,
    *,
    isolated: bool = True,
    on_result: Callable[[CaseResult], None] = lambda _: None,
) -> Examination:
    """Judge every case; the results are in the cases' order.

    `isolated` says whether the judge's sandbox isolates programs from the machine.
    """
    executor, languages = _Tolerant(executor or LocalPool(judge.sandbox)), Languages(sandbox=judge.sandbox)
    missing = await _missing_modules(judge, {case.needs for case in cases if case.needs})

    async def examined(some: Sequence[Case]) -> list[CaseResult]:
        not_run = {place: _not_run(case, missing, languages, isolated) for place, case in enumerate(some)}
        results = {place: found for place, found in not_run.items() if found}
        for result in results.values():
            on_result(result)
        asked = [place for place in range(len(some)) if place not in results]

        def add(index: int, judgement: Judgement) -> None:
            results[asked[index]] = _result_of(some[asked[index]], judgement)
            on_result(results[asked[index]])

        tasks = (_task(some[place], judge) for place in asked)
        await judge_all(tasks, executor, on_judgement=add)
        return [results[place] for place in range(len(some))]

    results = await examined(cases)
    if cases:
        last = replace(cases[0], name=AFTERWARDS + cases[0].name, section=cases[-1].section)
        results += await examined([last])
    return Examination(tuple(results))


def _task(case: Case, judge: Judge) -> Task:
    return Task(Program.from_source(case.language, case.program), case.problem, case.tests, judge.rules)


def _not_run(case: Case, missing: Collection[str], languages: Languages, isolated: bool) -> CaseResult | None:
    if reason := languages.why_not(case.language, case.problem):
        return CaseResult(case, CaseFinding.NOT_RUN, reason=reason)
    if case.needs in missing:
        return CaseResult(case, CaseFinding.NOT_RUN, reason=f"the interpreter has no {case.needs}")
    if case.dangerous and not isolated:
        return CaseResult(case, CaseFinding.NOT_HELD, reason="not run: nothing here would hold it")
    return None


@dataclass(frozen=True, slots=True)
class _Tolerant(Executor):
    """An executor for cases that a backend may refuse to run: their judgement has no tests, and no retry."""

    executor: Executor

    @property
    def in_flight(self) -> int:
        """See `Executor`."""
        return self.executor.in_flight

    async def judge(self, tasks: Sequence[Task]) -> Sequence[Judgement]:
        """See `Executor`."""
        try:
            return await self.executor.judge(tasks)
        except UserError as error:
            return [Judgement(Verdict.INTERNAL_ERROR, message=str(error)) for _ in tasks]


def _result_of(case: Case, judgement: Judgement) -> CaseResult:
    verdict = judgement.verdict
    if verdict in case.expected:
        return CaseResult(case, CaseFinding.RIGHT, verdict)
    if verdict is Verdict.INTERNAL_ERROR:
        return CaseResult(case, CaseFinding.NOT_JUDGED, verdict if judgement.tests else None, judgement.message)
    escaped = case.section == CHEATS and verdict is Verdict.ACCEPTED
    return CaseResult(case, CaseFinding.NOT_HELD if escaped else CaseFinding.WRONG, verdict)


async def _missing_modules(judge: Judge, names: set[str]) -> set[str]:
    """Return the modules that the programs' interpreter doesn't have."""
    missing = set()
    for name in sorted(names):
        report = await judge.sandbox.run(f"import {name}", [""])
        # Other failures don't mean that the module is missing; the cases will report them.
        if any(e.status is Status.RUNTIME_ERROR and "ModuleNotFoundError" in e.stderr for e in report.executions):
            missing.add(name)
    return missing


def _line(result: CaseResult) -> str:
    name = f"  {result.finding.value}: {result.case.section}: {result.case.name}"
    if result.verdict is None:
        return f"{name}: {result.reason}"
    wanted = {ANY: "any verdict", REJECTIONS: "a rejection"}.get(result.case.expected)
    why = f" ({result.reason})" if result.reason else ""
    return f"{name}: {result.verdict}, not {wanted or ' or '.join(sorted(result.case.expected))}{why}"
