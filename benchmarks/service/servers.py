"""Servers under a meter, and what is asked of them."""

import asyncio
import contextlib
import re
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass

import httpx

from benchmarks.sandbox.child import Sample
from benchmarks.sandbox.contenders import CONTENDERS
from benchmarks.sandbox.meter import Meter, open_meter, settled
from benchmarks.sandbox.workloads import Batch

# Asks a server about a program and its tests; returns how many were passed.
Ask = Callable[[httpx.AsyncClient, str, Sequence[tuple[str, str]]], Awaitable[int]]
START = "import sys; from alpha_codium.cli.main import main; main(sys.argv[1:])"


async def ask_judge(client: httpx.AsyncClient, program: str, cases: Sequence[tuple[str, str]]) -> int:
    """One request of the native API for all tests."""
    tests = [{"input": text, "output": output} for text, output in cases]
    answer = await client.post("/v1/judge", json={"program": program, "tests": tests})
    return answer.raise_for_status().json()["tests_passed"]


async def ask_plain(client: httpx.AsyncClient, program: str, cases: Sequence[tuple[str, str]]) -> int:
    """A request for each test; outputs are compared here."""
    passed = 0
    for text, output in cases:
        answer = await client.post("/run_code", json={"code": program, "language": "python", "stdin": text})
        passed += answer.raise_for_status().json()["run_result"]["stdout"] == output
    return passed


@dataclass(slots=True)
class Served:
    """A server that runs; `in_flight` programs are asked about at a time."""

    address: str
    ask: Ask
    meter: Meter
    pid: int
    in_flight: int

    def run(self, batch: Batch) -> Sample:
        """Ask about a batch."""
        programs, cases = batch.programs, batch.cases
        before, started = settled(self.meter, self.pid), time.perf_counter()
        right = asyncio.run(self._ask_all(programs, cases))
        wall, after = time.perf_counter() - started, settled(self.meter, self.pid)
        return Sample(batch.total, right, wall, None if before is None or after is None else after - before)

    async def _ask_all(self, programs: Sequence[str], cases: Sequence[tuple[str, str]]) -> int:
        waiting = iter(programs)
        async with httpx.AsyncClient(base_url=self.address, timeout=600, trust_env=False) as client:

            async def work() -> int:
                return sum([await self.ask(client, program, cases) for program in waiting])

            return sum(await asyncio.gather(*(work() for _ in range(self.in_flight))))


@contextlib.contextmanager
def start_server(command: Sequence[str], ask: Ask, in_flight: int, cores: str = "") -> Iterator[Served]:
    """Start a server that prints its address under a meter, on `cores` if given; end it at the end."""
    pinned = ["taskset", "--cpu-list", cores, *command] if cores else list(command)
    with contextlib.closing(open_meter()) as meter:
        process = subprocess.Popen(meter.wrap(pinned), stdout=subprocess.PIPE, text=True)
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            found = re.search(r"listening at (\S+),", line)
            if found is None:
                raise RuntimeError(f"the server didn't start: {line}")
            yield Served(found[1], ask, meter, process.pid, in_flight)
        finally:
            process.terminate()
            process.wait(60)


def our_server(workers: int, options: Sequence[str] = ()) -> list[str]:
    """The command of our server."""
    return [sys.executable, "-c", START, "serve", "--port", "0", "--workers", str(workers), *options]


def plain_server() -> list[str]:
    """The command of the service that starts `python3`, the one of the contender `cold`."""
    return [sys.executable, "-m", "benchmarks.service.plain", str(CONTENDERS["cold"].python)]
