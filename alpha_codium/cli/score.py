"""`gencode eval score`: samples that were made elsewhere, judged and scored as ours are."""

from typing import Any

import click

from alpha_codium.cli.options import CommonOptions, common_options
from alpha_codium.cli.scores import run_and_print, run_options, tests_option

ignore_fingerprint_option = click.option(
    "--ignore_fingerprint", is_flag=True, help="Score samples that were made for other problems, too."
)


@click.command()
@click.argument("file", metavar="FILE")
@click.option("--benchmark", metavar="NAME", help="What the samples are of: humaneval, mbpp, apps, code_contests, ...")
@click.option("--dataset_name", help="Its problems: a name saved by etl, a hub id, or a path.  [default: NAME]")
@click.option("--split_name", help="The split; not needed where there is one.")
@click.option(
    "--select",
    "selections",
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
def score(
    file: str,
    benchmark: str | None,
    dataset_name: str | None,
    split_name: str | None,
    selections: tuple[str, ...],
    test_types: tuple[str, ...],
    column: str,
    form: str | None,
    header: str | None,
    setup: str | None,
    ignore_fingerprint: bool,
    common: CommonOptions,
    **run: Any,
) -> None:
    """Score samples that were made elsewhere.

    FILE holds rows with task_id and completion or solution (JSON lines), a list of programs for each problem or an
    object of them (JSON, or a pickle of APPS), or is a Solutions dataset.
    """
    from alpha_codium.app import scoring

    run_and_print("score", common, run, lambda **given: scoring.score(
        file, benchmark, dataset=dataset_name, split=split_name, select=selections, column=column, form=form,
        header=header, setup=setup, ignore_fingerprint=ignore_fingerprint, test_type=test_types, **given,
    ))  # fmt: skip
