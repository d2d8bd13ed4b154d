"""Whatever a program does, it is judged: no program may choose `internal_error`. See "Who is to blame" in the docs.

Seeded random programs (`hostile_behaviours`) on every channel on which a program acts, in every backend of this
machine. `GENCODE_RANDOM_PROGRAMS` is a number of programs to try on each, other ones each time.
"""

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import ExitStack
from random import Random

import pytest
import pytest_asyncio

from alpha_codium.errors import SandboxError
from alpha_codium.judge import Judge, Rules
from alpha_codium.judge import interactive as judging
from alpha_codium.judge.assertions import AssertionsKind
from alpha_codium.languages import language_named
from alpha_codium.languages.tools import Build
from alpha_codium.limits import Limits
from alpha_codium.problem import Problem, TestCase
from alpha_codium.program import PYTHON, Program
from alpha_codium.sandbox import Sandbox, open_sandbox
from alpha_codium.verdict import Judgement, Verdict
from tests.judge.asserting import judged_in_batch
from tests.judge.checkers import needs_compiler
from tests.judge.hostile_behaviours import CHANNELS, ONE, image_in_c, mutated
from tests.sandbox.backends import BACKENDS, ISOLATED
from tests.serve.serving import started

MORE = int(os.environ.get("GENCODE_RANDOM_PROGRAMS", "0"))
FEW, MANY = 2, 12
# `remote` asks a server of ours on loopback.
SLOW = {name for name, backend in BACKENDS.items() if backend.slow}
OTHERS = [(name, pytest.mark.slow if name in SLOW else pytest.mark.thorough) for name in (*ISOLATED[1:], "remote")]
ALL = ["local", *(pytest.param(name, marks=mark) for name, mark in OTHERS)]
pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=ALL)
async def backend(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Sandbox]:
    with pytest.MonkeyPatch.context() as patch, ExitStack() as server:
        patch.setenv("GENCODE_HOME", str(tmp_path_factory.mktemp("home")))
        patch.setattr(judging, "IDLE_SECONDS", 0.7)
        if request.param == "remote":
            url, _ = server.enter_context(started())
            name, options = "remote", {"urls": [url]}
        else:
            chosen = BACKENDS[request.param]
            name, options = chosen.name, {"workers": 2, **chosen.prepare()}
        async with open_sandbox(name, **options) as opened:
            yield opened


async def withheld(sandbox: Sandbox, problem: Problem, test: TestCase, programs: Iterable[Program]) -> list[str]:
    """The programs that got no verdict, with the reason."""
    judge = Judge(sandbox, Rules(cpu_seconds=0.5, memory_bytes=256 << 20)).for_problem(problem)
    room = asyncio.Semaphore(sandbox.workers)

    async def judged(program: Program) -> tuple[Program, Judgement]:
        async with room:
            return program, await judge.judge(program, [test])

    found = await asyncio.gather(*map(judged, programs))
    return [f"{each.message}\n{program.source}" for program, each in found if each.verdict is Verdict.INTERNAL_ERROR]


def seeds(name: str, number: int) -> list[Random]:
    """Sources of random programs."""
    return [Random(f"{name} {seed}") if not MORE else Random() for seed in range(MORE or number)]


NUMBERS = [FEW, pytest.param(MANY, marks=pytest.mark.slow)]


@pytest.mark.parametrize("number", NUMBERS)
@pytest.mark.parametrize("channel", CHANNELS)
async def test_no_program_withholds_its_verdict(backend: Sandbox, channel: str, number: int) -> None:
    problem, test, write, right = CHANNELS[channel]
    honest = await Judge(backend).for_problem(problem).judge(right, [test])
    if honest.verdict is Verdict.INTERNAL_ERROR:
        pytest.skip(honest.message)
    assert honest.accepted
    programs = [Program.from_source(PYTHON, write(random)) for random in seeds(channel, number)]
    assert await withheld(backend, problem, test, programs) == []


@pytest.mark.parametrize("number", NUMBERS)
async def test_no_program_of_a_batch_withholds_its_verdict(backend: Sandbox, number: int) -> None:
    problem, _, write, right = CHANNELS["assertions"]
    kind = Judge(backend, Rules(cpu_seconds=0.5, memory_bytes=256 << 20)).for_problem(problem).kind
    assert isinstance(kind, AssertionsKind)
    programs = [right, *map(write, seeds("batch", number)), right]
    results = await judged_in_batch(kind, [(program, "assert f(1, 2, 3) == 6") for program in programs])
    found = [result.verdict for result in results]
    assert found[0] is found[-1] is Verdict.ACCEPTED
    assert [each for each, verdict in zip(programs, found, strict=True) if verdict is Verdict.INTERNAL_ERROR] == []


def decoding(program: Program, _limits: Limits) -> Build:
    """A compiler that makes the bytes that the program is, in base64."""
    return Build(("/bin/sh", "-c", "base64 -d program.c > program"), "program", program.files, "none")


@needs_compiler
@pytest.mark.parametrize("number", NUMBERS)
@pytest.mark.parametrize("write", [image_in_c, mutated])
async def test_no_executable_withholds_its_verdict(
    backend: Sandbox, write: Callable[[Random], str], number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    try:
        backend.tool_version("c")
    except SandboxError as error:
        pytest.skip(str(error))
    if write is mutated:
        monkeypatch.setattr(language_named("c"), "build", decoding)
    programs = [Program.from_source("c", write(random)) for random in seeds(write.__name__, number)]
    assert await withheld(backend, Problem("tokens"), ONE, programs) == []
