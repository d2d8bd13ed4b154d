"""What the commands of `gencode gen` do, from options to results."""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Callable, Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from loguru import logger

from alpha_codium.cli.options import CommonOptions
from alpha_codium.cli.progress import Progress
from alpha_codium.cli.run_folders import found_by
from alpha_codium.config import ConfigSection, Settings
from alpha_codium.errors import DatasetError, UserError
from alpha_codium.flows import Flow, load_flow
from alpha_codium.flows.loading import shipped_flows
from alpha_codium.gen.ablation import kinds_meant
from alpha_codium.gen.api import chosen_flow
from alpha_codium.gen.budgets import Ledger, Usage
from alpha_codium.gen.caching import open_cache, spent_by
from alpha_codium.gen.loop import Job, finished_samples, generate, refuse_twins, solutions_rows
from alpha_codium.gen.preview import Preview, preview_of
from alpha_codium.gen.pricing import check_prices
from alpha_codium.gen.sample import Solver
from alpha_codium.gen.summary import Tally, summary_of
from alpha_codium.judge import Judge, Rules
from alpha_codium.llm.messages import Answer, ChatRequest, Message
from alpha_codium.llm.opening import choose_model, effective_config, open_model
from alpha_codium.log import visible
from alpha_codium.problem import Problem, TestType
from alpha_codium.runs import AnswerStore
from alpha_codium.runs.answers import NOWHERE
from alpha_codium.sandbox import sandbox_of
from alpha_codium.solution import Candidate
from alpha_codium.verdict import Judgement

if TYPE_CHECKING:
    from alpha_codium.data import ProblemSet
    from alpha_codium.runs import RunFolder

ChooseModel = Callable[[ConfigSection, Path], str]


def settings_with_model(common: CommonOptions, choose: ChooseModel = choose_model) -> Settings:
    """The settings with the model that is going to be used; raises ModelNotFound."""
    from alpha_codium.cli.secrets import load_secrets
    from alpha_codium.paths import models_folder

    load_secrets()
    settings = common.settings
    model = choose(settings.config, models_folder())
    return settings.model_copy(update={"config": effective_config(settings.config, model)})


async def ask_once(question: str, system: str, common: CommonOptions) -> Answer:
    """The answer to one question."""
    from alpha_codium.paths import models_folder

    settings = settings_with_model(common)
    config = settings.config
    messages = [Message("system", system)] if system else []
    request = ChatRequest(
        (*messages, Message("user", question)),
        temperature=config.temperature,
        top_p=config.top_p,
        max_tokens=config.max_tokens,
        seed=config.seed,
        frequency_penalty=config.frequency_penalty or None,
        extra=dict(config.extra),
    )
    async with open_model(config, models_folder(), settings.prices) as client:
        return await client.ask(request)


@contextlib.asynccontextmanager
async def _answers(settings: Settings) -> AsyncIterator[AnswerStore]:
    """The answers for samples that are no run: those of the cache, and for as long as the command takes."""
    with open_cache(settings) as cache, AnswerStore(NOWHERE, cache) as store:
        yield store


@contextlib.asynccontextmanager
async def open_solver(flow: Flow, settings: Settings) -> AsyncIterator[Solver]:
    """A solver with its sandbox and its model."""
    from alpha_codium.paths import models_folder

    async with sandbox_of(settings.code_tester) as sandbox:
        async with open_model(settings.config, models_folder(), settings.prices) as client:
            judge = Judge(sandbox, Rules.of(settings.code_tester))
            yield Solver(flow, client, settings.config.model, judge, settings)


def tell_first(preview: Preview, common: CommonOptions) -> None:
    """What a run will take, in one line before it begins."""
    if common.verbosity >= 0:
        click.echo(visible(preview.line()), err=True)


async def solve_one(
    problem: Problem, flow_name: str, test_types: Sequence[TestType], common: CommonOptions
) -> tuple[Candidate, Judgement | None]:
    """One problem's best candidate of `num_iterations` samples, and what the tests asked for say of it."""
    flow = chosen_flow(flow_name, common.settings)
    settings = settings_with_model(common)
    check_prices(settings)
    samples = settings.dataset.num_iterations
    tell_first(preview_of(flow, [problem], samples, settings), common)
    ledger = Ledger(settings)
    async with open_solver(flow, settings) as opened, _answers(settings) as store:
        solver = replace(opened, store=store, ledger=ledger)
        solver.judge.for_problem(problem)
        candidates = []
        for sample in range(samples):
            candidates.append((await solver.solve(problem, sample))[0])
            logger.info(_told(candidates[-1]))
            if _is_enough(candidates[-1]) or ledger.cut_short:
                break
        best = max(candidates, key=lambda c: (c.error is None, c.public_tests_passed))
        if not test_types or best.error is not None:
            return best, None
        return best, await solver.judge.for_problem(problem).judge(best.program, problem.tests(test_types))


def _is_enough(candidate: Candidate) -> bool:
    """Whether another sample could be no better: it passes the public tests, or there is nothing to choose by."""
    return candidate.solved_public or (candidate.error is None and not candidate.public_tests_total)


def _told(candidate: Candidate) -> str:
    tests = candidate.public_tests_total
    passed = f"{candidate.public_tests_passed}/{tests} public tests" if tests else "no public tests"
    return f"{candidate.task_name}, sample {candidate.sample_index}: {candidate.error or passed}"


@dataclass(frozen=True)
class SetOptions:
    """The options of `solve_set`; None where one wasn't given."""

    dataset_name: str | None = None
    split_name: str | None = None
    output_dataset_name: str | None = None
    samples: int | None = None
    sample_rate: float | None = None
    run_name: str | None = None
    resume: str | None = None
    flow: str | None = None
    without: tuple[str, ...] | None = None


@dataclass(frozen=True)
class Plan:
    """What `solve_set` is going to do, with its options filled in; `problems` are those of the whole split."""

    options: SetOptions
    problems: "ProblemSet"
    flow: Flow
    settings: Settings
    job: Job

    def preview(self, done: Collection[Candidate] = ()) -> Preview:
        """What it will take, where these samples are done."""
        used = Usage()
        for candidate in done:
            used.take(candidate)
        samples = len(self.job.problems) * self.job.samples - len(done)
        return preview_of(self.flow, self.job.problems, samples, self.settings, used)


def plan_set(options: SetOptions, common: CommonOptions, choose: ChooseModel = choose_model) -> Plan:
    """The plan of a run; raises UserError where it couldn't be done."""
    from alpha_codium.cli.run_folders import check_output, run_options, run_settings
    from alpha_codium.data import load_problems

    if (earlier := options.resume) is not None:
        options = replace(options, **run_options(earlier, options))
        common.base = run_settings(earlier)
    if options.dataset_name is None:
        raise DatasetError("which problems? Give a --dataset_name")
    if options.output_dataset_name:
        check_output(options.output_dataset_name)
    problems = load_problems(options.dataset_name, options.split_name)
    flow = chosen_flow(options.flow, common.settings, options.without or ())
    rate = options.sample_rate or 1.0
    chosen = problems.sample(rate, common.settings.config.seed or 0) if rate < 1 else problems
    if not len(chosen):
        raise DatasetError(f"{options.dataset_name} has no problem to solve (of {len(problems)}, --sample_rate {rate})")
    refuse_twins(chosen.names)
    settings = settings_with_model(common, choose)
    check_prices(settings)
    options = replace(options, samples=options.samples or settings.dataset.num_iterations, sample_rate=rate)
    return Plan(options, problems, flow, settings, Job(chosen, options.samples or 1, settings.config.concurrency))


def solve_many(options: SetOptions, common: CommonOptions) -> dict[str, Any]:
    """Generate a Solutions dataset in a run folder; the summary of the run."""
    from alpha_codium.cli.run_folders import open_run
    from alpha_codium.data import save_solutions
    from alpha_codium.data.solutions import origin_of

    plan = plan_set(options, common)
    started, ledger = time.monotonic(), Ledger(plan.settings)
    description = _described(plan.options, plan.problems, plan.flow, plan.settings)
    with open_run("solve_set", options.run_name, options.resume, description) as folder:
        tell_first(plan.preview(finished_samples(folder.journal).values()), common)
        click.echo(f"run folder: {folder.path}", err=True)
        candidates = _generate(plan, ledger, folder, common)
        rows = [row | origin_of(plan.problems) for row in solutions_rows(candidates, plan.job.names)]
        where = [save_solutions(rows, folder.path / "solutions")]
        if plan.options.output_dataset_name:
            where.append(save_solutions(rows, plan.options.output_dataset_name))
        summary = summary_of(candidates, len(plan.job.problems)) | spent_by(folder.path)
        summary |= {
            "ended_by_budget": dict(ledger.cut_short),
            "seconds": round(time.monotonic() - started, 1),
            "run": folder.name,
            "run_folder": str(folder.path),
            "solutions": str(where[-1]),
        }
        folder.write_json("results.json", summary)
    return summary


def _described(options: SetOptions, problems: Any, flow: Flow, settings: Settings) -> dict[str, Any]:
    """What `run.toml` says of the run, and what another call has to agree with to go on with it."""
    from alpha_codium.cli.run_folders import shown_settings, versions

    return {
        "command": "solve_set",
        "dataset_name": options.dataset_name,
        "split_name": problems.split_name,
        "fingerprint": problems.fingerprint,
        "output_dataset_name": options.output_dataset_name,
        "samples": options.samples,
        "sample_rate": options.sample_rate,
        "flow": flow.folder.name if flow.folder in shipped_flows().values() else str(flow.folder),
        "without": kinds_meant(load_flow(str(flow.folder)), options.without) if options.without else None,
        "flow_fingerprint": flow.fingerprint,
        "settings": shown_settings(settings),
        "versions": versions(),
    }


def _generate(plan: Plan, ledger: Ledger, folder: "RunFolder", common: CommonOptions) -> list[Candidate]:
    job, settings = plan.job, plan.settings
    tally = Tally(job.samples)

    async def run() -> list[Candidate]:
        with Progress("samples", len(job.problems) * job.samples, common.verbosity < 0, tally.status) as progress:

            def tell(candidate: Candidate) -> None:
                tally.add(candidate)
                logger.debug(_told(candidate))
                progress.advance()

            async with open_solver(plan.flow, settings) as solver:
                with open_cache(settings) as cache:
                    return await generate(job, replace(solver, ledger=ledger), folder, tell, cache)

    try:
        return asyncio.run(run())
    except KeyboardInterrupt:
        click.echo(f"interrupted: go on with --resume {found_by(folder.path)}", err=True)
        raise
    except UserError as error:
        raise UserError(f"{error} (run {folder.name}: go on with --resume {found_by(folder.path)})") from error
