"""`gencode eval score`: samples that were made elsewhere, judged and scored as ours are."""

from typing import Any

import click

from alpha_codium.cli.options import (
    CommonOptions,
    common_options,
    only_present_option,
    sample_file_options,
    subset_options,
)
from alpha_codium.cli.scores import run_and_print, score_options, tests_option

ignore_fingerprint_option = click.option(
    "--ignore_fingerprint", is_flag=True, help="Score samples even if they were made for other problems."
)


@click.command()
@sample_file_options
@click.option(
    "--select",
    multiple=True,
    metavar="COLUMN=VALUE",
    help="Score only the rows with this value, or one that it matches as a part or a pattern; repeatable.",
)
@click.option(
    "--language",
    metavar="NAME",
    help="The language of samples that don't name one, such as cpp.  [default: the benchmark's, or python3]",
)
@click.option("--clean", is_flag=True, help="Clean the samples first, as `gencode data clean_generations` does.")
@click.option("--header", help="Code that runs before each program, such as 'from typing import *'.")
@click.option(
    "--setup",
    type=click.Choice(["all", "imports", "none"]),
    help="The code of the prompt that is added to complete programs.  [default: imports; all in a Solutions dataset]",
)
@subset_options
@only_present_option
@click.option(
    "--difficulty", "--level", "difficulty", multiple=True, metavar="NAME",
    help="Score only problems of this difficulty, such as introductory; repeatable.",
)  # fmt: skip
@ignore_fingerprint_option
@tests_option(default="private_tests")
@score_options
@common_options
def score(common: CommonOptions, **options: Any) -> None:
    """Score samples that were generated elsewhere.

    FILE holds rows with task_id and completion or solution (JSON lines), a list of programs for each problem or an
    object of them (JSON, or a pickle of APPS), or is a Solutions dataset.
    """
    from alpha_codium.app import scoring

    run_and_print("score", common, scoring.score, **options)
