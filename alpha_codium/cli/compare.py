"""`gencode compare`: runs of `solve_set` side by side."""

from typing import Any

import click

from alpha_codium.cli.judging import KList, tests_option
from alpha_codium.cli.options import CommonOptions, common_options


@click.command("compare")
@click.argument("runs", nargs=-1, required=True, metavar="RUN...")
@tests_option(default="private_tests")
@click.option("--k", "ks", type=KList(), default="1,5", show_default=True, help="The k of pass@k.")
@click.option("--baseline", metavar="RUN", help="Compare each run with this one.  [default: each pair]")
@click.option("--dataset_name", help="Where the problems are, if not where they were.")
@click.option("--references", is_flag=True, help="Show published numbers too, in a table of their own.")
@common_options
def command(runs: tuple[str, ...], common: CommonOptions, **options: Any) -> None:
    """Set runs of solve_set side by side: scores, costs, differences on the same problems, what each stage did.

    RUN is a run's name or the path of its folder. Every distinct program is judged once; verdicts are kept in the
    runs' folders, so that repeating a comparison, or going on with one that was cut off, costs nothing.
    """
    from alpha_codium.cli.comparing import CompareOptions, compare_runs, print_report

    print_report(compare_runs(CompareOptions(runs, **options), common), common)
