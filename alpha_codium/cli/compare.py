"""`gencode compare`: runs of `solve_set` side by side."""

from typing import TYPE_CHECKING, Any

import click

from alpha_codium.cli.options import CommonOptions, common_options
from alpha_codium.cli.output import say
from alpha_codium.cli.scores import KList, csv_option, tests_option

if TYPE_CHECKING:
    from alpha_codium.eval.comparing.report import Comparison


@click.command("compare")
@click.argument("runs", nargs=-1, required=True, metavar="RUN...")
@tests_option(default="private_tests")
@click.option("--k", type=KList(), default="1,5", show_default=True, help="The k of pass@k.")
@click.option("--baseline", metavar="RUN", help="Compare each run with this one.  [default: each pair]")
@click.option("--dataset_name", "dataset", help="The dataset of the runs, if it was moved.")
@click.option("--references", is_flag=True, help="Also show published results, in a table of their own.")
@csv_option("a row for each score and each difference")
@common_options
def command(runs: tuple[str, ...], common: CommonOptions, csv_path: str | None, **options: Any) -> None:
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
    from alpha_codium.eval.comparing.tables import text_of, unfinished_lines

    common.write_files(report, csv_path)
    say(text_of(report).removesuffix("\n"))
    for line in unfinished_lines(report, found_by):
        click.echo(line, err=True)
    if not report.complete:
        click.echo("the comparison is INCOMPLETE", err=True)
        raise click.exceptions.Exit(1)
