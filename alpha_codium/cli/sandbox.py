"""`gencode sandbox`: checking, installing and serving sandboxes."""

from copy import copy

import click

from alpha_codium.cli import serve
from alpha_codium.cli.options import CommonOptions, common_options, normalize
from alpha_codium.errors import UserError, nearest


@click.group()
def group() -> None:
    """Check, install or serve the sandbox."""


group.add_command(copy(serve.command), "serve")


@group.command()
@click.argument("backend", metavar="BACKEND")
@click.option("--python", default="", help="The CPython 3.9 to use.  [default: pyenv's, or the one on PATH]")
@common_options
def install(common: CommonOptions, backend: str, python: str) -> None:
    """Install a backend for the current user: `code_contests`, DeepMind's C++ sandbox.

    It is installed in its own environment in $GENCODE_HOME, or in the folder of sandbox.code_contests.environment.
    If that exists already, nothing is done.
    """
    from pathlib import Path

    from alpha_codium.sandbox.code_contests import environment

    if normalize(backend) != "code_contests":
        known = nearest(backend, ["code_contests"])
        raise UserError(f"there is nothing to install for {backend!r}{known}")
    chosen = common.settings.sandbox.code_contests.environment
    folder = Path(chosen) if chosen else environment.default_folder()
    done = environment.install(folder, python, lambda line: click.echo(line, err=True))
    common.write_json({"backend": "code_contests", "folder": str(folder), "installed": done})
    click.echo(f"{'installed' if done else 'already installed'}: {folder}")


@group.command()
@common_options
def check(common: CommonOptions) -> None:
    """Run a program in the configured sandbox, and show what it can reach.

    Also list the layers of isolation, and how to get those that are missing.
    """
    from alpha_codium.app.isolation import lines_of, probe

    facts = probe(common.settings)
    common.show(facts, lines_of(facts))
