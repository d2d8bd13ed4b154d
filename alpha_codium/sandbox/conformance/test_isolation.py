"""Tests of the isolation of hostile programs, for backends that isolate."""

import asyncio
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from alpha_codium.limits import Limits
from alpha_codium.sandbox import Sandbox
from alpha_codium.sandbox.conformance.backend import Backend
from alpha_codium.sandbox.conformance.processes import hold, marked, require_visible_programs
from alpha_codium.sandbox.conformance.running import run_one, until
from alpha_codium.verdict import Status

pytestmark = pytest.mark.asyncio(loop_scope="module")


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
        program = "import os\nfor number in (15, 1, 2, 19, 9):\n    try: os.kill(-1, number)\n    except OSError: pass"
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
        while time.process_time() < 0.2: pass
        os._exit(0)
for _ in range(3): os.wait()
"""
    execution = await run_one(jailed, program, limits=Limits(cpu_seconds=0.5, wall_seconds=60))
    assert execution.status is Status.TIME_LIMIT_EXCEEDED


async def test_a_stopped_program_that_ignores_signals_ends_at_the_wall_limit(jailed: Sandbox) -> None:
    program = """
import os, signal
for number in set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP}:
    signal.signal(number, signal.SIG_IGN)
os.kill(os.getpid(), signal.SIGSTOP)
"""
    execution = await run_one(jailed, program, limits=Limits(wall_seconds=0.5))
    assert execution.status is Status.TIME_LIMIT_EXCEEDED


async def test_killing_gencode_ends_what_it_runs(jail: Backend, jailed: Sandbox, tmp_path: Path) -> None:
    await require_visible_programs(jailed)
    marker = f"98761.{os.getpid()}"
    host = f"""
import asyncio
from alpha_codium.sandbox import open_sandbox
from alpha_codium import Limits
async def main():
    async with open_sandbox({jail.name!r}, **{ {"workers": 1} | jail.options!r}) as sandbox:
        await sandbox.run({hold(marker)!r}, [""], limits=Limits(wall_seconds=600))
asyncio.run(main())
"""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", host, env=os.environ | {"TMPDIR": str(tmp_path)}
    )
    await until(lambda: marked(marker) or process.returncode is not None)
    assert process.returncode is None
    process.kill()
    await process.wait()
    await until(lambda: not marked(marker))
