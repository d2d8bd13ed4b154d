"""`gencode serve`: the judge as an HTTP server."""

import asyncio
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from alpha_codium.cli.options import CommonOptions, common_options, split_option
from alpha_codium.cli.repo_serve import checkout_options
from alpha_codium.errors import UserError

if TYPE_CHECKING:
    from alpha_codium.repository.checkout import Checkout


@click.command("serve")
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option("--port", default=8080, show_default=True, help="The port to listen on; 0 means a free one.")
@click.option("--max_queue", type=click.IntRange(min=0), default=0,
              help="Tests accepted at a time; requests beyond get 429.  [default: 10,000 for each worker]")  # fmt: skip
@click.option("--token_file", type=click.Path(exists=True, dir_okay=False, path_type=Path),
              help="A file with the token that requests must have.  [default: $GENCODE_SERVE_TOKEN]")  # fmt: skip
@click.option("--dialects", default="all", show_default=True,
              help="Other services whose requests are answered too: code_judge, judge0, nemo_gym, open_instruct, "
              "piston, sandbox_fusion; '' for none.")  # fmt: skip
@click.option("--dataset_name", help="A dataset whose problems requests may name: saved by etl, a hub id, or a path.")
@split_option
@click.option("--max_problem_bytes", type=click.IntRange(min=1), default=1 << 30, show_default=True,
              help="Memory for problems that requests name; the least recently used are dropped.")  # fmt: skip
@click.option("--repository", help="A repository whose tests are run on edited files, such as django.")
@checkout_options
@common_options
def command(
    common: CommonOptions,
    host: str,
    port: int,
    max_queue: int,
    token_file: Path | None,
    dialects: str,
    dataset_name: str | None,
    split: str | None,
    max_problem_bytes: int,
    repository: str | None,
    **source: Any,
) -> None:
    """Judge programs for other processes, over HTTP.

    On any address but loopback, the server needs a token.
    """
    from alpha_codium.data.load import load_problems
    from alpha_codium.serve.server import serve

    token = token_file.read_text().strip() if token_file else os.environ.get("GENCODE_SERVE_TOKEN", "")
    if token_file and not token:
        raise UserError(f"{token_file} is empty")
    settings = common.settings

    def started(address: str) -> None:
        click.echo(f"listening at {address}, documentation at {address}/docs")

    asyncio.run(
        serve(
            settings,
            host=host,
            port=port,
            max_queue=max_queue,
            token=token,
            dialects=dialects,
            dataset=load_problems(dataset_name, split) if dataset_name else None,
            max_problem_bytes=max_problem_bytes,
            checkout=_checkout(repository, **source),
            on_start=started,
        )
    )


def _checkout(
    repository: str | None, version: str | None, sdist: Path | None, checkout: Path | None
) -> "Checkout | None":
    """Return the repository that the options name, None if they name none."""
    if not repository:
        if version or sdist or checkout:
            raise UserError("give --repository with --version, --sdist or --checkout")
        return None
    from alpha_codium.repository.checkout import check_out
    from alpha_codium.repository.recipes import recipe_of

    return check_out(recipe_of(repository), version or "", sdist=sdist, checkout=checkout and checkout.resolve())
