"""HumanEval+ and MBPP+ in the format of EvalPlus: inputs and a reference program (Liu et al. 2023, arXiv:2305.01210).

A record has no expected outputs: its tests run the reference program in the same process and compare the results (see
`evalplus_check`). The inputs of the base benchmark are one private test, the added ones another. Inputs are JSON, so a
table of tasks defines which values are tuples, sets or complex numbers in MBPP.
"""

import re
from collections.abc import Callable, Sequence
from importlib import resources
from typing import Any

from alpha_codium.data.benchmarks.benchmark import Benchmark
from alpha_codium.data.fields import Fields
from alpha_codium.languages.python.beginnings import beginning_of

# `eval` reads the `repr` of the inputs; `inf`, `nan` and `set` have no literals.
CHECK = """{check}

REFERENCE = {reference!r}
INPUTS = {inputs!r}


def check(candidate):
    oracle = Oracle({entry_point!r}, {atol!r}, REFERENCE)
    for arguments in eval(INPUTS, {{"inf": float("inf"), "nan": float("nan"), "set": set}}):
        oracle.compare(candidate, arguments)
"""


def _convert(fields: Fields) -> dict[str, Any]:
    name, prompt, solution = fields.needed("task_id"), fields.needed("prompt"), fields.needed("canonical_solution")
    beginning = beginning_of(prompt)
    reference = prompt + solution
    tests = [_test(fields, _inputs(fields, field, name), reference) for field in ("base_input", "plus_input")]
    if tests == ["", ""]:
        fields.fail("base_input", "and plus_input are empty: there is nothing to test with")
    return {
        "name": name,
        # The prompt of MBPP+ is only a docstring.
        "description": prompt if beginning else prompt.strip().strip('"').strip() + "\n",
        "private_tests": [{"input": test, "output": ""} for test in tests if test],
        "execution": {
            "kind": "assertions",
            "entry_point": fields.needed("entry_point"),
            "setup_code": beginning.before if beginning else "",
        },
        "solutions": [{"language": "python3", "solution": reference}],
    }


def _test(fields: Fields, inputs: list[Any], reference: str) -> str:
    if not inputs:
        return ""
    check = resources.files("alpha_codium.data.benchmarks").joinpath("evalplus_check.py").read_text("utf-8")
    return CHECK.format(
        check=check,
        reference=reference,
        inputs=_literal(fields, inputs),
        entry_point=fields.needed("entry_point"),
        atol=float(fields.number("atol")),
    )


def _literal(fields: Fields, inputs: list[Any]) -> str:
    try:
        return repr(inputs)
    except (RecursionError, ValueError) as error:
        fields.fail("base_input", f"or plus_input can't be written in Python: {error}")


def _inputs(fields: Fields, field: str, name: str) -> list[Any]:
    """Return the arguments of each call, converted to the task's types."""
    task = int(name.removeprefix("Mbpp/")) if re.fullmatch(r"Mbpp/[0-9]{1,9}", name) else 0
    shapes = SHAPES.get(task, (_same,))
    calls = []
    for place, arguments in enumerate(fields.rows(field)):
        if isinstance(arguments, str) or not isinstance(arguments, Sequence):
            fields.fail(f"{field}[{place}]", "must be a list of arguments")
        try:
            # The last shape also applies to all later arguments.
            calls.append([shapes[min(index, len(shapes) - 1)](value) for index, value in enumerate(arguments)])
        except (TypeError, ValueError, OverflowError, RecursionError) as error:
            fields.fail(f"{field}[{place}]", f"isn't as in MBPP+: {error}")
    return calls


Shape = Callable[[Any], Any]


def _same(value: Any) -> Any:
    return value


def _tuple_of(inner: Shape) -> Shape:
    return lambda value: tuple(map(inner, value)) if isinstance(value, list) else value


def _list_of(inner: Shape) -> Shape:
    return lambda value: list(map(inner, value)) if isinstance(value, list) else value


def _tuples(value: Any) -> Any:
    return tuple(map(_tuples, value)) if isinstance(value, list) else value


def _set(value: Any) -> Any:
    """Return a set, or an empty dict for an empty set, as in MBPP."""
    return set(value) if value else {}


def _dict_of(inner: Shape) -> Shape:
    return lambda value: {key: inner(item) for key, item in value.items()} if isinstance(value, dict) else value


TUPLE = _tuple_of(_same)
# The types of the arguments in MBPP's assertions, with the numbers of the tasks that have them.
BY_SHAPE: tuple[tuple[tuple[Shape, ...], str], ...] = (
    ((TUPLE,), "2 116 132 143 222 261 273 394 399 421 424 429 470 560 579 596 616 630 726 740 744 809"),
    ((_list_of(TUPLE),), "63 64 70 94 120 237 272 299 400 409 417 438 473 614 780"),
    ((_list_of(TUPLE), _same), "75 413 444 753"),
    ((_same, TUPLE), "106 750"),
    ((TUPLE, _same), "250 307 405 446 617 720 763 808"),
    ((_tuple_of(TUPLE),), "259 278 401 445"),
    ((_tuples,), "580 615 791"),
    ((_dict_of(TUPLE), _same), "722"),
    ((_list_of(_set),), "115"),
    ((float, complex), "124"),
    ((complex,), "252"),
)
SHAPES: dict[int, tuple[Shape, ...]] = {int(task): shapes for shapes, tasks in BY_SHAPE for task in tasks.split()}

EVALPLUS = Benchmark(
    "evalplus",
    frozenset({"task_id", "prompt", "entry_point", "canonical_solution", "base_input", "plus_input"}),
    _convert,
    only_split="test",
)
