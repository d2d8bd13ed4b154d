"""`gencode data`: get problems, and see what there is."""

import datetime
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from alpha_codium.cli.clean import clean_generations
from alpha_codium.cli.options import CommonOptions, Group, common_options
from alpha_codium.cli.output import say
from alpha_codium.cli.progress import Progress
from alpha_codium.cli.validate import validate
from alpha_codium.log import visible

if TYPE_CHECKING:
    from alpha_codium.data.catalogue import SplitDescription
    from alpha_codium.data.etl import EtlReport
    from alpha_codium.problem import Problem

DATE = click.DateTime(["%Y-%m-%d"])


@click.group(cls=Group)
def group() -> None:
    """Get problems: load, filter, list, show, import, validate."""


group.add_command(validate)
group.add_command(clean_generations)


@group.command()
@click.option("--source", required=True, metavar="SOURCE", help="A hub id, a stored name, or a path to read from.")
@click.option("--output_dataset_name", required=True, metavar="NAME", help="The name, or folder, to store under.")
@click.option("--split_name", multiple=True, help="A split to take; repeatable. Default: all.")
@click.option("--sample_rate", type=float, default=1.0, show_default=True, help="The share of problems to take.")
@click.option("--seed", type=int, default=0, show_default=True, help="Which sample.")
@click.option("--language", multiple=True, help="Keep solutions in this language; repeatable. Default: all.")
@click.option("--problem_source", multiple=True, help="Keep problems of this site, such as codeforces; repeatable.")
@click.option("--difficulty", multiple=True, help="Keep problems of this difficulty, such as easy or B; repeatable.")
@click.option("--tag", multiple=True, help="Keep problems with this tag; repeatable.")
@click.option("--date_from", type=DATE, help="Keep problems published on this day or later.")
@click.option("--date_to", type=DATE, help="Keep problems published on this day or earlier.")
@click.option("--validity", default="", metavar="WHAT", help="Keep what `validate` found `valid`, or `not_invalid`.")
@common_options
def etl(
    common: CommonOptions,
    *,
    source: str,
    output_dataset_name: str,
    split_name: tuple[str, ...],
    sample_rate: float,
    seed: int,
    language: tuple[str, ...],
    problem_source: tuple[str, ...],
    difficulty: tuple[str, ...],
    tag: tuple[str, ...],
    date_from: datetime.datetime | None,
    date_to: datetime.datetime | None,
    validity: str,
) -> None:
    """Read a dataset, keep what is asked for, and store it."""
    from alpha_codium.data.filters import Filters

    days = [moment and moment.date() for moment in (date_from, date_to)]
    filters = Filters(language, problem_source, difficulty, tag, *days, validity=validity)
    _run_etl(common, source, output_dataset_name, split_name, filters=filters, sample_rate=sample_rate, seed=seed)


@group.command("import")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--output_dataset_name", metavar="NAME", help="The name to store under. Default: the file's own.")
@click.option(
    "--split_name", multiple=True, help="The name of the split. Default: test, valid or train, by the file's name."
)
@common_options
def import_file(
    common: CommonOptions, file: Path, output_dataset_name: str | None, split_name: tuple[str, ...]
) -> None:
    """Check a file of problems, one or a list, and store it."""
    from alpha_codium.errors import DatasetError

    if not file.is_file():
        raise DatasetError(f"there is no file {file}")
    _run_etl(common, str(file), output_dataset_name or file.name.partition(".")[0], split_name)


@group.command("list")
@common_options
def list_command(common: CommonOptions) -> None:
    """List the stored datasets."""
    from alpha_codium.data.catalogue import list_datasets

    summaries = list_datasets()
    rows = [
        [s.name, s.kind, ", ".join(f"{k}: {v}" for k, v in s.splits.items()), _size(s.size_bytes), s.error or s.origin]
        for s in summaries
    ]
    if not rows:
        click.echo("no dataset is stored yet: gencode data etl --source SOURCE --output_dataset_name NAME", err=True)
    else:
        _print_table(["name", "kind", "rows", "size", "origin"], rows)
    common.write_json([summary.as_record() for summary in summaries])


@group.command()
@click.argument("name")
@click.option("--split_name", help="One split only.")
@click.option("--problem_name", help="Show this problem.")
@common_options
def show(common: CommonOptions, name: str, split_name: str | None, problem_name: str | None) -> None:
    """Show what a dataset holds, or one of its problems."""
    from alpha_codium.data.catalogue import describe, find_problem
    from alpha_codium.data.schema import record_from_problem

    if problem_name is not None:
        problem = find_problem(name, problem_name, split_name)
        _print_problem(problem)
        common.write_json(record_from_problem(problem))
        return
    splits = describe(name, split_name)
    for split in splits:
        _print_split(name, split)
    common.write_json({split.split: split.as_record() for split in splits})


def _run_etl(common: CommonOptions, source: str, output: str, splits: Sequence[str], **selection: Any) -> None:
    from alpha_codium.data.etl import run_etl

    with Progress("problems read", None, common.verbosity < 0) as progress:
        report = run_etl(source, output, splits, progress=progress.reach, **selection)
    _print_report(report)
    common.write_json(report.as_record())


def _print_report(report: "EtlReport") -> None:
    for split in report.splits:
        click.echo(f"{report.name}[{split.split}]: {split.problems_out} of {split.records_in} problems")
    click.echo(f"stored in {report.path}")


def _print_split(name: str, split: "SplitDescription") -> None:
    counts = split.counts
    click.echo(f"{name}[{split.split}]")
    rows = {"problems": str(counts["problems"]), "repeated names": str(counts["repeated_names"] or "")}
    for column in ("tests", "solutions", "incorrect_solutions", "sources", "difficulties"):
        rows[column.replace("_", " ")] = ", ".join(f"{key}: {count}" for key, count in counts[column].items() if count)
    rows["columns"] = ", ".join(split.columns)
    origin = split.info.get("origin") or {}
    rows["origin"] = "@".join(filter(None, (origin.get("location"), origin.get("revision"))))
    for key in ("fingerprint", "filters", "sampling"):
        value = split.info.get(key) or ""
        rows[key] = value if isinstance(value, str) else ", ".join(f"{k}: {v}" for k, v in value.items())
    for label, value in rows.items():
        if value:
            say(f"  {label + ':':<21}{value}")


def _print_problem(problem: "Problem") -> None:
    from alpha_codium.data.schema import difficulty_name, source_name

    limits = [
        f"{problem.time_limit_seconds:g} s" if problem.time_limit_seconds else "",
        f"{problem.memory_limit_bytes / 2**20:g} MiB" if problem.memory_limit_bytes else "",
    ]
    facts = [source_name(problem.source), difficulty_name(problem.difficulty), *problem.tags, *filter(None, limits)]
    say(f"{problem.name}\n{', '.join(facts)}\n\n{problem.description.rstrip()}")
    for number, test in enumerate(problem.public_tests, start=1):
        say(f"\nPublic test {number}, input:\n{test.input.rstrip()}\n\nexpected output:\n{test.output.rstrip()}")
    click.echo(
        f"\n{len(problem.private_tests)} private tests, {len(problem.generated_tests)} generated tests, "
        f"{len(problem.solutions)} solutions, {len(problem.incorrect_solutions)} incorrect solutions"
    )


def _print_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    if not sys.stdout.isatty():
        click.echo("\t".join(header))
        for row in rows:
            click.echo("\t".join(row))
        return
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(*header, box=None)
    for row in rows:
        table.add_row(*(Text(visible(cell)) for cell in row))
    Console().print(table)


def _size(size: float) -> str:
    for unit in ("B", "KiB", "MiB"):
        if size < 1024:
            return f"{size:.0f} {unit}"
        size /= 1024
    return f"{size:.1f} GiB"
