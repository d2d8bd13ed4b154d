"""Our sandbox through the judge, as `gencode eval` uses it: with its checker and its verdicts."""

import asyncio
from collections.abc import Sequence

from ours import open_ours  # pyrefly: ignore - loop.py puts this folder on the path

from alpha_codium.judge import Judge
from alpha_codium.problem import Problem, TestCase
from alpha_codium.sandbox import Sandbox

_runner = asyncio.Runner()
_state: dict[str, Sandbox] = {}


def start(options: dict[str, str]) -> None:
    """Open the sandbox."""
    _state["sandbox"] = open_ours(options)
    _runner.run(_state["sandbox"].__aenter__())


def run(programs: Sequence[str], inputs: Sequence[str], outputs: Sequence[str]) -> int:
    """Judge each program on a problem with these tests."""
    tests = tuple(TestCase(text, output) for text, output in zip(inputs, outputs, strict=True))
    return _runner.run(_run(programs, Problem("bench", private_tests=tests)))


async def _run(programs: Sequence[str], problem: Problem) -> int:
    judge = Judge(_state["sandbox"]).for_problem(problem)
    return sum([(await judge.judge(program, problem.private_tests)).tests_passed for program in programs])


def stop() -> None:
    """Close the sandbox."""
    _runner.run(_state["sandbox"].__aexit__(None, None, None))
