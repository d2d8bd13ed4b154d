"""`gencode gen`: ask a model, solve one problem, solve a set.

What a model wrote goes to stdout as it is, so that it can be piped; a terminal is shown its control characters.
"""

import contextlib
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from alpha_codium.cli.options import (
    CommonOptions,
    cache_option,
    common_options,
    model_options,
    overwrite_option,
    set_options,
)
from alpha_codium.cli.output import say, write_out
from alpha_codium.log import visible

if TYPE_CHECKING:
    from alpha_codium.gen.preview import Preview

# As alpha_codium.gen.choosing and alpha_codium.data.statements have them, which take long to import.
DEFAULT_FLOW = "auto"
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
    common.write_json(asdict(answer))
    write_out(f"{answer.text}\n")


@group.command("solve_problem")
@click.option("--dataset_name", help="A name saved by etl, a hub id, or a path.")
@click.option("--split_name", help="The split; needed only if there are several.")
@click.option("--problem_name", help="The name of the problem in the dataset.")
@click.option("--problem_number", type=click.IntRange(min=0), help="The index of the problem in the split, from 0.")
@click.option("--problem_file", type=click.Path(path_type=Path), help="A file with one problem.")
@click.option("--statement", metavar="FILE", help="A file with only a statement (Markdown or text); - is stdin.")
@click.option("--evaluation_test_type", "test_types", multiple=True, metavar="TESTS",
              help="Also judge the program with these tests.")  # fmt: skip
@click.option("--flow", default=DEFAULT_FLOW, show_default=True, help="A shipped flow, or a folder with a flow.toml.")
@click.option("--dry_run", is_flag=True, help="Estimate calls, tokens and cost; call no model.")
@common_options
@model_options
@cache_option
def solve_problem(test_types: tuple[str, ...], flow: str, dry_run: bool, common: CommonOptions, **chosen: Any) -> None:
    """Solve one problem: the program goes to stdout, everything else to stderr.

    Prompts, answers and tests are kept in a run folder: see `gencode runs show`.
    """
    from alpha_codium.app import solving
    from alpha_codium.cli.reporting import Reporter
    from alpha_codium.eval.prepare import parse_test_types
    from alpha_codium.runs.folder import new_run_name

    chosen_types = parse_test_types(test_types) if test_types else ()
    if chosen["statement"] == STDIN and sys.stdin is not None and sys.stdin.isatty():
        click.echo("Type the statement, then press Ctrl-D on an empty line.", err=True)
    problem = solving.chosen_problem(**chosen)
    if dry_run:
        _show(solving.preview_problem(problem, flow, common.settings), common)
        return
    # What libraries print must not be mixed with the program.
    with contextlib.redirect_stdout(sys.stderr):
        run = new_run_name("solve_problem")
        solved = solving.solve_problem(problem, flow, chosen_types, common.settings, Reporter(common), run)
    common.write_json(solved.to_json())
    for line in solved.lines(chosen_types):
        click.echo(line, err=True)
    if solved.candidate.error is None:
        write_out(solved.candidate.program)
    if solved.fault:
        raise click.ClickException(visible(solved.fault))


@group.command("solve_set")
@click.option("--dataset_name", help="A name saved by etl, a hub id, or a path.")
@set_options
@click.option("--output_dataset_name", help="Where to save the candidates: a name or a folder.")
@overwrite_option
@click.option("--run", "run_name", help="A name for this run.")
@click.option("--resume", help="Resume this run; options that are not given are taken from it.")
@click.option("--flow", help=f"A shipped flow, or a folder with a flow.toml.  [default: {DEFAULT_FLOW}]")
@click.option("--without", multiple=True, metavar="STAGE", callback=lambda _context, _option, given: given or None,
              help="Leave out the stages of this kind, or whose kind contains this word; repeatable.")  # fmt: skip
@click.option("--dry_run", is_flag=True, help="Estimate calls, tokens and cost; call no model and write no files.")
@common_options
@model_options
@cache_option
def solve_set(common: CommonOptions, dry_run: bool, **options: Any) -> None:
    """Solve the problems of a split, and save the candidates as a Solutions dataset."""
    from alpha_codium.app.generation import SetOptions, generate_set, preview
    from alpha_codium.cli.reporting import Reporter

    if dry_run:
        _show(preview(SetOptions(**options), common.settings_on), common)
        return
    reporter = Reporter(common)
    with reporter.resumable():
        summary = generate_set(SetOptions(**options), common.settings_on, reporter)
    common.write_json(summary.to_json())
    for name, value in summary.to_json().items():
        if name != "next_command" and not isinstance(value, dict):
            say(f"{name:<18} {'unknown' if value is None else value}")
    for hint in summary.hints():
        click.echo(hint, err=True)
    if not summary.complete:
        raise click.exceptions.Exit(1)
    if common.verbosity >= 0:
        click.echo(visible(summary.closing()), err=True)


def _show(preview: "Preview", common: CommonOptions) -> None:
    """What a dry run says."""
    from alpha_codium.gen.preview import HOW_ESTIMATED

    common.write_json(asdict(preview))
    for line in preview.lines():
        say(line)
    click.echo(HOW_ESTIMATED, err=True)
