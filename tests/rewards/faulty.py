"""A sandbox that fails at random, or on some inputs, around one that works."""

import random
from collections.abc import AsyncGenerator, Collection
from contextlib import aclosing
from typing import Any, Self

from alpha_codium.program import Job
from alpha_codium.sandbox import Sandbox, open_sandbox
from alpha_codium.verdict import Execution, Identity, Status

FAULT = Execution(Status.INTERNAL_ERROR, stderr="the worker was lost")


class FaultySandbox(Sandbox):
    """Loses an execution with a probability of `rate`, and always those on the inputs `never`."""

    def __init__(self, rate: float = 0.0, never: Collection[str] = (), seed: int = 0, **options: Any) -> None:
        self.inner, self.rate, self.never = open_sandbox(**options), rate, never
        self.random, self.asked, self.lost = random.Random(seed), 0, 0
        self.workers = options.get("workers", 0)

    async def __aenter__(self) -> Self:
        await self.inner.__aenter__()
        return await super().__aenter__()

    async def __aexit__(self, *error: Any) -> None:
        await super().__aexit__(*error)
        await self.inner.__aexit__(*error)

    async def identity(self) -> Identity:
        return await self.inner.identity()

    async def execute(self, job: Job) -> AsyncGenerator[Execution, None]:
        inputs = iter(job.inputs)
        async with aclosing(self.inner.execute(job)) as executions:
            yield await anext(executions)
            async for execution in executions:
                self.asked += 1
                fails = next(inputs) in self.never or self.random.random() < self.rate
                self.lost += fails
                yield FAULT if fails else execution
