"""Programs that can't be compiled for what they take: said to be so, wherever the sandbox runs."""

import pytest

from alpha_codium.limits import Limits
from alpha_codium.sandbox import open_sandbox
from alpha_codium.sandbox.engine.session import LARGEST_PROGRAM
from alpha_codium.sandbox.portable.isolation import namespaces_command
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
        monkeypatch.setattr("alpha_codium.sandbox.engine.worker.open_worker_group", lambda _name: None)
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
