"""`gencode repo serve`: a server that runs a repository's tests on edited files."""

import asyncio
import os
from pathlib import Path

import click

from alpha_codium.cli.options import CommonOptions, common_options, options
from alpha_codium.errors import UserError

# Where a repository with tests comes from.
checkout_options = options(
    click.option("--version", help="Its version on PyPI.  [default: that of the repository's recipe]"),
    click.option("--sdist", type=click.Path(exists=True, path_type=Path),
                 help="Its source package, if it isn't fetched."),
    click.option("--checkout", type=click.Path(exists=True, file_okay=False, path_type=Path), help="A clone to use."),
)  # fmt: skip


@click.command()
@click.option("--repository", default="django", show_default=True, help="The repository.")
@checkout_options
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option("--port", default=8000, show_default=True, help="The port to listen on; 0 means a free one.")
@click.option("--token_file", type=click.Path(exists=True, dir_okay=False, path_type=Path),
              help="A file with the token that requests must have.  [default: $SANDBOX_TOKEN, or none]")  # fmt: skip
@common_options
def serve(
    common: CommonOptions,
    repository: str,
    version: str | None,
    sdist: Path | None,
    checkout: Path | None,
    host: str,
    port: int,
    token_file: Path | None,
) -> None:
    """Run tests for other programs, over HTTP: POST /run_item.

    Runs of the benchmark use the server with sandbox_provider = restapi and SANDBOX_URL. On any address but
    loopback, the server needs a token.
    """
    from alpha_codium.repository import service
    from alpha_codium.repository.checkout import check_out
    from alpha_codium.repository.recipes import recipe_of

    token = token_file.read_text().strip() if token_file else os.environ.get("SANDBOX_TOKEN", "")
    if token_file and not token:
        raise UserError(f"{token_file} is empty")
    found = check_out(recipe_of(repository), version or "", sdist=sdist, checkout=checkout and checkout.resolve())
    workers = common.settings.code_tester.workers

    def started(address: str) -> None:
        click.echo(f"{found.recipe.name} {found.version} at {address}")

    asyncio.run(service.serve(found, host=host, port=port, workers=workers, token=token, on_start=started))
