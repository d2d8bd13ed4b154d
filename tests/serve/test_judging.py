"""Batches of programs at which the server itself fails."""

from collections.abc import AsyncGenerator

from alpha_codium.judge.executors import LocalPool, Task
from alpha_codium.judge.many import judge_all
from alpha_codium.problem import ExecutionSpec, Problem, TestCase
from alpha_codium.program import Job, Program
from alpha_codium.sandbox import Sandbox, open_sandbox
from alpha_codium.serve.judging import ClientTurns
from alpha_codium.serve.load import Load
from alpha_codium.verdict import Execution, Verdict


class BrokenSandbox(Sandbox):
    """One that works, but raises an exception for programs that mention `lost`."""

    def __init__(self, inner: Sandbox) -> None:
        self.inner = inner

    async def execute(self, job: Job) -> AsyncGenerator[Execution, None]:
        if "lost" in job.program.source:
            raise RuntimeError("a bug")
        async for execution in self.inner.execute(job):
            yield execution


async def test_an_exception_at_one_program_takes_no_verdict_from_others() -> None:
    reads = Problem("reads", private_tests=(TestCase("", "1"),))
    asserts = Problem("asserts", private_tests=(TestCase("assert x == 1", ""),), execution=ExecutionSpec("assertions"))
    sources = [(reads, "print(1)"), (reads, "lost"), (asserts, "x = 1"), (asserts, "x = 1 # lost"), (asserts, "x = 2")]
    tasks = [Task(Program.from_source("python3", source), each, each.private_tests) for each, source in sources]
    async with open_sandbox("local", workers=1) as inner:
        turns = ClientTurns(LocalPool(BrokenSandbox(inner), 1), Load(1, 100), "client")
        found = await judge_all(tasks, turns)
    lost, others = [found[1], found[3]], [found[0], found[2], found[4]]
    assert [each.message for each in lost] == ["the server failed (RuntimeError); its log has the traceback"] * 2
    assert [each.verdict for each in others] == [Verdict.ACCEPTED, Verdict.ACCEPTED, Verdict.WRONG_ANSWER]
