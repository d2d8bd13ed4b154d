"""`gencode data`: get problems, see what there is, check them, and clean samples."""

from dataclasses import fields
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from alpha_codium.app.options.judging import CleanOptions, ValidateOptions
from alpha_codium.cli.fields import argument_or_option, fields_of, refuse_nameless_part
from alpha_codium.cli.options import CommonOptions, common_options, options, overwrite_option
from alpha_codium.cli.output import print_table, say
from alpha_codium.cli.reporting import Reporter
from alpha_codium.cli.scores import csv_option, new_run, print_validation, with_earlier
from alpha_codium.data.filters import Filters
from alpha_codium.errors import UserError
from alpha_codium.progress import Progress
from alpha_codium.wording import counted, size_text

# The names of `gen.cleaning.RULES`, which takes long to import; a test compares.
RULE_NAMES = ("thinking", "end_tokens", "fences", "prose", "indentation", "prompts", "stop_words")


@click.group()
def group() -> None:
    """Load, filter, list, show, import and validate problems."""


@group.command()
@click.option("--dataset_name", "--source", "source", default="deepmind/code_contests", show_default=True,
              metavar="NAME", help="What to read: a hub id, a name saved by etl, or a path.")  # fmt: skip
@click.option("--output_dataset_name", "output", required=True, metavar="NAME",
              help="The name, or folder, to store under.")  # fmt: skip
@overwrite_option
@click.option("--split_name", "split_names", multiple=True, help="A split to take; repeatable. Default: all.")
@click.option("--sample_rate", type=float, default=1.0, show_default=True, help="The share of problems to take.")
@click.option("--seed", type=int, default=0, show_default=True, help="The seed of --sample_rate.")
@fields_of(Filters)
@common_options
def etl(common: CommonOptions, **options: Any) -> None:
    """Read a dataset, filter it, and store it."""
    filters = Filters(**{field.name: options.pop(field.name) for field in fields(Filters)})
    _run_etl(common, **options, filters=filters)


@group.command("import")
@click.argument("file", type=click.Path(path_type=Path), metavar="FILE|FOLDER")
@click.option("--output_dataset_name", "output", metavar="NAME",
              help="The name to store under. Default: the file's name.")  # fmt: skip
@overwrite_option
@click.option("--split_name", "split_names", multiple=True,
              help="The name of the split. Default: test, valid or train, by the file's name.")  # fmt: skip
@common_options
def import_file(common: CommonOptions, file: Path, output: str | None, **options: Any) -> None:
    """Check a file of problems, or a folder of statements (.md, .txt), and store the problems."""
    from alpha_codium.errors import DatasetError

    if not file.exists():
        raise DatasetError(f"there is no file or folder {file}")
    _run_etl(common, source=str(file), output=output or file.resolve().name.partition(".")[0], **options)


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
    common.write_json(summaries)


@group.command()
@argument_or_option("dataset", "NAME", "--dataset_name")
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
    common.write_json({split.split: split for split in splits})


def _run_etl(common: CommonOptions, **options: Any) -> None:
    from alpha_codium.data.etl import run_etl

    with Progress("problems read", None, common.verbosity < 0) as progress:
        report = run_etl(**options, progress=progress.reach)
    for split in report.splits:
        click.echo(f"{report.name}[{split.split}]: {split.problems_out} of {counted(split.records_in, 'problem')}")
    click.echo(f"stored in {report.path}")
    common.write_json(report)


@group.command()
@fields_of(ValidateOptions)
@click.option(
    "--tests_column",
    metavar="COLUMN",
    help="NAME is a file for training: list the rows whose tests, in this column, can't be judged. Nothing is run.",
)
@csv_option("a row for each problem")
@common_options
def validate(common: CommonOptions, csv_path: str | None, tests_column: str | None, **options: Any) -> None:
    """Check a dataset's tests, checkers and limits by running its known solutions."""
    settings = with_earlier(common, options)
    if tests_column is not None:
        from alpha_codium.rewards.rows import check_rows

        _refuse_for_rows()
        found = check_rows(options["dataset"], tests_column, options["split"], settings)
        common.show(found, found.lines())
        if found.faults:
            raise click.exceptions.Exit(1)
        return
    from alpha_codium.app import validation

    if options["dataset"] is None:
        raise UserError(f"run {options['resume']!r} doesn't record its dataset: give it as NAME")
    refuse_nameless_part(**options)
    options["run"] = new_run("validate", options["run"], options["resume"])
    reporter = Reporter(common)
    with reporter.resumable():
        report = validation.validate(**options, settings=settings, on_event=reporter)
        common.write_files(report, csv_path)
    if report.stored is not None:
        click.echo(f"stored in {report.stored}", err=True)
    print_validation(report, reporter.name)


def _refuse_for_rows() -> None:
    """Refuse the options that mean nothing where only the rows of a file are read."""
    context = click.get_current_context()
    needless = {field.name for field in fields(ValidateOptions)} - {"dataset", "split"} | {"csv_path"}
    for parameter in context.command.params:
        name = parameter.name or ""
        if name in needless and context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            raise click.UsageError(f"--tests_column only reads the rows of a file: leave out {parameter.opts[0]}")


@group.command("clean_generations")
@fields_of(CleanOptions)
@options(*(click.option(f"--no_{name}", is_flag=True, help=f"Turn off the rule {name}.") for name in RULE_NAMES))
@common_options
def clean_generations(common: CommonOptions, stop_words: tuple[str, ...], **given: Any) -> None:
    """Clean model output: remove fences, prose, repeated prompts, and text after stop words.

    FILE has any format that `gencode eval score` reads. The changes by each rule are counted.
    """
    from alpha_codium.answers.cleaning import RULES
    from alpha_codium.app.scoring import clean_file

    off = [name for name in RULE_NAMES if given.pop(f"no_{name}")]
    stops = [word.replace("\\n", "\n") for word in stop_words]
    counts, known = clean_file(CleanOptions(**given, stop_words=stops, rules_off=off))
    found = counts.to_json()
    common.write_json(found | {"output": str(given["output"])})
    click.echo(f"{counted(counts.samples, 'sample')}, {counts.changed} changed, {counts.emptied} left empty")
    for rule in RULES:
        count = found["rules"][rule.name]
        click.echo(f"  {rule.name:<13}{'off' if count is None else count:>7}  {rule.what}")
    if not known:
        click.echo("no prompts are known: give a --benchmark or a --dataset_name", err=True)
    click.echo(f"written to {given['output']}")
