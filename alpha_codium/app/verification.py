"""Programs of an evaluation, judged again, and what differs from the verdicts that it recorded."""

import random
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from alpha_codium.app.comparison import reopened
from alpha_codium.app.events import judging
from alpha_codium.app.options.reporting import VerifyOptions
from alpha_codium.app.run_folders import settings_on
from alpha_codium.coroutines import blocking, in_thread
from alpha_codium.data.load import ProblemSet
from alpha_codium.data.samples.setup import WithSetup
from alpha_codium.errors import UserError
from alpha_codium.eval.judging import OpenJudge, open_judge
from alpha_codium.eval.prepare import GENERATED, Entry, EvaluationSet, EvaluationTask, parse_test_types
from alpha_codium.eval.receipts import RECEIPTS, Receipt, receipts_of
from alpha_codium.eval.results import CandidateResult, ProblemResult
from alpha_codium.judge import Rules
from alpha_codium.judge.executors import Task
from alpha_codium.judge.many import judge_all
from alpha_codium.options import use_case
from alpha_codium.report.problems import RunProblems
from alpha_codium.report.reading import judged_samples
from alpha_codium.report.samples import StoredSample
from alpha_codium.runs import RunFolder
from alpha_codium.values import JsonValue, named
from alpha_codium.verdict import Identity, Verdict
from alpha_codium.wording import counted

COMMANDS = ("score", "eval_gen_solutions")
# A program that exceeds its time limit now, and didn't then, runs again with the limit times this.
MORE_TIME = 10
TIME = Verdict.TIME_LIMIT_EXCEEDED


@dataclass(frozen=True, slots=True)
class Deviation(JsonValue):
    """A program whose verdict, or number of passed tests, isn't the recorded one.

    `near_limit`: now or then a limit was near, so the load of the machine may be the reason. `slower_here`: the program
    exceeds its time limit now, but has the recorded verdict with ten times the limit. `changed` names what differs from
    the receipt: tests, checker, limits.
    """

    problem: str
    program: str
    recorded: str
    found: str
    near_limit: bool = False
    changed: tuple[str, ...] = ()
    slower_here: bool = False

    def __str__(self) -> str:
        slower = [f"as recorded with {MORE_TIME} times the time"] if self.slower_here else []
        near = ["near a limit"] if self.near_limit else []
        reasons = [*slower, *near, *(f"other {name}" for name in self.changed)]
        why = f" ({', '.join(reasons)})" if reasons else ""
        return f"{self.problem}, program {self.program[:12]}: {self.recorded}, now {self.found}{why}"


@dataclass(frozen=True, slots=True)
class Verification(JsonValue):
    """The result of judging `programs` of a run again.

    `recorded_by` and `judged_by` are the identities of the judge then and now. `changed` are the problems whose tests,
    checker or limits aren't those of the receipts; without receipts (`has_receipts`), that isn't known.
    """

    in_json: ClassVar[Mapping[str, str]] = named(
        *("run", "programs", "confirmed", "deviations", "changed", "has_receipts", "recorded_by", "judged_by")
    )

    run: str
    programs: int
    deviations: tuple[Deviation, ...]
    recorded_by: Identity
    judged_by: Identity
    changed: Mapping[str, tuple[str, ...]]
    has_receipts: bool = True

    @property
    def confirmed(self) -> bool:
        """Whether nothing differs but verdicts on programs near a limit, or too slow for it here only."""
        return not self.changed and all(each.near_limit or each.slower_here for each in self.deviations)

    def lines(self) -> Iterator[str]:
        """What differs, for people."""
        same = self.programs - len(self.deviations)
        yield f"{same} of {counted(self.programs, 'program')} judged as recorded"
        yield f"then {_judge_text(self.recorded_by)}; now {_judge_text(self.judged_by)}"
        if not self.has_receipts:
            yield "the run has no receipts: whether its tests, checkers and limits are the same isn't known"
        for name, what in self.changed.items():
            yield f"{name}: not the same {' and '.join(what)} as then"
        yield from map(str, self.deviations)


@use_case(VerifyOptions)
async def verify_async(options: VerifyOptions) -> Verification:
    """Judge programs of an evaluation again, and compare the verdicts with those that the run recorded.

    Raises UserError if the run isn't an evaluation of candidates, or its problems or programs can't be read.
    """
    folder = reopened(options.run)
    described = folder.description()
    samples = await in_thread(_chosen, folder, described, options.sample)
    problems = await in_thread(_problems, folder, described)
    receipts = await in_thread(_receipts, folder)
    settings = settings_on(options.settings)(described.get("options", {}).get("settings"))
    kinds = parse_test_types(described.get("test_types", ()))
    entries = {
        name: tuple(Entry(at, GENERATED, s.source, language=s.language) for at, s in enumerate(of_problem))
        for name, of_problem in samples.items()
    }
    tasks = EvaluationSet([problem for problem in problems if problem.name in entries], entries, kinds)
    count = sum(map(len, entries.values()))
    async with open_judge(settings) as judge:
        with judging(options.on_event, count, "judged again") as on_result:
            results = await judge.run(tasks, None, on_result)
        slower = await _slower_here(tasks, samples, results, judge)
        now = {(r.problem, r.program): r for r in receipts_of(tasks, judge.judge.rules, judge.identity)}
    changed = _changed(receipts, now)
    deviations = tuple(_deviations(samples, results, changed, slower))
    identity = Identity.from_json(described["sandbox"])
    return Verification(folder.name, count, deviations, identity, judge.identity, changed, bool(receipts))


verify = blocking(verify_async)


def _chosen(folder: RunFolder, described: Mapping[str, Any], sample: int | None) -> dict[str, list[StoredSample]]:
    """Return the programs to judge, each once a problem, by problem; a random choice of `sample` of them."""
    if described["command"] not in COMMANDS:
        raise UserError(
            f"run {folder.name!r} is one of {described['command']}: only evaluations of candidates are verified"
        )
    distinct = {(each.problem, each.result.program): each for each in judged_samples(folder)}
    if missing := [each for each in distinct.values() if not each.source and each.result.tests_total]:
        raise UserError(f"run {folder.name!r} doesn't have {counted(len(missing), 'program')} that it judged")
    chosen = [each for each in distinct.values() if each.source]
    if sample is not None and sample < len(chosen):
        chosen = random.Random(0).sample(chosen, sample)
    if not chosen:
        raise UserError(f"run {folder.name!r} has no judged programs")
    by_problem: dict[str, list[StoredSample]] = {}
    for each in chosen:
        by_problem.setdefault(each.problem, []).append(each)
    return by_problem


def _problems(folder: RunFolder, described: Mapping[str, Any]) -> ProblemSet:
    found = RunProblems(folder)
    if found.loaded is None:
        raise UserError(f"run {folder.name!r} can't be verified: {found.missing}")
    return WithSetup(found.loaded, described["setup"]) if "setup" in described else found.loaded


def _receipts(folder: RunFolder) -> dict[tuple[str, str], Receipt]:
    read = folder.journal_in(RECEIPTS).read(Receipt.from_json)
    return {(receipt.problem, receipt.program): receipt for receipt in read}


def _changed(
    then: Mapping[tuple[str, str], Receipt], now: Mapping[tuple[str, str], Receipt]
) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for key, receipt in now.items():
        if key in then and (what := receipt.changed_since(then[key])):
            found[receipt.problem] = tuple(what)
    return found


async def _slower_here(
    tasks: EvaluationSet,
    samples: Mapping[str, Sequence[StoredSample]],
    results: Sequence[ProblemResult],
    judge: OpenJudge,
) -> set[tuple[str, int]]:
    """Return the programs, as problem and index, that exceed their time now and have the recorded verdict with more."""
    asked = {}
    for task, problem in zip(tasks, results, strict=True):
        for entry, result in zip(task.entries, problem.candidates, strict=True):
            recorded = samples[problem.name][result.index].result
            if result.verdict is TIME and recorded.verdict is not TIME:
                asked[problem.name, result.index] = Task(
                    entry.to_program(), task.problem, task.tests, _with_more_time(judge.judge.rules, task, entry)
                )
    again = await judge_all(list(asked.values()), judge.executor)
    found = {key: CandidateResult.of(0, "", judgement) for key, judgement in zip(asked, again, strict=True)}
    return {(name, at) for (name, at), now in found.items() if _shown(now) == _shown(samples[name][at].result)}


def _with_more_time(rules: Rules, task: EvaluationTask, entry: Entry) -> Rules:
    seconds = MORE_TIME * rules.limits_for(task.problem, entry.language).cpu_seconds
    return replace(rules, cpu_seconds=seconds, wall_seconds=MORE_TIME * rules.wall_seconds)


def _deviations(
    samples: Mapping[str, Sequence[StoredSample]],
    results: Sequence[ProblemResult],
    changed: Mapping[str, tuple[str, ...]],
    slower: Collection[tuple[str, int]],
) -> Iterator[Deviation]:
    for problem in results:
        for result in problem.candidates:
            recorded = samples[problem.name][result.index].result
            if _shown(recorded) != _shown(result):
                near = recorded.near_limit or result.near_limit
                what, slow = changed.get(problem.name, ()), (problem.name, result.index) in slower
                yield Deviation(problem.name, recorded.program, _shown(recorded), _shown(result), near, what, slow)


def _shown(result: CandidateResult) -> str:
    return f"{result.verdict.value}, {result.tests_passed} of {counted(result.tests_total, 'test')} passed"


def _judge_text(judge: Identity) -> str:
    return f"{judge.backend} {judge.version}, {judge.interpreter}, rules {judge.rules}"
