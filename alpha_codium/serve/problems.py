"""Problems that requests name, so that their tests don't cross the network each time.

1. `POST /v1/problems` stores tests, with their checker and limits, under a digest of the request. Those that were used
   least recently are dropped when all of them exceed a number of bytes: requests that name them get status 404.
2. A server with a dataset also knows its problems, by their names. They are read when they are asked for, and kept like
   the others; if they are dropped, they are read again.
"""

import asyncio
import json
import sys
from collections import OrderedDict
from typing import TYPE_CHECKING, Any

from fastapi import FastAPI, HTTPException
from fastapi.responses import Response
from loguru import logger
from pydantic import ValidationError

from alpha_codium.errors import UserError
from alpha_codium.problem import TestType
from alpha_codium.sandbox.remote.inputs import digest_of
from alpha_codium.serve.answers import AsciiResponse
from alpha_codium.serve.requests import JudgedBy, JudgeRequest, ProblemAnswer, ProblemRequest

if TYPE_CHECKING:
    from alpha_codium.data.load import ProblemSet

# What a problem needs in addition to its texts.
BYTES_EACH = 2000
DIGITS = frozenset("0123456789abcdef")


class Problems:
    """Stored problems, and those of a dataset; `most_bytes` is the memory for them. For use in one event loop."""

    def __init__(self, most_bytes: int = 1 << 30, dataset: "ProblemSet | None" = None) -> None:
        self.most_bytes, self.dataset = most_bytes, dataset
        self.bytes = 0
        self._kept: OrderedDict[str, tuple[JudgedBy, int]] = OrderedDict()
        self._reading = asyncio.Lock()

    def add(self, item: ProblemRequest) -> str:
        """Store tests; returns their digest. Raises HTTPException 413 if there is no room for them."""
        digest = digest_of(item.model_dump(exclude_defaults=True))
        if digest not in self._kept:
            self._keep(digest, read(item, digest))
        self._kept.move_to_end(digest)
        return digest

    async def of(self, item: JudgeRequest) -> JudgedBy:
        """Return the tests of a request; raises HTTPException 404 if it names a problem that isn't here, and 422."""
        if isinstance(item.problem, str) and item.problem:
            return await self.get(item.problem)
        return read(item)

    async def get(self, key: str) -> JudgedBy:
        """Return a problem by its digest or name; raises HTTPException 404 if it isn't here."""
        async with self._reading:
            if key not in self._kept:
                self._keep(key, await self._read(key))
        self._kept.move_to_end(key)
        return self._kept[key][0]

    async def _read(self, name: str) -> JudgedBy:
        if self.dataset is not None and name in self.dataset.names:
            try:
                problem = await asyncio.to_thread(self.dataset.get, name)
            except UserError as error:
                logger.error("{}", error)
                raise HTTPException(500, f"the problem {name!r} of the server's dataset can't be read") from error
            return JudgedBy(problem, problem.tests(tuple(TestType)))
        if len(name) == 64 and DIGITS.issuperset(name):
            raise HTTPException(
                404, f"problem: {name} isn't stored here, or not any more: send it to /v1/problems again"
            )
        which = (
            "the server's dataset has none of this name" if self.dataset is not None else "the server has no dataset"
        )
        raise HTTPException(404, f"problem: {name!r} is not the digest of a problem, and {which}")

    def _keep(self, key: str, judged_by: JudgedBy) -> None:
        size = _size_of(judged_by)
        if size > self.most_bytes:
            raise HTTPException(413, f"problem: its tests need {size} bytes, the server has {self.most_bytes} for all")
        while self.bytes + size > self.most_bytes:
            self.bytes -= self._kept.popitem(last=False)[1][1]
        self._kept[key] = judged_by, size
        self.bytes += size


def read(item: ProblemRequest, name: str = "request") -> JudgedBy:
    """Return the tests of a request; raises HTTPException 422."""
    try:
        return item.judged_by(name)
    except (ValueError, RecursionError) as error:
        first: Any = error.errors()[0] if isinstance(error, ValidationError) else {"loc": (), "msg": error}
        where = ".".join(map(str, ("problem", *first["loc"])))
        raise HTTPException(422, f"{where}: {first['msg']}") from error


def _size_of(judged_by: JudgedBy) -> int:
    """Return about how many bytes of memory the tests need."""
    problem, checker = judged_by.problem, judged_by.problem.checker
    spec = problem.execution
    texts = [problem.description, spec.setup_code, spec.entry_point, json.dumps(checker.arguments) if checker else ""]
    texts += [solution.code for solution in (*problem.solutions, *problem.incorrect_solutions)]
    for test in judged_by.tests:
        texts += (test.input, test.output)
    return BYTES_EACH + sum(map(sys.getsizeof, texts))


def add_problems(app: FastAPI, problems: Problems) -> None:
    """Add the addresses at which problems are stored and found."""

    @app.post("/v1/problems", response_model=ProblemAnswer)
    async def store(item: ProblemRequest) -> Response:
        """Store tests for requests that name them; `problem` of the answer is a digest of the request."""
        digest = problems.add(item)
        tests = (await problems.get(digest)).tests
        return AsciiResponse(ProblemAnswer(problem=digest, tests=len(tests)).model_dump())

    @app.get("/v1/problems/{problem:path}", response_model=ProblemAnswer)
    async def find(problem: str) -> Response:
        """Whether a problem is here, by its digest or its name in the server's dataset: status 404 if it isn't."""
        tests = (await problems.get(problem)).tests
        return AsciiResponse(ProblemAnswer(problem=problem, tests=len(tests)).model_dump())
