"""`gencode demo`: three small problems, solved live by a small model and scored in the sandbox."""

from dataclasses import replace

import click

from alpha_codium.cli.options import CommonOptions, common_options, model_options
from alpha_codium.cli.output import say
from alpha_codium.cli.reporting import Reporter
from alpha_codium.wording import counted

NEXT = """
next, a program that failed, and why:
  gencode runs show {run}
a problem of your own in this form:
  gencode data import examples/jars.json --output_dataset_name jars
  gencode gen solve_set --dataset_name jars --samples 5 --flow baseline --model {model}
or only its statement:
  gencode gen solve_problem --statement problem.md --flow baseline --model {model} > program.py"""
# Measured on two cores: 1 min 14 s after the download.
BETTER = """
{small} rarely solves a problem; a better local model often does. It is a download of {megabytes} MB, and the demo then
takes about 2 minutes on two cores:
  gencode model get {best} && gencode demo"""


@click.command()
@common_options
@model_options
def command(common: CommonOptions) -> None:
    """Solve three small problems with the embedded model."""
    from alpha_codium.app import demonstration as demo
    from alpha_codium.data.load import load_problems
    from alpha_codium.llm.local.registry import BEST, SMALLEST

    problems = load_problems(demo.PROBLEMS)
    model = demo.chosen_model(common.settings)
    click.echo(f"{counted(len(problems), 'problem')}, easy to harder: {', '.join(problems.names)}")
    click.echo(f"the model is {model}", err=True)
    runs = []
    for flow, samples, bounds in demo.RUNS:
        # The user's options come after the demo's bounds, and take precedence.
        own = replace(common, overrides=(f"config.model={model}", *demo.BOUNDS, *bounds, *common.overrides))
        click.echo(f"\n{flow}, {counted(samples, 'sample')} a problem", err=True)
        reporter = Reporter(own)
        with reporter.resumable("gencode gen solve_set"):
            runs.append(demo.run_flow(flow, samples, own.settings, reporter))
    click.echo("")
    for run in runs:
        say("\n".join(run.lines()))
    if solved := demo.solved_program(runs):
        say(f"\n{solved[0]} was solved by this program:\n\n{solved[1].strip()}")
    if repair := demo.repair_of(runs):
        say("\n".join([f"\na repair for {repair.problem}:", "", *repair.lines()]))
    click.echo(f"\nboth runs as a page, to open in a browser: {demo.page_on(runs)}")
    click.echo(NEXT.format(run=runs[-1].summary.run, model=model))
    if model == f"local/{SMALLEST.name}":
        click.echo(BETTER.format(small=model, best=BEST.name, megabytes=round(BEST.size_bytes / 1e6)))
    common.write_json(runs)
