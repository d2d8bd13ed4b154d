"""Validating a split, in two steps.

1. Every known program that can be run is judged on all tests, by `run_evaluation` as for a score; an `ObservingJudge`
   writes an observation of each to `observations.jsonl`. An interrupted run can be resumed; a program whose observation
   was lost since is judged again.
2. When all are judged, problems are assessed one by one from those observations: memory holds one problem at a time.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar, cast

from loguru import logger

from alpha_codium.errors import Unjudgeable
from alpha_codium.eval.known import disputed
from alpha_codium.eval.languages import Languages
from alpha_codium.eval.prepare import CORRECT, INCORRECT, EvaluationTask, HumanSolutions, human_solutions
from alpha_codium.eval.results import ProblemResult
from alpha_codium.eval.running import OnResult, run_evaluation
from alpha_codium.eval.validation.alternatives import alternatives_for, checker_in_force
from alpha_codium.eval.validation.assessment import Assessment, assess
from alpha_codium.eval.validation.observed import Known, ObservedProblem, places_of
from alpha_codium.eval.validation.observing import FILE, Observations, ObservingJudge
from alpha_codium.eval.validation.timing import NEAR
from alpha_codium.eval.validation.wording import several_answers
from alpha_codium.judge import Judge
from alpha_codium.problem import Problem, TestType
from alpha_codium.program import PYTHON, Program
from alpha_codium.runs import Journal, RunFolder
from alpha_codium.verdict import Verdict
from alpha_codium.wording import counted

T = TypeVar("T")
# Verdicts of programs that weren't run.
UNOBSERVED = (Verdict.NO_TESTS, Verdict.INTERNAL_ERROR)


# The limits that are checked are those of Python programs.
VALIDATED = Languages((PYTHON,), other="`data validate` runs programs in python3")


def known_programs(problems: Sequence[Problem], test_types: Sequence[TestType]) -> HumanSolutions:
    """The known programs that are run."""
    return human_solutions(problems, "both", test_types, languages=VALIDATED)


async def observe_known(
    problems: Sequence[Problem],
    test_types: Sequence[TestType],
    judge: Judge,
    folder: RunFolder,
    *,
    on_result: OnResult | None = None,
    workers: int = 0,
) -> list[ProblemResult]:
    """Judge all known programs in a run's folder, except those that already have an observation there."""
    tasks = known_programs(problems, test_types)
    with _JournalOfObserved(folder) as journal, Journal(folder.path / FILE) as observations:
        # `run_evaluation` calls only for_problem(...).judge(program, tests).
        observing = cast(Judge, ObservingJudge(judge, observations))
        return await run_evaluation(tasks, observing, journal=journal, on_result=on_result, workers=workers)


class _JournalOfObserved(Journal):
    """The run's journal, without the verdicts on programs whose observation was lost."""

    def __init__(self, folder: RunFolder) -> None:
        super().__init__(folder.journal.path)
        self._observed = Observations(folder.path / FILE)

    def read(self, parse: Callable[[dict[str, Any]], T]) -> Iterator[T]:
        """`parse` applied to each entry on a program that was observed."""
        lost = 0
        for is_observed, parsed in super().read(lambda line: (self._is_observed(line), parse(line))):
            lost += not is_observed
            if is_observed:
                yield parsed
        if lost:
            logger.warning(
                "{} lacks the observations of {}, to be judged again", self._observed.path, counted(lost, "program")
            )

    def _is_observed(self, line: dict[str, Any]) -> bool:
        verdict = line["result"]["verdict"]
        return verdict in UNOBSERVED or (line["problem"], line["program"]) in self._observed


def assess_known(
    problems: Sequence[Problem],
    test_types: Sequence[TestType],
    judge: Judge,
    folder: RunFolder,
    results: Sequence[ProblemResult],
    near: float = NEAR,
) -> Iterator[Assessment]:
    """The assessments of problems whose known programs were judged, in their order; nothing is run."""
    observations = Observations(folder.path / FILE)
    tasks = known_programs(problems, test_types)
    for task, result in zip(tasks, results, strict=True):
        yield assess(_observed(task, test_types, judge, observations, result), near)


def _observed(
    task: EvaluationTask,
    test_types: Sequence[TestType],
    judge: Judge,
    observations: Observations,
    result: ProblemResult,
) -> ObservedProblem:
    problem = task.problem
    malformed, not_judged = _malformed(task, judge)
    # Skip programs that are listed as both correct and incorrect.
    both = disputed(problem)
    known: dict[str, list[Known]] = {CORRECT: [], INCORRECT: []}
    lost = 0
    for label, programs in ((CORRECT, problem.solutions), (INCORRECT, problem.incorrect_solutions)):
        for index, solution in enumerate(programs):
            if solution.language not in VALIDATED.asked:
                continue
            seen = observations.get(problem.name, Program.from_source(solution.language, solution.code))
            if seen is None or any(
                v is Verdict.INTERNAL_ERROR for p, v in enumerate(seen.verdicts) if p not in malformed
            ):
                lost += bool(task.tests)
            elif solution.code not in both:
                known[label].append(Known(label, index, solution.code, seen))
    unjudged = 0 if not_judged else lost
    if unjudged:
        why = next((candidate.error for candidate in result.candidates if candidate.error), "a fault of the sandbox")
        not_judged = f"{counted(lost, 'program')} got no verdict: {why}"
    return ObservedProblem(
        problem=problem,
        tests=task.tests,
        places=places_of(problem, test_types),
        checker=checker_in_force(problem, judge.rules),
        limits=judge.rules.limits_for(problem),
        alternatives=alternatives_for(problem),
        correct=tuple(known[CORRECT]),
        incorrect=tuple(known[INCORRECT]),
        malformed=malformed,
        not_run=task.skipped.total(),
        wording=several_answers(problem.description),
        not_judged=not_judged,
        unjudged=unjudged,
    )


def _malformed(task: EvaluationTask, judge: Judge) -> tuple[dict[int, str], str]:
    """The tests that can't be run, each with the reason; or why the problem can't be judged."""
    try:
        problem_judge = judge.for_problem(task.problem)
    except Unjudgeable as reason:
        return {}, str(reason)
    faults = ((place, problem_judge.kind.fault_of(test)) for place, test in enumerate(task.tests))
    return {place: fault for place, fault in faults if fault}, ""
