"""What users read where a sandbox isn't available, and where they ask for too many workers."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from loguru import logger

from alpha_codium.cli.options import said
from alpha_codium.errors import SandboxError
from alpha_codium.sandbox import open_sandbox
from alpha_codium.sandbox.local import backend
from alpha_codium.sandbox.portable.isolation import isolating_command, namespaces_command
from alpha_codium.wording import counted


def test_advice_is_python_for_python_and_an_option_for_the_command_line() -> None:
    error = backend.no_jail("no namespaces")
    assert str(error).endswith("disable isolation at your own risk with `ac.open_sandbox(isolation=False)`")
    assert said(str(error)).endswith("with -o code_tester.sandbox=false")
    with pytest.raises(
        SandboxError, match=r"`ac.open_sandbox\(isolation=True\)`, or `ac.open_sandbox\('local'\)`"
    ) as caught:
        isolating_command("strict")
    assert "-o code_tester.tester_type=local" in said(str(caught.value))


def test_in_gvisor_the_advice_names_the_backend_that_works_there(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(backend, "GVISOR", tmp_path)
    error = backend.no_jail("no namespaces")
    assert "`ac.open_sandbox('gvisor')`" in str(error) and "--user=0 --cap-add=SYS_ADMIN" in str(error)
    assert "-o code_tester.tester_type=gvisor" in said(str(error))
    assert "sandbox=false" not in said(str(error))


@pytest.mark.parametrize("name", ["local", "portable", "gvisor"])
def test_far_more_workers_than_cores_are_capped_with_a_warning(name: str) -> None:
    cores = os.cpu_count() or 1
    most, messages = max(32, 8 * cores), list[str]()
    sink = logger.add(messages.append, format="{message}")
    try:
        assert [open_sandbox(name, workers=asked).workers for asked in (0, most)] == [cores, most]
        assert messages == []
        assert open_sandbox(name, workers=900).workers == most
        assert messages == [f"workers = 900 is too many for {counted(cores, 'core')}: {most} programs run at a time\n"]
    finally:
        logger.remove(sink)


AS_PROCESS_1 = """
import asyncio, os, signal
from pathlib import Path
from alpha_codium.sandbox import open_sandbox
async def main():
    assert os.getpid() == 1
    async with open_sandbox("local", workers=1) as sandbox:
        await sandbox.run("print(1)", [""])
        (outside,) = map(int, "".join(each.read_text() for each in Path("/proc/self/task").glob("*/children")).split())
        os.kill(outside, signal.SIGKILL)
        print((await sandbox.run("print(2)", [""])).executions[0].stdout.strip())
    stats = [path.read_text() for path in Path("/proc").glob("[0-9]*/stat")]
    print([stat for stat in stats if stat.rpartition(")")[2].split()[0] == "Z"])
asyncio.run(main())
"""


@pytest.mark.skipif(os.geteuid() != 0 or not namespaces_command(), reason="needs root and namespaces")
def test_no_zombie_is_left_where_gencode_is_process_1() -> None:
    command = ["unshare", "--pid", "--fork", "--mount-proc", sys.executable, "-c", AS_PROCESS_1]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert done.stdout == "2\n[]\n", done.stderr
