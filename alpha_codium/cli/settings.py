"""`gencode settings`: what is in force, and where it comes from."""

from typing import Any

import click

from alpha_codium.cli.options import CommonOptions, common_options


@click.command()
@common_options
def command(common: CommonOptions) -> None:
    """Print the effective settings as TOML."""
    from alpha_codium.runs.folder import to_toml, without_none

    values: dict[str, Any] = without_none(common.settings.model_dump())
    common.write_json(values)
    click.echo(to_toml(values), nl=False)
