"""Faults of a worker of the local backend, each injected at a moment of its work.

A worker is a chain of processes: this one -> the one outside -> the zygote (process 1 of the jail) -> the runner of a
candidate -> a test. Faults are named by the link that they hit.
"""

# ruff: noqa: E501 - a program stands on one line

import asyncio
import contextlib
import os
import resource
import signal
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

from alpha_codium.limits import Limits
from alpha_codium.sandbox import Sandbox
from alpha_codium.sandbox.conformance.processes import command_lines, descendants, is_zombie
from alpha_codium.verdict import Report
from tests.sandbox.soak_driver import own_groups, settled

OUTSIDE, ZYGOTE, RUNNER, TEST = 1, 2, 3, 4
SLOW = "import time\ntime.sleep(1)\nprint(input())"
# Takes a while to compile.
LONG = "x = [" + "[1, 2, (3, 4)], " * 60_000 + "]\nprint(input())"
LIMITS = Limits(wall_seconds=3)
Seen = dict[str, Any]


def at_depth(depth: int) -> list[int]:
    """The living processes of the sandbox that stand so many links below this one."""
    parents = {number: parent_of(number) for number in descendants() if not is_zombie(number)}
    ours = set(of_sandboxes())
    return sorted(n for n in parents if n in ours and chain_length(n, parents) == depth)


def of_sandboxes() -> list[int]:
    """The living processes of sandboxes: a jail replaces its command line before it forks anything."""
    lines = [(n, line) for n, line in command_lines() if not is_zombie(n)]
    return [n for n, line in lines if "sandbox/engine/inside" in line or line.startswith("python3 program.py")]


def parent_of(number: int) -> int:
    try:
        return int(Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return 0


def chain_length(number: int, parents: dict[int, int]) -> int:
    length = 1
    while (number := parents.get(number, 0)) in parents:
        length += 1
    return length


def hit(depth: int, number: signal.Signals) -> int:
    """Send a signal to every process at that depth; how many got it."""
    hits = 0
    for pid in at_depth(depth):
        # One may have ended since it was found.
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)
            hits += 1
    return hits


def plain(report: Report) -> Seen:
    """A report as JSON can hold it."""
    return {
        "compilation": report.compilation.status.value,
        "said": report.compilation.stderr[-300:],
        "executions": [[e.status.value, e.stdout[:200], e.stderr[-300:]] for e in report.executions],
    }


async def in_mid_test(sandbox: Sandbox, fault: Callable[[], Any]) -> Seen:
    """Two programs run, the fault happens, both have to end, and two more after them."""
    running = [asyncio.create_task(sandbox.run(SLOW, [f"{i}\n", "b\n"], limits=LIMITS)) for i in range(2)]
    there = await settled(lambda: len(at_depth(TEST)) == 2)
    fault()
    reports = await asyncio.gather(*running)
    return {"happened": there, "reports": [plain(report) for report in reports]}


async def between_runs(sandbox: Sandbox, fault: Callable[[], Any]) -> Seen:
    """The fault happens while nothing runs."""
    await asyncio.gather(*(sandbox.run("print(input())", ["a"]) for _ in range(4)))
    happened = bool(fault())
    reports = await asyncio.gather(*(sandbox.run("print(input())", [f"{i}\n", "b\n"]) for i in range(2)))
    return {"happened": happened, "reports": [plain(report) for report in reports]}


def mid_test(depth: int, number: signal.Signals) -> Callable[[Sandbox], Awaitable[Seen]]:
    return lambda sandbox: in_mid_test(sandbox, lambda: hit(depth, number))


def idle(depth: int, number: signal.Signals) -> Callable[[Sandbox], Awaitable[Seen]]:
    return lambda sandbox: between_runs(sandbox, lambda: hit(depth, number))


def while_it_compiles(number: signal.Signals) -> Callable[[Sandbox], Awaitable[Seen]]:
    """The runner is hit before it has said anything."""

    async def hit_it(sandbox: Sandbox) -> Seen:
        running = asyncio.create_task(sandbox.run(LONG, ["0\n", "b\n"]))
        happened = await settled(lambda: hit(RUNNER, number) > 0)
        return {"happened": happened, "reports": [plain(await running)]}

    return hit_it


def whenever_it_compiles(depth: int) -> Callable[[Sandbox], Awaitable[Seen]]:
    """Whatever runner tries to compile it: it, or its zygote, is killed."""

    async def hit_them(sandbox: Sandbox) -> Seen:
        running, hits = asyncio.create_task(sandbox.run(LONG, ["0\n", "b\n"])), 0
        while not running.done():
            if at_depth(RUNNER):
                hits += hit(depth, signal.SIGKILL)
            await asyncio.sleep(0.01)
        return {"happened": hits > 1, "reports": [plain(running.result())]}

    return hit_them


async def storm(sandbox: Sandbox) -> Seen:
    """Workers are killed again and again while forty candidates wait for their turn."""
    running = [asyncio.create_task(sandbox.run("print(input())", [f"{i}\n", "b\n"])) for i in range(40)]
    hits = 0
    for turn in range(12):
        hits += hit((OUTSIDE, ZYGOTE, RUNNER)[turn % 3], signal.SIGKILL)
        await asyncio.sleep(0.1)
    return {"happened": hits > 0, "reports": [plain(report) for report in await asyncio.gather(*running)]}


async def full_disk(sandbox: Sandbox) -> Seen:
    """A program fills its folder; the next test and the next program find it empty."""
    fill = (
        "import os\nn = 0\ntry:\n    while True:\n        with open(f'f{n}', 'wb') as f: f.write(b'x' * (1 << 20))\n        n += 1\n"
        "except OSError as e: full = e.errno\nprint(input())"
    )
    look = "import os\nopen('new', 'w').write('x' * 100000)\nprint(len(os.listdir('.')))\n"
    report, after = [await sandbox.run(program, ["0\n", "b\n"]) for program in (fill, look)]
    empty = [e.stdout for e in after.executions] == ["2\n", "2\n"]
    return {"happened": empty, "reports": [plain(report)]}


async def no_fork(sandbox: Sandbox, when: Callable[[Sandbox, Callable[[], Any]], Awaitable[Seen]]) -> Seen:
    """EAGAIN: the workers that there are get no more processes from the kernel."""

    def squeeze() -> int:
        files = [folder / "pids.max" for folder in own_groups() if (folder / "pids.max").exists()]
        for file in files:
            file.write_text("1")
        return len(files)

    return await when(sandbox, squeeze)


async def no_new_workers(sandbox: Sandbox) -> Seen:
    """Workers die while the kernel lets nobody start a process: said to be our fault, and over when that is over."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NPROC)

    def squeeze() -> int:
        resource.setrlimit(resource.RLIMIT_NPROC, (1, hard))
        return hit(ZYGOTE, signal.SIGKILL)

    seen = await between_runs(sandbox, squeeze)
    resource.setrlimit(resource.RLIMIT_NPROC, (soft, hard))
    return seen


async def few_descriptors(sandbox: Sandbox) -> Seen:
    """This process may open hardly a file for a while: right, or said to be our fault, and right again after it."""
    await asyncio.gather(*(sandbox.run("print(input())", ["a"]) for _ in range(4)))
    reports = []
    for free in range(12):
        with only_so_many_descriptors(free):
            reports += await asyncio.gather(*(sandbox.run("print(input())", [f"{i}\n", "b\n"]) for i in range(2)))
    return {"happened": True, "reports": [plain(report) for report in reports]}


@contextlib.contextmanager
def only_so_many_descriptors(free: int) -> Iterator[None]:
    """Within it, this process may open so many files."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (256, hard))
    held = []
    with contextlib.suppress(OSError):
        while True:
            held.append(os.dup(0))
    for _ in range(free):
        os.close(held.pop())
    try:
        yield
    finally:
        for fd in held:
            os.close(fd)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


FAULTS: dict[str, Callable[[Sandbox], Awaitable[Seen]]] = {
    "the one outside is killed": mid_test(OUTSIDE, signal.SIGKILL),
    "the zygote is killed": mid_test(ZYGOTE, signal.SIGKILL),
    "the runner is killed": mid_test(RUNNER, signal.SIGKILL),
    "the one outside is killed while idle": idle(OUTSIDE, signal.SIGKILL),
    "the zygote is killed while idle": idle(ZYGOTE, signal.SIGKILL),
    "the runner is killed while it compiles": while_it_compiles(signal.SIGKILL),
    "the runner is stopped while it compiles": while_it_compiles(signal.SIGSTOP),
    "every runner is killed while it compiles": whenever_it_compiles(RUNNER),
    "every zygote is killed while its runner compiles": whenever_it_compiles(ZYGOTE),
    "the one outside is stopped": mid_test(OUTSIDE, signal.SIGSTOP),
    "the zygote is stopped": mid_test(ZYGOTE, signal.SIGSTOP),
    "the runner is stopped": mid_test(RUNNER, signal.SIGSTOP),
    "the zygote is stopped while idle": idle(ZYGOTE, signal.SIGSTOP),
    "the zygote is terminated politely": mid_test(ZYGOTE, signal.SIGTERM),
    "workers are killed again and again": storm,
    "a full disk": full_disk,
    "the zygote can't fork": lambda sandbox: no_fork(sandbox, between_runs),
    "the runner can't fork": lambda sandbox: no_fork(sandbox, in_mid_test),
    "no worker can be made anew": no_new_workers,
    "no more descriptors": few_descriptors,
}
