"""Traffic to a server, and what it leaves behind; each prints a line of JSON:

python -m tests.serve.traffic verdicts PROGRAMS     # judged twice: once at 1x load, once at 4x
python -m tests.serve.traffic overload SECONDS      # twice as many requests as the server can judge
python -m tests.serve.traffic soak REQUESTS [N]     # memory, descriptors and processes; one request in N is judged
"""

import asyncio
import itertools
import json
import os
import random
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Any

import aiohttp

from alpha_codium.limits import Limits
from alpha_codium.sandbox.conformance.processes import descendants, is_zombie
from tests.serve.serving import started

CORES = os.cpu_count() or 1
LIMITS = Limits(cpu_seconds=0.2, memory_bytes=128 << 20)
BURN = "import time\nwhile time.process_time() < {}: pass\nprint(int(input()) + 1)"
# Of a hundred programs so many are of each kind; the first four kinds are quick, and the verdict of the last depends on
# the machine.
KINDS = (
    (55, "print(int(input()) + 1)", "accepted"),
    (12, "print(int(input()) + 2)", "wrong_answer"),
    (8, "1 / 0", "runtime_error"),
    (5, "def f(:", "compilation_error"),
    (5, "import time; time.sleep(0.05); print(int(input()) + 1)", "accepted"),
    (6, BURN.format("0.05 + 0.06 * {part}"), "accepted"),
    (4, "while True: pass", "time_limit_exceeded"),
    (3, "x = bytearray(300 << 20)", "memory_limit_exceeded"),
    (2, BURN.format("0.15 + 0.1 * {part}"), ""),
)
QUICK = 4
# Requests that judge nothing: method, path, body, and the status of the answer.
OTHERS = (
    ("GET", "/v1/info", "", 200),
    ("GET", "/metrics", "", 200),
    ("POST", "/v1/judge", '{"program": 1}', 422),
    ("POST", "/v1/judge", f'{{"program": "print(1)", "problem": "{64 * "0"}"}}', 404),
    ("POST", "/v1/judge", '{"program": ', 422),
    ("POST", "/run_code", '{"code": "x", "language": "cobol"}', 422),
    ("POST", "/api/v2/execute", '{"language": "cobol", "version": "*", "files": [{"content": "x"}]}', 400),
    ("GET", "/submissions/unknown", "", 404),
)
# Seconds between two looks at what is due.
PAUSE = 0.005


def requests(count: int, quick: float = 0.0) -> Iterator[dict[str, Any]]:
    """Different programs, each with a test; `id` is the verdict that is expected, if it is known.

    A share of them, `quick`, are only of quick kinds.
    """
    choice = random.Random(17)
    for number in range(count):
        kinds = KINDS[:QUICK] if choice.random() < quick else KINDS
        ((_, program, verdict),) = choice.choices(kinds, [weight for weight, _, _ in kinds])
        text = f"# {number}\n{program.replace('{part}', str(choice.random()))}"
        limits = {"time_limit_seconds": LIMITS.cpu_seconds, "memory_limit_bytes": LIMITS.memory_bytes}
        yield {"id": verdict, "program": text, "tests": [{"input": str(number), "output": str(number + 1)}], **limits}


@dataclass(frozen=True)
class Verdict:
    """A program's verdict, whether it was within 20 % of a limit, and what was expected."""

    verdict: str
    near: bool
    expected: str
    used: str

    @classmethod
    def of(cls, answer: dict[str, Any]) -> "Verdict":
        """Read an answer."""
        used = [(test["cpu_seconds"], test["wall_seconds"], test["max_rss_bytes"]) for test in answer["tests"]]
        near, most = any(LIMITS.near(*each) for each in used), "; ".join(LIMITS.use(*each) for each in used)
        return cls(answer["verdict"], near, answer["id"], most)

    @property
    def fault(self) -> str:
        """What was expected and what it is, if these differ although no limit was near."""
        differs = self.expected and self.verdict != self.expected and not self.near
        return f"{self.expected}: {self.verdict}, {self.used}" if differs else ""


def session() -> aiohttp.ClientSession:
    """A client with as many connections as needed."""
    return aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0), timeout=aiohttp.ClientTimeout(600))


async def judge(client: aiohttp.ClientSession, address: str, request: dict[str, Any]) -> Verdict:
    """Have a program judged."""
    async with client.post(address + "/v1/judge", json=request) as answer:
        assert answer.status == 200, await answer.text()
        return Verdict.of(await answer.json())


async def ask(client: aiohttp.ClientSession, address: str, method: str, path: str, body: str, status: int) -> str:
    """Send a request that judges nothing; return what was wrong with its answer, if anything."""
    headers = {"Content-Type": "application/json"}
    async with client.request(method, address + path, data=body or None, headers=headers) as answer:
        text = await answer.text()
        return "" if answer.status == status else f"{method} {path}: {answer.status} {text[:200]}"


async def judge_all(address: str, count: int, in_flight: int) -> list[Verdict]:
    """Judge that many programs, in order, so many at a time."""
    found: dict[int, Verdict] = {}
    waiting = enumerate(requests(count))
    async with session() as client:

        async def work() -> None:
            for number, request in waiting:
                found[number] = await judge(client, address, request)

        await asyncio.gather(*(work() for _ in range(in_flight)))
    return [found[number] for number in range(count)]


def verdicts(count: int) -> dict[str, Any]:
    """Judge each program twice: with as many at a time as there are cores, and with four times as many."""
    runs = []
    for times in (1, 4):
        with started("--workers", str(times * CORES)) as (address, _):
            runs.append(asyncio.run(judge_all(address, count, 2 * times * CORES)))
    pairs = list(zip(*runs, strict=True))
    near = [a.near or b.near for a, b in pairs]
    differ = [a.verdict != b.verdict for a, b in pairs]
    return {
        "programs": count,
        "verdicts": Counter(a.verdict for a, _ in pairs),
        "near_limit": sum(near),
        "differ_near_limit": sum(map(all, zip(near, differ, strict=True))),
        "differ_otherwise": [(a.verdict, b.verdict) for (a, b), n, d in zip(pairs, near, differ, strict=True) if d > n],
        "wrong": Counter(each.fault for pair in pairs for each in pair if each.fault),
        "internal_errors": sum(each.verdict == "internal_error" for pair in pairs for each in pair),
        "load_average": os.getloadavg(),
    }


@dataclass(frozen=True)
class Census:
    """What a server has."""

    resident_bytes: int
    descriptors: int
    processes: int
    zombies: int

    @classmethod
    def of(cls, pid: int) -> "Census":
        """Count; the memory is that of the server's own process."""
        below = descendants(pid)
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
        open_files = sum(1 for _ in Path(f"/proc/{pid}/fd").iterdir())
        return cls(pages * os.sysconf("SC_PAGE_SIZE"), open_files, len(below), sum(map(is_zombie, below)))


async def idle(address: str, pid: int) -> Census:
    """What a server has when its work is done, and its clients have left."""
    async with aiohttp.ClientSession() as client:
        while True:
            async with client.get(address + "/v1/info") as answer:
                if not (await answer.json())["queued"]:
                    break
            await asyncio.sleep(0.1)
    await asyncio.sleep(1)
    return Census.of(pid)


async def soak(address: str, pid: int, count: int, one_in: int = 1) -> dict[str, Any]:
    """Send requests, of which one in `one_in` is judged; compare the memory in the second and the last quarter."""
    await judge_all(address, 200, 4 * CORES)
    before, seen, wrong = await idle(address, pid), [], Counter[str]()
    numbers, programs, start = iter(range(count)), requests(count, quick=0.9), time.monotonic()
    async with session() as client:

        async def work() -> None:
            for number in numbers:
                if number % one_in == 0:
                    fault = (await judge(client, address, next(programs))).fault
                else:
                    fault = await ask(client, address, *OTHERS[number % len(OTHERS)])
                wrong.update(filter(None, [fault]))
                if number % max(1, count // 200) == 0:
                    seen.append(Census.of(pid))
                    print(f"{number} {seen[-1]}", file=sys.stderr, flush=True)

        await asyncio.gather(*(work() for _ in range(4 * CORES)))
    quarters = [seen[len(seen) * quarter // 4 : len(seen) * (quarter + 1) // 4] for quarter in range(4)]
    memory = [median(each.resident_bytes for each in quarter) for quarter in quarters]
    return {
        "requests": count,
        "seconds": time.monotonic() - start,
        "wrong": wrong,
        "memory_by_quarter": memory,
        "growth": memory[-1] / memory[1],
        "most_descriptors": max(each.descriptors for each in seen),
        "before": asdict(before),
        "after": asdict(await idle(address, pid)),
    }


@dataclass(frozen=True)
class Answered:
    """The status of an answer, the seconds until it came, and whether it said when to try again."""

    status: int
    seconds: float
    says_when: bool
    fault: str


async def overload(address: str, pid: int, seconds: float) -> dict[str, Any]:
    """Send twice as many requests as the server can judge, at a steady rate, whatever is answered."""
    waiting: Iterator[dict[str, Any]] = itertools.chain.from_iterable(requests(5000) for _ in itertools.count())
    before, capacity = await idle(address, pid), await measured_capacity(address, waiting)
    memory: list[int] = []
    start, sent, awaited, late = time.monotonic(), [], 0.0, 0.0
    async with session() as client:

        async def one() -> Answered:
            begin = time.monotonic()
            async with client.post(address + "/v1/judge", json=next(waiting)) as answer:
                taken, body = time.monotonic() - begin, await answer.json()
                fault = Verdict.of(body).fault if answer.status == 200 else ""
                return Answered(answer.status, taken, "retry-after" in answer.headers, fault)

        while (now := time.monotonic() - start) < seconds:
            late = max(late, now - awaited)
            due = int(2 * capacity * now) - len(sent)
            sent += [asyncio.create_task(one()) for _ in range(due)]
            if not memory or now > len(memory):
                memory.append(Census.of(pid).resident_bytes)
            awaited = time.monotonic() - start + PAUSE
            await asyncio.sleep(PAUSE)
        answers = await asyncio.gather(*sent, return_exceptions=True)
    lost = [repr(answer) for answer in answers if isinstance(answer, BaseException)]
    found = [answer for answer in answers if isinstance(answer, Answered)]
    refused = sorted(answer.seconds for answer in found if answer.status == 429)
    return {
        "seconds": seconds,
        "capacity": capacity,
        "sent": len(sent),
        "statuses": Counter(answer.status for answer in found),
        "lost": Counter(lost),
        "wrong": Counter(answer.fault for answer in found if answer.fault),
        "refused_without_retry_after": sum(a.status == 429 and not a.says_when for a in found),
        "refusal_ms": {share: 1000 * refused[int(share * (len(refused) - 1))] for share in (0.5, 0.9, 0.99, 1.0)}
        if refused
        else {},
        # By how much the client itself was late at worst: its own delays are part of what it measures.
        "client_late_ms": 1000 * late,
        "memory_first": median(memory[: len(memory) // 4 + 1]),
        "memory_last": median(memory[-(len(memory) // 4 + 1) :]),
        "before": asdict(before),
        "after": asdict(await idle(address, pid)),
        "load_average": os.getloadavg(),
    }


async def measured_capacity(address: str, waiting: Iterator[dict[str, Any]]) -> float:
    """The requests that the server judges in a second: of 400, after 100 with which its workers start."""
    async with session() as client:

        async def work(programs: Iterator[dict[str, Any]]) -> None:
            for request in programs:
                await judge(client, address, request)

        for count in (100, 400):
            start, programs = time.monotonic(), itertools.islice(waiting, count)
            await asyncio.gather(*(work(programs) for _ in range(8 * CORES)))
    return 400 / (time.monotonic() - start)


def main(arguments: Sequence[str]) -> dict[str, Any]:
    """Do what the command line asks for."""
    what, amount, *rest = arguments
    if what == "verdicts":
        return verdicts(int(amount))
    options = ("--max_queue", "50") if what == "overload" else ()
    with started(*options) as (address, process):
        work = overload(address, process.pid, float(amount)) if what == "overload" else None
        return asyncio.run(work or soak(address, process.pid, int(amount), *map(int, rest)))


if __name__ == "__main__":
    print(json.dumps(main(sys.argv[1:]), default=str))
