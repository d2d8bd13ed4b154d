"""HumanEval, and MBPP or HumanEval in the form of MultiPL-E: complete a function in Python from its docstring.

Sources: Chen et al. 2021, arXiv:2107.03374; Cassano et al. 2022, arXiv:2208.08227. The statement is the prompt. Code
before the function in the prompt (imports, helpers) runs before each program, so solutions needn't repeat it.
HumanEval+ on the hub has the same columns, and longer tests. `sample_io`, which the MapCoder project adds to MultiPL-E,
contains tests that may be shown to models.
"""

from typing import Any

from alpha_codium.data.benchmarks.benchmark import Benchmark, code_of_test
from alpha_codium.data.benchmarks.other_languages import multipl_e
from alpha_codium.data.fields import Fields
from alpha_codium.languages.names import canonical
from alpha_codium.languages.python.beginnings import beginning_of
from alpha_codium.program import PYTHON


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
        return multipl_e(fields, language)
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
