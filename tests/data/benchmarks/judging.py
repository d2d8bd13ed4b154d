"""Judging programs of a benchmark's problems, in this process and in the real sandbox."""

import asyncio
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from alpha_codium.data.schema import problem_from_record
from alpha_codium.judge import Judge
from alpha_codium.problem import Problem, TestType
from alpha_codium.sandbox import open_sandbox
from tests.data.records import write_jsonl
from tests.gen.running import run_cli

PRIVATE = (TestType.PRIVATE,)


def verdicts(work: Iterable[tuple[Mapping[str, Any], str]], kinds: Iterable[TestType] = PRIVATE) -> list[str]:
    """The verdict on each (record, program)."""
    return asyncio.run(_verdicts([(problem_from_record(record), program) for record, program in work], tuple(kinds)))


async def _verdicts(work: list[tuple[Problem, str]], kinds: tuple[TestType, ...]) -> list[str]:
    async with open_sandbox("local", workers=2) as sandbox:
        judge = Judge(sandbox)
        judged = [judge.for_problem(p).judge(program, p.tests(kinds)) for p, program in work]
        return [judgement.verdict.value for judgement in await asyncio.gather(*judged)]


def counted(folder: Path, rows: list[dict[str, Any]], programs: Mapping[str, list[str]], *, k: int = 1) -> Any:
    """What `gencode eval eval_gen_solutions` says of programs, given by the problem's name: its --json.

    Mbpp/123 takes nearly as much CPU as a test has: here it has more.
    """
    problems = write_jsonl(folder / "problems.jsonl", rows)
    solutions = [{"task_name": name, "solution_candidates": codes} for name, codes in programs.items()]
    done = run_cli(
        "eval", "eval_gen_solutions", "--solution_dataset", write_jsonl(folder / "solutions.jsonl", solutions),
        "--ground_truth_dataset", problems, "--evaluation_test_type", "private_tests", "--k", k,
        "--json", folder / "out.json", "-o", "code_tester.known_solutions=0", "-o", "code_tester.timeout=60", "-q",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads((folder / "out.json").read_text())


def accepted(result: Any) -> list[str]:
    """The names of the problems of which any program was accepted."""
    return [p["name"] for p in result["problems"] if any(c["verdict"] == "accepted" for c in p["candidates"])]
