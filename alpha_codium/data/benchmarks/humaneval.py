"""HumanEval: complete a function from its signature and docstring (Chen et al. 2021, arXiv:2107.03374).

The statement is the prompt; the test is the benchmark's own `check`, called with the program's function. What stands
before that function in the prompt (imports, helpers) runs before each program: a solution needn't repeat it. HumanEval+
on the hub has the same columns, and a longer test.
"""

from collections.abc import Mapping
from typing import Any

from alpha_codium.data.benchmarks.raw import Raw
from alpha_codium.languages.python.beginnings import Beginning, beginning_of

NAME = "humaneval"
HUB_ID = "openai/openai_humaneval"
ONLY_SPLIT = "test"
COLUMNS = {"task_id", "prompt", "entry_point", "test"}


def matches(record: Mapping[str, Any]) -> bool:
    """Whether a record has HumanEval's columns."""
    return "name" not in record and record.keys() >= COLUMNS


def convert(record: Mapping[str, Any], where: str) -> dict[str, Any]:
    """The record in our schema; raises DatasetError where its prompt is no beginning of its function."""
    raw = Raw(record, where)
    prompt, entry_point, solution = raw.needed("prompt"), raw.needed("entry_point"), raw.text("canonical_solution")
    return {
        "name": raw.needed("task_id"),
        "description": prompt,
        "execution": {
            "kind": "assertions",
            "entry_point": entry_point,
            "test_code": raw.test("test"),
            "setup_code": beginning_in(raw, prompt, entry_point).before,
        },
        "solutions": [{"language": "python3", "solution": prompt + solution}] if solution else [],
    }


def beginning_in(raw: Raw, prompt: str, entry_point: str) -> Beginning:
    """What the field `prompt` is the beginning of; raises DatasetError where that isn't the entry point."""
    beginning = beginning_of(prompt)
    if beginning is None:
        raw.fail("prompt", "is no beginning of a function in Python")
    if beginning.name != entry_point:
        raw.fail("prompt", f"begins {beginning.name!r}, and the entry_point is {entry_point!r}")
    return beginning
