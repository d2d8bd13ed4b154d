"""Executing jobs without tests, as dialects do, in a real sandbox under the load of a server."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace

import httpx
import pytest
from fastapi import FastAPI, HTTPException, Request

from alpha_codium.limits import Limits
from alpha_codium.program import Job, PairJob, Program, Side
from alpha_codium.sandbox import open_sandbox
from alpha_codium.serve.executing import JobRunner, checked
from alpha_codium.serve.load import Load, Overloaded

ECHO = Program.from_source("python3", "import sys; print(input()); sys.exit('bad' * (input() == 'x') or 0)")


@pytest.fixture
async def executor() -> AsyncIterator[JobRunner]:
    async with open_sandbox("local", workers=1) as sandbox:
        yield JobRunner(sandbox, Load(1, 4))


def client_of(executor: JobRunner, job: Job) -> httpx.AsyncClient:
    """Return the client of an application that executes the job for each request."""
    app = FastAPI()

    @app.get("/")
    async def execute(request: Request) -> dict:
        return (await executor.execute(request, job)).to_json()

    return httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://test")


async def test_a_request_gets_what_the_program_did_on_each_input(executor):
    async with client_of(executor, Job(ECHO, ("a\nb\n", "c\nx\n"))) as client:
        first, second = (await client.get("/")).json()["executions"]
    assert (first["status"], first["stdout"], first["exit_code"]) == ("finished", "a\n", 0)
    assert (second["status"], second["stdout"], second["stderr"], second["exit_code"]) == (
        "runtime_error",
        "c\n",
        "bad\n",
        1,
    )
    assert executor.load.cost == 0


async def test_jobs_share_the_queue_with_judging(executor):
    async with client_of(executor, Job(ECHO, ("a\nb\n",) * 3)) as client:
        with executor.load.accepted(2), pytest.raises(Overloaded):
            await client.get("/")


async def test_a_job_that_asks_for_too_much_is_refused(executor):
    job = Job(ECHO, ("",), Limits(cpu_seconds=10_000))
    with pytest.raises(HTTPException, match="422"):
        await executor.execute(Request({"type": "http"}), job)


def test_each_side_of_a_pair_is_held_to_the_servers_limits():
    side = Side(ECHO)
    assert checked(PairJob(side, replace(side, limits=Limits(1)))).right.limits == Limits(1)
    for left, right in ((side, replace(side, limits=Limits(10_000))), (replace(side, limits=Limits(10_000)), side)):
        with pytest.raises(HTTPException, match=r"limits\.cpu_seconds"):
            checked(PairJob(left, right))


async def test_jobs_without_a_request_take_turns_with_those_of_other_clients(executor):
    order = []

    async def run(client: str) -> None:
        order.append((client, (await executor.run(client, Job(ECHO, ("a\nb\n",)))).last.stdout))

    await asyncio.gather(*(run(client) for client in ("one", "one", "one", "two")))
    assert order == [("one", "a\n"), ("two", "a\n"), ("one", "a\n"), ("one", "a\n")]
