"""A server that runs tests of one repository on edited files: `POST /run_item`, and `GET /health`.

1. A request is an `Item`: some lines of a file and the text to put in their place. With `?do_edit=false` the tests run
   on the repository as it is. The answer has `test_output`, a report in the form of unittest's; `edited_file`, the text
   of the file; `status`, see `RunStatus`; and the fields of `SuiteRun`.
2. A fault of the server is a status of 500 or above, an invalid request one from 400: neither says anything about the
   edit.
3. Without a token, the server listens on loopback only.
"""

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BaseModel, Field

from alpha_codium.errors import UserError
from alpha_codium.hosting import NEEDS, Guarded, host_app, require_token
from alpha_codium.languages.python.syntax import lines_of
from alpha_codium.repository.checkout import DIFFERS, Checkout, digest
from alpha_codium.repository.controls import Control
from alpha_codium.repository.harness import LIMITS, Edit
from alpha_codium.repository.providers import LocalProvider, ProviderError
from alpha_codium.repository.reports import report_text, status_of
from alpha_codium.wording import without_paths

if TYPE_CHECKING:
    from fastapi import FastAPI

    from alpha_codium.serve.executing import JobRunner

LARGEST_REQUEST = 4 << 20
MOST_TESTS = 1000


class Item(BaseModel):
    """A request: the lines of a file to replace, and the tests to run.

    Lines count from 1; `end_line` is replaced, too. `method_name` is the name of the method or class in these lines.

    `method`, if given, is the qualified name of a method of which only the body was changed, see `Edit`. The request is
    refused if the file's SHA-256 isn't `file_sha256`. `cpu_seconds` is the limit of the tests' CPU time. `controls` are
    those of the task.
    """

    idx: int | str = 0
    dp_id: int | str = ""
    file_path: str
    replace_content: str
    method_name: str = ""
    start_line: int
    end_line: int
    tests: Annotated[list[str], Field(max_length=MOST_TESTS)]
    method: str = ""
    file_sha256: str = ""
    cpu_seconds: Annotated[float, Field(gt=0, le=LIMITS.cpu_seconds)] = LIMITS.cpu_seconds
    controls: Annotated[list[Control], Field(max_length=MOST_TESTS)] = []


class InvalidItem(Exception):
    """A request doesn't fit the repository."""


class ItemRunner:
    """Runs the tests of items on one repository; the provider must be open."""

    def __init__(self, provider: LocalProvider, checkout: Checkout) -> None:
        self.provider, self.checkout = provider, checkout
        self._files = frozenset(checkout.files())

    def files(self) -> dict[str, Any]:
        """Return which repository it is, and the SHA-256 of its source files."""
        digests = {file: digest(self.checkout.source(file)) for file in sorted(self._files)}
        return {"repository": self.checkout.recipe.name, "version": self.checkout.version, "files": digests}

    async def run(self, item: Item, *, do_edit: bool = True) -> dict[str, Any]:
        """Return the answer to a request; raises InvalidItem, and ProviderError if the tests can't be run."""
        edit = (edit_of_item if do_edit else unedited)(self.checkout, self._files, item)
        run = await self.provider.run_tests(self.checkout, (), item.tests, edit, item.cpu_seconds, item.controls)
        answer = {"idx": item.idx, "dp_id": item.dp_id, "edited_file": edit.text, "test_output": report_text(run)}
        return {**answer, "status": status_of(run), **run.to_json()}


def service(provider: LocalProvider, checkout: Checkout, token: str = "") -> Guarded:
    """Return the application; the provider must be open while it runs.

    With a token, requests need the header `Authorization: Bearer TOKEN`. Raises UserError if a package is missing.
    """
    try:
        from fastapi import FastAPI

        from alpha_codium.serve.answers import add_errors
    except ImportError as error:
        raise UserError(NEEDS) from error
    app = FastAPI(title="alpha_codium", openapi_url=None)
    add_errors(app)
    add_repository(app, ItemRunner(provider, checkout))

    @app.get("/health")
    async def health() -> dict[str, str]:
        return {"status": "ok", "repository": checkout.recipe.name, "version": checkout.version}

    return Guarded(app, token=token, largest=LARGEST_REQUEST, public=("/health",))


def add_repository(app: "FastAPI", runner: ItemRunner, jobs: "JobRunner | None" = None) -> None:
    """Add the addresses that run tests: `/run_item`, and the same as `/v1/repository`; `jobs` limits their load."""
    from fastapi import HTTPException, Request
    from fastapi.responses import Response

    from alpha_codium.serve.answers import AsciiResponse

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
            if jobs is None:
                return AsciiResponse(await runner.run(item, do_edit=do_edit))
            return AsciiResponse(await jobs.within(request, cost, lambda: runner.run(item, do_edit=do_edit)))
        except InvalidItem as error:
            raise HTTPException(422, str(error)) from error
        except ProviderError as error:
            raise HTTPException(503, without_paths(error)) from error


def unedited(checkout: Checkout, files: frozenset[str], item: Item) -> Edit:
    """Return an edit that leaves the file as it is; raises InvalidItem."""
    if item.file_path not in files:
        raise InvalidItem(f"{item.file_path!r} is not a source file of {checkout.recipe.name} {checkout.version}")
    return Edit(item.file_path, checkout.source(item.file_path))


def edit_of_item(checkout: Checkout, files: frozenset[str], item: Item) -> Edit:
    """Return the edit that a request asks for; raises InvalidItem."""
    source = unedited(checkout, files, item).text
    if item.file_sha256 and digest(source) != item.file_sha256:
        raise InvalidItem(f"{item.file_path} {DIFFERS} {checkout.recipe.name} {checkout.version} here")
    lines = lines_of(source)
    place = f"lines {item.start_line} to {item.end_line} of {item.file_path}"
    if not 1 <= item.start_line <= item.end_line <= len(lines):
        raise InvalidItem(f"there are no {place}, which has {len(lines)}")
    replaced = lines[item.start_line - 1 : item.end_line]
    if item.method_name and not is_definition(item.method_name, replaced):
        raise InvalidItem(f"{place} are not the definition of {item.method_name!r}; lines count from 1")
    new = item.replace_content.rstrip("\n") + "\n"
    return Edit(item.file_path, "".join([*lines[: item.start_line - 1], new, *lines[item.end_line :]]), item.method)


def is_definition(name: str, lines: list[str]) -> bool:
    """Whether some lines begin with the definition of a function or class, or its decorators."""
    definition = re.compile(rf"\s*(async\s+def|def|class)\s+{re.escape(name)}\b")
    begins = re.match(r"\s*(@|async\s|def\s|class\s)", lines[0])
    return begins is not None and any(definition.match(line) for line in lines)


async def serve(
    checkout: Checkout,
    *,
    host: str = "127.0.0.1",
    port: int = 8000,
    workers: int = 0,
    token: str = "",
    on_start: Callable[[str], None] = lambda _: None,
) -> None:
    """Serve a repository until SIGTERM or SIGINT; `on_start` gets the address.

    Raises UserError if the address can't be used, or isn't loopback and there is no token.
    """
    require_token(host, token, "set SANDBOX_TOKEN, or give a `token`")
    async with LocalProvider(lambda _: checkout, workers=workers) as provider:
        await host_app(service(provider, checkout, token), host, port, on_start=on_start)
