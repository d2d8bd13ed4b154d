"""`gencode data clean_generations`: what is cut off models' texts before they are scored."""

from pathlib import Path
from typing import Any

import click

from alpha_codium.cli.options import CommonOptions, common_options, options, sample_file_options
from alpha_codium.wording import counted

# The names of `gen.cleaning.RULES`, which takes long to import; a test compares.
RULE_NAMES = ("thinking", "end_tokens", "fences", "prose", "indentation", "prompts", "stop_words")


@click.command("clean_generations")
@sample_file_options
@click.option("--output", required=True, type=click.Path(path_type=Path),
              help="The file for the cleaned rows: .jsonl, or .pkl for a pickle.")  # fmt: skip
@click.option("--stop", "stop_words", multiple=True, metavar="WORD",
              help="Use this stop word instead of the defaults; \\n is a line break; repeatable.")  # fmt: skip
@options(*(click.option(f"--no_{name}", is_flag=True, help=f"Turn off the rule {name}.") for name in RULE_NAMES))
@common_options
def clean_generations(common: CommonOptions, output: Path, stop_words: tuple[str, ...], **given: Any) -> None:
    """Clean model output: remove fences, prose, repeated prompts, and text after stop words.

    FILE has any format that `gencode eval score` reads. The changes by each rule are counted.
    """
    from alpha_codium.app.scoring import clean_file
    from alpha_codium.gen.cleaning import RULES

    rules = [rule for rule in RULES if not given.pop(f"no_{rule.name}")]
    stops = [word.replace("\\n", "\n") for word in stop_words]
    counts, known = clean_file(**given, output=output, rules=rules, stop_words=stops)
    found = counts.to_json()
    common.write_json(found | {"output": str(output)})
    click.echo(f"{counted(counts.samples, 'sample')}, {counts.changed} changed, {counts.emptied} left empty")
    for rule in RULES:
        count = found["rules"][rule.name]
        click.echo(f"  {rule.name:<13}{'off' if count is None else count:>7}  {rule.what}")
    if not known:
        click.echo("no prompts are known: give a --benchmark or a --dataset_name", err=True)
    click.echo(f"written to {output}")
