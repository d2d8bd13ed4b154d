"""Helpers that run a program in a sandbox, for the tests of the suite."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import aclosing

from alpha_codium.limits import Limits
from alpha_codium.program import PYTHON, PairJob, Program, Side
from alpha_codium.sandbox import Sandbox
from alpha_codium.sandbox.protocol import job_of
from alpha_codium.verdict import Execution, PairReport


async def run_one(sandbox: Sandbox, program: str, text: str = "", limits: Limits | None = None) -> Execution:
    """Run a program, which must compile, on one input."""
    report = await sandbox.run(program, [text], limits=limits)
    assert report.compiled, report.compilation
    return report.executions[0]


async def until(condition: Callable[[], object]) -> None:
    """Wait until a condition is true, up to the test's time limit."""
    while not condition():  # noqa: ASYNC110 - there is no event to wait for
        await asyncio.sleep(0.03)


def side(source: str, driver: str = "", input: str = "") -> Side:
    """One side of a pair: a Python program."""
    return Side(Program.from_source(PYTHON, source), driver, input)


async def run_pair(sandbox: Sandbox, left: Side, right: Side, limits: Limits | None = None) -> PairReport:
    """Run a pair."""
    return await sandbox.execute_pair(PairJob(left, right, limits or Limits()))


async def run_until(
    sandbox: Sandbox, program: str, inputs: Sequence[str], stop: Callable[[int, Execution], bool],
    limits: Limits | None = None,
) -> list[Execution]:  # fmt: skip
    """Run inputs until `stop` returns true; return the executions."""
    kept: list[Execution] = []
    async with aclosing(sandbox.execute(job_of(program, inputs, limits))) as executions:
        assert (await anext(executions)).finished
        async for execution in executions:
            kept.append(execution)
            if stop(len(kept) - 1, execution):
                break
    return kept
