"""The meter counts the CPU time of everything a command starts."""

import contextlib
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.sandbox import meter as meters
from benchmarks.sandbox.meter import CgroupMeter, Meter, TreeMeter, open_meter, process_tree, settled

BURNT = 0.3
BURN = f"""
import time
def burn():
    ends = time.process_time() + {BURNT}
    while time.process_time() < ends:
        pass
"""
# Its parent and its session are gone before it starts: nobody of ours reaps it.
DOUBLE_FORK = (
    BURN
    + """
import os
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        while os.getppid() == parent_of_the_second:
            pass
        burn()
        print("burnt", flush=True)
    os._exit(0)
os.wait()
input()
""".replace("parent_of_the_second", "os.getsid(0)")
)
REAPED = (
    BURN
    + "import os\nif os.fork() == 0:\n    burn()\n    os._exit(0)\nos.wait()\nprint('burnt', flush=True)\ninput()\n"
)


@contextlib.contextmanager
def running(meter: Meter, program: str) -> Iterator[subprocess.Popen[str]]:
    """A program under a meter, after its first line of output; told to end by the end of its input."""
    command = meter.wrap([sys.executable, "-I", "-S", "-c", program])
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None and process.stdin is not None
        assert process.stdout.readline() == "burnt\n"
        yield process
        process.stdin.write("\n")


@pytest.fixture
def cgroup() -> Iterator[CgroupMeter]:
    meter = open_meter()
    if not isinstance(meter, CgroupMeter):
        pytest.skip("this machine gives no cgroup that counts CPU time: run as root")
    yield meter
    meter.close()


def test_a_double_forked_grandchild_is_counted(cgroup: CgroupMeter) -> None:
    with running(cgroup, DOUBLE_FORK) as process:
        seconds = settled(cgroup, process.pid)
    assert seconds is not None
    assert seconds >= BURNT


def test_what_was_reaped_is_counted_without_a_cgroup_too() -> None:
    meter = TreeMeter()
    with running(meter, REAPED) as process:
        seconds = settled(meter, process.pid)
    assert seconds is not None
    assert seconds >= BURNT - 0.05, "clock ticks are 10 ms"


def test_closing_ends_what_was_left_behind_and_removes_the_cgroup(cgroup: CgroupMeter) -> None:
    left = "import os\nif os.fork() == 0:\n    print('burnt', flush=True)\n    os.read(os.pipe()[0], 1)\ninput()"
    with running(cgroup, left):
        pass
    assert (cgroup.folder / "cgroup.procs").read_text().split()
    cgroup.close()
    assert not cgroup.folder.exists()


def test_a_process_outside_the_cgroup_is_noticed(cgroup: CgroupMeter) -> None:
    program = "print('burnt', flush=True)\ninput()"
    with running(cgroup, program) as process:
        assert cgroup.strays(process.pid) == 0
        (cgroup.folder.parent / "cgroup.procs").write_text(str(process.pid))
        assert cgroup.strays(process.pid) == 1


def test_without_a_cgroup_the_figures_say_what_they_miss(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    nowhere = [(tmp_path / "gone", "cpu.stat"), (Path("/proc"), "cpuacct.usage")]
    monkeypatch.setattr(meters, "_cgroups", lambda: iter(nowhere))
    meter = open_meter()
    assert isinstance(meter, TreeMeter)
    assert "misses" in meter.note


def test_a_process_tree_begins_with_its_root() -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        assert process_tree(process.pid) == [process.pid]
        process.communicate(b"\n")
