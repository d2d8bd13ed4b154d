"""What `Sandbox` gives a backend that has only the two required methods."""

from collections.abc import AsyncGenerator

import alpha_codium as ac
from alpha_codium.program import Job
from alpha_codium.verdict import Execution, Identity, Status, Verdict


class Constant(ac.Sandbox):
    """A backend that runs nothing: every program prints 1."""

    async def identity(self) -> Identity:
        return Identity("constant", "1", "none")

    async def execute(self, job: Job) -> AsyncGenerator[Execution, None]:
        yield Execution(Status.FINISHED)
        for _ in job.inputs:
            yield Execution(Status.FINISHED, stdout="1\n")


async def test_a_backend_needs_only_execute_and_identity() -> None:
    sandbox = Constant()
    async with sandbox as opened:
        assert opened is sandbox
        judgement = await ac.judge_program_async("anything", [("", "1\n")], sandbox=sandbox)
        assert (judgement.verdict, sandbox.loop is None) == (Verdict.ACCEPTED, False)
    assert sandbox.loop is None
