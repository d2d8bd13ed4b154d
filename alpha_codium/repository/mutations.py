"""Wrong variants of a method, which its tests must find.

1. Small bugs, one of which a program repair gets: one operator, condition, constant, call or statement is changed.
2. Bodies that do nothing: they raise, return a fixed value or an argument, or do so after the first half.
"""

import ast
import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from alpha_codium.languages.python.syntax import lines_of, parse
from alpha_codium.repository.methods import (
    FUNCTIONS,
    Function,
    Method,
    completion_parts,
    stubbed,
    unfinished,
    with_body,
)

OPERATORS: dict[type[ast.AST], tuple[str, str]] = {
    ast.Lt: ("<", "<="),
    ast.LtE: ("<=", "<"),
    ast.Gt: (">", ">="),
    ast.GtE: (">=", ">"),
    ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="),
    ast.In: ("in", "not in"),
    ast.NotIn: ("not in", "in"),
    ast.Is: ("is", "is not"),
    ast.IsNot: ("is not", "is"),
    ast.And: ("and", "or"),
    ast.Or: ("or", "and"),
    ast.Add: ("+", "-"),
    ast.Sub: ("-", "+"),
    ast.Mult: ("*", "+"),
    ast.FloorDiv: ("//", "*"),
    ast.Mod: ("%", "+"),
}

# In the names of bodies that keep the first half.
HALFWAY = ", after the first half"
# Besides None: an object unlike all others, and a value of each type that is empty or one of two.
FIXED_VALUES = ("object()", "True", "False", "0", "''", "b''", "[]", "()", "{}", "set()")


@dataclass(frozen=True, slots=True)
class Mutation:
    """A file with a bug in one method: its `kind`, its `line` in the file, from 0, and the text of the file."""

    kind: str
    line: int
    source: str


def mutations(source: str, method: Method) -> Iterator[Mutation]:
    """Yield the file with each of the bugs that a method can get; only the characters of the bug are changed."""
    places = Places(source)
    for node in _body(_function(source, method), method):
        for kind, edits in _bugs(node, places):
            if edits:
                yield Mutation(kind, node.lineno - 1, places.edited(edits))


def no_ops(source: str, method: Method) -> Mapping[str, str]:
    """Return the file with each body that does nothing, at once or after its first half, by name; the first raises.

    A function without a value does the same as one that returns None. A generator also yields once, and never.
    """
    function = _function(source, method)
    signature = function.args
    given = (*signature.posonlyargs, *signature.args, signature.vararg, *signature.kwonlyargs, signature.kwarg)
    values = [*FIXED_VALUES, *(each.arg for each in given if each is not None)]
    bodies = ["pass", *(f"return {value}" for value in values)]
    if any(isinstance(node, ast.Yield | ast.YieldFrom) for node in _own_nodes(function)):
        bodies += ["yield", "if False: yield"]
    halves = completion_parts(method)
    return (
        {"raise": stubbed(source, method)}
        | {body: with_body(source, method, f"{method.indent}    {body}\n") for body in bodies}
        | {f"{body}{HALFWAY}": with_body(source, method, unfinished(*halves, body)) for body in bodies}
    )


def _function(source: str, method: Method) -> Function:
    nodes = ast.walk(parse(source))
    return next(node for node in nodes if isinstance(node, FUNCTIONS) and node.lineno - 1 == method.lines[0])


def _own_nodes(function: Function) -> Iterator[ast.AST]:
    """Yield the nodes of a function without those of functions in it."""
    todo = list[ast.AST](function.body)
    while todo:
        node = todo.pop()
        if not isinstance(node, (*FUNCTIONS, ast.Lambda)):
            yield node
            todo += ast.iter_child_nodes(node)


@dataclass(frozen=True, slots=True)
class Replacement:
    """A range of characters and the text to put in its place."""

    start: int
    end: int
    text: str


class Places:
    """The places of syntax nodes in a text, as ranges of characters."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.lines = lines_of(source)
        self.starts = [0]
        for line in self.lines:
            self.starts.append(self.starts[-1] + len(line))

    def offset(self, line: int, column: int) -> int:
        """Return the offset of a place; `line` counts from 1, and `column` in bytes, as `ast` has them."""
        text = self.lines[line - 1]
        return self.starts[line - 1] + (column if text.isascii() else len(text.encode()[:column].decode()))

    def range_of(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        """Return the range of a node."""
        return self.offset(node.lineno, node.col_offset), self.offset(node.end_lineno or 0, node.end_col_offset or 0)

    def replaced(self, node: ast.expr | ast.stmt, text: str) -> Replacement:
        """Return an edit that puts `text` in the place of a node."""
        return Replacement(*self.range_of(node), text)

    def text_of(self, node: ast.expr | ast.stmt) -> str:
        """Return the text of a node."""
        start, end = self.range_of(node)
        return self.source[start:end]

    def swapped_operator(self, left: ast.expr, operator: ast.AST, right: ast.expr) -> list[Replacement]:
        """Return an edit of the operator between two operands; none if it has no counterpart."""
        if type(operator) not in OPERATORS:
            return []
        old, new = OPERATORS[type(operator)]
        start, end = self.range_of(left)[1], self.range_of(right)[0]
        pattern = r"\s+".join(map(re.escape, old.split()))
        found = re.search(rf"\b{pattern}\b" if old.isidentifier() else pattern, self.source[start:end])
        return [Replacement(start + found.start(), start + found.end(), new)] if found else []

    def edited(self, edits: Sequence[Replacement]) -> str:
        """Return the text after all edits, which don't overlap."""
        text = self.source
        for edit in sorted(edits, key=lambda each: each.start, reverse=True):
            text = text[: edit.start] + edit.text + text[edit.end :]
        return text


def _body(function: Function, method: Method) -> list[ast.expr | ast.stmt]:
    """Return the expressions and statements of a method's body in the order of the text."""
    found, todo = [], list[ast.AST](function.body)
    while todo:
        node = todo.pop()
        if isinstance(node, ast.expr | ast.stmt) and node.lineno - 1 >= method.body_lines[0]:
            found.append(node)
        # Before Python 3.12 the places of nodes in f-strings are wrong.
        todo += [] if isinstance(node, ast.JoinedStr) else ast.iter_child_nodes(node)
    return sorted(found, key=lambda node: (node.lineno, node.col_offset, node.end_lineno, node.end_col_offset))


def _bugs(node: ast.expr | ast.stmt, places: Places) -> Iterator[tuple[str, list[Replacement]]]:
    """Yield the kinds of bugs that a node can get, with their edits."""
    match node:
        case ast.Compare(left, operators, right):
            for one, operator, other in zip([left, *right], operators, right, strict=False):
                yield "comparison", places.swapped_operator(one, operator, other)
        case ast.BoolOp(operator, values):
            pairs = itertools.pairwise(values)
            yield "condition", [edit for one, other in pairs for edit in places.swapped_operator(one, operator, other)]
        case ast.BinOp(left, operator, right):
            yield "operator", places.swapped_operator(left, operator, right)
        case (
            ast.If(test=ast.UnaryOp(ast.Not(), operand) as test)
            | ast.While(test=ast.UnaryOp(ast.Not(), operand) as test)
        ):
            yield "condition", [places.replaced(test, places.text_of(operand))]
        case ast.If(test=test) | ast.While(test=test):
            yield "condition", [places.replaced(test, f"not ({places.text_of(test)})")]
        case ast.Constant(bool() as value):
            yield "constant", [places.replaced(node, str(not value))]
        case ast.Constant(int() as value):
            yield "off by one", [places.replaced(node, str(value + 1))]
        case ast.Call(args=[first, second, *_]) if not isinstance(first, ast.Starred) and not isinstance(
            second, ast.Starred
        ):
            one, other = places.text_of(first), places.text_of(second)
            yield "arguments", [places.replaced(first, other), places.replaced(second, one)] if one != other else []
        case ast.Return(ast.Constant(None)):
            pass
        case ast.Return(ast.expr() as value):
            yield "result", [places.replaced(value, "None")]
        case ast.Expr() | ast.Assign() | ast.AugAssign() | ast.Raise():
            yield "statement", [places.replaced(node, "pass")]
