"""The options of the commands that score, and a score on stdout."""

import shlex
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from alpha_codium.cli.fields import Decorator, needed, refuse_nameless_part
from alpha_codium.cli.options import CommonOptions, check_writable, options, said
from alpha_codium.cli.output import say
from alpha_codium.log import visible
from alpha_codium.wording import counted

if TYPE_CHECKING:
    from alpha_codium.audit.datasets.report import ValidationReport
    from alpha_codium.config import Settings
    from alpha_codium.eval.scoring import Score


def csv_option(rows: str) -> Decorator:
    """The option for a table with these rows."""

    def checked(_context: click.Context, _option: click.Parameter, path: str | None) -> str | None:
        check_writable("--csv", None if path is None else Path(path))
        return path

    text = f"Write a table with {rows} to this file."
    return click.option("--csv", "csv_path", metavar="FILE", callback=checked, help=text)


score_options = options(
    click.option("--per_problem", is_flag=True, help="Print which problems and which of their programs passed."),
    csv_option("a row for each program"),
    click.option(
        "--recheck_near_limit",
        is_flag=True,
        help="Judge programs within 20 % of a limit three more times, one at a time; the median counts.",
    ),
)


def run_and_print(name: str, common: CommonOptions, evaluate: "Callable[..., Score]", /, **given: Any) -> None:
    """Evaluate with the options given to a command, in a run folder, and print the score."""
    from alpha_codium.cli.reporting import Reporter

    reporter, per_problem, csv_path = Reporter(common), given.pop("per_problem"), given.pop("csv_path")
    refuse_nameless_part(**given)
    settings = with_earlier(common, given)
    given["run"] = new_run(name, given["run"], given["resume"])
    if given.pop("recheck_near_limit"):
        settings = settings.changed("code_tester", recheck_near_limit=True)
    with reporter.resumable():
        result = evaluate(**given, settings=settings, on_event=reporter)
        common.write_files(result, csv_path)
    for line in result.problem_lines() if per_problem else ():
        say(line)
    print_score(result, reporter.name)


def with_earlier(common: CommonOptions, given: dict[str, Any]) -> "Settings":
    """Return the settings; if a run is resumed, its settings and its values of the options that aren't given."""
    from alpha_codium.app.run_folders import recorded_options

    context = click.get_current_context()
    earlier = recorded_options(given["resume"]) if given["resume"] and not given["run"] else {}
    for name in given.keys() & earlier.keys():
        if given[name] is None or context.get_parameter_source(name) is ParameterSource.DEFAULT:
            given[name] = earlier[name]
    for parameter in context.command.params:
        if parameter.callback is needed and given[parameter.name or ""] is None:
            raise click.MissingParameter("the run doesn't record it", context, parameter)
    return common.settings_on(earlier.get("settings"))


def new_run(command: str, name: str | None, resume: str | None) -> str | None:
    """The name of a new run: the one given, else one of the command's; None where an earlier run is resumed."""
    from alpha_codium.runs.folder import new_run_name

    return name or (None if resume else new_run_name(command))


def print_score(result: "Score", run: str) -> None:
    """Print the scores; exit with 1 where the result is incomplete."""
    for hint in result.hints(shlex.quote(run)):
        click.echo(visible(said(hint)), err=True)
    for line in result.lines():
        say(said(line))
    _tell_what_next(run, result.extra.get("shard", ""))
    if run and result.verdicts.keys() - {"accepted", "no_tests", "internal_error"}:
        click.echo(f"why programs failed: gencode runs show {shlex.quote(run)} --failed", err=True)
    if not result.complete:
        click.echo("the result is INCOMPLETE", err=True)
        raise click.exceptions.Exit(1)


def print_validation(report: "ValidationReport", run: str) -> None:
    """Print the findings on a dataset; exit with 1 where programs got no verdict."""
    for line in report.lines():
        say(line)
    _tell_what_next(run, report.shard)
    if report.unjudged:
        click.echo(f"the result is INCOMPLETE: {counted(report.unjudged, 'program')} got no verdict", err=True)
        raise click.exceptions.Exit(1)


def _tell_what_next(run: str, shard: str) -> None:
    """Say how to merge the parts of a run, or how to look at the run if it is a whole."""
    from alpha_codium.cli.reporting import LOOK
    from alpha_codium.eval.shards import Shard

    if shard:
        whole = shlex.quote(Shard.of(shard, {}).whole_name(run))
        click.echo(f"part {shard}; when all parts are judged: gencode runs merge {whole}", err=True)
    elif run:
        click.echo(LOOK.format(shlex.quote(run)), err=True)
