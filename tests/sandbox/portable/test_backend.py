"""What the portable backend alone does; what all do stands in `test_conformance`."""

import asyncio
import contextlib
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from alpha_codium.limits import Limits
from alpha_codium.paths import programs_folder
from alpha_codium.program import Job, Program
from alpha_codium.sandbox import Sandbox, open_sandbox
from alpha_codium.sandbox.conformance.processes import command_lines, descendants
from alpha_codium.sandbox.conformance.running import run_one
from alpha_codium.sandbox.engine.hierarchies import parents
from alpha_codium.sandbox.portable.isolation import namespaces_command
from alpha_codium.sandbox.protocol import report_of
from alpha_codium.verdict import Status
from tests.sandbox.fault_kinds import LONG


async def test_a_compiler_that_was_killed_is_not_the_programs_fault() -> None:
    async with open_sandbox("portable", workers=1, isolation=bool(namespaces_command())) as sandbox:
        running = asyncio.create_task(sandbox.run(LONG, ["1\n"]))
        # It is compiled once more.
        killed = set[int]()
        while not running.done():
            for number in compilers():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(number, signal.SIGKILL)
                    killed.add(number)
            await asyncio.sleep(0.01)
        report = await running
    assert killed
    assert (report.compilation.status, report.executions) == (Status.INTERNAL_ERROR, ())


def compilers() -> list[int]:
    """The processes below this one that compile a program."""
    lines = dict(command_lines())
    return [n for n in descendants() if "import sys; compile(" in lines.get(n, "")]


needs_namespaces = pytest.mark.skipif(not namespaces_command(), reason="this machine gives no namespaces")
needs_groups = pytest.mark.skipif(not {"memory", "pids"} <= {*parents()}, reason="this machine gives no control groups")
RIGHT = "import time\nn = int(input())\ntime.sleep(0.6)  # SQUARES\nprint(n * n)\n"
# It runs what it finds of a right program in the folder of another.
THIEF = """
import glob, os, time
end = time.monotonic() + 1
while time.monotonic() < end:
    for path in [*glob.glob("../*/program.py"), *glob.glob("/proc/*/cwd/program.py")]:
        try:
            text = open(path).read()
        except OSError:
            continue
        if "SQUARES" in text and not os.path.samefile(path, "program.py"):
            exec(text)
            raise SystemExit
    time.sleep(0.01)
"""
# It puts a module of its own into the folders of others.
VANDAL = """
import glob, os, time
end = time.monotonic() + 0.8
while time.monotonic() < end:
    for folder in [*glob.glob("../gencode-*/"), *glob.glob("../tmp*/"), *glob.glob("/proc/*/cwd/")]:
        if os.path.realpath(folder) != os.getcwd() and not os.path.exists(folder + "/gencode_vandal.py"):
            try:
                open(folder + "/gencode_vandal.py", "w").write("print('vandal')")
                print("wrote", folder)
            except OSError:
                pass
"""
HONEST = """
import time
time.sleep(0.6)
try:
    import gencode_vandal
except ImportError:
    print("honest")
"""
# Ways to what gencode's user has, and which root has without capabilities, too.
REACHING = """
import os, socket
def attempt(action):
    try:
        return bool(action())
    except OSError:
        return False
print([
    attempt(lambda: open(FOLDER + "/left", "w")),
    attempt(lambda: os.rename(FOLDER + "/file", FOLDER + "/moved") is None),
    attempt(lambda: os.utime(FOLDER + "/file") is None),
    attempt(lambda: os.utime("/dev/null") is None),
    attempt(lambda: open("/proc/sys/kernel/core_pattern", "a")),
    attempt(lambda: [name for name in os.listdir("/dev") if name.startswith(("sd", "vd", "nvme", "mem"))]),
    attempt(lambda: os.listdir("/run")),
    attempt(lambda: open("/proc/1/environ").read()),
    attempt(lambda: os.mknod("device", 0o60600, os.makedev(254, 0)) is None),
    os.system("mount -o remount,rw / 2>/dev/null") == 0,
    os.system("umount -l /tmp 2>/dev/null") == 0,
    os.system("unshare --user --map-root-user --mount mount -o remount,rw,bind / 2>/dev/null") == 0,
])
"""
LEAVING = """
import os
found = [folder for folder in FOLDERS if os.path.exists(folder + "/gencode_left")]
for folder in FOLDERS:
    try:
        open(folder + "/gencode_left", "w").close()
    except OSError:
        pass
print(found)
"""
MANY = """
import os, time
started = 0
try:
    for _ in range(300):
        if os.fork() == 0:
            time.sleep(30)
            os._exit(0)
        started += 1
except OSError:
    pass
print(started)
"""
# Each process stays below the limit, not their sum.
TOGETHER = """
import os, time
for _ in range(6):
    if os.fork() == 0:
        block = bytearray(os.urandom(1 << 20)) * 60
        time.sleep(0.5)
        os._exit(0)
statuses = [os.wait()[1] for _ in range(6)]
raise SystemExit(max(statuses) > 0)
"""


@pytest_asyncio.fixture
async def two_at_a_time() -> AsyncIterator[Sandbox]:
    async with open_sandbox("portable", workers=2) as sandbox:
        yield sandbox


@pytest.mark.thorough
@needs_namespaces
async def test_programs_can_neither_read_nor_change_what_another_has(two_at_a_time: Sandbox) -> None:
    right, thief = await asyncio.gather(*(run_one(two_at_a_time, text, "7\n") for text in (RIGHT, THIEF)))
    vandal, honest = await asyncio.gather(*(run_one(two_at_a_time, text) for text in (VANDAL, HONEST)))
    assert (right.stdout, thief.stdout) == ("49\n", "")
    assert (vandal.stdout, honest.stdout) == ("", "honest\n")
    assert (await run_one(two_at_a_time, HONEST)).stdout == "honest\n"


@needs_namespaces
async def test_a_program_leaves_nothing_for_the_next_and_has_no_way_to_our_files(two_at_a_time: Sandbox) -> None:
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        Path(folder, "file").touch()
        reaching = await run_one(two_at_a_time, f"FOLDER = {folder!r}\n{REACHING}")
        assert reaching.stdout == f"{[False] * 12}\n", reaching.stderr
        folders = ["/tmp", "/dev/shm", "/run", "/var/tmp", folder, ".", str(Path.home())]
        for _ in range(2):
            assert (await run_one(two_at_a_time, f"FOLDERS = {folders!r}\n{LEAVING}")).stdout == "[]\n"
        assert [path.name for path in Path(folder).iterdir()] == ["file"]


@needs_namespaces
async def test_the_processes_of_a_program_are_counted(two_at_a_time: Sandbox) -> None:
    if os.geteuid() == 0 and "pids" not in parents():
        pytest.skip("root's processes are counted in a control group only")
    execution = await run_one(two_at_a_time, MANY)
    assert 50 < int(execution.stdout) <= 64


@pytest.mark.thorough
@needs_namespaces
@needs_groups
async def test_the_memory_of_all_its_processes_together_is_limited(two_at_a_time: Sandbox) -> None:
    together = await run_one(two_at_a_time, TOGETHER, limits=Limits(memory_bytes=128 << 20))
    assert together.status is Status.MEMORY_LIMIT_EXCEEDED
    assert (await run_one(two_at_a_time, TOGETHER, limits=Limits(memory_bytes=1 << 30))).status is Status.FINISHED


@needs_namespaces
async def test_an_interpreter_below_tmp_stays_visible(two_at_a_time: Sandbox) -> None:
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        Path(folder, "bin").mkdir()
        Path(folder, "link").symlink_to(sys.executable)
        Path(folder, "bin/python3").symlink_to("../link")
        # Our own interpreter may be there, too.
        needed = {Path(path).parts[2] for path in (folder, sys.executable) if path.startswith("/tmp/")}
        async with open_sandbox("portable", workers=1, interpreter=f"{folder}/bin/python3") as sandbox:
            program = "import os\nopen('/tmp/x', 'w').close()\nprint(*os.listdir('/tmp'), os.getcwd().split('/')[2])"
            *seen, own = (await run_one(sandbox, program)).stdout.split()
            assert set(seen) == {"x", own, *needed}


LOOKS = """
import os, sys
folder = sys.stdin.readline().strip()
for path in (folder, *(os.path.join(folder, name) for name in os.listdir(folder))):
    try:
        open(os.path.join(path, "planted"), "w").write("x")
    except OSError as error:
        print(error.strerror)
"""


@needs_namespaces
@pytest.mark.skipif(shutil.which("gcc") is None, reason="no gcc: apt-get install gcc libc6-dev")
async def test_compiled_programs_run_and_no_program_can_see_or_change_what_is_kept_of_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # In /tmp, of which programs see nothing else.
    monkeypatch.setenv("GENCODE_HOME", str(tmp_path / "home"))
    (tmp_path / "other").write_text("")
    source = '#include <stdio.h>\nint main(void) { int a; return scanf("%d", &a) == 1 ? a : 9; }\n'
    async with open_sandbox("portable", workers=2) as sandbox:
        job = Job(Program.from_source("c", source), ("3", "4", ""))
        compilation, *tests = [execution async for execution in sandbox.execute(job)]
        looking = await run_one(sandbox, LOOKS, f"{programs_folder()}\n")
        beside = await run_one(sandbox, f"import os\nprint(os.listdir({str(tmp_path)!r}))")
    assert compilation.finished, compilation.stderr
    assert [test.exit_code for test in tests] == [3, 4, 9]
    assert "No such file or directory" in looking.stderr
    assert "planted" not in str(list((tmp_path / "home").rglob("*")))
    assert "No such file or directory" in beside.stderr


@pytest.mark.thorough
@pytest.mark.skipif(shutil.which("node") is None, reason="no node: apt-get install nodejs")
async def test_messages_do_not_name_the_folder_of_compiled_programs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GENCODE_HOME", str(tmp_path))
    async with open_sandbox("portable", workers=1, isolation=bool(namespaces_command())) as sandbox:
        report = await report_of(sandbox, Job(Program.from_source("javascript", "throw new Error('why')"), ("",)))
    assert "Error: why" in report.last.stderr
    assert str(tmp_path) not in report.last.stderr


@needs_namespaces
@pytest.mark.skipif(shutil.which("g++") is None, reason="no g++: apt-get install g++")
async def test_a_compiler_ends_with_the_sandbox_and_nothing_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GENCODE_HOME", str(tmp_path))
    endless = "constexpr unsigned long f(int n) { return n < 2 ? n : f(n - 1) + f(n - 2); }\n"
    endless += "constexpr unsigned long x = f(60);\nint main() { return x; }\n"
    async with open_sandbox("portable", workers=1) as sandbox:
        running = asyncio.create_task(sandbox.run(Program.from_source("cpp", endless), [""]))
        while not (found := compiling()) and not running.done():
            await asyncio.sleep(0.01)
    assert found
    assert not compiling()
    assert (await running).compilation.status is Status.INTERNAL_ERROR


def compiling() -> list[int]:
    """The processes below this one that are compilers of C++."""
    lines = dict(command_lines())
    return [number for number in descendants() if "cc1plus" in lines.get(number, "")]
