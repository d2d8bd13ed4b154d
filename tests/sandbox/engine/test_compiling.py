"""Programs that can't be compiled for what they take: said to be so, wherever the sandbox runs."""

import contextlib
import os
import shutil
import signal
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from alpha_codium.languages import tools
from alpha_codium.limits import Limits
from alpha_codium.program import Job, Program
from alpha_codium.sandbox import open_sandbox
from alpha_codium.sandbox.engine.session import LARGEST_PROGRAM
from alpha_codium.sandbox.portable.isolation import namespaces_command
from alpha_codium.sandbox.protocol import report_of
from alpha_codium.verdict import Status

MIB = 2**20
# Its tree takes hundreds of megabytes.
LISTS = "x = [" + "[], " * 600_000 + "]\n"


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("backend", "counted"),
    [("local", True), ("local", False), ("portable", True)],
    ids=["local", "local without a control group", "portable"],
)
async def test_a_program_that_takes_too_much_memory_to_compile_does_not_compile(
    backend: str, counted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not counted:
        monkeypatch.setattr("alpha_codium.sandbox.engine.channel.open_worker_group", lambda _name: None)
    async with open_sandbox(backend, workers=1, isolation=bool(namespaces_command())) as sandbox:
        report = await sandbox.run(LISTS, [""], limits=Limits(memory_bytes=64 * MIB))
        following = await sandbox.run("print(1)", [""], limits=Limits(memory_bytes=64 * MIB))
    assert report.compilation.status is Status.COMPILATION_ERROR, report.compilation
    assert "emory" in report.compilation.stderr
    assert following.executions[0].stdout == "1\n"


@pytest.mark.thorough
async def test_a_program_for_which_there_is_no_room_does_not_compile() -> None:
    async with open_sandbox("local", workers=1, isolation=bool(namespaces_command())) as sandbox:
        report = await sandbox.run("#" * (LARGEST_PROGRAM + 1), [""])
        following = await sandbox.run("#" * (LARGEST_PROGRAM - 10) + "\nprint(1)", [""])
    assert report.compilation.status is Status.COMPILATION_ERROR
    assert report.compilation.stderr.startswith("the program is too large")
    assert following.executions[0].stdout == "1\n"


def is_ours(pid: str) -> bool:
    """Whether a process descends from this one."""
    while pid not in ("0", str(os.getpid())):
        pid = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1]
    return pid != "0"


@contextlib.contextmanager
def killing(name: str, times: int) -> Iterator[list[int]]:
    """Kill so many of our descendants of this name, as the machine's OOM killer may; yield their process ids."""
    killed, over = list[int](), threading.Event()

    def work() -> None:
        while not over.wait(0.002) and len(killed) < times:
            for entry in Path("/proc").glob("[0-9]*"):
                with contextlib.suppress(OSError):
                    if int(entry.name) not in killed and (entry / "comm").read_text().strip() == name:
                        pidfd = os.pidfd_open(int(entry.name))
                        try:
                            if is_ours(entry.name):
                                signal.pidfd_send_signal(pidfd, signal.SIGKILL)
                                killed.append(int(entry.name))
                        finally:
                            os.close(pidfd)

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield killed
    finally:
        over.set()
        thread.join()


# Compiling it takes some tenths of a second.
LONG_C = "".join(f"int f{n}(int a) {{ return a * {n} + (a >> {n % 31}); }}\n" for n in range(1500))
LONG_C += '#include <stdio.h>\nint main(void) { printf("%d\\n", f1(41)); }\n'


@pytest.mark.thorough
@pytest.mark.skipif(shutil.which("gcc") is None, reason="no gcc: apt-get install gcc libc6-dev")
@pytest.mark.parametrize("name", ["cc1", "ld", "gcc"])
@pytest.mark.parametrize("times", [1, 2])
async def test_a_compiler_that_something_else_killed_is_started_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, times: int
) -> None:
    monkeypatch.setenv("GENCODE_HOME", str(tmp_path))
    async with open_sandbox("local", workers=1) as sandbox:
        with killing(name, times) as killed:
            report = await report_of(sandbox, Job(Program.from_source("c", LONG_C), ("",)))
    if len(killed) < times:
        pytest.skip(f"{name} ended before it could be killed")
    assert report.last.stdout == "61\n", report


FORGED = """#error "ld terminated with signal 9 [Killed]"
_Static_assert(0, "\\ngcc: fatal error: Killed signal terminated program cc1");
"""


@pytest.mark.skipif(shutil.which("gcc") is None, reason="no gcc: apt-get install gcc libc6-dev")
async def test_a_program_that_prints_what_a_killed_compiler_prints_does_not_compile() -> None:
    async with open_sandbox("local", workers=1, isolation=bool(namespaces_command())) as sandbox:
        report = await report_of(sandbox, Job(Program.from_source("c", FORGED), ("",)))
    assert report.compilation.status is Status.COMPILATION_ERROR


def test_a_tool_that_is_killed_while_it_tells_its_version_is_asked_again(tmp_path: Path) -> None:
    tool = tmp_path / "tool"
    tool.write_text(f"#!/bin/sh\nif mkdir {tmp_path}/first; then kill -9 $$; fi\necho tool 1.0\n")
    tool.chmod(0o755)
    assert tools.find_tool("C", str(tool), "gcc").version == "tool 1.0"
