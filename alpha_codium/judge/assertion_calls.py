"""Calls of test functions, test methods and classes of unittest, with what pytest would give them.

1. Marks: each set of values of `parametrize` is a call; `skipif` is a condition; what is marked as skipped, or as
   expected to fail, isn't called, and any other mark has no effect.
2. Fixtures: those that the code defines (values and generators, with `params`, `autouse` and other fixtures) and
   those in `BUILT_IN`. Each test gets new ones, whatever their scope.
3. Functions with decorators other than marks, such as `given` and `patch`, get from these what isn't known here.
"""

import ast
import dataclasses
import re
from collections.abc import Iterator, Sequence
from typing import Protocol, TypeGuard

from alpha_codium.errors import Unjudgeable

Function = ast.FunctionDef | ast.AsyncFunctionDef
MARK = re.compile(r"(?:pytest\.)?mark\.(\w+)")
FIXTURE = re.compile(r"(?:pytest\.|pytest_asyncio\.)?(?:yield_)?fixture\b")
SKIPPED = re.compile(r"(?:pytest\.)?mark\.(?:skip|xfail)\b(?!if)|(?:unittest\.)?(?:skip|expectedFailure)\b")
# Fixtures of pytest: code that makes one, an expression for it, and what is done at the end.
BUILT_IN = {
    "capsys": ("", "_Captured_()", "{}.close()"),
    "monkeypatch": ("import pytest", "pytest.MonkeyPatch()", "{}.undo()"),
    "tmp_path": ("import pathlib, tempfile", "pathlib.Path(tempfile.mkdtemp())", ""),
}
BUILT_IN["capfd"] = BUILT_IN["capsys"]
CAPTURED = """
class _Captured_:
    def __init__(self):
        import collections, io, sys
        self.sys, self.real, self.new = sys, (sys.stdout, sys.stderr), io.StringIO
        self.result = collections.namedtuple("CaptureResult", "out err")
        self.readouterr()
    def readouterr(self):
        streams = self.sys.stdout, self.sys.stderr
        self.sys.stdout, self.sys.stderr = self.new(), self.new()
        return self.result(*("" if each in self.real else each.getvalue() for each in streams))
    def close(self):
        self.sys.stdout, self.sys.stderr = self.real
"""
UNITTEST = """
def _run_class_(kind):
    import unittest
    flags, ran = ("__unittest_skip__", "__unittest_expecting_failure__"), 0
    kind.setUpClass()
    for case in unittest.defaultTestLoader.loadTestsFromTestCase(kind):
        method = getattr(case, case.id().rpartition(".")[2])
        if not any(getattr(each, flag, False) for each in (kind, method) for flag in flags):
            case.debug()
            ran += 1
    kind.tearDownClass()
    kind.doClassCleanups()
    return ran
"""


class Source(Protocol):
    """What gives the text of a node."""

    def of(self, node: ast.AST) -> str:
        """Return the text of a node."""
        ...


def is_function(node: ast.AST) -> TypeGuard[Function]:
    """Whether a node defines a function."""
    return isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)


def is_test_function(node: ast.AST) -> TypeGuard[Function]:
    """Whether pytest takes a function for a test."""
    return is_function(node) and node.name.startswith("test") and not _is_fixture(node)


def name_of_call(call: ast.Call) -> str:
    """Return the dotted name that is called, or other code."""
    return ast.unparse(call.func)


def _is_fixture(function: Function) -> bool:
    return any(FIXTURE.match(ast.unparse(each)) for each in function.decorator_list)


@dataclasses.dataclass(frozen=True)
class Scope:
    """The functions and classes of a test's module."""

    text: Source
    functions: dict[str, Function]
    classes: dict[str, ast.ClassDef]
    marks: tuple[ast.expr, ...]

    @classmethod
    def of(cls, tree: ast.Module, text: Source) -> "Scope":
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
        """Return the methods of a class, those of its bases in the module, too."""
        found: dict[str, Function] = {}
        for each in self.line_of(kind):
            for node in filter(is_function, each.body):
                found.setdefault(node.name, node)
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
                    found[text_of(_keyword(decorator, "name")) or function.name] = function
        return found

    def can_call(self, function: Function) -> bool:
        """Whether all parameters of a function are known."""
        known = {*self.fixtures(), *BUILT_IN, *(name for each in _marks(function) for name in _names(each))}
        return bool(_foreign_decorators(function)) or not set(_required(function)) - known


class Calls:
    """The code that calls tests."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        self.lines: list[str] = []
        self.depth = 0
        self.count = 0

    def of(self, tests: Sequence[ast.stmt]) -> str:
        """Return code that calls these tests, and fails if it called none; raises Unjudgeable if it can't."""
        own = [each for each in ("setUpModule", "setup_module") if each in self.scope.functions]
        end = [each for each in ("tearDownModule", "teardown_module") if each in self.scope.functions]
        for name in own:
            self.hook(name, self.scope.functions[name])
        for test in tests:
            if isinstance(test, ast.ClassDef):
                self.add_class(test)
            elif is_function(test):
                self.add(test, [*self.scope.marks, *_marks(test)])
        if not any("_ran_ +=" in line for line in self.lines):
            raise Unjudgeable("the code of the test asserts nothing: all its tests are skipped")
        for name in end:
            self.hook(name, self.scope.functions[name])
        code = "\n".join(["_ran_ = 0", *self.lines, "if not _ran_:", '    raise AssertionError("no test ran")', ""])
        helpers = [text for name, text in (("_Captured_", CAPTURED), ("_run_class_", UNITTEST)) if f"{name}(" in code]
        return "".join(helpers) + code

    def add_class(self, kind: ast.ClassDef) -> None:
        """Add the calls of a class's tests."""
        if any(SKIPPED.match(ast.unparse(each)) for each in kind.decorator_list):
            return
        if self.scope.is_unittest(kind):
            self.say(f"_ran_ += _run_class_({kind.name})")
            return
        named = {each.name: each for each in self.scope.methods(kind)}
        if "setup_class" in named:
            self.say(f"{kind.name}.setup_class()")
        for test in filter(is_test_function, named.values()):
            self.add(test, [*self.scope.marks, *_marks(kind), *_marks(test)], kind)
        if "teardown_class" in named:
            self.say(f"{kind.name}.teardown_class()")

    def add(self, test: Function, marks: Sequence[ast.expr], kind: ast.ClassDef | None = None) -> None:
        """Add the calls of a function, or of a method of a class."""
        if any(SKIPPED.match(ast.unparse(each)) for each in (*marks, *test.decorator_list)):
            return
        methods = self.scope.methods(kind) if kind else []
        one = Call(self, test, self.scope.fixtures(methods), owner="_own_." if kind else "")
        around = {each.name: each for each in methods} if kind else self.scope.functions
        names = (
            ("setup_method", "setup", "teardown_method", "teardown")
            if kind
            else ("setup_function", "teardown_function")
        )
        hooks = [name for name in names if name in around and not _is_fixture(around[name])]
        for mark in marks:
            one.mark(mark)
        if kind:
            self.say(f"_own_ = {kind.name}()")
        for name in hooks:
            if name.startswith("setup"):
                self.hook(one.owner + name, around[name], one.called)
        one.call()
        for name in hooks:
            if name.startswith("teardown"):
                self.hook(one.owner + name, around[name], one.called)
        self.say("_ran_ += 1")
        self.depth = 0

    def hook(self, name: str, function: Function, test: str = "None") -> None:
        """Call a function that prepares tests, or ends them; some take the test as an argument."""
        self.say(f"{name}({test if [each for each in _required(function) if each not in ('self', 'cls')] else ''})")

    def say(self, line: str) -> None:
        """Add a line."""
        self.lines.append("    " * self.depth + line)

    def new(self, name: str) -> str:
        """Return a new name of a variable."""
        self.count += 1
        return f"_{name}_{self.count}_"


class Call:
    """One call of a test: the values of its parameters, and what has to be done after it."""

    def __init__(self, calls: Calls, test: Function, fixtures: dict[str, Function], owner: str) -> None:
        self.calls, self.test, self.fixtures, self.owner = calls, test, fixtures, owner
        self.values: dict[str, str] = {}
        self.used: list[str] = []
        self.after: list[str] = []

    @property
    def called(self) -> str:
        """The test as an expression."""
        return f"{self.owner}{self.test.name}"

    def mark(self, mark: ast.expr) -> None:
        """Take a mark into account."""
        found = MARK.match(ast.unparse(mark))
        kind = found[1] if found else ""
        if kind == "skipif" and isinstance(mark, ast.Call) and mark.args:
            self.block(f"if not ({self.calls.scope.text.of(mark.args[0])}):")
        elif kind == "parametrize" and isinstance(mark, ast.Call):
            self.parametrize(mark)
        elif kind == "usefixtures" and isinstance(mark, ast.Call):
            self.used += map(text_of, mark.args)

    def parametrize(self, mark: ast.Call) -> None:
        """Repeat what follows for each set of values."""
        names, rows = _names(mark), mark.args[1] if len(mark.args) > 1 else _keyword(mark, "argvalues")
        if not names or rows is None or _keyword(mark, "indirect") is not None:
            raise Unjudgeable(
                f"{self.test.name} of the test has parameters that aren't supported: {ast.unparse(mark)[:80]}"
            )
        for name in names:
            self.values[name] = self.calls.new(name)
        target = ", ".join(self.values[name] for name in names)
        single = len(names) == 1 and isinstance(_names_node(mark), ast.Constant)
        self.block(f"for {target if single else f'({target},)'} in ({self.rows(rows, single=single)}):")

    def rows(self, rows: ast.expr, *, single: bool) -> str:
        """Return sets of values without `pytest.param`; those marked as skipped are left out."""
        if not isinstance(rows, ast.List | ast.Tuple) or not any(map(_is_param, rows.elts)):
            return self.calls.scope.text.of(rows)
        kept = []
        for row in rows.elts:
            if isinstance(row, ast.Call) and _is_param(row):
                marks = _keyword(row, "marks")
                if marks is not None and SKIPPED.search(ast.unparse(marks)):
                    continue
                values = [self.calls.scope.text.of(each) for each in row.args]
                kept.append(f"({values[0]})" if single else f"({', '.join(values)},)")
            else:
                kept.append(self.calls.scope.text.of(row))
        return f"[{', '.join(kept)}]"

    def block(self, line: str) -> None:
        """Begin a block of code, in which the rest of the call stands."""
        self.calls.say(line)
        self.calls.depth += 1

    def call(self) -> None:
        """Add the call, its fixtures, and what ends these."""
        for name, function in self.fixtures.items():
            if name in self.used or any(_is_true(_keyword(each, "autouse")) for each in function.decorator_list):
                self.value(name)
        # Arguments of `patch` and the like come from these.
        known = {*self.values, *self.fixtures, *BUILT_IN}
        foreign = _foreign_decorators(self.test)
        names = [each for each in _required(self.test, self.owner) if not foreign or each in known]
        arguments = ", ".join(f"{name}={self.value(name)}" for name in names)
        self.calls.say(_awaited(self.test, f"{self.called}({arguments})"))
        for line in reversed(self.after):
            self.calls.say(line)

    def value(self, name: str) -> str:
        """Return the variable that has the value of a parameter, and add the code that makes a fixture."""
        if name not in self.values:
            self.values[name] = self.calls.new(name)
            if name in self.fixtures:
                self.fixture(name, self.fixtures[name])
            elif name in BUILT_IN:
                before, made, after = BUILT_IN[name]
                for line in filter(None, (before, f"{self.values[name]} = {made}")):
                    self.calls.say(line)
                self.after += [after.format(self.values[name])] if after else []
            else:
                raise Unjudgeable(f"{self.test.name} of the test needs {name!r}, which it doesn't define")
        return self.values[name]

    def fixture(self, name: str, function: Function) -> None:
        """Add the code that makes a fixture of the test's code."""
        decorator = next(each for each in function.decorator_list if FIXTURE.match(ast.unparse(each)))
        params = _keyword(decorator, "params")
        if params is not None:
            self.block(f"for {(value := self.calls.new('param'))} in ({self.rows(params, single=True)}):")
            self.calls.say("import types")
            self.values["request"] = self.calls.new("request")
            self.calls.say(f"{self.values['request']} = types.SimpleNamespace(param={value})")
        own = "" if self.calls.scope.functions.get(function.name) is function else self.owner
        arguments = ", ".join(f"{each}={self.value(each)}" for each in _required(function, own))
        made, variable = f"{own}{function.name}({arguments})", self.values[name]
        if isinstance(function, ast.AsyncFunctionDef):
            raise Unjudgeable(f"{function.name} of the test is an asynchronous fixture, which isn't supported")
        if any(isinstance(node, ast.Yield) for node in ast.walk(function)):
            generator = self.calls.new("fixture")
            self.calls.say(f"{generator} = {made}")
            self.calls.say(f"{variable} = next({generator})")
            self.after.append(f"next({generator}, None)")
        else:
            self.calls.say(f"{variable} = {made}")


def _awaited(function: Function, call: str) -> str:
    return f'__import__("asyncio").run({call})' if isinstance(function, ast.AsyncFunctionDef) else call


def _marks(node: Function | ast.ClassDef) -> list[ast.expr]:
    return [each for each in node.decorator_list if MARK.match(ast.unparse(each))]


def _foreign_decorators(function: Function) -> list[ast.expr]:
    return [each for each in function.decorator_list if not MARK.match(ast.unparse(each))]


def _required(function: Function, owner: str = "") -> list[str]:
    """Return the parameters without defaults; of a method, without the first one."""
    given = function.args
    positional = [each.arg for each in (*given.posonlyargs, *given.args)]
    positional = positional[: len(positional) - len(given.defaults)][1 if owner else 0 :]
    return positional + [
        each.arg for each, value in zip(given.kwonlyargs, given.kw_defaults, strict=True) if value is None
    ]


def _keyword(call: ast.expr, name: str) -> ast.expr | None:
    """Return the value of an argument by its name."""
    given = call.keywords if isinstance(call, ast.Call) else []
    return next((each.value for each in given if each.arg == name), None)


def _names_node(mark: ast.expr) -> ast.expr | None:
    return mark.args[0] if isinstance(mark, ast.Call) and mark.args else _keyword(mark, "argnames")


def _names(mark: ast.expr) -> list[str]:
    """Return the names of the parameters that a mark gives values."""
    if not re.match(r"(?:pytest\.)?mark\.parametrize\b", ast.unparse(mark)):
        return []
    node = _names_node(mark)
    if isinstance(node, ast.List | ast.Tuple):
        return list(filter(None, map(text_of, node.elts)))
    return [name.strip() for name in text_of(node).split(",") if name.strip()]


def text_of(node: ast.expr | None) -> str:
    """Return the text of a literal, else an empty string."""
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def _is_param(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and name_of_call(node) in ("pytest.param", "param")


def _is_true(node: ast.expr | None) -> bool:
    return isinstance(node, ast.Constant) and node.value is True
