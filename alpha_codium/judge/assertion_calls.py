"""Calls of test functions, test methods and classes of unittest, with what pytest would give them.

1. Marks: each set of values of `parametrize` is a call; `skipif` is a condition; what is marked as skipped, or as
   expected to fail, isn't called, and any other mark has no effect.
2. Fixtures: those that the code defines (values and generators, with `scope`, `params`, `autouse` and other fixtures)
   and those in `BUILT_IN`. Of one with `params`, each test gets a new value, whatever its scope.
3. Functions with decorators other than marks, such as `given` and `patch`, get from these what isn't known here.
"""

import ast
import re
from collections.abc import Sequence

from alpha_codium.errors import Unjudgeable
from alpha_codium.judge.assertion_scope import (
    BUILT_IN,
    FIXTURE,
    MARK,
    Function,
    Scope,
    foreign_decorators,
    is_fixture,
    is_function,
    is_param,
    is_test_function,
    is_true,
    keyword,
    marks_of,
    names_node,
    parametrized,
    required,
    text_of,
)

SKIPPED = re.compile(r"(?:pytest\.)?mark\.(?:skip|xfail)\b(?!if)|(?:unittest\.)?(?:skip|expectedFailure)\b")
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
    def disabled(self):
        import contextlib
        return contextlib.redirect_stdout(self.real[0])
    def close(self):
        self.sys.stdout, self.sys.stderr = self.real
"""
KEPT = """
_kept_ = {}
def _keep_(key, make, is_generator):
    if key not in _kept_:
        made = make()
        _kept_[key] = (next(made), made) if is_generator else (made, iter(()))
    return _kept_[key][0]
def _end_(scope):
    for key in [each for each in reversed(_kept_) if each.startswith(scope)]:
        next(_kept_.pop(key)[1], None)
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
    for _, error, _ in kind.tearDown_exceptions:
        raise error
    return ran
"""
HELPERS = {"_Captured_": CAPTURED, "_run_class_": UNITTEST, "_keep_": KEPT}


class Calls:
    """The code that calls tests."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        self.lines: list[str] = []
        self.depth = 0
        self.count = 0

    def of(self, tests: Sequence[ast.stmt]) -> str:
        """Return code that calls these tests, and fails if it called none; raises Unjudgeable if it can't."""
        first = [each for each in ("setUpModule", "setup_module") if each in self.scope.functions]
        last = [each for each in ("tearDownModule", "teardown_module") if each in self.scope.functions]
        for name in first:
            self.hook(name, self.scope.functions[name])
        for test in tests:
            if isinstance(test, ast.ClassDef):
                self.add_class(test)
            elif is_function(test):
                self.add(test, [*self.scope.marks, *marks_of(test)])
        if not any("_ran_ +=" in line for line in self.lines):
            raise Unjudgeable("the code of the test asserts nothing: all its tests are skipped")
        self.end("module ")
        for name in last:
            self.hook(name, self.scope.functions[name])
        code = "\n".join(["_ran_ = 0", *self.lines, "if not _ran_:", '    raise AssertionError("no test ran")', ""])
        helpers = [text for name, text in HELPERS.items() if f"{name}(" in code]
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
            self.add(test, [*self.scope.marks, *marks_of(kind), *marks_of(test)], kind)
        self.end(f"class {kind.name} ")
        if "teardown_class" in named:
            self.say(f"{kind.name}.teardown_class()")

    def end(self, scope: str) -> None:
        """End the fixtures that are kept for a scope."""
        if any(f"_keep_('{scope}" in line for line in self.lines):
            self.say(f"_end_({scope!r})")

    def add(self, test: Function, marks: Sequence[ast.expr], kind: ast.ClassDef | None = None) -> None:
        """Add the calls of a function, or of a method of a class."""
        if any(SKIPPED.match(ast.unparse(each)) for each in (*marks, *test.decorator_list)):
            return
        methods = self.scope.methods(kind) if kind else []
        one = Call(self, test, self.scope.fixtures(methods), kind.name if kind else "")
        around = {each.name: each for each in methods} if kind else self.scope.functions
        names = (
            ("setup_method", "setup", "teardown_method", "teardown")
            if kind
            else ("setup_function", "teardown_function")
        )
        hooks = [name for name in names if name in around and not is_fixture(around[name])]
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
        self.say(f"{name}({test if [each for each in required(function) if each not in ('self', 'cls')] else ''})")

    def say(self, line: str) -> None:
        """Add a line."""
        self.lines.append("    " * self.depth + line)

    def new(self, name: str) -> str:
        """Return a new name of a variable."""
        self.count += 1
        return f"_{name}_{self.count}_"


class Call:
    """One call of a test: the values of its parameters, and what has to be done after it."""

    def __init__(self, calls: Calls, test: Function, fixtures: dict[str, Function], kind: str) -> None:
        self.calls, self.test, self.fixtures = calls, test, fixtures
        self.kind, self.owner = kind, "_own_." if kind else ""
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
        names, rows = parametrized(mark), mark.args[1] if len(mark.args) > 1 else keyword(mark, "argvalues")
        if not names or rows is None or keyword(mark, "indirect") is not None:
            raise Unjudgeable(
                f"{self.test.name} of the test has parameters that aren't supported: {ast.unparse(mark)[:80]}"
            )
        for name in names:
            self.values[name] = self.calls.new(name)
        target = ", ".join(self.values[name] for name in names)
        single = len(names) == 1 and isinstance(names_node(mark), ast.Constant)
        self.block(f"for {target if single else f'({target},)'} in ({self.rows(rows, single=single)}):")

    def rows(self, rows: ast.expr, *, single: bool) -> str:
        """Return sets of values without `pytest.param`; those marked as skipped are left out."""
        if not isinstance(rows, ast.List | ast.Tuple) or not any(map(is_param, rows.elts)):
            return self.calls.scope.text.of(rows)
        kept = []
        for row in rows.elts:
            if isinstance(row, ast.Call) and is_param(row):
                marks = keyword(row, "marks")
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
            if name in self.used or any(is_true(keyword(each, "autouse")) for each in function.decorator_list):
                self.value(name)
        # Arguments of `patch` and the like come from these.
        known = {*self.values, *self.fixtures, *BUILT_IN}
        foreign = foreign_decorators(self.test)
        names = [each for each in required(self.test, self.owner) if not foreign or each in known]
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
        params = keyword(decorator, "params")
        if params is not None:
            self.block(f"for {(value := self.calls.new('param'))} in ({self.rows(params, single=True)}):")
            self.calls.say("import types")
            self.values["request"] = self.calls.new("request")
            self.calls.say(f"{self.values['request']} = types.SimpleNamespace(param={value})")
        own = "" if self.calls.scope.functions.get(function.name) is function else self.owner
        arguments = ", ".join(f"{each}={self.value(each)}" for each in required(function, own))
        made, variable = f"{own}{function.name}({arguments})", self.values[name]
        if isinstance(function, ast.AsyncFunctionDef):
            raise Unjudgeable(f"{function.name} of the test is an asynchronous fixture, which isn't supported")
        is_generator = any(isinstance(node, ast.Yield) for node in ast.walk(function))
        if params is None and (scope := self.scope_of(decorator)):
            key = f"{scope} {self.kind}.{name}" if own else f"{scope} {name}"
            self.calls.say(f"{variable} = _keep_({key!r}, lambda: {made}, {is_generator})")
        elif is_generator:
            generator = self.calls.new("fixture")
            self.calls.say(f"{generator} = {made}")
            self.calls.say(f"{variable} = next({generator})")
            self.after.append(f"next({generator}, None)")
        else:
            self.calls.say(f"{variable} = {made}")

    def scope_of(self, decorator: ast.expr) -> str:
        """Return for what the value of a fixture is kept; empty if each test gets a new one."""
        scope = text_of(keyword(decorator, "scope"))
        if scope == "class":
            return f"class {self.kind}" if self.kind else ""
        return "module" if scope in ("module", "package", "session") else ""


def _awaited(function: Function, call: str) -> str:
    return f'__import__("asyncio").run({call})' if isinstance(function, ast.AsyncFunctionDef) else call
