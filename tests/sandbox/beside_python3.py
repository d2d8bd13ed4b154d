"""A program in a sandbox and under `python3 program.py < input`, and whether both did the same."""

# ruff: noqa: E501 - a program stands on one line beside its name

import asyncio
import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from alpha_codium.limits import Limits
from alpha_codium.sandbox.engine.interpreter import environment_of
from alpha_codium.verdict import Report
from tests.sandbox.backends import Backend
from tests.sandbox.python_corners import CORNERS
from tests.sandbox.python_habits import HABITS

# What every backend keeps at least of what a program says on stderr.
STDERR_KEPT = 64 * 1024
CASES = HABITS | CORNERS

Real = subprocess.CompletedProcess[bytes]
Outcomes = dict[str, tuple[Report, Real]]


async def all_outcomes(backend: Backend, names: Sequence[str], folder: Path) -> Outcomes:
    """What came of these cases in one open sandbox and under the real interpreter."""
    reports, reals = await asyncio.gather(reports_of(backend, names), real_ends(names, folder))
    return {name: (reports[name], reals[name]) for name in names}


async def reports_of(backend: Backend, names: Sequence[str]) -> dict[str, Report]:
    """What came of these cases in one open sandbox, two at a time."""
    turns = asyncio.Semaphore(2)

    async def run(name: str) -> Report:
        program, text = CASES[name]
        async with turns:
            return await sandbox.run(program, [text], limits=Limits(wall_seconds=60))

    async with backend.open() as sandbox:
        return dict(zip(names, await asyncio.gather(*map(run, names)), strict=True))


async def real_ends(names: Sequence[str], folder: Path) -> dict[str, Real]:
    """What came of these cases under the real interpreter, two at a time."""
    turns = asyncio.Semaphore(2)

    async def run(number: int, name: str) -> Real:
        async with turns:
            return await asyncio.to_thread(run_for_real, *CASES[name], folder / str(number))

    return dict(zip(names, await asyncio.gather(*map(run, range(len(names)), names)), strict=True))


def run_for_real(program: str, text: str, folder: Path) -> Real:
    """`python3 program.py < input`, in a folder with nothing else in it; memory alone bounds the stack, as on contest judges."""
    source, stdin, work = folder / "wrk" / "program.py", folder / "stdin", folder / "wrk"
    work.mkdir(parents=True)
    source.write_bytes(program.encode("utf-8", "replace"))
    stdin.write_bytes(text.encode("utf-8", "replace"))
    with stdin.open("rb") as file:
        return subprocess.run(
            ["prlimit", "--stack=unlimited", sys.executable, "program.py"],
            stdin=file, capture_output=True, cwd=work, env=environment_of(work), timeout=60, check=False,
        )  # fmt: skip


def neutral(text: str) -> str:
    """A text without what differs between any two runs: folders, addresses, counts of references."""
    text = re.sub(r"/(?:[^\s\"'/]+/)*(program|helper)\.py", r"\1.py", text)
    return re.sub(r"0x[0-9a-f]+|(?<=refcount : )\d+", "N", text)


def same_end(stderr: str, real: bytes, neutral: Callable[[str], str] = neutral) -> bool:
    """Whether a program said the same on stderr; of what is very long, a sandbox keeps the end."""
    given, wanted = neutral(stderr), neutral(real.decode("utf-8", "replace"))
    if len(real) >= STDERR_KEPT and given:
        given = given.partition("\n")[2]
        wanted = wanted[-len(given) :]
    assert given == wanted
    return True
