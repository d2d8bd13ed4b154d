"""`gencode data`: get problems, and see what there is."""

import datetime
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import click

from alpha_codium.cli.clean import clean_generations
from alpha_codium.cli.options import CommonOptions, common_options, dataset_argument, overwrite_option
from alpha_codium.cli.output import print_table, say
from alpha_codium.cli.validate import validate
from alpha_codium.progress import Progress
from alpha_codium.wording import counted, size_text

DATE = click.DateTime(["%Y-%m-%d"])


def _day(_context: click.Context, _option: click.Parameter, given: datetime.datetime | None) -> datetime.date | None:
    return given and given.date()


@click.group()
def group() -> None:
    """Load, filter, list, show, import and validate problems."""


group.add_command(validate)
group.add_command(clean_generations)


@group.command()
@click.option("--dataset_name", "--source", "source", default="deepmind/code_contests", show_default=True,
              metavar="NAME", help="What to read: a hub id, a name saved by etl, or a path.")  # fmt: skip
@click.option("--output_dataset_name", "output_name", required=True, metavar="NAME",
              help="The name, or folder, to store under.")  # fmt: skip
@overwrite_option
@click.option("--split_name", "split_names", multiple=True, help="A split to take; repeatable. Default: all.")
@click.option("--sample_rate", type=float, default=1.0, show_default=True, help="The share of problems to take.")
@click.option("--seed", type=int, default=0, show_default=True, help="The seed of --sample_rate.")
@click.option(
    "--language", "languages", multiple=True, help="Keep solutions in this language; repeatable. Default: all."
)
@click.option(
    "--problem_source", "sources", multiple=True, help="Keep problems from this site, such as codeforces; repeatable."
)
@click.option(
    "--difficulty",
    "difficulties",
    multiple=True,
    help="Keep problems of this difficulty, such as easy or B; repeatable.",
)
@click.option("--problem_name", "names", multiple=True, help="Keep the problem of this name; repeatable.")
@click.option("--tag", "tags", multiple=True, help="Keep problems with this tag; repeatable.")
@click.option("--date_from", type=DATE, callback=_day, help="Keep problems published on this day or later.")
@click.option("--date_to", type=DATE, callback=_day, help="Keep problems published on this day or earlier.")
@click.option(
    "--validity", default="", metavar="WHAT", help="Keep problems that validate found `valid`, or `not_invalid`."
)
@common_options
def etl(common: CommonOptions, **options: Any) -> None:
    """Read a dataset, filter it, and store it."""
    from alpha_codium.data.filters import Filters

    filters = Filters(**{field.name: options.pop(field.name) for field in fields(Filters)})
    _run_etl(common, **options, filters=filters)


@group.command("import")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--output_dataset_name", "output_name", metavar="NAME",
              help="The name to store under. Default: the file's name.")  # fmt: skip
@overwrite_option
@click.option("--split_name", "split_names", multiple=True,
              help="The name of the split. Default: test, valid or train, by the file's name.")  # fmt: skip
@common_options
def import_file(common: CommonOptions, file: Path, output_name: str | None, **options: Any) -> None:
    """Check a file with one problem or a list of them, and store it."""
    from alpha_codium.errors import DatasetError

    if not file.is_file():
        raise DatasetError(f"there is no file {file}")
    _run_etl(common, source=str(file), output_name=output_name or file.name.partition(".")[0], **options)


@group.command("list")
@common_options
def list_command(common: CommonOptions) -> None:
    """List the stored datasets."""
    from alpha_codium.data.catalogue import list_datasets

    summaries = list_datasets()
    rows = [[s.name, s.kind, s.rows, size_text(s.size_bytes), s.error or s.origin] for s in summaries]
    if not rows:
        click.echo("no dataset is stored yet: see gencode data etl --help", err=True)
    else:
        print_table([("name", "kind", "rows", "size", "origin"), *rows])
    common.write_json([asdict(summary) for summary in summaries])


@group.command()
@dataset_argument
@click.option("--split_name", help="One split only.")
@click.option("--problem_name", help="Show this problem.")
@common_options
def show(common: CommonOptions, dataset: str, split_name: str | None, problem_name: str | None) -> None:
    """Show a summary of a dataset, or one of its problems."""
    from alpha_codium.data.catalogue import describe, find_problem, problem_lines, split_lines
    from alpha_codium.data.schema import record_from_problem

    if problem_name is not None:
        problem = find_problem(dataset, problem_name, split_name)
        say("\n".join(problem_lines(problem)))
        common.write_json(record_from_problem(problem))
        return
    splits = describe(dataset, split_name)
    for split in splits:
        say("\n".join(split_lines(dataset, split)))
    common.write_json({split.split: asdict(split) for split in splits})


def _run_etl(common: CommonOptions, **options: Any) -> None:
    from alpha_codium.data.etl import run_etl

    with Progress("problems read", None, common.verbosity < 0) as progress:
        report = run_etl(**options, progress=progress.reach)
    for split in report.splits:
        click.echo(f"{report.name}[{split.split}]: {split.problems_out} of {counted(split.records_in, 'problem')}")
    click.echo(f"stored in {report.path}")
    common.write_json(report.as_record())
