"""What a dialect asks the server for."""

import time
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from fastapi import Request

from alpha_codium.errors import SandboxError
from alpha_codium.eval.judging import OpenJudge
from alpha_codium.judge.executors import Task
from alpha_codium.language_table import LANGUAGES
from alpha_codium.program import PYTHON
from alpha_codium.serve.executing import JobRunner
from alpha_codium.serve.requests import JudgeAnswer, JudgeRequest
from alpha_codium.verdict import Judgement

# Seconds after which a language that can't be run is looked for again: its compiler may have been too busy to answer.
AGAIN = 30.0


class Versions(Mapping[str, str]):
    """The languages that programs can be in now, with the version of the compiler or runtime of each."""

    def __init__(self, opened: OpenJudge, clock: Callable[[], float] = time.monotonic) -> None:
        self._sandbox, self._clock = opened.judge.sandbox, clock
        self._found = {PYTHON: opened.identity.interpreter}
        self._asked: dict[str, float] = {}
        # Now, before requests come: all compilers together take seconds to answer for the first time.
        for language in LANGUAGES:
            self._look_for(language)

    def __getitem__(self, language: str) -> str:
        if language in LANGUAGES:
            self._look_for(language)
        return self._found[language]

    def __iter__(self) -> Iterator[str]:
        return (language for language in LANGUAGES if language in self)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def _look_for(self, language: str) -> None:
        if language in self._found:
            return
        if self._clock() - self._asked.get(language, -AGAIN) >= AGAIN:
            self._asked[language] = self._clock()
            with suppress(SandboxError):
                self._found[language] = self._sandbox.tool_version(language)


@dataclass(frozen=True, slots=True)
class Server:
    """The server that a dialect translates for.

    `judge` answers a request of the native API, and `judgements` judges tasks: see `serve.judging.Judging`. `jobs`
    executes programs without tests. `languages` are those that the server runs. It runs `workers` programs at a time.
    """

    judge: Callable[[Request, JudgeRequest], Awaitable[JudgeAnswer]]
    judgements: Callable[[Request, Sequence[Task]], Awaitable[list[Judgement]]]
    jobs: JobRunner
    languages: Mapping[str, str]
    workers: int = 1
