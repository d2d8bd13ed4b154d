"""LiveCodeBench: programs that read and print, and methods of `class Solution` (Jain et al. 2024, arXiv:2403.07974).

1. A test is `{input, output, testtype}`. The input of a `functional` test is one JSON argument per line, its output the
   JSON of the value to return. `metadata` names the method.
2. Private tests are JSON, or a compressed pickle of JSON in base64, which `data.unpickling` reads.
3. A file of the dataset has the problems of one release: `v6` those of the sixth, `release_v6` those of all up to it.
4. Before each program the imports of LiveCodeBench run, except those that hide builtins.
"""

import base64
import binascii
import zlib
from typing import Any

from alpha_codium.data.benchmarks import apps
from alpha_codium.data.benchmarks.benchmark import Benchmark, checked_tests
from alpha_codium.data.fields import Fields
from alpha_codium.data.unpickling import loads
from alpha_codium.errors import nearest
from alpha_codium.values import parse_json

NAME = "livecodebench"
RELEASES = ("test.jsonl", "test2.jsonl", "test3.jsonl", "test4.jsonl", "test5.jsonl", "test6.jsonl")
FILES = {f"v{number}": (name,) for number, name in enumerate(RELEASES, 1)}
FILES |= {f"release_v{number}": RELEASES[:number] for number in range(1, len(RELEASES) + 1)}
# Values of the column `difficulty` in our schema.
DIFFICULTIES = {"easy": 1, "medium": 2, "hard": 3}
KINDS = ("stdin", "functional")
# Ten times the largest published tests.
MAX_BYTES = 1 << 29
SETUP = f"""\
{apps.SETUP}\
import bisect, copy, datetime, functools, io, json, operator, re, statistics, string
from bisect import *
from functools import *
from itertools import *
from typing import *
"""


def _convert(fields: Fields) -> dict[str, Any]:
    public = _tests(fields, "public_test_cases")
    private = _tests(_with_decompressed_tests(fields), "private_test_cases")
    kinds = {test["testtype"] for test in public + private}
    if len(kinds) > 1:
        fields.fail(
            "testtype", "is functional for some tests and not for others: it must be the same for all of a problem"
        )
    function = _function(fields) if kinds == {"functional"} else ""
    return {
        "name": f"{NAME}/{fields.needed('question_id')}",
        "description": apps.description(fields.text("question_content"), fields.text("starter_code"), function),
        "public_tests": _columns(fields, public, function, "public_test_cases"),
        "private_tests": _columns(fields, private, function, "private_test_cases"),
        "execution": {"kind": "call" if function else "stdin", "entry_point": function, "setup_code": SETUP},
        "checker": {"name": "call_result", "arguments": {"unwrap": False}} if function else None,
        "difficulty": apps.difficulty(fields, DIFFICULTIES),
        "contest_date": fields.record.get("contest_date"),
    }


def _with_decompressed_tests(fields: Fields) -> Fields:
    """Return the record with its private tests as JSON, if necessary read from a compressed pickle in base64."""
    name = "private_test_cases"
    text = fields.record[name]
    if not isinstance(text, str) or not text.strip() or text.lstrip()[:1] == "[":
        return fields
    decompressor = zlib.decompressobj()
    try:
        pickled = decompressor.decompress(base64.b64decode(text, validate=True), MAX_BYTES)
    except (binascii.Error, ValueError, zlib.error) as error:
        fields.fail(name, f"holds neither JSON nor a compressed pickle in base64: {error}")
    if not decompressor.eof:
        fields.fail(name, f"is cut short, or unfolds to more than {MAX_BYTES} bytes")
    where = f"{fields.where} ({fields.record['question_id']!r}): {name}"
    value = loads(pickled, max_bytes=MAX_BYTES, where=where)
    return Fields({**fields.record, name: value}, fields.where, fields.key)


def _tests(fields: Fields, field: str) -> list[dict[str, str]]:
    tests = checked_tests(fields, field, "input", "output", "testtype")
    for index, test in enumerate(tests):
        if (kind := test["testtype"]) not in KINDS:
            fields.fail(f"{field}[{index}].testtype", f"{kind!r} is unknown{nearest(kind, KINDS)}")
    return tests


def _function(fields: Fields) -> str:
    metadata = fields.parsed("metadata", {})
    function = metadata.get("func_name")
    if not isinstance(function, str) or not function.isidentifier():
        fields.fail("metadata", "has no func_name, and the tests are functional")
    return function


def _columns(fields: Fields, tests: list[dict[str, str]], function: str, field: str) -> dict[str, list[str]]:
    inputs = [test["input"] for test in tests]
    if function:
        inputs = [_arguments(fields, text, f"{field}[{index}].input") for index, text in enumerate(inputs)]
    return {"input": inputs, "output": [test["output"] for test in tests]}


def _arguments(fields: Fields, lines: str, field: str) -> str:
    """Return a JSON list of the JSON values on each line, as they are written."""
    arguments = [line for line in lines.split("\n") if line.strip()]
    for line in arguments:
        try:
            parse_json(line)
        except (ValueError, RecursionError) as error:
            fields.fail(field, f"must have JSON on each line: {error}")
    return f"[{', '.join(arguments)}]"


LIVECODEBENCH = Benchmark(
    NAME,
    frozenset({"question_id", "question_content", "public_test_cases", "private_test_cases"}),
    _convert,
    key="question_id",
    hub_id="livecodebench/code_generation_lite",
    files=FILES,
)
