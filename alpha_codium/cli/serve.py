"""`gencode serve`: the judge as an HTTP server."""

import asyncio
import os
from pathlib import Path

import click

from alpha_codium.cli.options import CommonOptions, common_options
from alpha_codium.errors import UserError


@click.command("serve")
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option("--port", default=8080, show_default=True, help="The port to listen on; 0 means a free one.")
@click.option("--max_queue", type=click.IntRange(min=0), default=0,
              help="Tests accepted at a time; requests beyond get 429.  [default: 10,000 for each worker]")  # fmt: skip
@click.option("--token_file", type=click.Path(exists=True, dir_okay=False, path_type=Path),
              help="A file with the token that requests must have.  [default: $GENCODE_SERVE_TOKEN]")  # fmt: skip
@click.option("--dialects", default="all", show_default=True,
              help="Other services whose requests are answered too: open_instruct; '' for none.")  # fmt: skip
@common_options
def command(
    common: CommonOptions, host: str, port: int, max_queue: int, token_file: Path | None, dialects: str
) -> None:
    """Judge programs for other processes, over HTTP.

    On any address but loopback, the server needs a token.
    """
    from alpha_codium.serve.server import serve

    token = token_file.read_text().strip() if token_file else os.environ.get("GENCODE_SERVE_TOKEN", "")
    if token_file and not token:
        raise UserError(f"{token_file} is empty")
    settings = common.settings

    def started(address: str) -> None:
        click.echo(f"listening at {address}, documentation at {address}/docs")

    asyncio.run(
        serve(settings, host=host, port=port, max_queue=max_queue, token=token, dialects=dialects, on_start=started)
    )
