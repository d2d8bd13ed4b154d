"""`gencode languages`: the languages of programs, and their compilers."""

import click

from alpha_codium.cli.options import CommonOptions, common_options


@click.command()
@common_options
def command(common: CommonOptions) -> None:
    """List the languages of programs, with the compilers of this machine.

    For compilers that are missing, it says how to install them. The settings [languages.NAME] choose other compilers
    and options.
    """
    from alpha_codium.app.language_listing import languages, lines_of

    found = languages(common.settings)
    common.show(found, lines_of(found))
