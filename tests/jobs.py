"""Jobs for sandboxes under test, and sandboxes that run nothing."""

from collections.abc import AsyncGenerator, Sequence
from typing import Self

from alpha_codium.limits import Limits
from alpha_codium.program import Job, PairJob
from alpha_codium.sandbox import Sandbox
from alpha_codium.verdict import Execution, Identity, PairReport, Report


class FakeSandbox(Sandbox):
    """A sandbox that runs nothing: subclasses say what comes of a program."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        pass

    async def identity(self) -> Identity:
        return Identity(type(self).__name__, "1", "none")

    async def report(self, program: str, inputs: Sequence[str], limits: Limits) -> Report:
        raise NotImplementedError

    async def execute(self, job: Job) -> AsyncGenerator[Execution, None]:
        report = await self.report(job.program.source, job.inputs, job.limits)
        yield report.compilation
        for execution in report.executions:
            yield execution


class WrappedSandbox(Sandbox):
    """A sandbox in front of another one; subclasses change what goes in or comes out."""

    def __init__(self, sandbox: Sandbox) -> None:
        self.sandbox, self.has_turns = sandbox, sandbox.has_turns

    def execute(self, job: Job) -> AsyncGenerator[Execution, None]:
        return self.sandbox.execute(job)

    async def execute_pair(self, job: PairJob) -> PairReport:
        return await self.sandbox.execute_pair(job)
