"""Generation of a program for one problem."""

import contextlib
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from loguru import logger

from alpha_codium.app.events import ItemsReached, OnEvent, RunPlanned, working
from alpha_codium.app.models import with_model
from alpha_codium.app.options.solving import DEFAULT_FLOW, SolveProblemOptions
from alpha_codium.app.run_folders import run_or_temporary, shown_settings
from alpha_codium.config import Settings, load_settings
from alpha_codium.coroutines import blocking, in_thread
from alpha_codium.data.load import load_problem_file, load_problems
from alpha_codium.data.schema import record_from_problem
from alpha_codium.data.statements import load_statement, with_examples
from alpha_codium.errors import DatasetError
from alpha_codium.eval.failures import Failure, failure_of
from alpha_codium.eval.judging import open_judge
from alpha_codium.eval.prepare import parse_test_types
from alpha_codium.flows import Flow
from alpha_codium.flows.context import language_of
from alpha_codium.gen.budgets import Ledger, Usage
from alpha_codium.gen.caching import open_cache
from alpha_codium.gen.choosing import check_problems, chosen_flow
from alpha_codium.gen.loop import keep
from alpha_codium.gen.preview import Preview, preview_of
from alpha_codium.gen.sample import Solver, StageProgress
from alpha_codium.judge import Judge
from alpha_codium.llm.opening import open_model
from alpha_codium.options import use_case
from alpha_codium.paths import models_folder
from alpha_codium.problem import Problem, TestType
from alpha_codium.runs import AnswerStore, RunFolder
from alpha_codium.runs.folder import ANSWERS, PROBLEM, SOLVE_PROBLEM
from alpha_codium.solution import Candidate
from alpha_codium.values import JsonValue, named
from alpha_codium.verdict import Judgement, Verdict
from alpha_codium.wording import counted

NO_EXAMPLES = (
    "no examples were recognized in the statement: give them below a heading, `## Examples`, or as `public_tests` with "
    "`problem_file`, see docs/own_problems.md"
)


@dataclass(frozen=True, slots=True)
class Solved(JsonValue):
    """The best candidate for a problem, and its judgement on the requested tests; None without tests or a program.

    `usage` is that of all samples. `failure` is the first public test that the program fails, or else the first of the
    requested ones.
    """

    in_json: ClassVar[Mapping[str, str]] = named(
        *("candidate", "error", "failure", "judgement"), all_calls="usage.llm_calls", all_cost="usage.cost"
    )
    beside: ClassVar[Sequence[str]] = ("candidate", "judgement")
    optional: ClassVar[Sequence[str]] = ("failure",)

    candidate: Candidate
    usage: Usage
    judgement: Judgement | None = None
    failure: Failure | None = None

    @property
    def error(self) -> str:
        """The error of the candidate, as in the Solutions dataset."""
        return str(self.candidate.error or "")

    @property
    def fault(self) -> str:
        """Why the program isn't known to be right: it is missing, or fails tests; "" otherwise."""
        candidate, judgement = self.candidate, self.judgement
        if candidate.error is not None:
            return f"no program: {candidate.error}"
        if candidate.public_tests_passed < candidate.public_tests_total:
            failed = candidate.public_tests_total - candidate.public_tests_passed
            return f"the program fails {failed} of {counted(candidate.public_tests_total, 'public test')}"
        if judgement is None or judgement.verdict in (Verdict.ACCEPTED, Verdict.NO_TESTS):
            return ""
        failed = judgement.tests_total - judgement.tests_passed
        return f"the program fails the tests asked for: {judgement.verdict.value}, {failed} of {judgement.tests_total}"

    def lines(self, test_types: Sequence[str] = ()) -> list[str]:
        """Return the results as text: of the public tests, with the costs, of the requested tests, and the failure."""
        candidate, judgement = self.candidate, self.judgement
        total = candidate.public_tests_total
        public = f"{candidate.public_tests_passed} of {counted(total, 'public test')}" if total else "no public tests"
        which = "public"
        lines = [f"{public}; {counted(self.usage.llm_calls, 'call')}, {self.usage.tokens_and_cost()}"]
        if judgement is not None:
            passed = f"({judgement.tests_passed}/{judgement.tests_total})"
            lines.append(f"{', '.join(test_types)}: {judgement.verdict} {passed}")
            if candidate.public_tests_passed == total:
                total, which = judgement.tests_total, ""
        return [*lines, *(self.failure.lines(total, which) if self.failure is not None else ())]


@use_case(SolveProblemOptions)
async def solve_problem_async(options: SolveProblemOptions) -> Solved:
    """Return the best of `[dataset] num_iterations` samples, or the first that passes the public tests.

    Raises UserError if the arguments don't say which problem it is, or if the flow, the model or the sandbox isn't
    available.
    """
    settings, on_event = options.settings or load_settings(), options.on_event
    test_types = parse_test_types(options.test_type) if options.test_type else ()
    problem = options.problem or await in_thread(chosen_problem, options)
    chosen = chosen_flow(options.flow, settings)
    check_problems(chosen, [problem], settings)
    settings = await in_thread(with_model, settings)
    samples = settings.dataset.num_iterations
    ledger = Ledger(settings)
    async with open_judge(settings) as opened, open_solver(chosen, settings, opened.judge) as solver:
        languages = await in_thread(opened.tools_of, [language_of(problem, settings)])  # raises if it can't be run
        decisive = {"sandbox": opened.identity.to_json(), "languages": languages}
        with run_or_temporary(
            options.run, None, _description(problem, chosen, settings) | decisive, on_event
        ) as folder:
            on_event(RunPlanned(preview_of(chosen, [problem], samples, settings)))
            folder.write_json(PROBLEM, record_from_problem(problem))
            with open_cache(settings) as cache, AnswerStore(folder.path / ANSWERS, cache) as store:
                own = replace(solver, store=store, ledger=ledger)
                best = await _best_of(samples, own, problem, ledger, on_event, folder)
            solved = Solved(best, ledger.run.usage)
            if best.error is None:
                solved = await _judged(solved, problem, test_types, opened.judge)
            folder.write_json("results.json", solved.to_json())
        return solved


solve_problem = blocking(solve_problem_async)


def _description(problem: Problem, flow: Flow, settings: Settings) -> dict[str, Any]:
    """Return the entries of `run.toml`."""
    return {
        "command": SOLVE_PROBLEM,
        "problem": problem.name,
        "flow": flow.name,
        "flow_fingerprint": flow.fingerprint,
        "settings": shown_settings(settings),
    }


async def _judged(solved: Solved, problem: Problem, test_types: Sequence[TestType], judge: Judge) -> Solved:
    """Judge a program by the requested tests, and find the first test that it fails."""
    own, candidate = judge.for_problem(problem), solved.candidate
    program, failure, judgement = candidate.to_program(), None, None
    if candidate.public_tests_passed < candidate.public_tests_total:
        public = await own.judge(program, problem.public_tests)
        failure = failure_of(own, problem.public_tests, public, program.language)
    if test_types:
        tests = problem.tests(test_types)
        judgement = await own.judge(program, tests)
        failure = failure or failure_of(own, tests, judgement, program.language)
    return replace(solved, judgement=judgement, failure=failure)


async def solve_async(
    problem: Problem, flow: str = DEFAULT_FLOW, model: str = "", settings: Settings | None = None
) -> Candidate:
    """Return the best candidate for `problem`; by default, the model depends on the settings and the environment.

    The default flow depends on the kind of the problem's tests. Raises UserError if the flow, the model or the sandbox
    isn't available.
    """
    settings = settings or load_settings()
    settings = settings.changed("config", model=model or settings.config.model)
    solved = await solve_problem_async(problem, flow, settings=settings)
    return solved.candidate


solve = blocking(solve_async)


def chosen_problem(options: SolveProblemOptions) -> Problem:
    """Return a problem: from a dataset by name or index, from a problem file, or from a file with its statement.

    Raises DatasetError if the options name no problem, or several.
    """
    name, number = options.problem_name, options.problem_number
    file, statement = options.problem_file, options.statement
    if sum(given is not None for given in (name, number, file, statement)) != 1:
        raise DatasetError("give exactly one of `problem_name`, `problem_number`, `problem_file`, `statement`")
    if options.dataset is not None and (file is not None or statement is not None):
        raise DatasetError("`dataset` can't be combined with `problem_file` or `statement`")
    if statement is not None:
        return _with_examples(load_statement(statement))
    if file is not None:
        return _with_examples(load_problem_file(file))
    if options.dataset is None:
        raise DatasetError("`problem_name` and `problem_number` need a `dataset`")
    problems = load_problems(options.dataset, options.split)
    if name is not None:
        return problems.get(name)
    assert number is not None
    if number >= len(problems):
        raise DatasetError(f"there is no problem number {number}: {counted(len(problems), 'problem')}, numbered from 0")
    return problems[number]


def _with_examples(problem: Problem) -> Problem:
    """Return the problem with the examples in its description as public tests, if it has none."""
    found = with_examples(problem)
    if examples := len(found.public_tests) - len(problem.public_tests):
        logger.info("{}: {} taken from the statement", problem.name, counted(examples, "public test"))
    elif not found.public_tests:
        logger.info("{}: {}", problem.name, NO_EXAMPLES)
    return found


def preview_problem(options: SolveProblemOptions) -> Preview:
    """Estimate `solve_problem_async`, without asking or downloading a model."""
    settings, problem = options.settings or load_settings(), options.problem or chosen_problem(options)
    chosen = chosen_flow(options.flow, settings)
    check_problems(chosen, [problem], settings)
    settings = with_model(settings, preview=True)
    return preview_of(chosen, [problem], settings.dataset.num_iterations, settings)


@contextlib.asynccontextmanager
async def open_solver(flow: Flow, settings: Settings, judge: Judge) -> AsyncIterator[Solver]:
    """Yield a solver with its model."""
    async with open_model(settings.config, models_folder(), settings.prices) as client:
        yield Solver(flow, client, settings.config.model, judge, settings)


class _Samples:
    """The stage and the tokens of the sample that is generated, for the display of progress."""

    def __init__(self, samples: int) -> None:
        self.samples, self.sample, self.at = samples, 0, StageProgress(("", 0), "", 0, 0)

    def status(self) -> str:
        """Return the text beside the number of calls."""
        at = self.at
        sample = f"sample {self.sample + 1} of {self.samples}, " if self.samples > 1 else ""
        return f"{sample}stage {at.number} of {at.stages} ({at.kind}), {counted(at.tokens, 'token')}"


async def _best_of(
    samples: int, solver: Solver, problem: Problem, ledger: Ledger, on_event: OnEvent, folder: RunFolder
) -> Candidate:
    solver.judge.for_problem(problem)  # raises if the problem can't be judged, before the model is asked
    candidates: list[Candidate] = []
    progress = _Samples(samples)

    def on_progress(at: StageProgress) -> None:
        progress.at = at
        on_event(ItemsReached(at.calls))

    solver = replace(solver, on_progress=on_progress)
    with folder.journal as journal:
        for progress.sample in range(samples):
            with working(on_event, "calls", None, progress):
                candidate, events = await solver.solve(problem, progress.sample)
            await in_thread(keep, folder, journal, candidate, events)
            logger.info(summary_line(candidate))
            candidates.append(candidate)
            if _is_enough(candidate) or ledger.cut_short:
                break
    return max(candidates, key=lambda c: (c.error is None, c.public_tests_passed))


def _is_enough(candidate: Candidate) -> bool:
    """Return whether no other sample can be better: it passes the public tests, or there are none to compare by."""
    return candidate.solved_public or (candidate.error is None and not candidate.public_tests_total)


def summary_line(candidate: Candidate) -> str:
    """Return a candidate as one line for the log."""
    tests = candidate.public_tests_total
    passed = f"{candidate.public_tests_passed}/{counted(tests, 'public test')}" if tests else "no public tests"
    return f"{candidate.task_name}, sample {candidate.sample_index}: {candidate.error or passed}"
