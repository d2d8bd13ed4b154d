"""`gencode compare` and `gencode ablate`: runs of `solve_set` side by side, and a flow without some of its stages."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from alpha_codium.cli.options import CommonOptions, cache_option, common_options, model_options, set_options
from alpha_codium.cli.output import say
from alpha_codium.cli.scores import KList, csv_option, new_run, tests_option

if TYPE_CHECKING:
    from alpha_codium.comparison.report import Comparison


@click.command("compare")
@click.argument("runs", nargs=-1, required=True, metavar="RUN...")
@tests_option(default="private_tests")
@click.option("--k", type=KList(), default="1,5", show_default=True, help="The k of pass@k.")
@click.option("--baseline", metavar="RUN", help="Compare each run with this one.  [default: each pair]")
@click.option("--dataset_name", "dataset", help="The dataset of the runs, if it was moved.")
@click.option("--references", is_flag=True, help="Also show published results, in a table of their own.")
@csv_option("a row for each score and each difference")
@common_options
def compare_runs(runs: tuple[str, ...], common: CommonOptions, csv_path: str | None, **options: Any) -> None:
    """Compare runs of solve_set: scores, costs, differences on the same problems, the effect of each stage.

    RUN is a run's name or the path of its folder. Every distinct program is judged once; verdicts are kept in the
    runs' folders, so a comparison that was interrupted is resumed by repeating it.
    """
    from alpha_codium.app.comparison import compare
    from alpha_codium.cli.reporting import Reporter

    report = compare(runs, **options, settings=common.settings, on_event=Reporter(common))
    print_report(report, common, csv_path)


def print_report(report: "Comparison", common: CommonOptions, csv_path: str | None) -> None:
    """Print the comparison; exit with 1 where a run of it is unfinished."""
    from alpha_codium.app.run_folders import found_by
    from alpha_codium.comparison.tables import text_of, unfinished_lines

    common.write_files(report, csv_path)
    say(text_of(report).removesuffix("\n"))
    for line in unfinished_lines(report, found_by):
        click.echo(line, err=True)
    if not report.complete:
        click.echo("the comparison is INCOMPLETE", err=True)
        raise click.exceptions.Exit(1)


@click.command("ablate")
@click.option("--flow", default="alphacodium", show_default=True, help="A shipped flow, or a folder with a flow.toml.")
@click.option("--without", "variants", multiple=True, required=True, metavar="STAGE",
              help="Run a variant without the stages of this kind, or whose kind contains this word; repeatable. "
              "Names separated by commas are left out together.")  # fmt: skip
@click.option("--dataset_name", required=True, help="A name saved by etl, a hub id, or a path.")
@set_options
@click.option("--run", "run_name", help="A name for the runs; repeat it to resume them.")
@tests_option(default="private_tests")
@click.option("--k", type=KList(), default="1,5", show_default=True, help="The k of pass@k.")
@click.option(
    "--dry_run", is_flag=True, help="Estimate calls, tokens and cost of each run; call no model and write no files."
)
@csv_option("a row for each score and each difference")
@common_options
@model_options
@cache_option
def ablate_flow(
    common: CommonOptions,
    variants: tuple[str, ...],
    test_type: tuple[str, ...],
    k: tuple[int, ...],
    dry_run: bool,
    csv_path: str | None,
    **options: Any,
) -> None:
    """Run a flow unchanged and once for each --without, then compare each variant with the unchanged flow.

    The runs are called NAME, NAME-without-STAGE, ... An answer that two of them ask for in the same words is shared
    through the cache. Repeat the command with --run NAME to resume them.
    """
    from alpha_codium.app.ablation import ablate, previews
    from alpha_codium.app.generation import SetOptions
    from alpha_codium.cli.reporting import Reporter
    from alpha_codium.gen.preview import HOW_ESTIMATED

    options["run_name"] = new_run("ablate", options["run_name"], None)
    reporter, given = Reporter(common), SetOptions(**options)
    if dry_run:
        expected = previews(given, variants, common.settings_on, reporter)
        common.write_json([asdict(preview) for preview in expected])
        for preview in expected:
            say(preview.line())
        click.echo(HOW_ESTIMATED, err=True)
        return
    try:
        report = ablate(given, variants, test_type, k, common.settings_on, reporter)
    except KeyboardInterrupt:
        click.echo(f"interrupted: repeat the command with --run {given.run_name}", err=True)
        raise
    print_report(report, common, csv_path)
