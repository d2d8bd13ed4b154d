"""Verdicts and rewards by servers, for code with and without an event loop."""

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, TypeVar

from .servers import JudgeError, RequestRefused, Servers

Result = TypeVar("Result")
# Programs in a request, and requests for each worker at a time.
GROUP, AHEAD = 8, 2
# In place of a verdict, where a server refuses a program of a request.
REFUSED = "refused"

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Judge:
    """Judges by the servers at `urls`, which `token` opens.

    What a server couldn't judge is asked for again, at most `retries` times, unless what was sent is to blame.
    `deadline` is for a call, in seconds of wall time (0: none). Programs without a verdict by then have None, like
    those that no server could judge: this says nothing about them. Each method has a coroutine function of the same
    name with `_async`.
    """

    urls: str | Sequence[str]
    token: str = ""
    retries: int = 2
    deadline: float = 0.0

    def __post_init__(self) -> None:
        """Raise ValueError if no server is named."""
        if not self.urls:
            raise ValueError("urls is empty: name a server at least")

    def judge(self, program: str, tests: Sequence[Mapping[str, str]] = (), **fields: Any) -> dict[str, Any]:
        """Return the answer of `POST /v1/judge`; tests are `{"input", "output"}`, and `fields` others of the request.

        Raises JudgeError if no server could judge the program in time, RequestRefused if the request is invalid.
        """
        return _blocking(self.judge_async(program, tests, **fields))

    async def judge_async(self, program: str, tests: Sequence[Mapping[str, str]] = (), **fields: Any) -> dict[str, Any]:
        """See `judge`."""
        request = {"program": program, **({"tests": list(tests)} if tests or "problem" not in fields else {}), **fields}
        (answer,) = await self._in_groups([request], _judged, _no_verdict)
        if answer is None:
            raise JudgeError("the program couldn't be judged: the reason is in the log")
        if not answer["judged"]:
            error = RequestRefused if answer["verdict"] == REFUSED else JudgeError
            raise error(f"the program couldn't be judged: {answer['message']}")
        return answer

    def judge_many(self, requests: Sequence[Mapping[str, Any]]) -> list[dict[str, Any] | None]:
        """Return the answers to requests as `POST /v1/judge` takes them, None for what couldn't be judged.

        Why it couldn't is logged. Raises JudgeError if no server answers at all.
        """
        return _blocking(self.judge_many_async(requests))

    async def judge_many_async(self, requests: Sequence[Mapping[str, Any]]) -> list[dict[str, Any] | None]:
        """See `judge_many`."""
        answers = await self._in_groups(requests, _judged, _no_verdict)
        return [answer if answer and answer["judged"] else None for answer in answers]

    def rewards(self, answers: Sequence[str], tests: Sequence[Any], **options: Any) -> list[float | None]:
        """Return the reward of each answer of a model by its own tests, None where nothing is known of its program.

        `tests` have any shape that `POST /v1/rewards` takes, and `options` are its other fields, such as `scheme`.
        How many have none, and why the first has none, is logged. Raises JudgeError if no server answers at all,
        RequestRefused if an option is invalid, and ValueError if there aren't as many tests as answers.
        """
        return _blocking(self.rewards_async(answers, tests, **options))

    async def rewards_async(self, answers: Sequence[str], tests: Sequence[Any], **options: Any) -> list[float | None]:
        """See `rewards`."""
        scores = await self.scores_async(answers, tests, **options)
        rewards = [None if each is None else each["reward"] for each in scores]
        if None in rewards:
            first = rewards.index(None)
            reason = found["message"] if (found := scores[first]) else "no server judged its program"
            logger.warning("%d of %d have no reward; answer %d: %s", rewards.count(None), len(rewards), first, reason)
        return rewards

    def scores(self, answers: Sequence[str], tests: Sequence[Any], **options: Any) -> list[dict[str, Any] | None]:
        """As `rewards`, but return all that the servers say of each answer: tests passed, and why it has no reward."""
        return _blocking(self.scores_async(answers, tests, **options))

    async def scores_async(
        self, answers: Sequence[str], tests: Sequence[Any], **options: Any
    ) -> list[dict[str, Any] | None]:
        """See `scores`."""

        async def scored(servers: Servers, group: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
            return (await servers.ask("/v1/rewards", {"answers": group, **options}))["scores"]

        if len(answers) != len(tests):
            raise ValueError(f"{len(answers)} answers have tests for {len(tests)}: each needs its own")
        rows = [{"answer": answer, "tests": own} for answer, own in zip(answers, tests, strict=True)]
        return await self._in_groups(rows, scored, _no_score)

    async def _in_groups(
        self, items: Sequence[Mapping[str, Any]], ask: "Ask", refused: Callable[[str], dict[str, Any]]
    ) -> list[dict[str, Any] | None]:
        """Ask for items in groups, on all servers side by side; again for those that a server couldn't judge.

        Returns the last answer to each; `refused` makes that to what can't be sent. With a deadline, each is a group of
        its own: none waits for others.
        """
        size = 1 if self.deadline else GROUP
        found = [refused(fault) if (fault := _fault_of(item)) else None for item in items]
        try:
            async with asyncio.timeout(self.deadline or None):
                urls = (self.urls,) if isinstance(self.urls, str) else tuple(self.urls)
                async with Servers(urls, self.token) as servers:
                    for _ in range(1 + self.retries):
                        await _fill(found, items, servers, ask, size)
        except TimeoutError:
            missing = sum(map(_is_missing, found))
            logger.warning("%d of %d have no answer after %g s", missing, len(items), self.deadline)
        return found


Ask = Callable[[Servers, Sequence[Mapping[str, Any]]], Awaitable[list[dict[str, Any]]]]


async def _fill(
    found: list[dict[str, Any] | None], items: Sequence[Mapping[str, Any]], servers: Servers, ask: Ask, size: int
) -> None:
    """Ask for the items that have no answer, in groups of a size, at most some at a time."""
    missing = [place for place, answer in enumerate(found) if _is_missing(answer)]
    free = asyncio.Semaphore(AHEAD * servers.workers)

    async def one(places: Sequence[int]) -> None:
        async with free:
            try:
                answers = await ask(servers, [items[place] for place in places])
            except RequestRefused:
                raise
            except JudgeError as error:
                logger.warning("%d of %d couldn't be judged: %s", len(places), len(items), error)
                return
        for place, answer in zip(places, answers, strict=True):
            found[place] = answer

    try:
        async with asyncio.TaskGroup() as tasks:
            for first in range(0, len(missing), size):
                tasks.create_task(one(missing[first : first + size]))
    except ExceptionGroup as group:
        raise group.exceptions[0] from None


def _fault_of(item: Mapping[str, Any]) -> str:
    """Return why an item can't be sent, empty if it can: none may end the others."""
    try:
        json.dumps(item)
    except (TypeError, ValueError, RecursionError) as error:
        return str(error)
    return ""


def _no_score(fault: str) -> dict[str, Any]:
    """Return the score of an answer that can't be sent."""
    message = f"the answer and its tests can't be sent as JSON: {fault}"
    return {"reward": None, "tests_passed": 0, "tests_total": 0, "message": message, "fault": "data"}


def _no_verdict(fault: str) -> dict[str, Any]:
    """Return the answer to a request that can't be sent."""
    message = f"the request can't be sent as JSON: {fault}"
    logger.warning("a program couldn't be judged: %s", message)
    return {"judged": False, "verdict": REFUSED, "message": message, "fault": "data"}


async def _judged(servers: Servers, group: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the answers to requests for verdicts, in their order; each says whose `fault` it is if there is none."""
    lines = await servers.ask("/v1/judge/batch", {"programs": group})
    answers = [_answer_in(line) for line in sorted(lines, key=lambda line: line["index"])]
    for answer in answers:
        if answer["fault"]:
            logger.warning("a program couldn't be judged: %s", answer["message"])
    return answers


def _answer_in(line: dict[str, Any]) -> dict[str, Any]:
    """Return the answer in a line; one that isn't judged if there is only an error."""
    answer = line["answer"]
    if answer is None:
        fault = line.get("fault") or "infra"
        verdict = REFUSED if fault == "data" else "internal_error"
        return {"judged": False, "verdict": verdict, "message": line["error"], "fault": fault}
    # Servers before 0.3 don't say whose fault it is.
    return {"fault": "" if answer["judged"] else "infra", **answer}


def _is_missing(answer: Mapping[str, Any] | None) -> bool:
    """Whether nothing is known of an item, and asking again may help."""
    return answer is None or answer["fault"] == "infra"


def _blocking(work: Coroutine[Any, Any, Result]) -> Result:
    """Run a coroutine in a thread of its own: there may be an event loop in this one, as in notebooks."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, work).result()
