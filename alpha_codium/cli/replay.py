"""`gencode replay`: a run again, offline, from the answers it kept."""

from typing import Any

import click

from alpha_codium.cli.options import CommonOptions, common_options, overwrite_option
from alpha_codium.cli.output import say


@click.command("replay")
@click.argument("run", metavar="RUN")
@click.option(
    "--flow",
    help="Another flow, or a folder; the run must have answers to its prompts.  [default: the run's]",
)
@click.option("--output_dataset_name", "output",
              help="Where to save the candidates: a name or a folder.  [default: not saved]")  # fmt: skip
@overwrite_option
@click.option("--shared", is_flag=True, help="Take missing answers from the shared cache.")
@common_options
def command(run: str, common: CommonOptions, **options: Any) -> None:
    """Repeat a run from its stored answers, without a model, and compare the candidates."""
    from alpha_codium.app.replaying import replay
    from alpha_codium.cli.reporting import Reporter

    replayed = replay(run, **options, settings=common.settings_on, on_event=Reporter(common))
    common.write_json({"run": run} | replayed.to_json())
    for line in replayed.lines():
        say(line)
    if replayed.missing or replayed.differing:
        raise click.exceptions.Exit(1)
