"""APPS: programs that read and print, and functions to be called (Hendrycks et al. 2021, arXiv:2105.09938).

1. `input_output` contains the tests as JSON. If it has `fn_name`, they are function calls: the arguments, and the value
   to return, mostly wrapped in a list (`call_result` accepts it either way).
2. JSON objects have text as keys. If all keys of an argument look like integers, they are converted to integers. Tests
   with such arguments, or with integers too long for Python's JSON, become assertions.
3. Before each program the imports of APPS run, except numpy, since published solutions need them.
4. A record without tests becomes a problem without tests, which no program passes.
"""

import json
import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from alpha_codium.data.benchmarks.benchmark import Benchmark
from alpha_codium.data.fields import Fields
from alpha_codium.errors import nearest
from alpha_codium.values import DIGITS, integer_of

NAME = "apps"
HUB_ID = "codeparrot/apps"
SPLITS = ("train", "test")
# Values of the column `difficulty`, after those of CodeContests; see `data.schema.DIFFICULTY_NAMES`.
DIFFICULTIES = {"introductory": 29, "interview": 30, "competition": 31}
# The tag of a problem whose tests were rebuilt from printed text, and may be wrong.
AMBIGUOUS = "type_ambiguous"
# Names that programs may use without importing them, as in APPS.
SETUP = """\
import collections, fractions, functools, heapq, itertools, math, random, sys, time
from collections import ChainMap, Counter, OrderedDict, defaultdict, deque
from functools import lru_cache
from heapq import *
from itertools import accumulate, combinations, permutations, product
from math import ceil, cos, exp, fabs, floor, gcd, log, log2, sin, sqrt, tan
from typing import Dict, List, Optional, Set, Tuple
"""
INTEGER = re.compile(r"-?[0-9]+")
# A call and a comparison as in `judge.call`. The names must not collide with the program's.
ASSERTION = """\
def _apps_same(expected, returned):
    if type(expected) is list:
        return (
            type(returned) in (list, tuple)
            and len(expected) == len(returned)
            and all(_apps_same(*pair) for pair in zip(expected, returned))
        )
    if type(expected) is dict:
        keyed = {{str(key) if type(key) is int else key: item for key, item in returned.items()}} \\
            if type(returned) is dict else {{}}
        return type(returned) is dict and keyed.keys() == expected.keys() and all(
            _apps_same(item, keyed[key]) for key, item in expected.items()
        )
    return type(returned) is not list and expected == returned


try:
    _apps_solution = Solution() if hasattr(Solution, "{entry_point}") else None
except NameError:
    _apps_solution = None
_apps_expected = {expected}
_apps_returned = ({entry_point} if _apps_solution is None else _apps_solution.{entry_point})({arguments})
assert _apps_same(_apps_expected, _apps_returned) or (
    type(_apps_expected) is list and len(_apps_expected) == 1 and _apps_same(_apps_expected[0], _apps_returned)
)
"""


def _convert(fields: Fields) -> dict[str, Any]:
    try:
        return _converted(fields)
    except RecursionError:
        fields.fail("input_output", "is nested too deep")


def _converted(fields: Fields) -> dict[str, Any]:
    tests = fields.parsed("input_output", {})
    function = tests.get("fn_name") or ""
    inputs, outputs = _pairs(fields, tests)
    return {
        "name": "/".join(filter(None, (NAME, _split_of(fields), _number(fields)))),
        "description": description(fields.text("question"), fields.text("starter_code"), function),
        **(_calls(fields, function, inputs, outputs) if function else _streams(fields, inputs, outputs)),
        "difficulty": difficulty(fields, DIFFICULTIES),
        "solutions": [{"language": "python3", "solution": code} for code in fields.parsed("solutions", [])],
        "cf_tags": [AMBIGUOUS] if _meta(fields).get(AMBIGUOUS) else [],
    }


def description(statement: str, starter_code: str, function: str) -> str:
    """Return the statement, with the code or function that a program must define."""
    if starter_code.strip():
        return f"{statement.rstrip()}\n\nThe program must begin with:\n\n{starter_code.strip()}\n"
    return f"{statement.rstrip()}\n\nThe program must define the function {function}.\n" if function else statement


def difficulty(fields: Fields, known: Mapping[str, int]) -> int:
    """Return the number of a record's difficulty, 0 if it has none; raises DatasetError if the word is unknown."""
    word = fields.text("difficulty")
    if word and word not in known:
        fields.fail("difficulty", f"{word!r} is unknown{nearest(word, known)}")
    return known.get(word, 0)


def _split_of(fields: Fields) -> str:
    """Return the record's split, or "" if it doesn't name one. Problem numbers are unique only within a split."""
    split = fields.record.get("split") or _meta(fields).get("split")
    return split if isinstance(split, str) and split in SPLITS else ""


def _needed_split(fields: Fields) -> str:
    return _split_of(fields) or fields.fail("split", f"must be {' or '.join(SPLITS)}, as in the first record")


def _number(fields: Fields) -> str:
    number = fields.record["problem_id"]
    if isinstance(number, str) and number.strip():
        return number.strip()
    return str(fields.integer("problem_id")) if number is not None else fields.fail("problem_id", "is missing")


def _meta(fields: Fields) -> Mapping[str, Any]:
    meta = fields.record.get("x_meta")
    return meta if isinstance(meta, Mapping) else {}


def _pairs(fields: Fields, tests: Mapping[str, Any]) -> tuple[list[Any], list[Any]]:
    inputs, outputs = tests.get("inputs") or [], tests.get("outputs") or []
    if not isinstance(inputs, list) or not isinstance(outputs, list):
        fields.fail("input_output", "must have inputs and outputs, which are lists")
    if len(inputs) != len(outputs):
        fields.fail("input_output", f"must have as many outputs ({len(outputs)}) as inputs ({len(inputs)})")
    return inputs, outputs


def _streams(fields: Fields, inputs: list[Any], outputs: list[Any]) -> dict[str, Any]:
    texts = {
        key: [_lines(fields, value, f"input_output.{key}s[{index}]") for index, value in enumerate(values)]
        for key, values in (("input", inputs), ("output", outputs))
    }
    return {"private_tests": texts, "execution": {"kind": "stdin", "setup_code": SETUP}}


def _lines(fields: Fields, value: Any, field: str) -> str:
    """Return the text of a value: a text, or a list of lines, which may be numbers."""
    lines = value if isinstance(value, list) else [value]
    if not all(isinstance(line, str | int | float) for line in lines):
        fields.fail(field, "must be text, or a list of lines")
    # Unlike an int, a Decimal of any length can be printed.
    return "\n".join(str(Decimal(line) if _beyond_json(line) else line) for line in lines)


def _calls(fields: Fields, function: Any, inputs: list[Any], outputs: list[Any]) -> dict[str, Any]:
    if not isinstance(function, str) or not function.isidentifier():
        fields.fail("input_output.fn_name", f"{function!r} is not the name of a function")
    for index, arguments in enumerate(inputs):
        if not isinstance(arguments, list):
            fields.fail(f"input_output.inputs[{index}]", "must be a list of arguments")
    inputs = [list(map(_with_integer_keys, arguments)) for arguments in inputs]
    execution = {"kind": "call", "entry_point": function, "setup_code": SETUP}
    if any(_beyond_json(value) for value in (inputs, outputs)):
        codes = [_assertion(function, *pair) for pair in zip(inputs, outputs, strict=True)]
        tests = {"input": codes, "output": [""] * len(codes)}
        return {"private_tests": tests, "execution": execution | {"kind": "assertions"}}
    tests = {"input": list(map(json.dumps, inputs)), "output": list(map(json.dumps, outputs))}
    return {"private_tests": tests, "execution": execution, "checker": {"name": "call_result", "arguments": {}}}


def _with_integer_keys(argument: Any) -> Any:
    if isinstance(argument, dict) and all(map(INTEGER.fullmatch, argument)):
        return {integer_of(key): item for key, item in argument.items()}
    return argument


def _beyond_json(value: Any) -> bool:
    """Return whether JSON can't represent a value: keys aren't text, or integers are too long for Python's JSON."""
    if isinstance(value, dict):
        return any(not isinstance(key, str) or _beyond_json(item) for key, item in value.items())
    if isinstance(value, list):
        return any(map(_beyond_json, value))
    return isinstance(value, int) and abs(value) >= 10**DIGITS


def _assertion(function: str, arguments: list[Any], expected: Any) -> str:
    literals = ", ".join(map(_literal, arguments))
    return ASSERTION.format(expected=_literal(expected), entry_point=function, arguments=literals)


def _literal(value: Any) -> str:
    """Return a value as a Python literal, with long integers in hexadecimal."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_literal(key)}: {_literal(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_literal, value)) + "]"
    if isinstance(value, float) and not abs(value) < float("inf"):
        return f"float({str(value)!r})"
    return hex(value) if type(value) is int and abs(value) >= 10**DIGITS else repr(value)


APPS = Benchmark(
    NAME,
    frozenset({"problem_id", "question", "input_output"}),
    _convert,
    key="problem_id",
    hub_id=HUB_ID,
    splits=SPLITS,
    has_splits=lambda first: bool(_split_of(first)),
    split_of=_needed_split,
)
