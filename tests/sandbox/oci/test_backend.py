"""The oci backend in real containers: in gVisor, under runc, and where a container may not make namespaces.

The whole conformance suite runs on it with the slow tests; a start of a container takes podman seconds.
"""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from alpha_codium.errors import SandboxError
from alpha_codium.limits import Limits
from alpha_codium.sandbox.conformance.processes import descendants
from alpha_codium.sandbox.conformance.running import run_one, run_pair, side, until
from alpha_codium.sandbox.engine.channel import Channel
from alpha_codium.sandbox.oci.backend import OciSandbox
from alpha_codium.verdict import Status
from tests.sandbox.oci.environment import STORE, options

pytestmark = pytest.mark.timeout(300)

LIMITED = {
    "print(input()[::-1])": (Status.FINISHED, "cba\n"),
    "while True: pass": (Status.TIME_LIMIT_EXCEEDED, ""),
    "x = bytearray(1 << 30)": (Status.MEMORY_LIMIT_EXCEEDED, ""),
    "while True: print('x' * 99)": (Status.OUTPUT_LIMIT_EXCEEDED, ("x" * 99 + "\n") * 10),
    "import os; os.abort()": (Status.RUNTIME_ERROR, ""),
    "open('left', 'w').write('x' * 100); print(1)": (Status.FINISHED, "1\n"),
    "import os; print(os.listdir('.'), os.getuid() > 0)": (Status.FINISHED, "['program.py'] True\n"),
    "import socket; socket.socket()": (Status.RUNTIME_ERROR, ""),
    # podman would put the host's names for others in there.
    "import os; print(os.path.exists('/etc/hosts'))": (Status.FINISHED, "False\n"),
}
LIMITS = Limits(cpu_seconds=0.8, wall_seconds=30, memory_bytes=2**28, output_bytes=1000)
FORK = "import os\nif os.fork() == 0: os._exit(3)\nprint(os.wait()[1] >> 8)"

KILL = """
import os
for number in (1, os.getppid(), -1):
    try:
        os.kill(number, 9)
    except PermissionError:
        print("no")
"""


@pytest.mark.thorough
@pytest.mark.parametrize("runtime", ["runsc", "runc"])
async def test_programs_are_held_to_every_limit_in_a_container(runtime: str) -> None:
    before = set(descendants())
    async with OciSandbox(workers=1, isolation="strict", **options(runtime)) as sandbox:
        for program, (status, stdout) in LIMITED.items():
            execution = await run_one(sandbox, program, "abc\n", LIMITS)
            assert (execution.status, execution.stdout) == (status, stdout), (program, execution)
        forked = await run_one(sandbox, FORK)
        assert forked.stdout == "3\n" or not sandbox.layers[3].used, forked
        pair = await run_pair(sandbox, side("import os\nos.write(3, b'hi')"), side("import os\nprint(os.read(3, 9))"))
        assert pair.right.executions[0].stdout == "b'hi'\n"
    await until(lambda: set(descendants()) <= before)


def containers_of_this_process() -> str:
    """The ids of containers that this process started; runs that were killed may have left others in the store."""
    listing = f"{options('runc')['engine']} ps --all --quiet --filter=name=gencode-{os.getpid()}-"
    return subprocess.run(listing.split(), capture_output=True, text=True, check=True).stdout


@pytest.fixture
def without_namespaces(tmp_path: Path) -> dict[str, Any]:
    """A container whose programs are forbidden to make namespaces, as Docker's own profile forbids it."""
    profile = tmp_path / "seccomp.json"
    refused = {"names": ["unshare", "setns"], "action": "SCMP_ACT_ERRNO", "errnoRet": 1}
    profile.write_text(json.dumps({"defaultAction": "SCMP_ACT_ALLOW", "syscalls": [refused]}))
    return {**options("runc"), "options": f"--security-opt=seccomp={profile}"}


@pytest.mark.thorough
async def test_without_namespaces_a_test_is_one_process_that_signals_itself_only(
    without_namespaces: dict[str, Any],
) -> None:
    async with OciSandbox(workers=1, **without_namespaces) as sandbox:
        assert not {layer.name: layer.used for layer in sandbox.layers}["namespaces"]
        assert "BlockingIOError" in (await run_one(sandbox, FORK)).stderr
        assert (await run_one(sandbox, KILL)).stdout == "no\n" * 3
        threads = "import threading\nt = threading.Thread(target=print, args=('thread',)); t.start(); t.join()"
        assert (await run_one(sandbox, threads)).stdout == "thread\n"
        assert (await run_one(sandbox, "import os; os.kill(os.getpid(), 9)")).signal == 9
        sleeping = await run_one(sandbox, "import time; time.sleep(60)", limits=Limits(wall_seconds=0.5))
        assert sleeping.status is Status.TIME_LIMIT_EXCEEDED
        assert (await run_one(sandbox, "print('next')")).stdout == "next\n"


@pytest.mark.thorough
async def test_a_complete_jail_is_refused_where_a_container_gives_none(without_namespaces: dict[str, Any]) -> None:
    with pytest.raises(SandboxError, match=r"complete isolation.*namespaces") as caught:
        async with OciSandbox(workers=1, isolation="strict", **without_namespaces):
            pass
    assert "\n" not in str(caught.value)


async def test_an_interpreter_that_the_image_does_not_have_is_said() -> None:
    with pytest.raises(SandboxError, match="has no interpreter '/no/python'") as caught:
        async with OciSandbox(workers=1, interpreter="/no/python", **options("runc")):
            pass
    assert "\n" not in str(caught.value)


@pytest.mark.thorough
async def test_a_gvisor_that_the_backend_does_not_know_of_is_refused_for_what_it_lets_through() -> None:
    """As a user who isn't root, a program in gVisor of 2022 can open what the agent has open: so it isn't used."""
    given = options("runsc")
    runsc = Path(given.pop("runtime"))
    other = STORE / "hidden-kernel"
    if not other.exists():
        other.symlink_to(runsc)
    with pytest.raises(SandboxError, match=r"doesn't isolate programs.*can be opened"):
        async with OciSandbox(workers=1, runtime=str(other), **given):
            pass


@pytest.mark.thorough
async def test_a_large_input_is_carried_whole_and_needs_no_room_of_the_program() -> None:
    program = "import sys\nprint(sum(map(len, iter(lambda: sys.stdin.buffer.read(1 << 20), b''))))"
    size, limits = 90 << 20, Limits(cpu_seconds=60, memory_bytes=64 << 20)
    async with OciSandbox(workers=1, **options("runc")) as sandbox:
        report = await sandbox.run(program, ["x" * size, "abc"], limits=limits)
    assert [execution.stdout for execution in report.executions] == [f"{size}\n", "3\n"]


@pytest.mark.thorough
async def test_a_sandbox_that_is_left_while_a_container_starts_runs_nothing_in_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with OciSandbox(workers=1, **options("runc")) as sandbox:
        worker = sandbox._slots[0].plain
        worker.discard()
        start = worker.start

        def start_and_leave() -> Channel:
            channel = start()
            worker.close()
            return channel

        monkeypatch.setattr(worker, "start", start_and_leave)
        report = await sandbox.run("print(1)", [""])
    assert report.compilation.status is Status.INTERNAL_ERROR and "closed" in report.compilation.stderr


async def test_this_suite_leaves_no_container_behind() -> None:
    await until(lambda: not containers_of_this_process())
