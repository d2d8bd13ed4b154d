"""Judging the programs of completions, in this process's sandbox or by servers."""

import asyncio
import functools
import os
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Protocol

from alpha_codium.app.judgements import judge_programs_async
from alpha_codium.config import load_settings
from alpha_codium.errors import SandboxError, UserError
from alpha_codium.eval.running import PROGRAMS_IN_FLIGHT, all_or_none
from alpha_codium.judge import Judge, Rules
from alpha_codium.problem import Problem, TestType
from alpha_codium.program import PYTHON, Program
from alpha_codium.rewards.tests_of import Shape, problem_of
from alpha_codium.sandbox.blocking import BlockingSandbox
from alpha_codium.verdict import OUTSIDE, Judgement, Verdict


@dataclass(frozen=True, slots=True)
class Tested:
    """The verdict of one test, the CPU time that it took, and where it was decided (`TestResult.trust`)."""

    verdict: Verdict
    cpu_seconds: float = 0.0
    trust: str = OUTSIDE


@dataclass(frozen=True, slots=True)
class Answer:
    """The results of the first tests of a program, in order; `message` says why one couldn't be judged."""

    tests: Sequence[Tested] = ()
    message: str = ""


NO_TESTS = "there are no tests"
Asked = Sequence[tuple[Program, Problem]]
OnAnswer = Callable[[int, Answer], None]
# Read once: one program at a time would spend a quarter of its time on them.
_settings = functools.cache(load_settings)


class Judging(Protocol):
    """Judges programs by the tests of their problems, in the background loop."""

    async def judge(self, asked: Asked, rules: Rules, on_answer: OnAnswer) -> None:
        """Call `on_answer` with the index of each program and its answer; raises UserError if none can be judged."""
        ...


@dataclass(frozen=True, slots=True)
class Here:
    """Judges in a sandbox of this process."""

    sandbox: BlockingSandbox

    async def judge(self, asked: Asked, rules: Rules, on_answer: OnAnswer) -> None:
        """See `Judging`."""

        def answered(index: int, judgement: Judgement) -> None:
            on_answer(index, _answer(judgement))

        await judge_programs_async(
            asked, rules=rules, sandbox=self.sandbox, settings=_settings(), on_judgement=answered
        )


def fault_of_row(tests: Shape | None, rules: Rules, language: str = PYTHON) -> str:
    """Return why the tests of a row can't be judged, in any of the shapes of `tests_of`; empty if they can."""
    try:
        problem = problem_of(tests)
    except Exception as error:  # noqa: BLE001 - whatever is wrong with a row, it must not end the others
        return f"the tests can't be read: {error}"
    return why_not(problem, rules, language) if problem.tests(tuple(TestType)) else NO_TESTS


def why_not(problem: Problem, rules: Rules, language: str) -> str:
    """Return why programs in a language can't be judged by the tests of a problem; empty if they can."""
    try:
        kind = Judge(None, rules).for_problem(problem).kind_for(language)  # type: ignore[arg-type] - nothing is run
    except UserError as error:
        return str(error)
    return kind.why_not(language) or next(filter(None, map(kind.fault_of, problem.tests(tuple(TestType)))), "")


def _answer(judgement: Judgement) -> Answer:
    tests = (Tested(test.verdict, test.execution.cpu_seconds, test.trust) for test in judgement.tests)
    return Answer(tuple(tests), judgement.message)


@dataclass(frozen=True, slots=True)
class ByServers:
    """Judges by `gencode serve`, each program and all its tests in one request, on the server with the least load."""

    servers: Any

    async def judge(self, asked: Asked, rules: Rules, on_answer: OnAnswer) -> None:
        """See `Judging`."""
        turns = asyncio.Semaphore(PROGRAMS_IN_FLIGHT * self.servers.workers)

        async def one(index: int, program: Program, problem: Problem) -> None:
            async with turns:
                try:
                    answer = _answer_in(await self.servers.ask("/v1/judge", request_of(program, problem, rules)))
                except SandboxError as error:
                    answer = Answer(message=str(error))
            on_answer(index, answer)

        await all_or_none(one(index, *each) for index, each in enumerate(asked))


def _answer_in(answer: dict[str, Any]) -> Answer:
    tests = (Tested(Verdict(each["verdict"]), each["cpu_seconds"], each["trust"]) for each in answer["tests"])
    return Answer(tuple(tests), answer["message"])


def request_of(program: Program, problem: Problem, rules: Rules) -> dict[str, Any]:
    """Return the request to judge a program, with the limits and the checker that would be used here."""
    if problem.input_file or problem.output_file:
        raise SandboxError(f"problem {problem.name!r} has files in place of stdin and stdout, which servers can't give")
    limits, execution, checker = rules.limits_for(problem), rules.execution_of(problem), rules.checker_for(problem)
    return {
        "program": program.source,
        "language": program.language,
        "tests": [asdict(test) for test in problem.private_tests],
        "kind": execution.kind,
        "entry_point": execution.entry_point,
        "setup_code": execution.setup_code,
        "checker": asdict(checker) if execution.kind != "assertions" else None,
        "time_limit_seconds": limits.cpu_seconds,
        "memory_limit_bytes": limits.memory_bytes,
        "stop_on_first_failure": rules.stop_on_first_failure,
        "shown_characters": 0,
    }


# The open connections of this process, by addresses and token; a forked process can't use those of its parent.
_CONNECTIONS: dict[Any, "asyncio.Task[Any]"] = {}
os.register_at_fork(after_in_child=_CONNECTIONS.clear)


async def connected(urls: tuple[str, ...], token: str) -> ByServers:
    """Return servers, connected at the first call in the background loop; raises SandboxError if none answers."""
    from alpha_codium.sandbox.remote.servers import Servers

    key = (urls, token)
    opening = _CONNECTIONS.get(key) or _CONNECTIONS.setdefault(
        key, asyncio.create_task(Servers(urls, token).__aenter__())
    )
    try:
        return ByServers(await asyncio.shield(opening))
    except SandboxError:
        _CONNECTIONS.pop(key, None)
        raise
