"""Inputs without expected outputs, to distinguish programs: from a model, or by small changes of public inputs.

An input is an argument of `ProblemJudge.behaviour`: text for stdin, a JSON list of arguments, or a function call.
"""

import ast
import builtins
import itertools
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from alpha_codium.answers.extraction import fenced_texts
from alpha_codium.flows.context import shortened
from alpha_codium.flows.state import ExplainedTest
from alpha_codium.flows.tasks import CodingTask
from alpha_codium.languages.python.beginnings import parsed
from alpha_codium.languages.python.examples import expression, is_literal, literal, literal_calls
from alpha_codium.values import parse_json

INTEGER = re.compile(r"(?<![\w.])-?\d{1,18}(?![\w.])")
MAX_LINES = 200
# The maximum length of a model's input, and of the part of an answer in which calls and lists are searched.
LONGEST = 20_000


def public_inputs(task: CodingTask) -> list[str]:
    """Return the inputs of the public tests; for assertions, the calls of the tested function."""
    tests = [test.input for test in task.statement.public_tests]
    if task.has_outputs:
        return tests
    return _calls_in([line for text in tests for line in text.splitlines()], task)


def _calls_in(lines: Iterable[str], task: CodingTask) -> list[str]:
    """Return the calls of the tested function with literal arguments, without duplicates."""
    name = function_name(task)
    return _distinct(ast.unparse(call) for line in lines for call, _ in (literal_calls(line, name) if name else ()))


def example_input(task: CodingTask) -> str:
    """Return the shortest public input, or an invented one, as an example; "" if the function's name is unknown."""
    public = public_inputs(task)
    if public:
        return shortened(min(public, key=len))
    name = function_name(task)
    if not task.has_outputs:
        return f"{name}(...)" if name else ""
    return "[1, 2]" if task.is_function else "3\n1 2 3"


def function_name(task: CodingTask) -> str:
    """Return the name of the tested function: from the beginning, or the one called most by tests; "" if unknown."""
    if task.beginning is not None:
        return task.beginning.name
    trees = [parsed(test.input) for test in task.statement.public_tests]
    names = Counter(name for tree in trees if tree for name in {*_called(tree)})
    known = sorted(name for name in names if not hasattr(builtins, name))
    return max(known, key=lambda name: names[name], default="")


def explained(records: Iterable[Mapping[str, str]], task: CodingTask) -> list[ExplainedTest]:
    """Return the tests in an answer's records.

    If tests are assertions, `input` is a call of the function and `output` the value that it returns, both written as
    `ast.unparse` does; records that aren't such tests are left out.
    """
    numbers = {" ".join(test.input.split()): n for n, test in enumerate(task.statement.public_tests, 1)}
    tests = [
        ExplainedTest(
            r["input"], r["output"], r.get("explanation", "").strip(), numbers.get(" ".join(r["input"].split()), 0)
        )
        for r in records
    ]
    if task.has_outputs:
        return tests
    calls = [_as_call(test, task) for test in tests]
    return [call for call in calls if call is not None]


def runnable(test: ExplainedTest, task: CodingTask) -> ExplainedTest:
    """Return a test from `explained` as the judge runs it: a call and its value as an assertion."""
    return test if task.has_outputs else replace(test, input=test.assertion, output="")


def _as_call(test: ExplainedTest, task: CodingTask) -> ExplainedTest | None:
    """Return a test of a function with its call and value in normal form; None if they aren't literals."""
    name = function_name(task)
    written, given = test.input.strip().strip("`").removeprefix(">>>").strip(), test.output.strip().strip("`")
    tree = parsed(written)
    match tree.body if tree else []:
        # The whole assertion, in place of the call.
        case [ast.Assert(test=ast.Compare(left=ast.Call() as call, ops=[ast.Eq()], comparators=[value]))]:
            written, given = ast.unparse(call), ast.unparse(value)
    if not re.match(rf"{re.escape(name)}\s*\(", written):
        written = f"{name}({written})"  # only the arguments
    call = expression(written)
    if not name or not isinstance(call, ast.Call) or not all(map(is_literal, _arguments(call))):
        return None
    value = literal(given)
    # Answers in YAML lose the quotes around a text.
    if value is None or (_returns_text(task) and not isinstance(ast.literal_eval(value), str)):
        value = ast.Constant(given)
    return replace(test, input=ast.unparse(call), output=ast.unparse(value))


def _arguments(call: ast.Call) -> list[ast.expr]:
    return [*call.args, *(keyword.value for keyword in call.keywords)]


def _returns_text(task: CodingTask) -> bool:
    """Return whether the public tests say that the function returns a text."""
    trees = [parsed(test.input) for test in task.statement.public_tests]
    compared = [n for tree in trees if tree for n in ast.walk(tree) if isinstance(n, ast.Compare)]
    values = [each for node in compared for each in node.comparators]
    return bool(values) and all(isinstance(each, ast.Constant) and isinstance(each.value, str) for each in values)


def inputs_in(answer: str, task: CodingTask) -> list[str]:
    """Return the inputs in a model's answer, without duplicates."""
    fences = [text.code for text in fenced_texts(answer)]
    if not task.is_function:
        return _distinct(text.strip("\n") + "\n" for text in fences if text.strip() and len(text) <= LONGEST)
    lines = "\n".join(fences or [answer])[:LONGEST].splitlines()[:MAX_LINES]
    if not task.has_outputs:
        return _calls_in(lines, task)
    as_lists = [line.strip().rstrip(",") for line in lines]
    return _distinct(line for line in as_lists if isinstance(_json(line), list))


def mutations(task: CodingTask) -> Iterator[str]:
    """Yield changed public inputs, one for each input in turn, without duplicates."""
    public = public_inputs(task)
    changed_value = _changed_list if task.has_outputs else _changed_call
    change = changed_value if task.is_function else _changed_text
    seen = set(public)
    for changed in _in_turn([change(text) for text in public]):
        if changed not in seen:
            seen.add(changed)
            yield changed


def _changed_text(text: str) -> Iterator[str]:
    """Yield the text with one number changed, or the words of a line reversed.

    The last numbers are changed first, since the first number is often the count of the others.
    """
    for match in reversed(list(INTEGER.finditer(text))):
        number = int(match[0])
        for other in dict.fromkeys((number + 1, max(number - 1, min(number, 1)), 1, 2 * number)):
            if other != number:
                yield text[: match.start()] + str(other) + text[match.end() :]
    lines = text.rstrip("\n").split("\n")
    for index in reversed(range(len(lines))):
        words = lines[index].split()
        if len(words) > 1:
            yield "\n".join([*lines[:index], " ".join(reversed(words)), *lines[index + 1 :]]) + "\n"


def _changed_list(text: str) -> Iterator[str]:
    arguments = _json(text)
    for changed in _changed_arguments(arguments if isinstance(arguments, list) else []):
        yield json.dumps(changed)


def _changed_call(text: str) -> Iterator[str]:
    call = expression(text)
    if not isinstance(call, ast.Call) or call.keywords or not all(map(is_literal, call.args)):
        return
    for changed in _changed_arguments([ast.literal_eval(each) for each in call.args]):
        yield f"{ast.unparse(call.func)}({', '.join(map(repr, changed))})"


def _changed_arguments(arguments: list[Any]) -> Iterator[list[Any]]:
    ways = [
        [[*arguments[:index], other, *arguments[index + 1 :]] for other in _others(argument)]
        for index, argument in enumerate(arguments)
    ]
    yield from _in_turn(map(iter, ways))


def _others(value: Any) -> list[Any]:
    """Return similar values of the same type: shorter, longer, reversed, empty, zero."""
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, int):
        return [value + 1, value - 1, 2 * value + 1, 0, -value]
    if isinstance(value, float):
        return [value + 0.5, -value, 0.0]
    if isinstance(value, dict):
        return [dict(list(value.items())[1:]), {}]
    return _other_sequences(value) if isinstance(value, str | list | tuple) else []


def _other_sequences(value: Any) -> list[Any]:
    inner = [] if isinstance(value, str) or not value else _others(value[0])[:2]
    changed = [type(value)([other, *value[1:]]) for other in inner]
    return [value[::-1], value[1:], value + value, *changed, value[:1], value[:0]]


def _in_turn(sources: Iterable[Iterator[Any]]) -> Iterator[Any]:
    """Yield the first item of each source, then the second of each, and so on."""
    missing = object()
    for row in itertools.zip_longest(*sources, fillvalue=missing):
        yield from (item for item in row if item is not missing)


def _called(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            yield node.func.id


def _distinct(texts: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(texts))


def _json(text: str) -> Any:
    try:
        return parse_json(text)
    except (ValueError, RecursionError):
        return None
