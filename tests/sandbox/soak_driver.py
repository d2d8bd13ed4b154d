"""Full load of honest and hostile programs for a while: `python -m tests.sandbox.soak_driver SECONDS BACKEND PROBES`.

To be run inside `unshare --net --pid --fork --mount-proc`, since what it runs is hostile. Prints one line of JSON.

1. Honest programs have outputs that are known; every one must be right, whatever runs beside it.
2. Before and after the load, honest programs alone are run and their CPU time is counted, that of all processes below
   this one: a sandbox that wears out (mounts, cgroups, memory that pile up) needs more of it in the end. A machine
   isn't as fast after half an hour as before, and not for all work alike (a bare interpreter's start took 30 % more,
   an honest test 43 %), so in the end a new process with a new sandbox is measured in turn with the old one,
   PROBES times.
3. What a run may leave behind is counted before, while and after the sandbox is open.
"""

import asyncio
import contextlib
import gc
import itertools
import json
import os
import random
import resource
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from alpha_codium.sandbox import Sandbox, open_sandbox
from alpha_codium.sandbox.conformance.processes import descendants, is_zombie
from alpha_codium.verdict import Report, Status
from tests.sandbox.hostile_world import groups_of_sandboxes
from tests.sandbox.soak_programs import HONEST, HOSTILE_LIMITS, hostile_programs

WORKERS = 2
HONEST_FOR_A_HOSTILE = 10
PROBE_PROGRAMS = 120
TICKS = os.sysconf("SC_CLK_TCK")
PAGE = resource.getpagesize()


def under_an_init(work: Callable[[], None]) -> None:
    """Do the work in a child, and be what process 1 has to be: the one that reaps what lost its parent."""
    # Cgroups are named by the number of their process, and small numbers are given out in every pid namespace.
    with contextlib.suppress(OSError):
        Path("/proc/sys/kernel/ns_last_pid").write_text(str(random.randrange(10_000, 30_000)))
    worker = os.fork()
    if worker == 0:
        work()
        sys.stdout.flush()
        os._exit(0)
    status = 1
    while True:
        try:
            pid, how = os.wait()
        except ChildProcessError:
            break
        if pid == worker:
            status = os.waitstatus_to_exitcode(how)
            break
    sys.exit(status if status >= 0 else 1)


@dataclass(frozen=True)
class Census:
    """What this process has, and has below it."""

    descriptors: int
    processes: int
    zombies: int
    mounts: int
    groups: int
    files: int

    @classmethod
    def now(cls) -> "Census":
        """Count."""
        below = descendants()
        return cls(
            descriptors=entries("/proc/self/fd"),
            processes=len(below),
            zombies=sum(map(is_zombie, below)),
            mounts=len(Path("/proc/self/mountinfo").read_text().splitlines()),
            groups=sum(1 for _ in own_groups()),
            files=entries(tempfile.gettempdir()),
        )

    def beyond(self, before: "Census") -> dict[str, list[int]]:
        """What isn't as it was, and how: then and now. Mounts may have become fewer: the machine's own come and go."""
        pairs = {name: [count, vars(self)[name]] for name, count in vars(before).items()}
        return {name: [n, now] for name, (n, now) in pairs.items() if now > n or (now < n and name != "mounts")}


def entries(folder: str) -> int:
    """How many things a folder holds."""
    return sum(1 for _ in Path(folder).iterdir())


def own_groups() -> Iterator[Path]:
    """The cgroups that were made by this process."""
    return (folder for folder in groups_of_sandboxes() if folder.name.startswith(f"gencode-{os.getpid()}-"))


async def settled(condition: Callable[[], bool], seconds: float = 10) -> bool:
    """Whether something comes to be so, soon."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        await asyncio.sleep(0.05)
    return True


def cpu_seconds() -> float:
    """The CPU time of this process and of all below it, those that ended and were reaped too."""
    total = 0
    for number in (os.getpid(), *descendants()):
        try:
            total += sum(map(int, Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[11:15]))
        except OSError:
            continue
    return total / TICKS


def resident_bytes() -> int:
    """The memory of this process."""
    gc.collect()
    return int(Path("/proc/self/statm").read_text().split()[1]) * PAGE


@dataclass
class Soak:
    """One run and what it saw."""

    sandbox: Sandbox
    wrong: list[str] = field(default_factory=list)
    honest_tests: int = 0
    hostile: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)
    resident: list[int] = field(default_factory=list)

    async def load(self, seconds: float, choice: random.Random) -> None:
        """Keep every worker busy for a while."""
        deadline = time.monotonic() + seconds
        programs = itertools.cycle(hostile_programs())

        async def one() -> None:
            while time.monotonic() < deadline:
                name, program = next(programs)
                await self.attack(name, program)
                for _ in range(HONEST_FOR_A_HOSTILE):
                    await self.honest(choice.randrange(len(HONEST)))
                self.resident.append(resident_bytes())

        await asyncio.gather(*(one() for _ in range(2 * WORKERS)))

    async def honest(self, number: int) -> None:
        """Run one honest program and compare."""
        program, inputs, outputs = HONEST[number]
        report = await self.sandbox.run(program, inputs)
        self.honest_tests += len(inputs)
        given = [e.stdout if e.status is Status.FINISHED else None for e in report.executions]
        if given != outputs or any(e.status is Status.INTERNAL_ERROR for e in report.executions):
            self.wrong.append(f"program {number}: {shown(report)}")

    async def attack(self, name: str, program: str) -> None:
        """Run one hostile program; what counts is that the judge stands."""
        report = await self.sandbox.run(program, ["a line\n"], limits=HOSTILE_LIMITS)
        end = report.executions[0] if report.compiled else report.compilation
        self.hostile[end.status.value] += 1
        if end.status is Status.INTERNAL_ERROR or ("ESCAPED" in end.stdout and not name.startswith("13")):
            self.faults.append(f"{name}: {shown(report)}")

    async def probe(self) -> float:
        """CPU milliseconds of an honest test with nothing beside it."""
        start, tests = cpu_seconds(), self.honest_tests
        await asyncio.gather(*(self.honest(number % len(HONEST)) for number in range(PROBE_PROGRAMS)))
        return 1000 * (cpu_seconds() - start) / (self.honest_tests - tests)

    async def probe_beside_fresh(self, backend: str, probes: int) -> dict[str, float]:
        """Probes of this sandbox and of a new one in a new process, in turn: medians, and that of their ratios."""
        module = ("-m", "tests.sandbox.soak_driver", "fresh", backend)
        fresh = await asyncio.create_subprocess_exec(
            sys.executable, *module, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE
        )
        assert fresh.stdin is not None and fresh.stdout is not None
        rounds = []
        for _ in range(probes):
            old = await self.probe()
            fresh.stdin.write(b"probe\n")
            await fresh.stdin.drain()
            rounds.append((old, float(await fresh.stdout.readline())))
        fresh.stdin.close()
        assert await fresh.wait() == 0
        return {
            "cpu_ms": statistics.median(old for old, _ in rounds),
            "fresh_cpu_ms": statistics.median(new for _, new in rounds),
            "against_fresh": statistics.median(old / new for old, new in rounds),
        }


def shown(report: Report) -> str:
    """A report in few words."""
    ends = [(e.status.value, e.stdout[:40], e.stderr[-200:]) for e in (report.compilation, *report.executions)]
    return repr(ends)


async def soak(seconds: float, backend: str, probes: int) -> dict[str, Any]:
    """Warm up, measure, load, measure again, count what is left."""
    choice = random.Random(1)
    before = Census.now()
    async with open_sandbox(backend, workers=WORKERS) as sandbox:
        run = Soak(sandbox)
        await run.load(min(10.0, seconds / 4), choice)
        first, busy, warm_up = await run.probe(), Census.now(), len(run.resident)
        await run.load(seconds, choice)
        last = await run.probe_beside_fresh(backend, probes)
        await settled(lambda: Census.now().zombies == 0)
        after = Census.now()
    await settled(lambda: not Census.now().beyond(before))
    middle = run.resident[warm_up : warm_up + max(1, (len(run.resident) - warm_up) // 4)]
    end = run.resident[-len(middle) :]
    return {
        "wrong": run.wrong[:10],
        "faults": run.faults[:10],
        "honest_tests": run.honest_tests,
        "hostile": dict(run.hostile),
        "first": {"cpu_ms": first},
        "last": last,
        "resident_first": statistics.median(middle),
        "resident_last": statistics.median(end),
        "open_first": vars(busy),
        "open_last": vars(after),
        "left": Census.now().beyond(before),
    }


async def be_fresh(backend: str) -> None:
    """A sandbox that has seen little: a probe for each line that comes."""
    async with open_sandbox(backend, workers=WORKERS) as sandbox:
        run = Soak(sandbox)
        await run.probe()
        while await asyncio.to_thread(sys.stdin.readline):
            print(await run.probe(), flush=True)
        assert not run.wrong, run.wrong


def main() -> None:
    """Soak, in a folder for temporary files that nobody else uses."""
    with tempfile.TemporaryDirectory() as folder:
        tempfile.tempdir = folder
        print(json.dumps(asyncio.run(soak(float(sys.argv[1]), sys.argv[2], int(sys.argv[3])))))


if __name__ == "__main__":
    if sys.argv[1] == "fresh":
        asyncio.run(be_fresh(sys.argv[2]))
    else:
        under_an_init(main)
