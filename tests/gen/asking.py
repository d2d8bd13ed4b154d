"""A model in this process, for tests in which the model is not what is under test."""

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path

from alpha_codium.config import Settings
from alpha_codium.flows import load_flow
from alpha_codium.gen.sample import Solver
from alpha_codium.gen.sample_model import SampleModel
from alpha_codium.judge import Judge, Rules
from alpha_codium.limits import Limits
from alpha_codium.llm.messages import Answer, ChatRequest, Message
from alpha_codium.problem import Problem, TestCase
from alpha_codium.verdict import Execution, Report, Status
from tests.gen.running import ECHO
from tests.jobs import FakeSandbox

HELLO = ChatRequest((Message("user", "hello"),), temperature=0.2)


class FakeModel:
    """Answers with what `reply` gives for the number of the request; an exception is raised."""

    name = "fake"
    by_schema = False

    def __init__(self, reply: Callable[[int], str | BaseException] = lambda _number: ECHO) -> None:
        self.reply = reply
        self.requests: list[ChatRequest] = []

    async def ask(self, request: ChatRequest) -> Answer:
        self.requests.append(request)
        said = self.reply(len(self.requests))
        await asyncio.sleep(0)
        if isinstance(said, BaseException):
            raise said
        return Answer(said, self.name, prompt_tokens=10, completion_tokens=2, cost=0.25)

    async def ask_many(self, request: ChatRequest, n: int) -> list[Answer]:
        return [await self.ask(request) for _ in range(n)]

    def supports_n(self, _model: str = "") -> bool:
        return True

    def supports_json_schema(self, _model: str = "") -> bool:
        return self.by_schema


class EchoSandbox(FakeSandbox):
    """Takes every program for `print(input())`, without running it."""

    async def report(self, program: str, inputs: Sequence[str], limits: Limits) -> Report:
        return Report(Execution(Status.FINISHED), tuple(Execution(Status.FINISHED, stdout=text) for text in inputs))


def solver_of(model: FakeModel, flow: str | Path = "baseline", settings: Settings | None = None) -> Solver:
    """A solver with the fake model, and a sandbox that runs nothing."""
    settings = settings or Settings()
    judge = Judge(EchoSandbox(), Rules.of(settings.code_tester))
    return Solver(load_flow(str(flow)), model, model.name, judge, settings)


def echo_problem(name: str) -> Problem:
    """A problem that is solved by echoing."""
    return Problem(name, f"Echo, says {name}.", public_tests=(TestCase("1\n", "1\n"),))


def asked(store, sample="p#0", requests=(HELLO,), model=None, name="m"):
    """The texts of the answers to the requests of one sample, and how many of them were asked for."""
    model = model or FakeModel(lambda number: f"answer {number}")
    before = len(model.requests)

    async def ask_all():
        recorded = SampleModel(model, name, sample, store)
        return [(await recorded.ask(request)).text for request in requests]

    return asyncio.run(ask_all()), len(model.requests) - before
