"""`gencode settings` and `gencode languages`: what is in force, and which compilers there are."""

import click

from alpha_codium.cli.options import CommonOptions, common_options
from alpha_codium.cli.output import say


@click.command("settings")
@common_options
def show_settings(common: CommonOptions) -> None:
    """Print the settings in force as TOML, with their comments and origins."""
    from alpha_codium.app.settings_listing import list_settings

    values, text = list_settings(common.config_file, [*common.overrides, *common.extra_overrides])
    common.write_json(values)
    say(text.removesuffix("\n"))


@click.command("languages")
@common_options
def languages(common: CommonOptions) -> None:
    """List the languages of programs, with the compilers of this machine.

    For compilers that are missing, it says how to install them. The settings [languages.NAME] choose other compilers
    and options.
    """
    from alpha_codium.app import language_listing

    found = language_listing.languages(common.settings)
    common.write_json([each.to_json() for each in found])
    for line in language_listing.lines_of(found):
        click.echo(line)
