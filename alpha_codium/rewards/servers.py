"""Judging by servers of `gencode serve`."""

import asyncio
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from alpha_codium.errors import SandboxError, UserError
from alpha_codium.judge.executors import IN_FLIGHT_PER_WORKER, Executor, Task
from alpha_codium.judge.judge import MOST_KNOWN
from alpha_codium.problem import Problem
from alpha_codium.verdict import Execution, Judgement, Status, TestResult, Verdict, judgement_of


@dataclass(frozen=True, slots=True)
class ServerPool(Executor):
    """Judges by `gencode serve`: each batch in one request, on the server with the least load."""

    servers: Any

    @property
    def in_flight(self) -> int:
        """See `Executor`."""
        return IN_FLIGHT_PER_WORKER * self.servers.workers

    async def judge(self, tasks: Sequence[Task]) -> list[Judgement]:
        """See `Executor`; what can't be sent, or is refused, says nothing about the others."""
        found, requests = dict[int, Judgement](), dict[int, dict[str, Any]]()
        for place, task in enumerate(tasks):
            try:
                requests[place] = request_of(task)
            except (UserError, TypeError, ValueError, RecursionError) as error:
                found[place] = task.unjudged(error)
        judged = await self._asked([tasks[place] for place in requests], list(requests.values()))
        found |= dict(zip(requests, judged, strict=True))
        return [found[place] for place in range(len(tasks))]

    async def _asked(self, tasks: Sequence[Task], requests: Sequence[Mapping[str, Any]]) -> list[Judgement]:
        """Return what servers answer to requests for tasks; to each by itself if a batch is refused, or no JSON."""
        from alpha_codium.sandbox.remote.servers import RefusedByServer

        if not tasks:
            return []
        try:
            answers = await self.servers.ask("/v1/judge/batch", {"programs": requests})
        except (RefusedByServer, TypeError, ValueError, RecursionError) as error:
            if len(tasks) == 1:
                return [tasks[0].unjudged(error)]
            alone = zip(tasks, requests, strict=True)
            return [judgement for task, request in alone for judgement in await self._asked([task], [request])]
        except SandboxError as error:
            return [task.unjudged(error) for task in tasks]
        by_index = {line["index"]: line for line in answers}
        return [_judgement_in(by_index[index], task) for index, task in enumerate(tasks)]


def _judgement_in(line: dict[str, Any], task: Task) -> Judgement:
    """Return the judgement in a line of an answer."""
    answer = line["answer"]
    if answer is None:
        return task.unjudged(line["error"])
    results = [_result_of(each, answer["message"]) for each in answer["tests"]]
    judgement = judgement_of(results, len(task.tests))
    return replace(judgement, verdict=Verdict(answer["verdict"]), message=answer["message"])


def _result_of(test: dict[str, Any], message: str) -> TestResult:
    """Return the result of a test; one without a verdict has the message, since its own wasn't asked for."""
    verdict = Verdict(test["verdict"])
    if verdict is Verdict.INTERNAL_ERROR:
        return TestResult(verdict, Execution(Status.INTERNAL_ERROR, stderr=message))
    return TestResult(verdict, Execution(Status.FINISHED, cpu_seconds=test["cpu_seconds"]), test["trust"])


def request_of(task: Task) -> dict[str, Any]:
    """Return the request to judge a program, with the limits and the checker that would be used here."""
    problem, rules = task.problem, task.rules
    limits = rules.limits_for(problem, task.program.language)
    execution = replace(rules.execution_of(problem), test_code="")  # it is among the tests
    sent = Problem(
        problem.name,
        private_tests=tuple(task.tests),
        solutions=problem.solutions[:MOST_KNOWN],
        checker=rules.checker_for(problem),
        execution=execution,
        input_file=problem.input_file,
        output_file=problem.output_file,
    )
    return {
        "program": task.program.source,
        "language": task.program.language,
        "problem": sent.to_json(),
        "time_limit_seconds": limits.cpu_seconds,
        "memory_limit_bytes": limits.memory_bytes,
        "wall_limit_seconds": rules.wall_seconds,
        "stop_on_first_failure": rules.stop_on_first_failure,
        "shown_characters": 0,
    }


# The open connections of this process, by addresses and token; a forked process can't use those of its parent.
_CONNECTIONS: dict[Any, "asyncio.Task[Any]"] = {}
os.register_at_fork(after_in_child=_CONNECTIONS.clear)


async def connected(urls: tuple[str, ...], token: str) -> ServerPool:
    """Return servers, connected at the first call in the background loop; raises SandboxError if none answers."""
    from alpha_codium.sandbox.remote.servers import Servers

    key = (urls, token)
    opening = _CONNECTIONS.get(key) or _CONNECTIONS.setdefault(
        key, asyncio.create_task(Servers(urls, token).__aenter__())
    )
    try:
        return ServerPool(await asyncio.shield(opening))
    except SandboxError:
        _CONNECTIONS.pop(key, None)
        raise
