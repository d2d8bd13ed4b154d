"""The client's CPU time per model call: bare litellm, our client on top of it, and our client with an answer store.

    python benchmarks/client_cost.py                        # the table, at 50 and at 200 in flight
    python benchmarks/client_cost.py --memory               # memory over 4,000 calls with 200 in flight
    python benchmarks/client_cost.py --rounds 9 --calls 400 --in-flight 50

1. The server is a separate process and answers after 50 ms; only this process's CPU time is counted.
2. All variants are measured in one run, a round of each in turn, so that other load affects all of them. The ratio to
   bare litellm is taken within a round; the median over the rounds is reported.
3. "bare" is a plain call of `litellm.acompletion`, with the same model, messages and address. "Its own HTTP handler" is
   the route that our client takes, and "hosted_vllm" another route to the same server.
4. With a store, each sample makes ten calls.
"""

import argparse
import asyncio
import contextlib
import os
import resource
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from statistics import median
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from alpha_codium.config.sections import ConfigSection  # noqa: E402
from alpha_codium.gen.sample_model import SampleModel  # noqa: E402
from alpha_codium.llm.client import ModelClient  # noqa: E402
from alpha_codium.llm.litellm_loading import load  # noqa: E402
from alpha_codium.llm.messages import ChatRequest, Message  # noqa: E402
from alpha_codium.runs import AnswerStore  # noqa: E402
from tests.servers.scripted import scripted_process  # noqa: E402

ROUTE = "EXPERIMENTAL_OPENAI_BASE_LLM_HTTP_HANDLER"
CALLS_OF_A_SAMPLE = 10
Ask = Callable[[int], Awaitable[object]]
MODEL = "openai/x"
SYSTEM = "You are an experienced competitor in programming contests."
PROMPT = "Write a program that prints the sum of the two numbers in its input. " * 30
LATENCY_SECONDS = 0.05
MEMORY_CALLS, MEMORY_IN_FLIGHT = 4000, 200


def main() -> None:
    """Measure what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--memory", action="store_true")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--calls", type=int, default=300)
    parser.add_argument("--in-flight", type=int, nargs="*", default=[50, 200])
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "script.json"
        script.write_text('[[".", "Here it is.\\n```python\\nprint(sum(map(int, input().split())))\\n```"]]')
        with scripted_process(script, "--latency", str(LATENCY_SECONDS)) as address:
            if given.memory:
                asyncio.run(memory(f"{address}/v1", Path(folder)))
            for in_flight in [] if given.memory else given.in_flight:
                asyncio.run(table(f"{address}/v1", Path(folder), in_flight, given.rounds, given.calls))


async def table(api_base: str, folder: Path, in_flight: int, rounds: int, calls: int) -> None:
    """Measure every way in turn, round after round, and print the medians."""
    async with ways(api_base, folder, in_flight) as asks:
        costs: dict[str, list[float]] = {name: [] for name in asks}
        for ask in asks.values():
            await many(ask, 2 * in_flight, in_flight)  # warm up: connections and lazy imports
        for _ in range(rounds):
            for name, ask in asks.items():
                costs[name].append(await cpu_ms(ask, calls, in_flight))
    print(f"\n{in_flight} in flight, {rounds} rounds of {calls} calls; load {os.getloadavg()[0]:.1f}")
    print(f"{'':32}{'CPU ms a call':>14}{'times bare':>12}{'from':>7}{'to':>7}")
    for name, values in costs.items():
        ratios = [value / bare for value, bare in zip(values, costs["bare litellm"], strict=True)]
        print(f"{name:32}{median(values):14.2f}{median(ratios):12.2f}{min(ratios):7.2f}{max(ratios):7.2f}")


@contextlib.asynccontextmanager
async def ways(api_base: str, folder: Path, in_flight: int) -> AsyncIterator[dict[str, Ask]]:
    """Yield the variants by name, as functions that make one call; every request is different."""
    litellm = await asyncio.to_thread(load)
    client = ModelClient(ConfigSection(model=MODEL, api_base=api_base, max_concurrent_requests=in_flight), api_key="k")
    with AnswerStore(folder / f"answers-{in_flight}.sqlite") as store:
        async with client:
            samples: dict[int, SampleModel] = {}

            async def recorded(number: int) -> Any:
                sample = number // CALLS_OF_A_SAMPLE
                if sample not in samples:
                    samples.clear()
                    samples[sample] = SampleModel(client, MODEL, str(sample), store)
                return await samples[sample].ask(question(number))

            def litellm_way(model: str, route: str) -> Ask:
                async def ask(number: int) -> Any:
                    os.environ[ROUTE] = route
                    return await litellm.acompletion(model=model, messages=said(number), api_base=api_base, api_key="k")

                return ask

            async def ours(number: int) -> Any:
                os.environ[ROUTE] = "True"
                return await client.ask(question(number))

            async def ours_recorded(number: int) -> Any:
                os.environ[ROUTE] = "True"
                return await recorded(number)

            yield {
                "bare litellm": litellm_way(MODEL, "False"),
                "litellm, its own HTTP handler": litellm_way(MODEL, "True"),
                "litellm, hosted_vllm/": litellm_way("hosted_vllm/x", "False"),
                "ModelClient.ask": ours,
                "SampleModel, with a store": ours_recorded,
            }


def said(number: int) -> list[dict[str, str]]:
    """Return the messages of one request."""
    return [{"role": "system", "content": SYSTEM}, {"role": "user", "content": f"{PROMPT}{number}"}]


def question(number: int) -> ChatRequest:
    """Return the same request for our client."""
    return ChatRequest((Message("system", SYSTEM), Message("user", f"{PROMPT}{number}")))


async def cpu_ms(ask: Ask, calls: int, in_flight: int) -> float:
    """Return this process's CPU milliseconds per call."""
    begun = time.process_time()
    await many(ask, calls, in_flight)
    return (time.process_time() - begun) / calls * 1000


async def many(ask: Ask, calls: int, in_flight: int) -> None:
    """Make `calls` calls, `in_flight` at a time."""
    begun = time.monotonic_ns()
    numbers = iter(range(begun, begun + calls))

    async def worker() -> None:
        for number in numbers:
            await ask(number)

    await asyncio.gather(*(worker() for _ in range(in_flight)))


async def memory(api_base: str, folder: Path) -> None:
    """Print this process's memory as calls go on."""
    async with ways(api_base, folder, MEMORY_IN_FLIGHT) as asks:
        ask = asks["SampleModel, with a store"]
        for done in range(0, MEMORY_CALLS, MEMORY_CALLS // 10):
            await many(ask, MEMORY_CALLS // 10, MEMORY_IN_FLIGHT)
            print(f"{done + MEMORY_CALLS // 10:6} calls: {resident_mb():7.1f} MB")
    print(f"at most {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.1f} MB")


def resident_mb() -> float:
    """Return this process's resident memory."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 2**20


if __name__ == "__main__":
    main()
