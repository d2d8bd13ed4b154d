"""Answers in JSON, and requests whose client may leave."""

import asyncio
import json
from collections.abc import Coroutine
from typing import Any, TypeVar

from fastapi import HTTPException, Request
from fastapi.responses import JSONResponse
from pydantic import BaseModel

Result = TypeVar("Result")
# Names the client of a request, where several use one address.
CLIENT_HEADER = "x-client"


class AsciiResponse(JSONResponse):
    """JSON in ASCII: outputs of programs may have lone surrogates, which can't be encoded."""

    def render(self, content: Any) -> bytes:
        """Return the body."""
        return json_line(content)


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
