"""Helpers that find a sandbox's processes on this machine."""

import asyncio
import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from alpha_codium.limits import Limits
from alpha_codium.sandbox import Sandbox
from alpha_codium.sandbox.engine.processes import descendants as descendants_of


def processes() -> list[int]:
    """Return the ids of all processes that this one can see."""
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]  # noqa: PTH208 - half the time


def command_lines() -> Iterator[tuple[int, str]]:
    """Yield the id and command line of every process that this one can see."""
    for number in processes():
        with contextlib.suppress(OSError):
            line = Path(f"/proc/{number}/cmdline").read_bytes()
            yield number, line.replace(b"\0", b" ").decode(errors="replace")


def descendants(root: int | None = None) -> list[int]:
    """Return the ids of all descendants of `root` (default: this process), including zombies."""
    return descendants_of(root or os.getpid())


def is_zombie(number: int) -> bool:
    """Whether a process has ended but wasn't reaped."""
    try:
        return Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return False


def hold(marker: str, seconds: int = 600) -> str:
    """Return a program that names its process `marker`, of at most 15 letters, and waits."""
    assert len(marker) <= 15
    naming = f"import ctypes, select\nctypes.CDLL(None).prctl(15, {marker.encode()!r}, 0, 0, 0)"
    return f"{naming}\nselect.select([], [], [], {seconds})"


async def require_visible_programs(sandbox: Sandbox) -> None:
    """Skip the test if a sandbox's programs can't be seen among the processes of this machine."""
    marker = f"98760.{os.getpid()}"
    running = asyncio.create_task(sandbox.run(hold(marker, seconds=2), [""], limits=Limits(wall_seconds=60)))
    while not (seen := marked(marker)) and not running.done():  # noqa: ASYNC110 - there is no event to wait for
        await asyncio.sleep(0.05)
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    if not seen:
        pytest.skip("programs of this backend can't be seen among the processes of this machine")


def marked(marker: str) -> list[int]:
    """Return the living processes of programs of `hold(marker)`."""
    return [number for number in processes() if name_of(number) == marker and not is_zombie(number)]


def name_of(number: int) -> str:
    """Return the name of a process."""
    try:
        return Path(f"/proc/{number}/comm").read_text().rstrip("\n")
    except OSError:
        return ""
