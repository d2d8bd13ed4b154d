"""MBPP or HumanEval in the form of MultiPL-E (Cassano et al. 2022, arXiv:2208.08227): typed signatures with docstrings.

Only Python can be judged. The statement is the prompt; the test is the record's own code, which calls what it tests.
`sample_io`, which the MapCoder project adds, is shown to models there: it holds the public tests.
"""

from collections.abc import Mapping
from typing import Any

from alpha_codium.data.benchmarks.raw import Raw
from alpha_codium.languages.python.beginnings import beginning_of

NAME = "multipl_e"
HUB_ID = ""
ONLY_SPLIT = "test"
COLUMNS = {"name", "prompt", "stop_tokens"}
PYTHON = ("", "py", "python")


def matches(record: Mapping[str, Any]) -> bool:
    """Whether a record has the columns of MultiPL-E."""
    return record.keys() >= COLUMNS and ("tests" in record or "test" in record)


def convert(record: Mapping[str, Any], where: str) -> dict[str, Any]:
    """The record in our schema; raises DatasetError where it is of another language, or its prompt begins nothing."""
    raw = Raw(record, where, "name")
    name, prompt, language = raw.needed("name"), raw.needed("prompt"), raw.text("language")
    if language not in PYTHON:
        raw.fail("language", f"is {language!r}: programs are judged in Python (py) only")
    beginning = beginning_of(prompt)
    if beginning is None:
        raw.fail("prompt", "is no beginning of a function in Python")
    return {
        "name": name,
        "description": prompt,
        "public_tests": [{"input": test, "output": ""} for test in raw.texts("sample_io")],
        "execution": {
            "kind": "assertions",
            "entry_point": raw.text("entry_point") or beginning.name,
            "test_code": raw.test("tests" if "tests" in record else "test"),
            "setup_code": beginning.before,
        },
    }
