"""`gencode compare` and `gencode ablate`: runs of `solve_set` side by side, and a flow without some of its stages."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from alpha_codium.app.options.solving import AblateOptions, CompareOptions
from alpha_codium.cli.fields import fields_of
from alpha_codium.cli.options import CommonOptions, cache_option, common_options, model_options
from alpha_codium.cli.output import say
from alpha_codium.cli.scores import csv_option, new_run
from alpha_codium.log import one_line
from alpha_codium.wording import counted

if TYPE_CHECKING:
    from alpha_codium.comparison.report import Comparison


@click.command("compare")
@fields_of(CompareOptions)
@csv_option("a row for each score and each difference")
@common_options
def compare_runs(common: CommonOptions, csv_path: str | None, **options: Any) -> None:
    """Compare runs of solve_set: scores, costs, differences on the same problems, the effect of each stage.

    Runs of gencode repo run are joined by task, also those of different benchmarks.

    RUN is a run's name or the path of its folder. Every distinct program is judged once; verdicts are kept in the
    runs' folders, so a comparison that was interrupted is resumed by repeating it.
    """
    from alpha_codium.app.comparison import compare, compare_repository_runs
    from alpha_codium.cli.reporting import Reporter

    if (found := compare_repository_runs(options["runs"], options["baseline"])) is not None:
        common.write_files(found, csv_path)
        say("\n".join(found.lines()))
        return
    report = compare(**options, settings=common.settings, on_event=Reporter(common))
    print_report(report, common, csv_path)


def print_report(report: "Comparison", common: CommonOptions, csv_path: str | None) -> None:
    """Print the comparison; exit with 1 where a run of it is unfinished."""
    from alpha_codium.cli.reporting import LOOK
    from alpha_codium.comparison.tables import text_of
    from alpha_codium.runs.folder import found_by

    common.write_files(report, csv_path)
    say(text_of(report).removesuffix("\n"))
    names = [one_line(found_by(run.record.path)) for run in report.runs]
    click.echo(LOOK.format(" ".join(names)), err=True)
    for line in unfinished_lines(report):
        click.echo(line, err=True)
    if not report.complete:
        click.echo("the comparison is INCOMPLETE", err=True)
        raise click.exceptions.Exit(1)


def unfinished_lines(report: "Comparison") -> Iterator[str]:
    """Yield lines on unfinished runs and how to resume them."""
    from alpha_codium.runs.folder import found_by

    for run in report.runs:
        name = one_line(run.name)
        if run.unfinished:
            missing = f"{run.unfinished} of {counted(run.asked, 'sample')}"
            yield f"run {name} is unfinished: {missing} without a verdict on the model"
            yield f"resume it with gencode gen solve_set --resume {one_line(found_by(run.record.path))}"
        if unjudged := run.score.unjudged - run.unfinished:
            yield f"{counted(unjudged, 'program')} of run {name} got no verdict: repeat the command"


@click.command("ablate")
@fields_of(AblateOptions)
@click.option(
    "--dry_run", is_flag=True, help="Estimate calls, tokens and cost of each run; call no model and write no files."
)
@csv_option("a row for each score and each difference")
@common_options
@model_options
@cache_option
def ablate_flow(common: CommonOptions, dry_run: bool, csv_path: str | None, **options: Any) -> None:
    """Run a flow unchanged and once for each --without, then compare each variant with the unchanged flow.

    The runs are called NAME, NAME-without-STAGE, ... An answer that two of them ask for in the same words is shared
    through the cache. Repeat the command with --run NAME to resume them.
    """
    from alpha_codium.app.ablation import ablate, previews
    from alpha_codium.cli.reporting import Reporter
    from alpha_codium.gen.preview import HOW_ESTIMATED

    options["run"] = new_run("ablate", options["run"], None)
    options |= {"settings": common.settings_on, "on_event": Reporter(common)}
    if dry_run:
        expected = previews(AblateOptions(**options))
        common.write_json(expected)
        for preview in expected:
            say(preview.line())
        click.echo(HOW_ESTIMATED, err=True)
        return
    try:
        report = ablate(**options)
    except KeyboardInterrupt:
        click.echo(f"interrupted: repeat the command with --run {options['run']}", err=True)
        raise
    print_report(report, common, csv_path)
