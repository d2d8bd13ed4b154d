"""`gencode eval score`: samples that were made elsewhere, judged and scored as ours are."""

from typing import Any

import click

from alpha_codium.cli.options import CommonOptions, common_options, split_option
from alpha_codium.cli.scores import run_and_print, run_options, tests_option

ignore_fingerprint_option = click.option(
    "--ignore_fingerprint", is_flag=True, help="Score samples even if they were made for other problems."
)


@click.command()
@click.argument("file", metavar="FILE")
@click.option(
    "--benchmark", metavar="NAME", help="The benchmark that was sampled: humaneval, mbpp, apps, code_contests, ..."
)
@click.option(
    "--dataset_name", "dataset", help="Its problems: a name saved by etl, a hub id, or a path.  [default: NAME]"
)
@split_option
@click.option(
    "--select",
    multiple=True,
    metavar="COLUMN=VALUE",
    help="Score the rows with this value, which may be a part or a pattern; repeatable.",
)
@click.option("--column", default="", help="The column that holds the programs.  [default: by its name]")
@click.option(
    "--form",
    type=click.Choice(["completion", "solution"]),
    default=None,
    help="Whether it holds continuations of the prompt, or whole programs.  [default: by the column]",
)
@click.option("--header", help="Code that runs before each program, such as 'from typing import *'.")
@click.option(
    "--setup",
    type=click.Choice(["all", "imports", "none"]),
    default=None,
    help="Which code of the prompt programs may use.  [default: imports; all in a Solutions dataset]",
)
@ignore_fingerprint_option
@tests_option(default="private_tests")
@run_options
@common_options
def score(common: CommonOptions, **options: Any) -> None:
    """Score samples that were generated elsewhere.

    FILE holds rows with task_id and completion or solution (JSON lines), a list of programs for each problem or an
    object of them (JSON, or a pickle of APPS), or is a Solutions dataset.
    """
    from alpha_codium.app import scoring

    run_and_print("score", common, scoring.score, **options)
