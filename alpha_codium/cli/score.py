"""`gencode eval score`: samples that were made elsewhere, judged and scored as ours are."""

from typing import Any

import click

from alpha_codium.cli.options import CommonOptions, common_options, split_option
from alpha_codium.cli.scores import run_and_print, run_options, tests_option

ignore_fingerprint_option = click.option(
    "--ignore_fingerprint", is_flag=True, help="Score samples that were made for other problems, too."
)


@click.command()
@click.argument("file", metavar="FILE")
@click.option("--benchmark", metavar="NAME", help="What the samples are of: humaneval, mbpp, apps, code_contests, ...")
@click.option(
    "--dataset_name", "dataset", help="Its problems: a name saved by etl, a hub id, or a path.  [default: NAME]"
)
@split_option
@click.option(
    "--select",
    multiple=True,
    metavar="COLUMN=VALUE",
    help="Score the rows with this value (a part of it, or a pattern, will do); repeatable.",
)
@click.option("--column", default="", help="The column that holds the programs.  [default: by its name]")
@click.option(
    "--form",
    type=click.Choice(["completion", "solution"]),
    default=None,
    help="What it holds: what goes on from the prompt, or whole programs.  [default: by the column]",
)
@click.option("--header", help="Code that runs before each program, such as 'from typing import *'.")
@click.option(
    "--setup",
    type=click.Choice(["all", "imports", "none"]),
    default=None,
    help="What programs may use of the prompt's own code.  [default: imports; all in a Solutions dataset]",
)
@ignore_fingerprint_option
@tests_option(default="private_tests")
@run_options
@common_options
def score(common: CommonOptions, **options: Any) -> None:
    """Score samples that were made elsewhere.

    FILE holds rows with task_id and completion or solution (JSON lines), a list of programs for each problem or an
    object of them (JSON, or a pickle of APPS), or is a Solutions dataset.
    """
    from alpha_codium.app import scoring

    run_and_print("score", common, scoring.score, **options)
