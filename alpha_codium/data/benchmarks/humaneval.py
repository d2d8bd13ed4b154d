"""HumanEval, HumanEval-X, and MBPP or HumanEval in the form of MultiPL-E: complete a function from its docstring.

Sources: Chen et al. 2021, arXiv:2107.03374; Cassano et al. 2022, arXiv:2208.08227 (github.com/nuprl/MultiPL-E); Zheng
et al. 2023, arXiv:2303.17568 (github.com/THUDM/CodeGeeX).

1. The statement is the prompt. In Python, code before the function in the prompt (imports, helpers) runs before each
   program, so solutions needn't repeat it. HumanEval+ on the hub has the same columns, and longer tests.
2. In other languages a program is the prompt with a completion, or the whole function; the includes and imports of the
   prompt run before it. The tests are appended (see `judge.appended_tests`).
3. `sample_io`, which the MapCoder project adds to MultiPL-E, and `example_test` of HumanEval-X contain tests that may
   be shown to models.
"""

import re
from typing import Any

from alpha_codium.data.benchmarks.benchmark import Benchmark, code_of_test
from alpha_codium.data.fields import Fields
from alpha_codium.language_table import canonical
from alpha_codium.languages.python.beginnings import beginning_of
from alpha_codium.program import PYTHON

# The lines of a prompt that may be repeated.
HEADS = {
    "cpp": re.compile(r"^[ \t]*(?:#[ \t]*include\b.*|using namespace std;)[ \t]*$", re.MULTILINE),
    "java": re.compile(r"^import .*;[ \t]*$", re.MULTILINE),
}
# The headers that evaluations of HumanEval-X add.
CPP_HEADERS = ("stdlib.h", "algorithm", "math.h", "stdio.h", "vector", "string", "climits", "cstring", "iostream")
# In JavaScript, a failed `console.assert` prints a line, and the program goes on.
FAILING_ASSERT = 'console.assert = require("node:assert");'
# Other languages need more than a compiler: test runners and packages, or, for Java in MultiPL-E, javatuples.
X_LANGUAGES, E_LANGUAGES = ("cpp", "java", "javascript"), ("cpp", "javascript", "rust")


def _humaneval(fields: Fields) -> dict[str, Any]:
    problem = _completion(fields, "task_id", "test")
    if problem["execution"]["entry_point"] != fields.needed("entry_point"):
        begun = problem["execution"]["entry_point"]
        fields.fail("prompt", f"begins {begun!r}, and the entry_point is {fields.text('entry_point')!r}")
    solution = fields.text("canonical_solution")
    programs = [{"language": "python3", "solution": problem["description"] + solution}] if solution else []
    return problem | {"solutions": programs}


def _multipl_e(fields: Fields) -> dict[str, Any]:
    language = canonical(fields.text("language") or PYTHON)
    if language != PYTHON:
        return _in_another_language(fields, language)
    problem = _completion(fields, "name", "tests" if "tests" in fields.record else "test")
    if entry_point := fields.text("entry_point"):
        problem["execution"]["entry_point"] = entry_point
    return problem | {"public_tests": [{"input": test, "output": ""} for test in fields.texts("sample_io")]}


def _completion(fields: Fields, name: str, test: str) -> dict[str, Any]:
    """Return a problem whose prompt is the beginning of a function; `name` and `test` are columns."""
    prompt = fields.needed("prompt")
    beginning = beginning_of(prompt)
    if beginning is None:
        fields.fail("prompt", "is not the beginning of a function in Python")
    return {
        "name": fields.needed(name),
        "description": prompt,
        "execution": {
            "kind": "assertions",
            "entry_point": beginning.name,
            "test_code": code_of_test(fields, test),
            "setup_code": beginning.before,
        },
    }


def _in_another_language(fields: Fields, language: str) -> dict[str, Any]:
    """Return a problem of MultiPL-E in a language other than Python."""
    if language not in E_LANGUAGES:
        fields.fail("language", f"is {language!r}: tests of MultiPL-E can be run in python3, {', '.join(E_LANGUAGES)}")
    prompt = fields.needed("prompt")
    tests = fields.needed("tests" if "tests" in fields.record else "test")
    return _problem(fields.needed("name"), prompt, language, tests, _head(prompt, language))


def _humaneval_x(fields: Fields) -> dict[str, Any]:
    name, prompt, solution = fields.needed("task_id"), fields.needed("prompt"), fields.text("canonical_solution")
    language = canonical(name.partition("/")[0])
    if language == PYTHON:
        own = _completion(fields, "task_id", "test")
        return own | {"solutions": [{"language": PYTHON, "solution": prompt + solution}] if solution.strip() else []}
    if language not in X_LANGUAGES:
        known = ", ".join((PYTHON, *X_LANGUAGES))
        fields.fail("task_id", f"is {name!r}: tests of HumanEval-X can be run in {known}")
    head = _head(prompt, language)
    if language == "cpp":
        head = "\n".join([*(f"#include <{header}>" for header in CPP_HEADERS), head])
    if language == "javascript":
        head = FAILING_ASSERT
    problem = _problem(name, prompt, language, fields.needed("test"), head)
    examples = fields.text("example_test")
    return problem | {
        "public_tests": [{"input": examples, "output": ""}] if examples.strip() else [],
        "solutions": [{"language": language, "solution": prompt + solution}] if solution.strip() else [],
    }


def _problem(name: str, prompt: str, language: str, test_code: str, setup_code: str) -> dict[str, Any]:
    execution = {"kind": "assertions", "test_code": test_code, "setup_code": setup_code, "language": language}
    return {"name": name, "description": prompt, "execution": execution}


def _head(prompt: str, language: str) -> str:
    return "\n".join(line.strip() for line in HEADS[language].findall(prompt)) if language in HEADS else ""


HUMANEVAL = Benchmark(
    "humaneval",
    frozenset({"task_id", "prompt", "entry_point", "test"}),
    _humaneval,
    hub_id="openai/openai_humaneval",
    only_split="test",
)
MULTIPL_E = Benchmark(
    "multipl_e",
    frozenset({"name", "prompt", "stop_tokens"}),
    _multipl_e,
    key="name",
    any_of=frozenset({"tests", "test"}),
    only_split="test",
)
HUMANEVAL_X = Benchmark(
    "humaneval_x",
    frozenset({"task_id", "prompt", "declaration", "canonical_solution", "test", "example_test"}),
    _humaneval_x,
    hub_id="THUDM/humaneval-x",
    only_split="test",
)
