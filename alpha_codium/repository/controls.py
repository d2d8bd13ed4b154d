"""Controls: tests with one expected value changed, which any answer that passed must fail.

An answer that passes both the test and its control didn't return what is expected: it returned what is equal to
everything, or changed how values are compared. Only assertions of equality are changed, so that no right answer can
pass both. A control is kept if the repository's own code fails it.
"""

import ast
import functools
import re
from collections.abc import Iterator
from dataclasses import dataclass

from alpha_codium.languages.python.examples import is_literal
from alpha_codium.languages.python.syntax import UNPARSABLE, lines_of, parse
from alpha_codium.repository.methods import Method, methods_of
from alpha_codium.repository.mutations import Places, Replacement
from alpha_codium.values import JsonValue

# Assertions of which one argument is the expected value; those of numbers of queries have only that.
EXPECTING = re.compile(r"assert(?!\w*(?:Not|Almost))(?:\w*Equals?|Is|(?:Raises|Warns)Message|NumQueries)")
# A frame of a traceback of Python, and one of pytest's.
FRAME = re.compile(r'File "([^"\n]+)", line (\d+)|^([^\s:]+\.py):(\d+): ', re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Control(JsonValue):
    """A test, and what of its file is changed for the control: the text `old` at offset `start` becomes `new`.

    `function` is the method of the file that is changed: the test, or one that it calls.
    """

    test: str
    file: str
    function: str
    start: int
    old: str
    new: str


def controls_in(test: str, message: str, file: str, source: str) -> Iterator[tuple[int, Control]]:
    """Yield the controls of a test that failed: the assertions of a file that its message names, and those below.

    Each comes after a number that is smaller, the more certain it is to find out what isn't equal.
    """
    for one, line, other, other_line in FRAME.findall(message):
        if file in (one, other):
            for rank, function, edit in _changes(source, int(line or other_line)):
                yield rank, Control(test, file, function, edit.start, source[edit.start : edit.end], edit.text)


def files_in(message: str) -> list[str]:
    """Return the files that a test's message names, each once."""
    return list(dict.fromkeys(one or other for one, _, other, _ in FRAME.findall(message)))


def snippet(source: str, control: Control, *, changed: bool) -> str:
    """Return the function of a control, in its classes and at its line; as it is in the file, or as it is changed.

    Raises ValueError if the file isn't the one for which the control was made.
    """
    method = _function_around(source, control.function, control.start)
    end = control.start + len(control.old)
    if method is None or source[control.start : end] != control.old:
        raise ValueError(f"{control.file} has no {control.old!r} in {control.function}, as a control of the task says")
    whole = source[: control.start] + control.new + source[end:] if changed else source
    lines = lines_of(whole)
    grown = len(lines) - len(lines_of(source))
    body = lines[method.lines[0] : method.lines[1] + grown]
    classes = method.class_name.split(".") if method.class_name else []
    heads = [f"{' ' * depth}class {name}:\n" for depth, name in enumerate(classes)]
    return "".join(["\n" * (method.lines[0] - len(heads)), *heads, *body])


@functools.lru_cache(maxsize=8)
def _parsed(source: str) -> tuple[list[Method], Places, list[ast.AST]]:
    return list(methods_of(source)), Places(source), list(ast.walk(parse(source)))


def _function_around(source: str, name: str, start: int) -> Method | None:
    methods, places, _ = _parsed(source)
    for method in methods:
        first, last = places.starts[method.lines[0]], places.starts[method.lines[1]]
        if method.qualified_name == name and first <= start < last:
            return method
    return None


def _changes(source: str, line: int) -> Iterator[tuple[int, str, Replacement]]:
    """Yield the changes of assertions at a line, from 1, and below it, each with its rank and the function's name."""
    try:
        methods, places, nodes = _parsed(source)
    except UNPARSABLE:
        return
    for method in methods:
        if method.lines[0] < line <= method.lines[1]:
            calls = [node for node in nodes if isinstance(node, ast.Call | ast.Assert)]
            below = [node for node in calls if line <= (node.end_lineno or 0) <= method.lines[1]]
            for node in sorted(below, key=lambda node: (node.lineno, node.col_offset)):
                changes = _changed(list(_compared(node)), places)
                yield from ((rank, method.qualified_name, edit) for rank, edit in enumerate(changes))


def _compared(node: ast.Call | ast.Assert) -> Iterator[ast.expr]:
    """Yield the values of which an assertion says that they are equal; nothing for others."""
    match node:
        case ast.Assert(test=ast.Compare(left=left, ops=[ast.Eq() | ast.Is()], comparators=[right])):
            yield from (left, right)
        case ast.Call(func=ast.Attribute(attr=name), args=arguments) if EXPECTING.fullmatch(name):
            yield from arguments[: 1 if name.endswith("NumQueries") else 2]


def _changed(values: list[ast.expr], places: Places) -> Iterator[Replacement]:
    """Yield changes of the expected value, a literal or else the last; first those that keep its type."""
    literals = [value for value in values if is_literal(value)]
    for expected in (literals or values)[-1:]:
        text = places.text_of(expected)
        leaves = [each for each in ast.walk(expected) if isinstance(each, ast.Constant)] if literals else []
        yield (
            places.replaced(leaves[-1], repr(_other(leaves[-1].value)))
            if leaves
            else places.replaced(expected, f"({text}) + ({text})")
        )
        yield places.replaced(expected, f"({text}, 0)")


def _other(value: object) -> object:
    """Return another constant of the same type, if there is one."""
    match value:
        case bool():
            return not value
        case int() | float() | complex():
            return value + 1
        case str():
            return f"{value}x"
        case bytes():
            return value + b"x"
    return 0
