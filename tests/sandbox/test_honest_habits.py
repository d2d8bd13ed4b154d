"""Honest programs that a jail failed wrongly, and what no program may change or learn beyond its own test."""

import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from alpha_codium.sandbox import Sandbox, open_sandbox
from alpha_codium.sandbox.conformance.running import run_one
from alpha_codium.sandbox.portable.isolation import namespaces_command

pytestmark = pytest.mark.asyncio(loop_scope="module")
needs_namespaces = pytest.mark.skipif(not namespaces_command(), reason="this machine gives no namespaces")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def local() -> AsyncIterator[Sandbox]:
    async with open_sandbox("local", workers=1) as sandbox:
        yield sandbox


HABITS = {
    "the priority that it has": "import os; print(0 * os.nice(0))",
    "the processors that it has": "import os; os.sched_setaffinity(0, os.sched_getaffinity(0)); print(0)",
    "a file in memory": "import os; f = os.memfd_create('x'); os.write(f, b'x'); print(os.fstat(f).st_size - 1)",
    "the name of its user": "import getpass; print(0 * len(getpass.getuser()))",
    "its file on the disk": "import os; f = open('x', 'w'); f.write('x'); os.fsync(f); print(0)",
    "advice on a file": "import os; f = open('x', 'w'); os.posix_fadvise(f.fileno(), 0, 0, 4); print(0)",
}
STACK = """
import sys, threading
sys.setrecursionlimit(10**6)
threading.stack_size({} << 20)
def depth(n):
    return depth(n - 1) if n else n
thread = threading.Thread(target=lambda: print(depth(50_000)))
thread.start()
thread.join()
"""


@needs_namespaces
@pytest.mark.parametrize("name", HABITS)
async def test_a_program_may_have(name: str, local: Sandbox) -> None:
    execution = await run_one(local, HABITS[name])
    assert (execution.stdout, execution.stderr) == ("0\n", "")


@needs_namespaces
@pytest.mark.parametrize("size", [64, 1024, 2047])
async def test_a_thread_may_have_a_stack_of_two_gigabytes_of_which_it_uses_little(size: int, local: Sandbox) -> None:
    assert (await run_one(local, STACK.format(size))).stdout == "0\n"


@pytest.mark.thorough
@needs_namespaces
async def test_a_large_stack_gives_no_more_memory(local: Sandbox) -> None:
    execution = await run_one(local, "import threading\nthreading.stack_size(2047 << 20)\nx = bytearray(1500 << 20)")
    assert execution.status == "memory_limit_exceeded"


SHARED = """
import os
found = [os.path.exists(folder + "/left") for folder in ("/tmp", "/dev/shm", ".")]
for folder in ("/tmp", "/dev/shm", "."):
    open(folder + "/left", "w").close()
print(found, len(os.listdir("/tmp")))
"""


@needs_namespaces
async def test_programs_have_a_tmp_where_the_interpreter_is_below_it(tmp_path: Path) -> None:
    if not tmp_path.is_relative_to("/tmp"):
        pytest.skip("temporary files aren't in /tmp")
    (tmp_path / "bin").mkdir()
    (tmp_path / "lib").mkdir()
    (tmp_path / "bin/python3").symlink_to(sys.executable)
    (tmp_path / "pyvenv.cfg").write_text(f"home = {Path(sys.executable).resolve().parent}\n")
    version = f"python{sys.version_info[0]}.{sys.version_info[1]}"
    packages = tmp_path / "lib" / version / "site-packages"
    packages.mkdir(parents=True)
    (packages / "of_the_interpreter.py").write_text("answer = 42\n")
    async with open_sandbox("local", workers=1, interpreter=str(tmp_path / "bin/python3")) as sandbox:
        report = await sandbox.run(SHARED, ["", ""])
        assert [each.stdout for each in report.executions] == ["[False, False, False] 2\n"] * 2
        seen = await run_one(sandbox, "import of_the_interpreter as it; print(it.answer); open(it.__file__, 'a')")
        assert seen.stdout == "42\n" and seen.stderr.splitlines()[-1].startswith(("OSError", "PermissionError"))


LEARNING = """
import os
def attempt(action):
    try:
        return bool(action())
    except OSError:
        return False
devices = ["/dev/" + name for name in ("null", "zero", "full", "random", "urandom")]
library = os.open(os.__file__, os.O_RDONLY)
print([name for name in devices if attempt(lambda: os.utime(name) is None)])
print([name for name in devices if attempt(lambda: os.chmod(name, 0o666) is None)])
print(attempt(lambda: os.preadv(library, [bytearray(1)], 0, os.RWF_NOWAIT)))
print(sum(open(name, "w").write("x") for name in ("/dev/null", "/dev/zero")))
print(open("/proc/self/cmdline").read().rstrip("\\0").split("\\0"))
"""


@needs_namespaces
async def test_a_program_leaves_nothing_in_devices_and_learns_nothing_from_the_cache_or_its_command(
    local: Sandbox,
) -> None:
    assert (await run_one(local, LEARNING)).stdout == "[]\n[]\nFalse\n2\n['python3', 'program.py']\n"
