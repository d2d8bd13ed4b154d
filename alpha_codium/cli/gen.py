"""`gencode gen`: ask a model, solve one problem, solve a set.

What a model wrote goes to stdout as it is, so that it can be piped; a terminal is shown its control characters.
"""

import contextlib
import sys
from typing import TYPE_CHECKING, Any

import click

from alpha_codium.app.options.solving import SolveProblemOptions, SolveSetOptions
from alpha_codium.cli.fields import fields_of, refuse_nameless_part
from alpha_codium.cli.options import CommonOptions, cache_option, common_options, model_options, said
from alpha_codium.cli.output import say, write_out
from alpha_codium.log import visible

if TYPE_CHECKING:
    from alpha_codium.gen.preview import Preview
    from alpha_codium.gen.summary import RunSummary

# As alpha_codium.data.statements has it, which takes long to import.
STDIN = "-"


@click.group()
def group() -> None:
    """Solve problems with a model."""


@group.command()
@click.argument("question")
@click.option("--system", default="", help="A system message.")
@common_options
@model_options
def ask(question: str, system: str, common: CommonOptions) -> None:
    """Ask the model one question; the answer goes to stdout."""
    from alpha_codium.app import models
    from alpha_codium.errors import UserError
    from alpha_codium.llm.errors import ModelError

    try:
        answer = models.ask(question, system, common.settings, common.settings.solve.language)
    except UserError:
        raise
    except ModelError as fault:
        raise click.ClickException(f"no answer: {fault}") from fault
    common.write_json(answer)
    write_out(f"{answer.text}\n")


@group.command("solve_problem")
@fields_of(SolveProblemOptions)
@click.option("--dry_run", is_flag=True, help="Estimate calls, tokens and cost; call no model.")
@common_options
@model_options
@cache_option
def solve_problem(dry_run: bool, common: CommonOptions, **given: Any) -> None:
    """Solve one problem: the program goes to stdout, everything else to stderr.

    Prompts, answers and tests are kept in a run folder: see `gencode runs show`.
    """
    from alpha_codium.app import solving
    from alpha_codium.cli.reporting import Reporter
    from alpha_codium.runs.folder import new_run_name

    if given["statement"] == STDIN and sys.stdin is not None and sys.stdin.isatty():
        click.echo("Type the statement, then press Ctrl-D on an empty line.", err=True)
    reporter, run = Reporter(common), new_run_name("solve_problem")
    if dry_run:
        _show(solving.preview_problem(SolveProblemOptions(**given, settings=common.settings)), common)
        return
    # What libraries print must not be mixed with the program.
    with contextlib.redirect_stdout(sys.stderr):
        solved = solving.solve_problem(**given, run=run, settings=common.settings, on_event=reporter)
    common.write_json(solved)
    for line in solved.lines(given["test_type"]):
        click.echo(line, err=True)
    reporter.tell_how_to_look()
    if solved.candidate.error is None:
        write_out(solved.candidate.program)
    if solved.fault:
        raise click.ClickException(visible(solved.fault))


@group.command("solve_set")
@fields_of(SolveSetOptions)
@click.option("--dry_run", is_flag=True, help="Estimate calls, tokens and cost; call no model and write no files.")
@common_options
@model_options
@cache_option
def solve_set(common: CommonOptions, dry_run: bool, **options: Any) -> None:
    """Solve the problems of a split, and save the candidates as a Solutions dataset."""
    from alpha_codium.app.generation import preview, solve_set
    from alpha_codium.cli.reporting import Reporter

    refuse_nameless_part(**options)
    if dry_run:
        _show(preview(SolveSetOptions(**options, settings=common.settings_on)), common)
        return
    reporter = Reporter(common)
    with reporter.resumable():
        summary = solve_set(**options, settings=common.settings_on, on_event=reporter)
    print_summary(summary, common)


def print_summary(summary: "RunSummary", common: CommonOptions) -> None:
    """Print the numbers of a run; exit with 1 where it is incomplete."""
    from alpha_codium.cli.reporting import LOOK

    common.write_json(summary)
    for name, value in summary.to_json().items():
        if name not in ("next_command", "shard") and not isinstance(value, dict):
            say(f"{name:<18} {'unknown' if value is None else value}")
    for hint in summary.hints():
        click.echo(said(hint), err=True)
    if common.verbosity >= 0:
        if summary.complete:
            click.echo(visible(summary.closing()), err=True)
        click.echo(LOOK.format(summary.name), err=True)
    if not summary.complete:
        raise click.exceptions.Exit(1)


def _show(preview: "Preview", common: CommonOptions) -> None:
    from alpha_codium.gen.preview import HOW_ESTIMATED

    common.show(preview, preview.lines())
    click.echo(HOW_ESTIMATED, err=True)
