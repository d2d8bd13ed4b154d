"""`gencode serve`: the judge as an HTTP server; `gencode repo serve`: only a repository's tests."""

import asyncio
import os
import signal
from collections.abc import Coroutine
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from alpha_codium.cli.fields import Integer
from alpha_codium.cli.main import Terminated
from alpha_codium.cli.options import CommonOptions, Decorator, common_options, options, split_option
from alpha_codium.errors import UserError

if TYPE_CHECKING:
    from alpha_codium.repository.checkout import Checkout

# Where a repository with tests comes from.
checkout_options = options(
    click.option("--version", help="Its version on PyPI.  [default: that of the repository's recipe]"),
    click.option("--sdist", type=click.Path(exists=True, path_type=Path),
                 help="Its source package, if it isn't fetched."),
    click.option("--checkout", type=click.Path(exists=True, file_okay=False, path_type=Path), help="A clone to use."),
)  # fmt: skip


def server_options(port: int, variable: str) -> Decorator:
    """The address and the token of a server; the token arrives as `token`, by default that in the `variable`."""

    def token_in(_context: click.Context, _option: click.Parameter, file: Path | None) -> str:
        if file is None:
            return os.environ.get(variable, "")
        try:
            token = file.read_text("utf-8").strip()
        except ValueError as error:
            raise UserError(f"{file} is not a text in UTF-8") from error
        if not token:
            raise UserError(f"{file} is empty")
        return token

    return options(
        click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on."),
        click.option("--port", type=Integer(0, 65535), default=port, show_default=True,
                     help="The port to listen on; 0 means a free one."),
        click.option("--token_file", "token", type=click.Path(exists=True, dir_okay=False, path_type=Path),
                     callback=token_in,
                     help=f"A file with the token that requests must have.  [default: ${variable}, or none]"),
    )  # fmt: skip


def run_until_signal(serving: Coroutine[Any, Any, None]) -> None:
    """Run a server in the main thread, where it may handle signals. SIGTERM cancels it if it doesn't handle it itself.

    The handler of other commands raises, here in whatever callback the loop runs, which could leave a server waiting
    for ever. Raises Terminated after SIGTERM.
    """

    async def run() -> None:
        task = asyncio.current_task()
        assert task is not None
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
        await serving

    try:
        asyncio.run(run())
    except asyncio.CancelledError:
        # Of Ctrl-C asyncio makes a KeyboardInterrupt.
        raise Terminated from None


@click.command("serve")
@server_options(8080, "GENCODE_SERVE_TOKEN")
@click.option("--max_queue", type=Integer(min=0), default=0,
              help="Tests accepted at a time; requests beyond get 429.  [default: 10,000 for each worker]")  # fmt: skip
@click.option("--dialects", default="all", show_default=True,
              help="Other services whose requests are answered too: code_judge, judge0, nemo_gym, open_instruct, "
              "piston, sandbox_fusion; '' for none.")  # fmt: skip
@click.option("--dataset_name", help="A dataset whose problems requests may name: saved by etl, a hub id, or a path.")
@split_option
@click.option("--max_problem_bytes", type=Integer(min=1), default=1 << 30, show_default=True,
              help="Memory for problems that requests name; the least recently used are dropped.")  # fmt: skip
@click.option("--repository", help="A repository whose tests are run on edited files, such as django.")
@checkout_options
@common_options
def command(
    common: CommonOptions,
    dataset_name: str | None,
    split: str | None,
    repository: str | None,
    version: str | None,
    sdist: Path | None,
    checkout: Path | None,
    **given: Any,
) -> None:
    """Judge programs for other processes, over HTTP.

    On any address but loopback, the server needs a token.
    """
    from alpha_codium.data.load import load_problems
    from alpha_codium.serve.server import serve

    if not repository and (version or sdist or checkout):
        raise UserError("give --repository with --version, --sdist or --checkout")

    def started(address: str) -> None:
        click.echo(f"listening at {address}, documentation at {address}/docs")

    run_until_signal(
        serve(
            common.settings,
            dataset=load_problems(dataset_name, split) if dataset_name else None,
            checkout=_check_out(repository, version, sdist, checkout) if repository else None,
            on_start=started,
            **given,
        )
    )


@click.command("mcp")
@common_options
def serve_agents(common: CommonOptions) -> None:
    """Judge programs for an agent, over stdin and stdout.

    An agent starts this command and has the tools `judge` and `explain_failure` of the Model Context Protocol, with the
    limits of `gencode serve`. It ends when its stdin does.
    """
    try:
        from alpha_codium.serve.mcp import serve_stdio
    except ImportError as error:
        raise UserError(f"tools for agents need the package {error.name}: pip install -e '.[mcp]'") from error
    run_until_signal(serve_stdio(common.settings))


@click.command("serve")
@click.option("--repository", default="django", show_default=True, help="The repository.")
@checkout_options
@server_options(8000, "SANDBOX_TOKEN")
@common_options
def serve_repository(
    common: CommonOptions,
    repository: str,
    version: str | None,
    sdist: Path | None,
    checkout: Path | None,
    **given: Any,
) -> None:
    """Run tests for other programs, over HTTP: POST /run_item.

    Runs of the benchmark use the server with sandbox_provider = restapi and SANDBOX_URL. On any address but
    loopback, the server needs a token.
    """
    from alpha_codium.serve import repository as service

    found = _check_out(repository, version, sdist, checkout)

    def started(address: str) -> None:
        click.echo(f"{found.recipe.name} {found.version} at {address}")

    run_until_signal(service.serve(found, workers=common.settings.code_tester.workers, on_start=started, **given))


def _check_out(repository: str, version: str | None, sdist: Path | None, checkout: Path | None) -> "Checkout":
    from alpha_codium.repository.checkout import check_out
    from alpha_codium.repository.recipes import recipe_of

    return check_out(recipe_of(repository), version or "", sdist=sdist, checkout=checkout and checkout.resolve())
