"""`gencode settings`: what is in force, and where it comes from."""

import click

from alpha_codium.cli.options import CommonOptions, common_options


@click.command()
@common_options
def command(common: CommonOptions) -> None:
    """Print the settings in force as TOML, with their comments and origins."""
    from alpha_codium.app.settings_listing import list_settings

    values, text = list_settings(common.config_file, [*common.overrides, *common.extra_overrides])
    common.show(values, [text.removesuffix("\n")])
