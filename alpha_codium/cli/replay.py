"""`gencode replay`: a run again, offline, from the answers it kept."""

from typing import Any

import click

from alpha_codium.app.options.solving import ReplayOptions
from alpha_codium.cli.fields import fields_of
from alpha_codium.cli.options import CommonOptions, common_options


@click.command("replay")
@fields_of(ReplayOptions)
@common_options
def command(common: CommonOptions, **options: Any) -> None:
    """Repeat a run from its stored answers, without a model, and compare the candidates."""
    from alpha_codium.app.replaying import replay
    from alpha_codium.cli.reporting import Reporter

    replayed = replay(**options, settings=common.settings_on, on_event=Reporter(common))
    common.show({"run": options["run"]} | replayed.to_json(), replayed.lines())
    if replayed.missing or replayed.differing:
        raise click.exceptions.Exit(1)
