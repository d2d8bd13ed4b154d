"""Tests of a repository on edited files, if the server is started with one: `/v1/repository` and `/run_item`."""

from fastapi import FastAPI, HTTPException, Request
from fastapi.responses import Response

from alpha_codium.repository.providers import ProviderError
from alpha_codium.repository.service import InvalidItem, Item, ItemRunner
from alpha_codium.serve.answers import AsciiResponse
from alpha_codium.serve.executing import Executor
from alpha_codium.serve.hiding import without_paths


def add_repository(app: FastAPI, executor: Executor, runner: ItemRunner) -> None:
    """Add the addresses that run tests; see `alpha_codium.repository.service` for requests and answers."""
    recipe, version = runner.checkout.recipe, runner.checkout.version

    @app.get("/v1/repository")
    async def repository() -> Response:
        """Which repository it is."""
        return AsciiResponse({"repository": recipe.name, "version": version})

    @app.get("/run_item")
    def files() -> Response:
        """Which repository it is, and the SHA-256 of its source files."""
        return AsciiResponse(runner.files())

    @app.post("/v1/repository")
    @app.post("/run_item")
    async def run_item(request: Request, item: Item, do_edit: bool = True) -> Response:
        """Run tests on an edited file, or with `do_edit=false` on the repository as it is."""
        cost = max(1, len(item.tests))
        try:
            return AsciiResponse(await executor.within(request, cost, lambda: runner.run(item, do_edit=do_edit)))
        except InvalidItem as error:
            raise HTTPException(422, str(error)) from error
        except ProviderError as error:
            raise HTTPException(503, without_paths(error)) from error
