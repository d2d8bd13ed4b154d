"""LiveCodeBench: programs that read and print, and methods of `class Solution` (Jain et al. 2024, arXiv:2403.07974).

1. A test is `{input, output, testtype}`. `functional` ones have an argument a line, each as JSON, and the JSON of what
   must be returned, which is compared as it stands. `metadata` names the method.
2. Private tests are JSON, or JSON as text in a pickle, compressed and spelt in base64: read by `data.unpickling`, which
   makes nothing but data, and of a length that is bounded before it is unfolded.
3. The names that LiveCodeBench imports before each program are imported here, too, but for those that hide builtins.
"""

import base64
import binascii
import json
import zlib
from collections.abc import Mapping
from typing import Any

from alpha_codium.data.benchmarks import apps
from alpha_codium.data.benchmarks.raw import Raw
from alpha_codium.data.unpickling import loads
from alpha_codium.errors import nearest

NAME = "livecodebench"
HUB_ID = "livecodebench/code_generation_lite"
COLUMNS = {"question_id", "question_content", "public_test_cases", "private_test_cases"}
# Numbers of the column `difficulty` of our schema.
DIFFICULTIES = {"easy": 1, "medium": 2, "hard": 3}
KINDS = ("stdin", "functional")
# The largest tests that are published take a tenth of it.
MAX_BYTES = 1 << 29
SETUP = f"""\
{apps.SETUP}\
import bisect, copy, datetime, functools, io, json, operator, re, statistics, string
from bisect import *
from functools import *
from itertools import *
from typing import *
"""


def matches(record: Mapping[str, Any]) -> bool:
    """Whether a record has LiveCodeBench's columns."""
    return "name" not in record and record.keys() >= COLUMNS


def convert(record: Mapping[str, Any], where: str) -> dict[str, Any]:
    """The record in our schema; raises DatasetError where a field isn't what LiveCodeBench says it is."""
    raw = Raw(record, where, "question_id")
    public = _tests(raw, "public_test_cases", raw.record["public_test_cases"])
    private = _tests(raw, "private_test_cases", _unfolded(raw))
    kinds = {test["testtype"] for test in public + private}
    if len(kinds) > 1:
        raw.fail(
            "testtype", "is functional for some tests and not for others: it must be the same for all of a problem"
        )
    function = _function(raw) if kinds == {"functional"} else ""
    return {
        "name": f"{NAME}/{raw.needed('question_id')}",
        "description": apps.description(raw.text("question_content"), raw.text("starter_code"), function),
        "public_tests": _columns(raw, public, function, "public_test_cases"),
        "private_tests": _columns(raw, private, function, "private_test_cases"),
        "execution": {"kind": "call" if function else "stdin", "entry_point": function, "setup_code": SETUP},
        "checker": {"name": "call_result", "arguments": {"unwrap": False}} if function else None,
        "difficulty": apps.difficulty(raw, DIFFICULTIES),
        "contest_date": record.get("contest_date"),
    }


def _unfolded(raw: Raw) -> Any:
    """Private tests as JSON text, from base64 of a compressed pickle where they come so."""
    field = "private_test_cases"
    text = raw.record[field]
    if not isinstance(text, str) or not text.strip() or text.lstrip()[:1] == "[":
        return text
    unfolding = zlib.decompressobj()
    try:
        pickled = unfolding.decompress(base64.b64decode(text, validate=True), MAX_BYTES)
    except (binascii.Error, ValueError, zlib.error) as error:
        raw.fail(field, f"holds neither JSON nor a compressed pickle in base64: {error}")
    if not unfolding.eof:
        raw.fail(field, f"is cut short, or unfolds to more than {MAX_BYTES} bytes")
    return loads(pickled, max_bytes=MAX_BYTES, where=f"{raw.where} ({raw.record['question_id']!r}): {field}")


def _tests(raw: Raw, field: str, tests: Any) -> list[dict[str, str]]:
    if isinstance(tests, str):
        try:
            tests = json.loads(tests) if tests.strip() else []
        except (ValueError, RecursionError) as error:
            raw.fail(field, f"is no JSON: {error}")
    tests = [] if tests is None else tests
    if not isinstance(tests, list):
        raw.fail(field, "must be a list of tests")
    for place, test in enumerate(tests):
        _check(raw, f"{field}[{place}]", test)
    return tests


def _check(raw: Raw, field: str, test: Any) -> None:
    keys = ("input", "output", "testtype")
    if not isinstance(test, Mapping) or not all(isinstance(test.get(key), str) for key in keys):
        raw.fail(field, f"must be an object with the texts {', '.join(keys)}")
    if test["testtype"] not in KINDS:
        raw.fail(f"{field}.testtype", f"{test['testtype']!r} is unknown{nearest(test['testtype'], KINDS)}")


def _function(raw: Raw) -> str:
    metadata = raw.record.get("metadata") or "{}"
    try:
        metadata = json.loads(metadata) if isinstance(metadata, str) else metadata
    except (ValueError, RecursionError) as error:
        raw.fail("metadata", f"is no JSON: {error}")
    function = metadata.get("func_name") if isinstance(metadata, Mapping) else None
    if not isinstance(function, str) or not function.isidentifier():
        raw.fail("metadata", "has no func_name, and the tests are functional")
    return function


def _columns(raw: Raw, tests: list[dict[str, str]], function: str, field: str) -> dict[str, list[str]]:
    inputs = [test["input"] for test in tests]
    if function:
        inputs = [_arguments(raw, text, f"{field}[{place}].input") for place, text in enumerate(inputs)]
    return {"input": inputs, "output": [test["output"] for test in tests]}


def _arguments(raw: Raw, lines: str, field: str) -> str:
    """The JSON list of what stands as JSON on each line; what it spells stays as it is spelt."""
    arguments = [line for line in lines.split("\n") if line.strip()]
    for line in arguments:
        try:
            json.loads(line)
        except (ValueError, RecursionError) as error:
            raw.fail(field, f"must have JSON on each line: {error}")
    return f"[{', '.join(arguments)}]"
