"""Judging programs, one or many: `/v1/judge` and `/v1/judge/batch`."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import AbstractContextManager, aclosing
from dataclasses import dataclass, replace

from fastapi import FastAPI, HTTPException, Request
from fastapi.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from alpha_codium.errors import SandboxError, Unjudgeable
from alpha_codium.judge import Judge
from alpha_codium.judge.judge import ProblemJudge
from alpha_codium.language_table import LANGUAGES
from alpha_codium.serve.answers import AsciiResponse, client_of, json_line, unless_gone
from alpha_codium.serve.hiding import Hiding, without_paths
from alpha_codium.serve.load import Load
from alpha_codium.serve.measuring import Measures
from alpha_codium.serve.problems import Problems
from alpha_codium.serve.requests import BatchLine, BatchRequest, JudgeAnswer, JudgedBy, JudgeRequest


@dataclass(frozen=True, slots=True)
class Prepared:
    """A valid request, and what judges it."""

    item: JudgeRequest
    judged_by: JudgedBy
    judge: ProblemJudge


@dataclass(frozen=True, slots=True)
class Judging:
    """Judges the programs of requests within the load of the server."""

    base: Judge
    load: Load
    measures: Measures
    problems: Problems
    hiding: Hiding

    async def judge(self, request: Request, item: JudgeRequest) -> JudgeAnswer:
        """Judge a program; the work is cancelled if the client leaves. Raises HTTPException for invalid requests."""
        prepared = await self.prepare(item)
        with self.load.accepted(prepared.judged_by.cost):
            return await unless_gone(request, self._judged(prepared, client_of(request)))

    async def prepare(self, item: JudgeRequest) -> Prepared:
        """Find what judges a request; raises HTTPException 404 for unknown problems, 422 for languages and checkers."""
        if item.language not in LANGUAGES:
            raise HTTPException(422, f"language: there is no {item.language!r}, but {', '.join(LANGUAGES)}")
        try:
            self.base.sandbox.tool_version(item.language)
        except SandboxError as error:
            raise HTTPException(422, f"language: {error}") from error
        judged_by = await self.problems.of(item)
        try:
            judge = replace(self.base, rules=judged_by.rules(self.base.rules, item)).for_problem(judged_by.problem)
        except Unjudgeable as error:
            raise HTTPException(422, str(error)) from error
        return Prepared(item, judged_by, judge)

    async def lines(self, programs: Sequence[Prepared], client: str) -> AsyncGenerator[bytes, None]:
        """Judge many programs; yields a line for each as soon as it is judged."""
        tasks = [asyncio.create_task(self._line(index, each, client)) for index, each in enumerate(programs)]
        try:
            for done in asyncio.as_completed(tasks):
                yield await done + b"\n"
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _line(self, index: int, prepared: Prepared, client: str) -> bytes:
        try:
            return json_line(BatchLine(index=index, answer=await self._judged(prepared, client)))
        except SandboxError as error:
            return json_line(BatchLine(index=index, error=without_paths(error)))

    async def _judged(self, prepared: Prepared, client: str) -> JudgeAnswer:
        async with self.load.turn(client, prepared.judged_by.cost):
            judgement = await prepared.judge.judge(prepared.item.source(), prepared.judged_by.tests)
        self.measures.judged(judgement)
        return JudgeAnswer.of(prepared.item, judgement, self.hiding)


class Lines(StreamingResponse):
    """Lines of NDJSON, made within an accepted load; what makes them is ended if the client leaves."""

    media_type = "application/x-ndjson"

    def __init__(self, lines: AsyncGenerator[bytes, None], accepted: AbstractContextManager[None]) -> None:
        super().__init__(lines)
        self.lines, self.accepted = lines, accepted

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer; raises Overloaded or Draining before the answer begins."""
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
        """Judge many programs; the answer is a `BatchLine` for each, in NDJSON, in the order in which they finish."""
        programs = [await judging.prepare(item) for item in batch.programs]
        accepted = judging.load.accepted(sum(each.judged_by.cost for each in programs))
        return Lines(judging.lines(programs, client_of(request)), accepted)
