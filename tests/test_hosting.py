"""Guarding an application, whatever framework it is written with."""

from collections.abc import AsyncIterator

import httpx
import pytest
from fastapi import FastAPI
from pydantic import BaseModel

from alpha_codium.hosting import Guarded


class Numbers(BaseModel):
    numbers: list[int]


@pytest.mark.asyncio
async def test_a_body_of_undeclared_size_that_is_too_large_is_answered_with_413() -> None:
    app = FastAPI()

    @app.post("/sum")
    async def add(numbers: Numbers) -> int:
        return sum(numbers.numbers)

    async def parts(count: int) -> AsyncIterator[bytes]:
        yield b'{"numbers": [1'
        for _ in range(count):
            yield b", 1"
        yield b"]}"

    transport = httpx.ASGITransport(Guarded(app, token="", largest=100))
    headers = {"content-type": "application/json"}
    async with httpx.AsyncClient(transport=transport, base_url="http://here") as client:
        assert (await client.post("/sum", content=parts(5), headers=headers)).text == "6"
        answer = await client.post("/sum", content=parts(50), headers=headers)
        assert (answer.status_code, answer.json()) == (413, {"detail": "the request is larger than 100 bytes"})
