"""`code_eval` on whole benchmarks: their own solutions pass, and nothing passes that solves nothing."""

import ast
import json
from dataclasses import dataclass
from typing import Any

import pytest

from alpha_codium.languages.python.syntax import parse
from alpha_codium.metrics.code_eval import compute
from tests.support import shared_path

pytestmark = pytest.mark.usefixtures("shared_sandbox")

# Equal to everything, whatever is asked of it.
YES = "class Y:\n    def __eq__(self, other): return True\n    def __getattr__(self, name): return lambda *_: self\n"


@dataclass(frozen=True)
class Task:
    """A problem: its own solution, the code that tests it, and the names that this calls."""

    name: str
    solution: str
    reference: str
    functions: tuple[str, ...]

    @property
    def cheats(self) -> dict[str, str]:
        def defined(body: str) -> str:
            return "".join(f"def {name}(*_): {body}\n" for name in self.functions)

        return {
            "empty": "",
            "stub": defined("pass"),
            "exit": "import sys\nsys.exit(0)",
            "exit when called": defined("raise SystemExit(0)"),
            "equal": YES + defined("return Y()"),
            "equal numbers": YES.replace("Y:", "Y(int):") + defined("return Y()"),
            "equal class": YES + "".join(f"{name} = Y\n" for name in self.functions),
            "printed": "print('passed')\n" + defined("print('passed')"),
            "builtins": "import builtins\nbuiltins.AssertionError = builtins.all = lambda *_: True\n"
            + defined("return 1.5"),
        }


def rows(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in shared_path(f"data/{name}").read_text().splitlines()]


def human_eval() -> list[Task]:
    return [
        Task(
            row["task_id"],
            row["prompt"] + row["canonical_solution"],
            f"{row['test']}\ncheck({row['entry_point']})",
            (row["entry_point"],),
        )
        for row in rows("humaneval.jsonl")
    ]


def mbpp() -> list[Task]:
    """All but 367 and 927, whose setup code has to stand after the program: it uses a class of the program's."""
    tasks = []
    for row in rows("mbpp.jsonl"):
        defined = {node.name for node in parse(row["code"]).body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
        reference = "\n".join(row["test_list"] + row["challenge_test_list"])
        used = {node.id for node in ast.walk(parse(reference)) if isinstance(node, ast.Name)}
        if not row["test_setup_code"]:
            tasks.append(Task(f"MBPP/{row['task_id']}", row["code"], reference, tuple(sorted(defined & used))))
    return tasks


def check(tasks: list[Task]) -> None:
    """Its own solution passes and nothing else does."""
    predictions = [[task.solution, *task.cheats.values()] for task in tasks]
    _, results = compute(predictions, [task.reference for task in tasks], k=[1], num_workers=2, timeout=6.0)
    told = {task.name: [result["result"] for _, result in results[i]] for i, task in enumerate(tasks)}
    failed = {task.name: told[task.name][0] for task in tasks if told[task.name][0] != "passed"}
    passing = [
        (task.name, cheat)
        for task in tasks
        for cheat, text in zip(task.cheats, told[task.name][1:], strict=True)
        if text == "passed"
    ]
    assert (failed, passing) == ({}, [])


@pytest.mark.thorough
def test_solutions_of_human_eval_pass_and_cheats_do_not() -> None:
    check(human_eval()[::8])


@pytest.mark.thorough
def test_solutions_of_mbpp_pass_and_cheats_do_not() -> None:
    # Those with names that are spelt like those of classes are the ones to look at.
    tasks = mbpp()
    check([task for task in tasks if any(name[:1].isupper() for name in task.functions)] + tasks[::60])


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("tasks", [human_eval, mbpp])
def test_all_solutions_pass_and_no_cheats(tasks: Any) -> None:
    check(tasks())
