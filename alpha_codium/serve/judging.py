"""Judging programs, one or many: `/v1/judge` and `/v1/judge/batch`."""

from collections.abc import AsyncGenerator, Iterable, Sequence
from contextlib import AbstractContextManager, aclosing
from dataclasses import dataclass

from fastapi import FastAPI, HTTPException, Request
from fastapi.responses import Response, StreamingResponse
from loguru import logger
from starlette.types import Receive, Scope, Send

from alpha_codium.app.tests_of import why_not
from alpha_codium.errors import SandboxError, Unjudgeable
from alpha_codium.judge import Rules, kind_of
from alpha_codium.judge.executors import Executor, Task
from alpha_codium.judge.kinds import TestKind
from alpha_codium.judge.many import judge_all, judge_many
from alpha_codium.language_table import LANGUAGES
from alpha_codium.sandbox import Sandbox
from alpha_codium.serve.answers import AsciiResponse, client_of, failure_text, json_line, unless_gone
from alpha_codium.serve.hiding import Hiding, without_paths
from alpha_codium.serve.load import Load
from alpha_codium.serve.measuring import ServiceMetrics
from alpha_codium.serve.problems import Problems
from alpha_codium.serve.requests import BatchLine, BatchRequest, JudgeAnswer, JudgeRequest, RefusedProgram
from alpha_codium.verdict import Judgement, Verdict


@dataclass(frozen=True, slots=True)
class Prepared:
    """A valid request, and what judges it."""

    item: JudgeRequest
    task: Task
    kind: TestKind

    def answer(self, judgement: Judgement) -> JudgeAnswer:
        """Return the answer to the request."""
        return JudgeAnswer.of(self.item, judgement, self.kind, self._fault(judgement))

    def _fault(self, judgement: Judgement) -> str:
        """Whose fault it is that tests have no verdict: that of what was sent, or of the server; empty if they have."""
        if judgement.verdict is Verdict.NO_TESTS:
            return "data"
        if judgement.judged:
            return ""
        return "data" if why_not(self.task.problem, self.task.rules, self.item.language) else "infra"


def cost_of(tasks: Iterable[Task]) -> int:
    """Return the number of tests, at least 1 for each task."""
    return sum(max(1, len(task.tests)) for task in tasks)


def faults_of(task: Task) -> set[str]:
    """Return what the judge says of malformed tests of a task."""
    try:
        kind = kind_of(task.problem, task.rules)
    except Unjudgeable:
        return set()
    return {fault for test in task.tests if (fault := kind.fault_of(test))}


@dataclass(frozen=True, slots=True)
class ClientTurns(Executor):
    """Judges the batches of a client, each when it is the client's turn."""

    executor: Executor
    load: Load
    client: str

    @property
    def in_flight(self) -> int:
        """See `Executor`."""
        return self.load.at_once

    async def judge(self, tasks: Sequence[Task]) -> Sequence[Judgement]:
        """See `Executor`; programs that the sandbox couldn't run get `internal_error`.

        So do those that the server fails at, whose reason is logged.
        """
        try:
            return await self.judge_now(tasks)
        except SandboxError as error:
            return [task.unjudged(without_paths(error)) for task in tasks]
        except Exception as error:  # noqa: BLE001 - no program may end what others wait for
            if len(tasks) > 1:
                return [judgement for task in tasks for judgement in await self.judge([task])]
            logger.opt(exception=error).error("a program couldn't be judged")
            return [tasks[0].unjudged(failure_text(error))]

    async def judge_now(self, tasks: Sequence[Task]) -> Sequence[Judgement]:
        """Judge tasks; raises SandboxError."""
        async with self.load.turn(self.client, cost_of(tasks)):
            return await self.executor.judge(tasks)


@dataclass(frozen=True, slots=True)
class Judging:
    """Judges the programs of requests within the load of the server; `rules` are those of its settings."""

    executor: Executor
    sandbox: Sandbox
    rules: Rules
    load: Load
    measures: ServiceMetrics
    problems: Problems
    hiding: Hiding

    async def judge(self, request: Request, item: JudgeRequest) -> JudgeAnswer:
        """Judge a program; the work is cancelled if the client leaves. Raises HTTPException for invalid requests."""
        prepared = await self.prepare(item)
        (judgement,) = await self.judgements(request, [prepared.task])
        return prepared.answer(judgement)

    async def judgements(self, request: Request, tasks: Sequence[Task]) -> list[Judgement]:
        """Judge programs as `judgements_for` does; the work is cancelled if the client leaves."""
        return await unless_gone(request, self.judgements_for(client_of(request), tasks))

    async def judgements_for(self, client: str, tasks: Sequence[Task]) -> list[Judgement]:
        """Judge programs, each when it is the client's turn.

        Raises SandboxError if a single program couldn't be run; of several, those get `internal_error`.
        """
        turns = ClientTurns(self.executor, self.load, client)
        with self.load.accepted(cost_of(tasks)):
            judged = await (turns.judge_now(tasks) if len(tasks) == 1 else judge_all(tasks, turns))
            return [self._finished(task, each) for task, each in zip(tasks, judged, strict=True)]

    async def prepare(self, item: JudgeRequest) -> Prepared:
        """Find what judges a request; raises HTTPException 404 for unknown problems, 422 for languages and checkers."""
        if item.language not in LANGUAGES:
            raise HTTPException(422, f"language: there is no {item.language!r}, but {', '.join(LANGUAGES)}")
        try:
            self.sandbox.tool_version(item.language)
        except SandboxError as error:
            raise HTTPException(422, f"language: {error}") from error
        judged_by = await self.problems.of(item)
        rules = judged_by.rules(self.rules, item)
        try:
            kind = kind_of(judged_by.problem, rules)
        except Unjudgeable as error:
            raise HTTPException(422, str(error)) from error
        return Prepared(item, Task(item.source(), judged_by.problem, judged_by.tests, rules), kind)

    async def prepare_of_many(self, item: JudgeRequest | RefusedProgram) -> Prepared | RefusedProgram:
        """As `prepare`, but return why a request is invalid: others may be judged."""
        if isinstance(item, RefusedProgram):
            return item
        try:
            return await self.prepare(item)
        except HTTPException as error:
            return RefusedProgram(error.detail, "infra" if error.status_code >= 500 else "data")

    async def lines(self, found: Sequence[Prepared | RefusedProgram], client: str) -> AsyncGenerator[bytes, None]:
        """Judge many programs; yields a line for each as soon as it is judged, first for those that can't be."""
        programs = dict[int, Prepared]()
        for index, each in enumerate(found):
            if isinstance(each, Prepared):
                programs[index] = each
            else:
                yield _line(BatchLine(index=index, error=each.reason, fault=each.fault))
        places, turns = list(programs), ClientTurns(self.executor, self.load, client)
        async with aclosing(judge_many((each.task for each in programs.values()), turns)) as judged:
            async for number, judgement in judged:
                index = places[number]
                if judgement.verdict is Verdict.INTERNAL_ERROR and not judgement.tests:
                    yield _line(BatchLine(index=index, error=judgement.message, fault="infra"))
                else:
                    prepared = programs[index]
                    answer = prepared.answer(self._finished(prepared.task, judgement))
                    yield _line(BatchLine(index=index, answer=answer))

    def _finished(self, task: Task, judgement: Judgement) -> Judgement:
        """Count a judgement, and return it without paths of the server."""
        self.measures.judged(judgement)
        return self.hiding.judgement(judgement, set() if judgement.judged else faults_of(task))


def _line(line: BatchLine) -> bytes:
    return json_line(line) + b"\n"


class Lines(StreamingResponse):
    """Lines of NDJSON, made within an accepted load; what makes them is ended if the client leaves."""

    media_type = "application/x-ndjson"

    def __init__(self, lines: AsyncGenerator[bytes, None], accepted: AbstractContextManager[None]) -> None:
        super().__init__(lines)
        self.lines, self.accepted = lines, accepted

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer; raises Overloaded or Stopping before the answer begins."""
        with self.accepted:
            async with aclosing(self.lines):
                await super().__call__(scope, receive, send)


def add_judging(app: FastAPI, judging: Judging) -> None:
    """Add the addresses that judge programs."""

    @app.post("/v1/judge", response_model=JudgeAnswer)
    async def judge(request: Request, item: JudgeRequest) -> Response:
        """Judge a program by all its tests, or those of a stored problem."""
        return AsciiResponse((await judging.judge(request, item)).model_dump())

    @app.post("/v1/judge/batch", response_model=BatchLine, responses={200: {"content": {Lines.media_type: {}}}})
    async def judge_batch(request: Request, batch: BatchRequest) -> Response:
        """Judge many programs; the answer is a `BatchLine` for each, in NDJSON, in the order in which they finish.

        A program that can't be judged, such as one with an invalid field, has a line with the reason.
        """
        programs = [await judging.prepare_of_many(item) for item in batch.programs]
        accepted = judging.load.accepted(cost_of(each.task for each in programs if isinstance(each, Prepared)))
        return Lines(judging.lines(programs, client_of(request)), accepted)
