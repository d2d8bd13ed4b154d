"""The reward of a completion: its program is extracted and judged, and the verdicts of the tests give a number.

1. Tests without a verdict are judged again, at most `retries` times each.
2. Judging ends as soon as the remaining tests can't change the reward.
3. If tests that matter have no verdict in the end, or at the deadline, the reward is `unjudged`, by default None. So it
   is if the tests of the row can't be run. Other completions are rewarded: no row ends a batch.
"""

import asyncio
import math
import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from alpha_codium.answers.extraction import extract_code
from alpha_codium.app.tests_of import NO_TESTS, Shape, listed, problem_of, why_not
from alpha_codium.coroutines import BACKGROUND, in_thread, run_blocking
from alpha_codium.errors import Unjudgeable, UserError
from alpha_codium.judge import Rules
from alpha_codium.judge.executors import Executor, LocalPool, Task
from alpha_codium.judge.many import judge_all
from alpha_codium.problem import Problem, TestType
from alpha_codium.program import PYTHON, Program
from alpha_codium.rewards.scores import Fault, Scored, log_unjudged
from alpha_codium.rewards.servers import connected
from alpha_codium.sandbox.blocking import BlockingSandbox, shared_sandbox
from alpha_codium.values import shown
from alpha_codium.verdict import IN_PROCESS, Judgement, TestResult, Verdict

# The text of an answer, or a message or a chat that ends with it.
Answer = str | Sequence[Any] | Mapping[str, Any]
Scheme = Literal["all", "share", "continuous"]
SCHEMES = ("all", "share", "continuous")
# How many tests `continuous` counts, as verl does, and the most that a program gets if it fails a later one.
COUNTED, FAILED_LATER = 10, 0.9
FORGEABLE = (
    "a test was decided in the program's own process, where a program can forge the result: write it as a call or as "
    "input and output, or allow it with in_process=True"
)


@dataclass(frozen=True, slots=True)
class CodeReward:
    """How completions are rewarded.

    `scheme`: `all` gives 1.0 for a program that passes all tests, otherwise 0.0; `share` gives the share of the tests
    that it passes; `continuous` gives that of the first ten, and 1.0 only if it passes all: a program that fails only
    later ones gets 0.9.

    `length_penalty` and `time_penalty` divide the reward by 1 + `length_penalty` x thousands of characters of the
    completion + `time_penalty` x CPU seconds of the slowest test. So a right program always gets more than 0.

    `language` is that of the programs. `rules` are limits and tolerances, or a dict of them, by default 4 s of CPU time
    and 1 GiB a test. `sandbox` is a backend's name, which runs `workers` programs at a time (0: one per core), or a
    sandbox opened by `with`. `urls` are servers of `gencode serve` that judge in its place, and `token_env` is the
    environment variable with their token.

    `retries` says how often a test without a verdict is judged again; what can't be judged gets `unjudged`.
    `deadline` is for a batch, in seconds of wall time (0: none): what isn't judged by then gets `unjudged`, too.
    `in_process` also rewards tests that can only be decided in the program's own process, where a program can forge the
    result; otherwise they are unjudged.

    Raises UserError for an unknown scheme or language.
    """

    scheme: Scheme = "all"
    length_penalty: float = 0.0
    time_penalty: float = 0.0
    language: str = PYTHON
    rules: Rules | Mapping[str, Any] = field(default_factory=Rules)
    sandbox: str | BlockingSandbox = "local"
    workers: int = 0
    urls: str | Sequence[str] = ()
    token_env: str = ""
    retries: int = 2
    deadline: float = 0.0
    unjudged: float | None = None
    in_process: bool = False

    def __post_init__(self) -> None:
        """Raise UserError if an option is invalid."""
        if self.scheme not in SCHEMES:
            raise UserError(f"scheme must be one of {', '.join(SCHEMES)}, not {self.scheme!r}")
        for name in ("length_penalty", "time_penalty", "retries", "deadline", "workers"):
            if not 0 <= getattr(self, name) < math.inf:
                raise UserError(f"{name} must be at least 0 and finite, not {getattr(self, name)}")
        extract_code("", self.language)
        try:
            self.rules_of().limits_for(Problem("row"), self.language)
        except (TypeError, Unjudgeable) as error:
            raise UserError(f"rules: {error}") from error

    def score(self, completions: Sequence[Answer], tests: Sequence[Shape]) -> list[Scored]:
        """Return what each completion gets by its own tests; see `tests_of` for their shapes.

        A completion whose tests have another shape, or can't be run, gets `unjudged`, and a line in the log; `rates`
        counts them. Raises UserError if there is no sandbox, or no server answers at the first call. It may be called
        by several threads, and where an event loop is running.
        """
        ends = self._ends()
        return run_blocking(self._scored(*self._prepared(completions, tests, ends), ends))

    async def score_async(self, completions: Sequence[Answer], tests: Sequence[Shape]) -> list[Scored]:
        """As `score`, for coroutines of any event loop."""
        ends = self._ends()
        scoring = self._scored(*await in_thread(self._prepared, completions, tests, ends), ends)
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(scoring, BACKGROUND.get()))

    def _ends(self) -> float | None:
        """Return when the deadline of a batch that begins now is over, by the monotonic clock."""
        return time.monotonic() + self.deadline if self.deadline else None

    def _prepared(
        self, completions: Sequence[Answer], tests: Sequence[Shape], ends: float | None
    ) -> "tuple[list[Work], BlockingSandbox | None]":
        """Return what is to be judged, and the open sandbox; None if servers judge."""
        works = self.works(completions, tests, ends)
        if self.urls:
            return works, None
        if isinstance(self.sandbox, str):
            return works, shared_sandbox(self.sandbox, workers=self.workers)
        return works, self.sandbox

    def works(self, completions: Sequence[Answer], tests: Sequence[Shape], ends: float | None = None) -> "list[Work]":
        """Return what is to be judged of each completion, for `judged`; after `ends`, none is read.

        Raises ValueError unless each has its tests.
        """
        if len(completions) != len(tests):
            raise ValueError(f"{len(completions)} completions have tests for {len(tests)}: each needs its own")
        return [self._work(*pair, ends) for pair in zip(completions, tests, strict=True)]

    def rules_of(self) -> Rules:
        """Return the rules, of which `rules` may be a dict."""
        return self.rules if isinstance(self.rules, Rules) else Rules(**self.rules)

    def _work(self, answer: Answer, tests: Shape, ends: float | None) -> "Work":
        if ends is not None and time.monotonic() > ends:
            return Work(self, "", None, Problem("row"), self._late, "infra")
        completion, code, part = "", None, "answer"
        try:
            completion = text_of(answer)
            extracted = extract_code(completion, self.language)
            code, part = extracted.code if extracted else None, "tests"
            return Work(self, completion, code, problem_of(tests))
        except Exception as error:  # noqa: BLE001 - whatever is wrong with a row, it must not end the batch
            return Work(self, completion, code, Problem("row"), f"the {part} can't be read: {error}")

    @property
    def _late(self) -> str:
        return f"it wasn't judged within {self.deadline:g} s, the deadline of its batch"

    async def _scored(
        self, works: "Sequence[Work]", sandbox: BlockingSandbox | None, ends: float | None
    ) -> list[Scored]:
        executor: Executor = LocalPool(sandbox.sandbox) if sandbox is not None else await self._servers()
        return await self.judged(works, executor, ends)

    async def judged(
        self,
        works: "Sequence[Work]",
        executor: Executor,
        ends: float | None = None,
        on_judgement: Callable[[Judgement], None] = lambda _: None,
    ) -> list[Scored]:
        """Judge what `works` returned, by an executor of this event loop, until `ends` by the monotonic clock.

        `on_judgement` is called for each part of their tests.
        """
        try:
            async with asyncio.timeout(None if ends is None else max(0.0, ends - time.monotonic())):
                await self._judge(executor, works, on_judgement)
        except TimeoutError:
            for work in works:
                work.give_up(self._late)
        scores = [work.scored() for work in works]
        log_unjudged(scores)
        return scores

    async def _judge(
        self, executor: Executor, works: "Sequence[Work]", on_judgement: Callable[[Judgement], None]
    ) -> None:
        """Run the tests that all count, and then the others, up to the first failure."""
        for stops in (False, True):
            asked = [(work, places) for work in works if (places := work.next_places(stops=stops))]
            rules = replace(self.rules_of(), stop_on_first_failure=stops)

            def add(index: int, judgement: Judgement, asked: "list[tuple[Work, list[int]]]" = asked) -> None:
                work, places = asked[index]
                work.add(places, judgement)
                on_judgement(judgement)

            tasks = (work.task(places, rules) for work, places in asked)
            await judge_all(tasks, executor, retries=self.retries, on_judgement=add)

    async def _servers(self) -> Executor:
        urls = (self.urls,) if isinstance(self.urls, str) else tuple(self.urls)
        if self.token_env and self.token_env not in os.environ:
            raise UserError(f"token_env: there is no environment variable {self.token_env}")
        return await connected(urls, os.environ.get(self.token_env, "").strip())


def text_of(answer: Answer | None) -> str:
    """Return the text of an answer; of a chat, that of the last message, whose content may be in parts.

    It is empty if there is none. Raises TypeError for what can't be an answer.
    """
    value = listed(answer)
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, list):
        value = value[-1] if value else None
    value = value.get("content") if isinstance(value, Mapping) else getattr(value, "content", value)
    parts = [part.get("text") if isinstance(part, Mapping) else part for part in _parts(value)]
    return "".join(part for part in parts if isinstance(part, str))


def _parts(content: Any) -> list[Any]:
    """Return the parts of a message's content; raises TypeError."""
    if content is None:
        return []
    if isinstance(content, str | Mapping):
        return [content]
    if isinstance(content, list):
        return content
    raise TypeError(f"it must be a text, a message or a chat, not {shown(content)}")


class Work:
    """A completion that is being judged: the verdicts of its tests so far, by their places."""

    def __init__(
        self,
        reward: CodeReward,
        completion: str,
        code: str | None,
        problem: Problem,
        reason: str = NO_TESTS,
        fault: Fault = "data",
    ) -> None:
        self.reward, self.completion, self.code, self.problem = reward, completion, code, problem
        self.tests = problem.tests(tuple(TestType))
        self.results: dict[int, TestResult] = {}
        self.fault: Fault
        self.message, self.fault = ("", "") if self.tests else (reason, fault)

    @property
    def first(self) -> range:
        """The places of the tests that are all run."""
        every = len(self.tests)
        return range({"all": 0, "share": every, "continuous": min(COUNTED, every)}[self.reward.scheme])

    @property
    def stops_early(self) -> bool:
        """Whether the next tests run only up to the first failure."""
        return all(place in self.results for place in self.first)

    def next_places(self, *, stops: bool) -> list[int]:
        """Return the places of the tests to run next: those that all run, or the others if the first were passed."""
        if self.code is None:
            return []
        if not stops:
            return list(self.first)
        return [] if self.failed() or not self.stops_early else list(range(len(self.first), len(self.tests)))

    def task(self, places: Sequence[int], rules: Rules) -> Task:
        """Return what is to be judged: the program by the tests at these places."""
        program = Program.from_source(self.reward.language, self.code or "")
        return Task(program, self.problem, tuple(self.tests[place] for place in places), rules)

    def add(self, places: Sequence[int], judgement: Judgement) -> None:
        """Keep the verdicts of the tests at these places."""
        results = dict(zip(places, judgement.tests, strict=False))
        found = {place: each for place, each in results.items() if each.verdict is not Verdict.INTERNAL_ERROR}
        self.results |= found
        if not found or len(found) < len(results):
            self.message, self.fault = judgement.message or "the sandbox didn't run this program", "infra"

    def give_up(self, reason: str) -> None:
        """Say why the tests that have no verdict won't get one."""
        if self.tests:
            self.message, self.fault = reason, "infra"

    def failed(self) -> bool:
        """Whether a test was failed."""
        return any(each.verdict is not Verdict.ACCEPTED for each in self.results.values())

    def scored(self) -> Scored:
        """Return the outcome."""
        passed = [each for each in self.results.values() if each.verdict is Verdict.ACCEPTED]
        message, fault = ("", "") if self._is_decided() else (self.message, self.fault)
        value = self._value()
        if message and fault == "infra" and why_not(self.problem, self.reward.rules_of(), self.reward.language):
            fault = "data"
        if not message and value and not self.reward.in_process and any(each.trust == IN_PROCESS for each in passed):
            message, fault = FORGEABLE, "data"
        value = self.reward.unjudged if message else value / self._penalty(passed)
        return Scored(value, self.code, len(passed), len(self.tests), message, fault)

    def _is_decided(self) -> bool:
        if self.code is None:
            return bool(self.tests)
        ran = len(self.results) == len(self.tests) > 0
        return ran or (self.failed() and self.stops_early)

    def _value(self) -> float:
        if self.results and not self.failed():
            return 1.0
        passed = sum(self.results[place].verdict is Verdict.ACCEPTED for place in self.first if place in self.results)
        share = passed / len(self.first) if self.first else 0.0
        return min(share, FAILED_LATER) if self.reward.scheme == "continuous" else share

    def _penalty(self, passed: Sequence[TestResult]) -> float:
        slowest = max((each.execution.cpu_seconds for each in passed), default=0.0)
        return 1 + self.reward.length_penalty * len(self.completion) / 1000 + self.reward.time_penalty * slowest
