"""What the code of a test defines: its functions, classes, fixtures and marks, read from its syntax tree."""

import ast
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeGuard

from alpha_codium.errors import Unjudgeable

# Fixtures of pytest: code that makes one, an expression for it, and what is done at the end.
BUILT_IN = {
    "capsys": ("", "_Captured_()", "{}.close()"),
    "monkeypatch": ("import pytest", "pytest.MonkeyPatch()", "{}.undo()"),
    "tmp_path": ("import pathlib, tempfile", "pathlib.Path(tempfile.mkdtemp())", ""),
}
BUILT_IN["capfd"] = BUILT_IN["capsys"]
Function = ast.FunctionDef | ast.AsyncFunctionDef
MARK = re.compile(r"(?:pytest\.)?mark\.(\w+)")
FIXTURE = re.compile(r"(?:pytest\.|pytest_asyncio\.)?(?:yield_)?fixture\b")
# The program's module, as an expression, where a test sets what is in it.
MODULE = "__import__('program')"
# A place in the text, by bytes, and what stands there instead.
Edit = tuple[int, int, str]


class Text:
    """A text whose parts are addressed as in its syntax tree, by lines and by bytes in them."""

    def __init__(self, code: str) -> None:
        self.data = code.encode("utf-8", "surrogatepass")
        self.starts = [0, *(match.end() for match in re.finditer(rb"\r\n|\r|\n", self.data))]

    def place(self, line: int, column: int) -> int:
        """Return the offset of a place."""
        return self.starts[line - 1] + column

    def span(self, node: ast.AST) -> tuple[int, int]:
        """Return where a node begins and ends."""
        where = node if isinstance(node, ast.stmt | ast.expr | ast.arg | ast.keyword) else None
        if where is None:
            raise TypeError(f"{node} has no place")
        return self.place(where.lineno, where.col_offset), self.place(where.end_lineno or 0, where.end_col_offset or 0)

    def of(self, node: ast.AST) -> str:
        """Return the text of a node."""
        start, end = self.span(node)
        return self.data[start:end].decode("utf-8", "surrogatepass")

    def edited(self, edits: Iterable[Edit]) -> str:
        """Return the text after all edits; of two that overlap, the outer one counts."""
        pieces, at = [], 0
        for start, end, new in sorted(edits, key=lambda edit: (edit[0], -edit[1])):
            if start >= at:
                pieces += [self.data[at:start], new.encode("utf-8", "surrogatepass")]
                at = end
        return b"".join([*pieces, self.data[at:]]).decode("utf-8", "surrogatepass")


def is_function(node: ast.AST) -> TypeGuard[Function]:
    """Whether a node defines a function."""
    return isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)


def is_test_function(node: ast.AST) -> TypeGuard[Function]:
    """Whether pytest takes a function for a test."""
    return is_function(node) and node.name.startswith("test") and not is_fixture(node)


def name_of_call(call: ast.Call) -> str:
    """Return the dotted name that is called, or other code."""
    return ast.unparse(call.func)


def is_fixture(function: Function) -> bool:
    """Whether a function is a fixture."""
    return any(FIXTURE.match(ast.unparse(each)) for each in function.decorator_list)


@dataclass(frozen=True)
class Scope:
    """The functions and classes of a test's module."""

    text: Text
    functions: dict[str, Function]
    classes: dict[str, ast.ClassDef]
    marks: tuple[ast.expr, ...]

    @classmethod
    def of(cls, tree: ast.Module, text: Text) -> "Scope":
        """Return the scope of a module."""
        functions = {each.name: each for each in tree.body if is_function(each)}
        classes = {each.name: each for each in tree.body if isinstance(each, ast.ClassDef)}
        values = [
            each.value
            for each in tree.body
            if isinstance(each, ast.Assign) and ast.unparse(each.targets[0]) == "pytestmark"
        ]
        marks = [mark for each in values for mark in (each.elts if isinstance(each, ast.List | ast.Tuple) else [each])]
        return cls(text, functions, classes, tuple(marks))

    def line_of(self, kind: ast.ClassDef) -> Iterator[ast.ClassDef]:
        """Yield a class and those of the module from which it is derived, the nearest first."""
        seen = {kind.name}
        waiting = [kind]
        while waiting:
            yield (each := waiting.pop(0))
            bases = [self.classes[name] for name in map(ast.unparse, each.bases) if name in self.classes]
            waiting += [base for base in bases if base.name not in seen]
            seen |= {base.name for base in bases}

    def methods(self, kind: ast.ClassDef) -> list[Function]:
        """Return the methods of a class, after those of its bases in the module, as pytest runs them."""
        found: dict[str, Function] = {}
        for each in reversed(list(self.line_of(kind))):
            for node in filter(is_function, each.body):
                found.pop(node.name, None)
                found[node.name] = node
        return list(found.values())

    def is_unittest(self, kind: ast.ClassDef) -> bool:
        """Whether a class is one of unittest."""
        bases = [ast.unparse(base).rpartition(".")[2] for each in self.line_of(kind) for base in each.bases]
        return any(base.endswith("TestCase") for base in bases)

    def fixtures(self, methods: Sequence[Function] = ()) -> dict[str, Function]:
        """Return the fixtures of the module and of a class, by the names under which tests ask for them."""
        found = {}
        for function in (*self.functions.values(), *methods):
            for decorator in function.decorator_list:
                if FIXTURE.match(ast.unparse(decorator)):
                    found[text_of(keyword(decorator, "name")) or function.name] = function
        return found

    def can_call(self, function: Function) -> bool:
        """Whether all parameters of a function are known."""
        known = {*self.fixtures(), *BUILT_IN, *(name for each in marks_of(function) for name in parametrized(each))}
        return bool(foreign_decorators(function)) or not set(required(function)) - known


def is_main_guard(node: ast.stmt) -> TypeGuard[ast.If]:
    """Whether a statement is `if __name__ == "__main__":`, below which pytest looks for no tests."""
    if not isinstance(node, ast.If) or not isinstance(node.test, ast.Compare):
        return False
    return any(
        isinstance(each, ast.Name) and each.id == "__name__" for each in (node.test.left, *node.test.comparators)
    )


def require_all_seen(tree: ast.Module, scope: Scope, called: Collection[str]) -> None:
    """Raise Unjudgeable if pytest would take something for a test that isn't a definition in a module or class.

    What is `called` by the module itself runs in any case.
    """
    for node in _hidden(tree, scope):
        if (name := getattr(node, "name", "")) not in called:
            what = name or ast.unparse(node)[:60]
            raise Unjudgeable(f"the code of the test makes a test in a way that isn't supported: {what}")


def _hidden(node: ast.Module | ast.ClassDef, scope: Scope) -> Iterator[ast.AST]:
    for statement in node.body:
        if is_function(statement):
            if is_test_function(statement) and any(isinstance(e, ast.Yield | ast.YieldFrom) for e in _own(statement)):
                yield statement
        elif isinstance(statement, ast.ClassDef):
            if isinstance(node, ast.ClassDef) and _has_tests(statement):
                yield statement
            elif statement.name.startswith("Test") or scope.is_unittest(statement):
                yield from _hidden(statement, scope)
        elif not is_main_guard(statement):
            parts = (statement, *_own(statement))
            yield from (
                each for each in parts if is_test_function(each) or _has_tests(each) or _makes_test(each, scope)
            )


def _has_tests(node: ast.AST) -> bool:
    return isinstance(node, ast.ClassDef) and node.name.startswith("Test") and any(map(is_test_function, node.body))


def _makes_test(node: ast.AST, scope: Scope) -> bool:
    """Whether a statement binds a function to the name of a test, or to one that is only known when it runs."""
    if isinstance(node, ast.Call) and name_of_call(node) == "setattr":
        return bool(node.args) and isinstance(node.args[0], ast.Name) and node.args[0].id in scope.classes
    if not isinstance(node, ast.Assign):
        return False
    target, value = node.targets[0], node.value
    if isinstance(target, ast.Subscript):
        return ast.unparse(target.value) == "globals()"
    name = target.id if isinstance(target, ast.Name) else target.attr if isinstance(target, ast.Attribute) else ""
    is_callable = isinstance(value, ast.Lambda) or (isinstance(value, ast.Name) and value.id in scope.functions)
    return is_callable and name.startswith("test")


def _own(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the parts of a statement, without those of functions and classes in it."""
    for child in ast.iter_child_nodes(node):
        yield child
        if not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
            yield from _own(child)


def marks_of(node: Function | ast.ClassDef) -> list[ast.expr]:
    """Return the marks of pytest on a function or class."""
    return [each for each in node.decorator_list if MARK.match(ast.unparse(each))]


def foreign_decorators(function: Function) -> list[ast.expr]:
    """Return the decorators that are no marks of pytest."""
    return [each for each in function.decorator_list if not MARK.match(ast.unparse(each))]


def required(function: Function, owner: str = "") -> list[str]:
    """Return the parameters without defaults; of a method, without the first one."""
    given = function.args
    positional = [each.arg for each in (*given.posonlyargs, *given.args)]
    positional = positional[: len(positional) - len(given.defaults)][1 if owner else 0 :]
    return positional + [
        each.arg for each, value in zip(given.kwonlyargs, given.kw_defaults, strict=True) if value is None
    ]


def keyword(call: ast.expr, name: str) -> ast.expr | None:
    """Return the value of an argument by its name."""
    given = call.keywords if isinstance(call, ast.Call) else []
    return next((each.value for each in given if each.arg == name), None)


def names_node(mark: ast.expr) -> ast.expr | None:
    """Return what names the parameters of a mark `parametrize`."""
    return mark.args[0] if isinstance(mark, ast.Call) and mark.args else keyword(mark, "argnames")


def parametrized(mark: ast.expr) -> list[str]:
    """Return the names of the parameters that a mark gives values."""
    if not re.match(r"(?:pytest\.)?mark\.parametrize\b", ast.unparse(mark)):
        return []
    node = names_node(mark)
    if isinstance(node, ast.List | ast.Tuple):
        return list(filter(None, map(text_of, node.elts)))
    return [name.strip() for name in text_of(node).split(",") if name.strip()]


def text_of(node: ast.expr | None) -> str:
    """Return the text of a literal, else an empty string."""
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def is_param(node: ast.expr) -> bool:
    """Whether an expression is a call of `pytest.param`."""
    return isinstance(node, ast.Call) and name_of_call(node) in ("pytest.param", "param")


def is_true(node: ast.expr | None) -> bool:
    """Whether an expression is the literal True."""
    return isinstance(node, ast.Constant) and node.value is True
