"""`gencode data validate`: what the known solutions of a dataset say of its tests, checkers and limits."""

from typing import Any

import click

from alpha_codium.cli.options import (
    CommonOptions,
    common_options,
    dataset_argument,
    overwrite_option,
    run_options,
    split_option,
    subset_options,
)
from alpha_codium.cli.output import say
from alpha_codium.cli.reporting import Reporter
from alpha_codium.cli.scores import csv_option, new_run, tests_option, with_earlier
from alpha_codium.errors import UserError
from alpha_codium.wording import counted


@click.command()
@dataset_argument
@split_option
@tests_option(default="all")
@subset_options
@click.option(
    "--near",
    type=click.FloatRange(0, 1, min_open=True),
    default=0.5,
    show_default=True,
    help="Report known-correct programs that need more than this share of a limit.",
)
@click.option(
    "--output_dataset_name",
    "output",
    metavar="NAME",
    help="Store the problems here, with the findings as columns.",
)
@overwrite_option
@csv_option("a row for each problem")
@run_options
@common_options
def validate(common: CommonOptions, csv_path: str | None, **options: Any) -> None:
    """Check a dataset's tests, checkers and limits by running its known solutions."""
    from alpha_codium.app import validation

    settings = with_earlier(common, options)
    if options["dataset"] is None:
        raise UserError(f"run {options['resume']!r} doesn't record its dataset: give it as NAME")
    options["run"] = new_run("validate", options["run"], options["resume"])
    report = validation.validate(**options, settings=settings, on_event=Reporter(common))
    if report.stored is not None:
        click.echo(f"stored in {report.stored}", err=True)
    common.write_files(report, csv_path)
    for line in report.lines():
        say(line)
    if report.unjudged:
        click.echo(f"the result is INCOMPLETE: {counted(report.unjudged, 'program')} got no verdict", err=True)
        raise click.exceptions.Exit(1)
