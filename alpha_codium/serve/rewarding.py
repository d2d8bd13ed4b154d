"""Rewards for answers of language models: `/v1/rewards`, for trainers that have only the client."""

import asyncio
import json
from collections.abc import Callable, Coroutine
from dataclasses import replace
from typing import Annotated, Any

from fastapi import APIRouter, FastAPI, HTTPException, Request
from fastapi.responses import Response
from fastapi.routing import APIRoute
from pydantic import BaseModel, Field

from alpha_codium.errors import UserError
from alpha_codium.judge import Rules
from alpha_codium.language_table import LANGUAGES
from alpha_codium.problem import Problem
from alpha_codium.rewards.core import CodeReward, Scheme, Work
from alpha_codium.rewards.scores import Scored
from alpha_codium.serve.answers import AsciiResponse, client_of, unless_gone
from alpha_codium.serve.hiding import Hiding
from alpha_codium.serve.judging import ClientTurns, Judging
from alpha_codium.serve.requests import MOST_MEMORY, MOST_PROGRAMS, MOST_SECONDS, MOST_TESTS, StrictModel
from alpha_codium.values import integer_of
from alpha_codium.wording import counted, without_paths

# Reading an integer of more digits would hold up other requests.
MOST_DIGITS = 100_000


class AnswerToReward(StrictModel):
    """An answer of a model, and the tests of its row in a shape of `alpha_codium.app.tests_of`."""

    answer: Any = Field(description="A text, or a message or a chat that ends with it; anything else has no reward.")
    tests: Any = Field(description="A list of tests, an object with them, or JSON of either: docs/reward_functions.md.")


class RewardRequest(StrictModel):
    """Answers, and how they are rewarded; the options are those of `alpha_codium.rewards.CodeReward`."""

    answers: Annotated[list[AnswerToReward], Field(min_length=1, max_length=MOST_PROGRAMS)]
    scheme: Scheme = "all"
    length_penalty: float = Field(0, ge=0, allow_inf_nan=False)
    time_penalty: float = Field(0, ge=0, allow_inf_nan=False)
    language: str = Field("python3", description=f"One of {', '.join(LANGUAGES)}.")
    in_process: bool = False
    time_limit_seconds: float = Field(0, ge=0, le=MOST_SECONDS, description="CPU time for a test; 0 for the default.")
    memory_limit_bytes: int = Field(0, ge=0, le=MOST_MEMORY, description="Memory for a test; 0 for the default.")

    def reward(self, base: Rules) -> CodeReward:
        """Return the reward, by the server's rules with the limits of the request; raises UserError."""
        options = self.model_dump(exclude={"answers", "time_limit_seconds", "memory_limit_bytes"})
        cpu_seconds, memory_bytes = self.time_limit_seconds or base.cpu_seconds, self.memory_limit_bytes
        return CodeReward(
            **options, rules=replace(base, cpu_seconds=cpu_seconds, memory_bytes=memory_bytes or base.memory_bytes)
        )


class ScoredAnswer(BaseModel):
    """What an answer got; `fault` says whose it is if there is no reward: of its tests (`data`), or `infra`."""

    reward: float | None
    tests_passed: int
    tests_total: int
    message: str
    fault: str


class RewardAnswer(BaseModel):
    """What each answer got, in the order of the request."""

    scores: list[ScoredAnswer]


class LongIntegers(Request):
    """A request whose JSON may have integers of `MOST_DIGITS`, such as outputs of a test."""

    async def json(self) -> Any:
        """Return the value of the body; raises ValueError and RecursionError."""
        return await asyncio.to_thread(json.loads, await self.body(), parse_int=_integer_of)


def _integer_of(digits: str) -> int:
    if len(digits) > MOST_DIGITS:
        raise ValueError(f"an integer has at most {MOST_DIGITS} digits")
    return integer_of(digits)


class RewardRoute(APIRoute):
    """Handles requests as `LongIntegers`."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return what answers a request."""
        answer_to = super().get_route_handler()

        async def answer(request: Request) -> Response:
            return await answer_to(LongIntegers(request.scope, request.receive))

        return answer


def add_rewards(app: FastAPI, judging: Judging) -> None:
    """Add the address that rewards answers."""
    router = APIRouter(route_class=RewardRoute)

    @router.post("/v1/rewards", response_model=RewardAnswer)
    async def rewards(request: Request, item: RewardRequest) -> Response:
        """Reward answers by their own tests; without a reward, nothing is known of the program."""
        try:
            reward = item.reward(judging.rules)
        except UserError as error:
            raise HTTPException(422, str(error)) from error
        answers, tests = [each.answer for each in item.answers], [each.tests for each in item.answers]
        works = list(map(_within, await asyncio.to_thread(reward.works, answers, tests)))
        turns = ClientTurns(judging.executor, judging.load, client_of(request))
        with judging.load.accepted(sum(max(1, len(work.tests)) for work in works)):
            scores = await unless_gone(request, reward.judged(works, turns, on_judgement=judging.measures.judged))
        return AsciiResponse({"scores": [_shown(each, judging.hiding) for each in scores]})

    app.include_router(router)


def _within(work: Work) -> Work:
    """Return what is to be judged of an answer: nothing, with the reason, if its row has too many tests."""
    if len(work.tests) <= MOST_TESTS:
        return work
    reason = f"the row has {counted(len(work.tests), 'test')}: {MOST_TESTS} are the most"
    return Work(work.reward, work.completion, work.code, Problem("row"), reason)


def _shown(scored: Scored, hiding: Hiding) -> dict[str, Any]:
    """Return the JSON of a score without paths of the server; faults of a row quote what the client sent."""
    values = {name: getattr(scored, name) for name in ScoredAnswer.model_fields}
    message = scored.message if scored.fault == "data" else without_paths(scored.message)
    return values | {"message": hiding.text(message)}
