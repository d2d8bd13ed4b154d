"""Every sandbox backend that this machine gives: what the conformance suite runs on.

1. A new backend joins by an entry in `BACKENDS`. `isolated` says that it keeps programs from network and processes.
2. `prepare` gets what it needs and says with which options it is opened; where the machine doesn't give it, it skips
   the test with the reason. It is called when a test first opens the backend, not when tests are collected.
3. `differs` names tests that the backend is known to fail, each with the reason: `test` or `test[parameter]`. They are
   marked `xfail(strict=True)` (see `conftest`), so that a difference which is gone has to go from here too.
4. `left_out` names tests, in the same way, that can't be asked of the backend: they are skipped with the reason. What
   is `slow` runs with the slow tests.
"""

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from alpha_codium.sandbox import Sandbox, open_sandbox
from alpha_codium.sandbox.portable.isolation import namespaces_command
from tests.sandbox.code_contests.differs import DIFFERS
from tests.sandbox.code_contests.environment import installed
from tests.sandbox.gvisor import environment as gvisor
from tests.sandbox.gvisor.differs import LEFT_OUT
from tests.sandbox.oci import environment as oci


@dataclass(frozen=True)
class Backend:
    """One way to open a sandbox."""

    name: str
    isolated: bool
    prepare: Callable[[], dict[str, Any]]
    differs: Mapping[str, str] = field(default_factory=dict)
    left_out: Mapping[str, str] = field(default_factory=dict)
    slow: bool = False

    @property
    def options(self) -> dict[str, Any]:
        """What it is opened with; skips the test where the machine doesn't give it."""
        return self.prepare()

    def open(self, workers: int = 2, **options: Any) -> Sandbox:
        """A sandbox of this backend; skips the test where the machine doesn't give it."""
        return open_sandbox(self.name, workers=workers, **self.options, **options)


def in_namespaces() -> dict[str, Any]:
    """The options of what isolates with namespaces."""
    if not namespaces_command():
        pytest.skip("this machine gives no namespaces: run as root or allow user namespaces")
    return {"isolation": True}


def unsafe() -> dict[str, Any]:
    """The options of what isolates nothing."""
    return {"isolation": False}


BACKENDS = {
    "local": Backend("local", isolated=True, prepare=in_namespaces),
    "portable": Backend("portable", isolated=True, prepare=in_namespaces),
    "local-unsafe": Backend("local", isolated=False, prepare=unsafe),
    "code_contests": Backend("code_contests", isolated=True, prepare=installed, differs=DIFFERS),
    "gvisor": Backend("gvisor", isolated=True, prepare=gvisor.installed, left_out=LEFT_OUT),
    "oci": Backend("oci", isolated=True, prepare=oci.installed, left_out=LEFT_OUT, slow=True),
}
ISOLATED = [name for name, backend in BACKENDS.items() if backend.isolated]


def command_lines() -> Iterator[tuple[int, str]]:
    """The number and the command line of every process that this one can see."""
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                yield int(entry.name), (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            except OSError:
                continue


def descendants(root: int | None = None) -> list[int]:
    """The numbers of all living processes below `root` (this one), zombies too."""
    parents: dict[int, int] = {}
    for number, _ in command_lines():
        try:
            parents[number] = int(Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
    found = {root or os.getpid()}
    while more := {child for child, parent in parents.items() if parent in found} - found:
        found |= more
    return sorted(found - {root or os.getpid()})


def is_zombie(number: int) -> bool:
    """Whether that process has ended and wasn't reaped."""
    try:
        return Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return False


def hold(marker: str) -> str:
    """A program that names its process and waits; `marker` has at most 15 letters."""
    assert len(marker) <= 15
    naming = f"import ctypes, select\nctypes.CDLL(None).prctl(15, {marker.encode()!r}, 0, 0, 0)"
    return f"{naming}\nselect.select([], [], [], 600)"


def marked(marker: str) -> list[int]:
    """The living processes that `hold` named so."""
    return [number for number, _ in command_lines() if name_of(number) == marker and not is_zombie(number)]


def name_of(number: int) -> str:
    """What a process calls itself."""
    try:
        return Path(f"/proc/{number}/comm").read_text().rstrip("\n")
    except OSError:
        return ""
