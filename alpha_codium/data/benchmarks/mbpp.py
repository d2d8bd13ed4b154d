"""MBPP: one-sentence tasks with assertions that programs must pass (Austin et al. 2021, arXiv:2108.07732).

1. Only the assertions name the function, and the paper's prompt shows them. So each is a public test, and they are part
   of the statement. Together they are the private test; `challenge_test_list` contains generated tests.
2. `test_setup_code` uses names that the program defines (a class `Node`). Therefore it runs before each test, as
   `test_imports` does, not before the program.
3. The sanitized configuration and MBPP+ on the hub have other names for some columns; in MBPP+ the column `test` is the
   private test.
4. A file of the whole benchmark has the splits of the paper, by `task_id`.
"""

import ast
from collections.abc import Iterator
from typing import Any

from alpha_codium.data.benchmarks.benchmark import Benchmark, code_of_test
from alpha_codium.data.fields import Fields
from alpha_codium.languages.python.beginnings import parsed

# From section 2.1 of the paper; the split `prompt` is for few-shot prompts.
SPLITS = {"test": range(11, 511), "prompt": range(1, 11), "validation": range(511, 601), "train": range(601, 975)}
TEST_WORDS = "Your code should pass these tests:"


def _split_of(fields: Fields) -> str:
    task = _task(fields)
    split = next((name for name, tasks in SPLITS.items() if task in tasks), None)
    return split or fields.fail("task_id", f"{task} is in no split: MBPP goes from 1 to 974")


def _task(fields: Fields) -> int:
    if fields.record["task_id"] is None:
        fields.fail("task_id", "is missing")
    return fields.integer("task_id")


def _convert(fields: Fields) -> dict[str, Any]:
    """Return the problem, named `Mbpp/TASK_ID` as in EvalPlus."""
    code, tests = fields.text("code"), fields.texts("test_list")
    setup = "\n".join([*fields.texts("test_imports"), fields.text("test_setup_code")]).strip()
    whole = code_of_test(fields, "test") or "\n".join(tests)
    return {
        "name": f"Mbpp/{_task(fields)}",
        "description": _description(fields.needed("text" if "text" in fields.record else "prompt"), setup, tests),
        "public_tests": _tests(setup, tests),
        "generated_tests": _tests(setup, fields.texts("challenge_test_list")),
        "execution": {
            "kind": "assertions",
            "entry_point": entry_point_of(tests, code),
            "test_code": _after(setup, whole) if whole.strip() else "",
        },
        "solutions": [{"language": "python3", "solution": code}] if code.strip() else [],
    }


def entry_point_of(tests: list[str], code: str) -> str:
    """Return the name of the function under test: the first one called by the tests and defined in `code`, or ""."""
    defined = {node.name for node in _nodes(code) if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    called = (node.func.id for node in _nodes(*tests) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name))
    return next((name for name in called if name in defined), "")


def _nodes(*codes: str) -> Iterator[ast.AST]:
    for code in codes:
        # Code that isn't Python has no nodes; the judge reports invalid tests.
        yield from ast.walk(parsed(code) or ast.Module([], []))


def _tests(setup: str, tests: list[str]) -> list[dict[str, str]]:
    return [{"input": _after(setup, test), "output": ""} for test in tests if test.strip()]


def _after(setup: str, test: str) -> str:
    return f"{setup}\n{test}" if setup else test


def _description(text: str, setup: str, tests: list[str]) -> str:
    if not tests:
        return text
    return "\n\n".join([text.strip(), TEST_WORDS, "\n".join([*filter(None, [setup]), *tests])]) + "\n"


MBPP = Benchmark(
    "mbpp",
    frozenset({"task_id", "code", "test_list"}),
    _convert,
    any_of=frozenset({"text", "prompt"}),
    hub_id="google-research-datasets/mbpp",
    splits=tuple(SPLITS),
    has_splits=lambda _first: True,
    split_of=_split_of,
)
