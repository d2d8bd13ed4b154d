"""What a jail must keep a hostile program from. Runs only in backends that isolate; see `backends`."""

import os
import socket
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from alpha_codium.errors import SandboxError, UserError
from alpha_codium.limits import Limits
from alpha_codium.sandbox import Sandbox, open_sandbox
from alpha_codium.sandbox.portable.isolation import isolating_command
from alpha_codium.verdict import Status
from tests.sandbox.backends import Backend, hold, marked
from tests.sandbox.test_conformance import run_one, until
from tests.support import shared_path


async def test_there_is_no_network_not_even_to_ourselves(jailed: Sandbox) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        program = f"""
import socket
for address in (("127.0.0.1", {port}), ("8.8.8.8", 53), ("::1", {port})):
    try:
        socket.create_connection(address, 2)
        print("reached", address)
    except OSError as error:
        print(type(error).__name__)
"""
        execution = await run_one(jailed, program)
    assert execution.status is Status.FINISHED
    assert "reached" not in execution.stdout


async def test_abstract_unix_sockets_of_the_host_are_out_of_reach(jailed: Sandbox) -> None:
    name = f"\0gencode-test-{os.getpid()}"
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(name)
        server.listen()
        execution = await run_one(jailed, f"import socket\nsocket.socket(socket.AF_UNIX).connect({name!r})")
    assert "ConnectionRefusedError" in execution.stderr or "PermissionError" in execution.stderr


async def test_other_processes_can_neither_be_seen_nor_signalled(jailed: Sandbox) -> None:
    program = f"""
import os
print(len([name for name in os.listdir("/proc") if name.isdigit()]) <= 2)  # it, and the first of its namespace
try:
    os.kill({os.getpid()}, 0)
    print("seen")
except ProcessLookupError:
    print("not there")
"""
    if os.getpid() < 100:
        pytest.skip("a small number might stand for another process in there")
    assert (await run_one(jailed, program)).stdout == "True\nnot there\n"


async def test_killing_all_it_can_reach_kills_the_program_only(jailed: Sandbox) -> None:
    witness = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    try:
        program = shared_path("hostile/14_kill_all.py").read_text()
        report = await jailed.run(program, ["", ""])
        assert [e.status for e in report.executions if e.status is Status.INTERNAL_ERROR] == []
        killing_init = "import os, signal\nfor s in (9, 15, 19, 1, 2):\n    os.kill(1, s)\nprint('done')"
        assert (await run_one(jailed, killing_init)).stdout == "done\n"
        assert witness.poll() is None
    finally:
        witness.communicate(b"\n")


async def test_a_daemon_is_dead_before_the_next_test_and_its_output_is_nobodys(jailed: Sandbox) -> None:
    marker = f"98762.{os.getpid()}"
    program = f"""
import os
print("first", flush=True)
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        import ctypes
        ctypes.CDLL(None).prctl(15, b"{marker}", 0, 0, 0)
        while True: os.write(1, b"late\\n")
    os._exit(0)
os._exit(0)
"""
    report = await jailed.run(program, ["", "", ""], limits=Limits(output_bytes=10_000_000))
    for execution in report.executions:
        assert execution.status is Status.FINISHED
        assert execution.stdout.startswith("first\n")
    assert (await run_one(jailed, "print('clean')")).stdout == "clean\n"
    await until(lambda: not marked(marker))


async def test_cpu_time_of_children_counts(jailed: Sandbox) -> None:
    program = """
import os, time
for _ in range(3):
    if os.fork() == 0:
        while time.process_time() < 0.4: pass
        os._exit(0)
for _ in range(3): os.wait()
"""
    execution = await run_one(jailed, program, limits=Limits(cpu_seconds=1, wall_seconds=60))
    assert execution.status is Status.TIME_LIMIT_EXCEEDED


async def test_a_stopped_program_that_ignores_signals_ends_at_the_wall_limit(jailed: Sandbox) -> None:
    program = shared_path("hostile/05_sigstop_self.py").read_text()
    execution = await run_one(jailed, program, limits=Limits(wall_seconds=0.5))
    assert execution.status is Status.TIME_LIMIT_EXCEEDED


HARMLESS_ATTACKS = {
    "10_stderr_flood.py": {Status.TIME_LIMIT_EXCEEDED, Status.FINISHED, Status.OUTPUT_LIMIT_EXCEEDED},
    "11_print_flood_buffered.py": {Status.OUTPUT_LIMIT_EXCEEDED},
    "13_daemon_late_output.py": {Status.FINISHED},
    "26_fd_leak.py": {Status.FINISHED},
    "31_deep_recursion.py": {Status.RUNTIME_ERROR, Status.MEMORY_LIMIT_EXCEEDED, Status.TIME_LIMIT_EXCEEDED},
    "32_swallow_timeout.py": {Status.TIME_LIMIT_EXCEEDED},
    "35_close_stdio.py": {Status.FINISHED, Status.RUNTIME_ERROR},
    "53_zombie_army.py": {Status.FINISHED},
    "55_compile_bomb_nested.py": {Status.RUNTIME_ERROR, Status.COMPILATION_ERROR},
    "56_null_and_bad_encoding.py": {Status.COMPILATION_ERROR},
    "59_tiocsti.py": {Status.FINISHED},
    "61_atexit_hang.py": {Status.TIME_LIMIT_EXCEEDED},
}
# Those that wait, and so reach the wall limit.
WALL = {"10_stderr_flood.py": 3, "61_atexit_hang.py": 2}


@pytest.mark.parametrize("name", HARMLESS_ATTACKS)
async def test_an_attack_on_the_judge_ends_as_it_should(jailed: Sandbox, name: str) -> None:
    program = shared_path(f"hostile/{name}").read_text()
    report = await jailed.run(program, ["a line\n"], limits=Limits(cpu_seconds=0.9, wall_seconds=WALL.get(name, 60)))
    end = report.executions[0] if report.compiled else report.compilation
    assert end.status in HARMLESS_ATTACKS[name], end
    assert name.startswith("13") or "ESCAPED" not in end.stdout
    assert (await run_one(jailed, "print('next')")).stdout == "next\n"


def test_killing_gencode_ends_what_it_runs(jail: Backend, tmp_path: Path) -> None:
    marker = f"98761.{os.getpid()}"
    host = f"""
import asyncio
from alpha_codium.sandbox import open_sandbox
from alpha_codium import Limits
async def main():
    async with open_sandbox({jail.name!r}, workers=1, **{jail.options!r}) as sandbox:
        await sandbox.run({hold(marker)!r}, [""], limits=Limits(wall_seconds=600))
asyncio.run(main())
"""
    process = subprocess.Popen([sys.executable, "-c", host], env=os.environ | {"TMPDIR": str(tmp_path)})
    wait_until(lambda: marked(marker) or process.poll() is not None)
    assert process.poll() is None
    process.kill()
    process.wait()
    wait_until(lambda: not marked(marker))


def wait_until(condition: object) -> None:
    while not condition():  # type: ignore[operator]
        threading.Event().wait(0.01)


def test_a_complete_jail_is_refused_in_one_line_by_a_backend_that_gives_none() -> None:
    with pytest.raises(SandboxError) as caught:
        isolating_command("strict")
    assert "\n" not in str(caught.value) and "code_tester.sandbox=true" in str(caught.value)


async def test_a_machine_without_namespaces_is_refused_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("alpha_codium.sandbox.portable.isolation.namespaces_command", lambda: ())
    with pytest.raises(SandboxError) as caught:
        async with open_sandbox("portable"):
            pass
    assert "\n" not in str(caught.value) and "code_tester.sandbox=false" in str(caught.value)


def test_an_unknown_backend_is_named_with_the_nearest_one() -> None:
    with pytest.raises(UserError, match=r"no sandbox(e)? 'locale' \(did you mean 'local'\?\)"):
        open_sandbox("locale")
