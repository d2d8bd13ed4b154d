"""What the portable backend alone does; what all do stands in `test_conformance`."""

import asyncio
import contextlib
import os
import signal

from alpha_codium.sandbox import open_sandbox
from alpha_codium.sandbox.conformance.processes import command_lines, descendants
from alpha_codium.sandbox.portable.isolation import namespaces_command
from alpha_codium.verdict import Status
from tests.sandbox.fault_kinds import LONG


async def test_a_compiler_that_was_killed_is_not_the_programs_fault() -> None:
    async with open_sandbox("portable", workers=1, isolation=bool(namespaces_command())) as sandbox:
        running = asyncio.create_task(sandbox.run(LONG, ["1\n"]))
        while not (found := compilers()) and not running.done():
            await asyncio.sleep(0.01)
        for number in found:
            with contextlib.suppress(ProcessLookupError):
                os.kill(number, signal.SIGKILL)
        report = await running
    assert found
    assert (report.compilation.status, report.executions) == (Status.INTERNAL_ERROR, ())


def compilers() -> list[int]:
    """The processes below this one that compile a program."""
    lines = dict(command_lines())
    return [n for n in descendants() if "import sys; compile(" in lines.get(n, "")]
