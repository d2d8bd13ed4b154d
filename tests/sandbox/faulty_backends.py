"""Backends as users write them, for `test_suite`: one that does what it promises, and some with one fault each.

This file is copied to a folder outside the repository, beside an entry point for each of them.
"""

import json
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

from alpha_codium.program import Job
from alpha_codium.sandbox import Sandbox, open_sandbox
from alpha_codium.verdict import Execution, Identity, Status


class Faithful(Sandbox):
    """Sends jobs as JSON to a sandbox of ours. Has no pairs."""

    inner = "local"

    def __init__(self, **options: Any) -> None:
        self.sandbox = open_sandbox(self.inner, **options)

    async def __aenter__(self) -> Self:
        await self.sandbox.__aenter__()
        return await super().__aenter__()

    async def __aexit__(self, *error: Any) -> None:
        await super().__aexit__(*error)
        await self.sandbox.__aexit__(*error)

    async def identity(self) -> Identity:
        return replace(await self.sandbox.identity(), backend=type(self).__name__)

    async def execute(self, job: Job) -> AsyncGenerator[Execution, None]:
        sent = Job.from_json(json.loads(json.dumps(self.sent(job).to_json())))
        async with aclosing(self.sandbox.execute(sent)) as executions:
            async for execution in executions:
                yield self.received(Execution.from_json(json.loads(json.dumps(execution.to_json()))))

    def sent(self, job: Job) -> Job:
        return job

    def received(self, execution: Execution) -> Execution:
        return execution


class WithoutWalls(Faithful):
    """Isolates nothing, and says so."""

    inner = "portable"

    def __init__(self, **options: Any) -> None:
        super().__init__(**options | {"isolation": False})


class WrongOrder(Faithful):
    async def execute(self, job: Job) -> AsyncGenerator[Execution, None]:
        compilation, *executions = [each async for each in super().execute(job)]
        for each in (compilation, *reversed(executions)):
            yield each


class LosesOutput(Faithful):
    def received(self, execution: Execution) -> Execution:
        return replace(execution, stdout=execution.stdout[: 1 << 16])


class WrongStatus(Faithful):
    def received(self, execution: Execution) -> Execution:
        late = execution.status is Status.TIME_LIMIT_EXCEEDED
        return replace(execution, status=Status.RUNTIME_ERROR) if late else execution


class StartsEarly(Faithful):
    async def execute(self, job: Job) -> AsyncGenerator[Execution, None]:
        for each in [each async for each in super().execute(job)]:
            yield each


class SharesFolder(Faithful):
    """Every program runs in the same folder."""

    inner = "portable"

    def __init__(self, **options: Any) -> None:
        # Isolated, it would show each program a folder of its own.
        super().__init__(**options | {"isolation": False})

    def sent(self, job: Job) -> Job:
        folder = str(Path(__file__).with_name("shared"))
        begin = f"import os; os.makedirs({folder!r}, exist_ok=True); os.chdir({folder!r})\n"
        main = job.program.main
        return replace(job, program=replace(job.program, files={main: begin + job.program.source}))


class GoesOnAfterFailure(Faithful):
    def sent(self, job: Job) -> Job:
        return replace(job, stop_after_failure=False)


class ForgetsTheDriver(Faithful):
    def sent(self, job: Job) -> Job:
        return replace(job, driver="")


class ForgetsLimits(Faithful):
    def sent(self, job: Job) -> Job:
        return replace(job, limits=replace(job.limits, output_bytes=1 << 24))


class SaysNothingOfItself(Faithful):
    identity = Sandbox.identity


class OneAfterTheOther(Faithful):
    """Never runs two programs at a time."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options | {"workers": 1})


class SpoilsText(Faithful):
    def received(self, execution: Execution) -> Execution:
        return replace(execution, stdout=execution.stdout.encode("ascii", "replace").decode())
