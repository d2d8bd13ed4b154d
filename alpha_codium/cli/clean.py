"""`gencode data clean_generations`: what is cut off models' texts before they are scored."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from alpha_codium.cli.options import CommonOptions, common_options

# The names of `gen.cleaning.RULES`, which takes long to import; a test compares.
RULE_NAMES = ("thinking", "end_tokens", "fences", "prose", "indentation", "prompts", "stop_words")


def _rule_options(command: Callable[..., Any]) -> Callable[..., Any]:
    for name in reversed(RULE_NAMES):
        command = click.option(f"--no_{name}", is_flag=True, help=f"Leave out the rule {name}.")(command)
    return command


@click.command()
@click.argument("file", metavar="FILE")
@click.option(
    "--output", required=True, type=click.Path(path_type=Path), help="The file for the cleaned rows, JSON lines."
)
@click.option("--benchmark", metavar="NAME", help="The benchmark, for its prompts and entry points: humaneval, ...")
@click.option("--dataset_name", help="Its problems: a name saved by etl, a hub id, or a path.  [default: NAME]")
@click.option("--split_name", help="The split; needed only if there are several.")
@click.option("--column", default="", help="The column that holds the texts.  [default: by its name]")
@click.option(
    "--form",
    type=click.Choice(["completion", "solution"]),
    default=None,
    help="Whether it holds continuations of the prompt, or whole programs.  [default: by the column]",
)
@click.option(
    "--stop",
    "stop_words",
    multiple=True,
    metavar="WORD",
    help="A stop word in place of the default ones, \\n for a line break; repeatable.",
)
@_rule_options
@common_options
def clean_generations(
    common: CommonOptions,
    file: str,
    output: Path,
    benchmark: str | None,
    dataset_name: str | None,
    split_name: str | None,
    column: str,
    form: str | None,
    stop_words: tuple[str, ...],
    **off: bool,
) -> None:
    """Clean texts of models: remove fences, prose, repeated prompts, and what follows stop words.

    FILE is what `gencode eval score` takes. Each rule is counted, and off by its flag.
    """
    from alpha_codium.app.scoring import dataset_of
    from alpha_codium.data.load import load_problems
    from alpha_codium.data.samples.reading import Columns, read_samples
    from alpha_codium.errors import DatasetError
    from alpha_codium.gen.cleaning import RULES, STOP_WORDS, CleaningCounts, clean_rows, write_lines

    dataset = dataset_of(benchmark, dataset_name)
    rows = read_samples(file, Columns(column, form or ""))
    if not rows:
        raise DatasetError(f"{file} holds no samples")
    problems = load_problems(dataset, split_name) if dataset is not None else None
    rules = [rule for rule in RULES if not off[f"no_{rule.name}"]]
    stops = [word.replace("\\n", "\n") for word in stop_words] or STOP_WORDS
    counts = CleaningCounts()
    write_lines(output, clean_rows(rows, problems, counts, rules, stops))
    told = counts.to_json(rules)
    common.write_json(told | {"output": str(output)})
    click.echo(f"{counts.samples} samples, {counts.changed} changed, {counts.emptied} left empty")
    for rule in RULES:
        count = told["rules"][rule.name]
        click.echo(f"  {rule.name:<13}{'off' if count is None else count:>7}  {rule.what}")
    if problems is None:
        click.echo("no prompts are known: give a --benchmark or a --dataset_name", err=True)
    click.echo(f"written to {output}")
