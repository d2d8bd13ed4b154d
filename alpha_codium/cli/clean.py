"""`gencode data clean_generations`: what is cut off models' texts before they are scored."""

from pathlib import Path

import click

from alpha_codium.cli.options import CommonOptions, common_options, options, sample_file_options
from alpha_codium.wording import counted

# The names of `gen.cleaning.RULES`, which takes long to import; a test compares.
RULE_NAMES = ("thinking", "end_tokens", "fences", "prose", "indentation", "prompts", "stop_words")


@click.command()
@sample_file_options
@click.option(
    "--output",
    required=True,
    type=click.Path(path_type=Path),
    help="The file for the cleaned rows: .jsonl, or .pkl for a pickle.",
)
@click.option(
    "--stop",
    "stop_words",
    multiple=True,
    metavar="WORD",
    help="Use this stop word instead of the defaults; \\n is a line break; repeatable.",
)
@options(*(click.option(f"--no_{name}", is_flag=True, help=f"Turn off the rule {name}.") for name in RULE_NAMES))
@common_options
def clean_generations(
    common: CommonOptions,
    file: str,
    benchmark: str | None,
    dataset: str | None,
    split: str | None,
    column: str,
    form: str | None,
    output: Path,
    stop_words: tuple[str, ...],
    **off: bool,
) -> None:
    """Clean model output: remove fences, prose, repeated prompts, and text after stop words.

    FILE has any format that `gencode eval score` reads. The changes by each rule are counted.
    """
    from alpha_codium.app.scoring import dataset_of
    from alpha_codium.data.benchmarks import refuse_another_benchmark
    from alpha_codium.data.load import load_problems
    from alpha_codium.data.samples.reading import Columns, read_samples
    from alpha_codium.errors import DatasetError
    from alpha_codium.gen.cleaning import RULES, STOP_WORDS, CleaningCounts, clean_rows, write_rows

    dataset = dataset_of(benchmark, dataset)
    rows = read_samples(file, Columns(column, form or ""))
    if not rows:
        raise DatasetError(f"{file} contains no samples")
    problems = load_problems(dataset, split) if dataset is not None else None
    if problems is not None:
        refuse_another_benchmark(benchmark, problems.names, repr(problems))
    rules = [rule for rule in RULES if not off[f"no_{rule.name}"]]
    stops = [word.replace("\\n", "\n") for word in stop_words] or STOP_WORDS
    counts = CleaningCounts()
    write_rows(output, clean_rows(rows, problems, counts, rules, stops), rows)
    found = counts.to_json(rules)
    common.write_json(found | {"output": str(output)})
    click.echo(f"{counted(counts.samples, 'sample')}, {counts.changed} changed, {counts.emptied} left empty")
    for rule in RULES:
        count = found["rules"][rule.name]
        click.echo(f"  {rule.name:<13}{'off' if count is None else count:>7}  {rule.what}")
    if problems is None:
        click.echo("no prompts are known: give a --benchmark or a --dataset_name", err=True)
    click.echo(f"written to {output}")
