"""Answers in JSON, also to requests that are refused, and requests whose client may leave."""

import asyncio
import json
from collections.abc import Coroutine, Mapping, Sequence
from typing import Any, TypeVar

from fastapi import FastAPI, HTTPException, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from pydantic import BaseModel

from alpha_codium.errors import JobUnsupported, SandboxError
from alpha_codium.hosting import Refused
from alpha_codium.wording import without_paths

Result = TypeVar("Result")
# Names the client of a request, where several use one address.
CLIENT_HEADER = "x-client"


class AsciiResponse(JSONResponse):
    """JSON in ASCII: outputs of programs may have lone surrogates, which can't be encoded."""

    def render(self, content: Any) -> bytes:
        """Return the body."""
        return json_line(content)


class ErrorAnswer(Exception):
    """A request is answered with a status and this content, in the form of a dialect."""

    def __init__(self, status: int, content: dict[str, Any]) -> None:
        super().__init__(str(content))
        self.status, self.content = status, content


def add_errors(app: FastAPI) -> None:
    """Answer exceptions with a status and one line."""

    @app.exception_handler(RequestValidationError)
    async def invalid(_: Request, error: RequestValidationError) -> Response:
        return AsciiResponse({"detail": reasons_in(error.errors(), 1)}, 422)

    @app.exception_handler(HTTPException)
    async def unable(_: Request, error: HTTPException) -> Response:
        return AsciiResponse({"detail": error.detail}, error.status_code, error.headers)

    @app.exception_handler(Refused)
    async def refused(_: Request, error: Refused) -> Response:
        return AsciiResponse({"detail": str(error)}, error.status, {"Retry-After": str(error.retry_after)})

    @app.exception_handler(JobUnsupported)
    async def unsupported(_: Request, error: JobUnsupported) -> Response:
        return AsciiResponse({"detail": str(error)}, 422)

    @app.exception_handler(SandboxError)
    async def fault(_: Request, error: SandboxError) -> Response:
        return AsciiResponse({"detail": without_paths(error)}, 500)

    @app.exception_handler(Exception)
    async def broken(_: Request, error: Exception) -> Response:
        return AsciiResponse({"detail": failure_text(error)}, 500)

    @app.exception_handler(ErrorAnswer)
    async def answered(_: Request, error: ErrorAnswer) -> Response:
        return AsciiResponse(error.content, error.status)


def failure_text(error: Exception) -> str:
    """Return what a client is told of an exception that nobody expected."""
    return f"the server failed ({type(error).__name__}); its log has the traceback"


def reasons_in(errors: Sequence[Mapping[str, Any]], first: int = 0) -> str:
    """Return what pydantic finds invalid; of the place of each error, the parts from `first` on."""
    places = ((".".join(map(str, each["loc"][first:])) or "body", each["msg"]) for each in errors[:10])
    return "; ".join(f"{place}: {message}" for place, message in places)


async def json_of(request: Request, key: str) -> Any:
    """Return the JSON of a request; raises ErrorAnswer, which has the reason as `key`."""
    if not request.headers.get("content-type", "").lower().startswith("application/json"):
        # A web page can send other types to this machine without asking.
        raise ErrorAnswer(415, {key: "requests must be of type application/json"})
    try:
        return json.loads(await request.body())
    except (ValueError, RecursionError) as error:
        raise ErrorAnswer(400, {key: f"the request isn't JSON: {error}"}) from error


async def unless_gone(request: Request, work: Coroutine[Any, Any, Result]) -> Result:
    """Return the result of the work, which is cancelled if the client closes the connection."""
    task, gone = asyncio.ensure_future(work), asyncio.ensure_future(_gone(request))
    try:
        await asyncio.wait((task, gone), return_when=asyncio.FIRST_COMPLETED)
        if not task.done():
            raise HTTPException(499, "the client closed the connection")
        return task.result()
    finally:
        for each in (task, gone):
            each.cancel()
        await asyncio.gather(task, gone, return_exceptions=True)


async def _gone(request: Request) -> None:
    """Return when the client has closed the connection."""
    while (await request.receive())["type"] != "http.disconnect":
        pass


def client_of(request: Request) -> str:
    """Return the name of the client, whose requests take turns with those of others."""
    return request.headers.get(CLIENT_HEADER) or (request.client.host if request.client else "")


def json_line(content: Any) -> bytes:
    """Return JSON on one line, in ASCII."""
    values = content.model_dump() if isinstance(content, BaseModel) else content
    return json.dumps(values, separators=(",", ":")).encode()
