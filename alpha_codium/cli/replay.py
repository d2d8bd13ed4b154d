"""`gencode replay`: a run again, offline, from the answers it kept."""

import asyncio
import contextlib
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from loguru import logger

from alpha_codium.cli.options import CommonOptions, common_options
from alpha_codium.cli.output import say
from alpha_codium.cli.progress import Progress
from alpha_codium.data import load_problems, save_solutions
from alpha_codium.data.load import ProblemSet
from alpha_codium.data.solutions import origin_of
from alpha_codium.data.sources import output_path
from alpha_codium.errors import UserError
from alpha_codium.judge import Judge, Rules
from alpha_codium.paths import runs_folder
from alpha_codium.runs import RunFolder
from alpha_codium.sandbox import sandbox_of

if TYPE_CHECKING:
    from alpha_codium.config import Settings
    from alpha_codium.flows import Flow
    from alpha_codium.gen.loop import Job
    from alpha_codium.gen.replaying import MissingCalls, Replay

COMMAND = "solve_set"
MOST_SHOWN = 20


@click.command("replay")
@click.argument("run", metavar="RUN")
@click.option("--flow", help="Another flow, or a folder; as far as its questions were answered.  [default: the run's]")
@click.option("--output_dataset_name", help="Where the candidates go: a name or a folder.  [default: nowhere]")
@click.option("--shared", is_flag=True, help="Take answers that the run lacks from the cache of all runs.")
@common_options
def command(run: str, flow: str | None, output_dataset_name: str | None, shared: bool, common: CommonOptions) -> None:
    """Go through a run again without a model, and compare with what it was."""
    replayed, where = replay_run(run, flow, output_dataset_name, shared, common)
    common.write_json(_told(run, replayed, where))
    whole, of = replayed.replayed, len(replayed.candidates)
    click.echo(f"{whole} of {of} sample{'s' * (of != 1)} replayed, {replayed.compared} compared with the journal")
    for reason, count in Counter(each.reason for each in replayed.never_begun).items():
        click.echo(f"{count} {'sample has' if count == 1 else 'samples have'} nothing to be replayed: {reason}")
    _list("sample lacks an answer", "samples lack an answer", [
        f"{each.problem}, sample {each.sample}: {each.prompt or 'a prompt'}, {each.calls} call{'s' * (each.calls != 1)}"
        for each in replayed.missing
    ])  # fmt: skip
    _list("candidate is not the journal's", "candidates are not the journal's", [
        f"{each.problem}, sample {each.sample}: {', '.join(each.fields)}" for each in replayed.differing
    ])  # fmt: skip
    if replayed.compared and not replayed.differing:
        click.echo("every one of them is, bit for bit, the journal's")
    if where is not None:
        say(f"written to {where}")
    if replayed.missing or replayed.differing:
        raise click.exceptions.Exit(1)


def _told(run: str, replayed: "Replay", where: Any) -> dict[str, Any]:
    return {
        "run": run,
        "samples": len(replayed.candidates),
        "replayed": replayed.replayed,
        "compared": replayed.compared,
        "never_begun": [asdict(each) for each in replayed.never_begun],
        "missing": [asdict(each) for each in replayed.missing],
        "differing": [asdict(each) for each in replayed.differing],
        "solutions": None if where is None else str(where),
    }


def _list(one: str, many: str, lines: list[str]) -> None:
    if not lines:
        return
    click.echo(f"{len(lines)} {one if len(lines) == 1 else many}:")
    for line in lines[:MOST_SHOWN]:
        say(f"  {line}")
    if len(lines) > MOST_SHOWN:
        click.echo(f"  ... and {len(lines) - MOST_SHOWN} more (all with --json)")


@dataclass(frozen=True, slots=True)
class _Plan:
    """What is gone through again: `same` says that it is as in the run, `shared` that other runs' answers count."""

    job: "Job"
    flow: "Flow"
    settings: "Settings"
    folder: RunFolder
    same: bool
    shared: bool


def replay_run(
    name: str, flow_name: str | None, output: str | None, shared: bool, common: CommonOptions
) -> "tuple[Replay, Path | None]":
    """The run gone through again, and where its candidates were saved.

    Raises UserError where there is no such run, or its problems aren't what they were.
    """
    from alpha_codium.flows import load_flow
    from alpha_codium.gen.api import chosen_flow
    from alpha_codium.gen.loop import Job, solutions_rows

    folder = RunFolder.reopen(runs_folder(), name)
    described = folder.description()
    if described.get("command") != COMMAND:
        raise UserError(f"run {name!r} asked no model: only runs of gencode gen {COMMAND} are replayed")
    common.base = described.get("settings", {})
    settings = common.settings
    if output:
        _check_output(output, folder)
    chosen = _problems(described, settings)
    without = described.get("without") or ()
    # A flow that is asked for here wins over the run's `[solve] use_baseline`.
    flow = load_flow(flow_name) if flow_name else chosen_flow(described["flow"], settings, without)
    same = _is_the_runs(flow, settings, described, told=flow_name is None)
    job = Job(chosen, described["samples"], settings.config.concurrency)
    replayed = asyncio.run(_replay(_Plan(job, flow, settings, folder, same, shared), quiet=common.verbosity < 0))
    if not output:
        return replayed, None
    rows = [row | origin_of(chosen) for row in solutions_rows(replayed.candidates, chosen.names)]
    return replayed, save_solutions(rows, output)


def _check_output(name: str, folder: RunFolder) -> None:
    from alpha_codium.cli.run_folders import check_output

    check_output(name)
    if output_path(name).resolve().is_relative_to(folder.path.resolve()):
        raise UserError(f"a replay changes no file of its run: --output_dataset_name {name} is in its folder")


def _problems(described: Mapping[str, Any], settings: "Settings") -> ProblemSet:
    problems = load_problems(described["dataset_name"], described.get("split_name"))
    if problems.fingerprint != described["fingerprint"]:
        raise UserError(f"{described['dataset_name']} isn't what it was in the run: its problems were changed since")
    rate = described["sample_rate"]
    return problems.sample(rate, settings.config.seed or 0) if rate < 1 else problems


def _is_the_runs(flow: "Flow", settings: "Settings", described: Mapping[str, Any], told: bool) -> bool:
    """Whether flow and settings are those of the run; says where the run's own flow has other prompts by now."""
    from alpha_codium.cli.run_folders import FREE_SETTINGS, shown_settings
    from alpha_codium.config import Settings

    same_flow = flow.fingerprint == described["flow_fingerprint"]
    if told and not same_flow:
        logger.warning("flow {} was changed since the run: its candidates are not compared", flow.name)
    now, then = shown_settings(settings), Settings.model_validate(described["settings"]).model_dump()
    for values in (now, then):
        for section, names in FREE_SETTINGS.items():
            values[section] = {name: value for name, value in values[section].items() if name not in names}
    return same_flow and now == then


def _with_cache(settings: "Settings") -> "Settings":
    """The settings with the cache, also where the run itself did without."""
    return settings.model_copy(update={"config": settings.config.model_copy(update={"cache": True})})


async def _replay(plan: _Plan, quiet: bool) -> "Replay":
    from alpha_codium.gen.caching import open_cache
    from alpha_codium.gen.replaying import SilentModel, replay
    from alpha_codium.gen.sample import Solver

    settings, lacking = plan.settings, 0
    total = len(plan.job.names) * plan.job.samples
    with Progress("samples", total, quiet, lambda: f"{lacking} lacking an answer" if lacking else "") as progress:

        def tell(missing: "MissingCalls | None") -> None:
            nonlocal lacking
            lacking += missing is not None
            progress.advance()

        async with sandbox_of(settings.code_tester) as sandbox:
            judge = Judge(sandbox, Rules.of(settings.code_tester))
            solver = Solver(plan.flow, SilentModel(settings.config.model, {}), settings.config.model, judge, settings)
            with open_cache(_with_cache(settings)) if plan.shared else contextlib.nullcontext() as cache:
                return await replay(plan.job, solver, plan.folder, same=plan.same, cache=cache, on_sample=tell)
