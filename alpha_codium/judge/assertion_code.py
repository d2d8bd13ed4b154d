"""Tests that are functions and classes, as pytest and unittest run them: code that calls those that nothing calls.

1. `from solution import f` and `solution.f` mean what the program defines. A module is the program's if its name says
   so, or if it is neither of Python's library nor installed.
2. Functions `test*` are called, with their parameters and fixtures (`assertion_calls`), and so are methods `test*` of
   classes `Test*`, and classes of unittest; but not what is marked as skipped, or as expected to fail.
3. If no test is left, or one needs what isn't supported, the code is Unjudgeable: it must not pass without having run.
"""

import ast
import code
import functools
import importlib.metadata
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from alpha_codium.errors import Unjudgeable
from alpha_codium.judge.assertion_calls import Calls
from alpha_codium.judge.assertion_scope import (
    FIXTURE,
    MARK,
    MODULE,
    Edit,
    Scope,
    Text,
    is_function,
    is_main_guard,
    is_test_function,
    name_of_call,
    require_all_seen,
    text_of,
)
from alpha_codium.languages.python.syntax import DEFINITIONS, IMPORTS, UNPARSABLE, parse

# Words in the names of modules that stand for the program, as datasets write them: `your_solution`, `main`, `task_1`.
OF_PROGRAM = re.compile(
    r"(?:^|_)(?:solutions?|main|programs?|submission|module|code|script|answers?|candidate|task|implementation|"
    r"functions?|source)(?:_|\d|$)",
    re.IGNORECASE,
)
# Packages that tests import, whether or not they are installed where gencode runs.
PACKAGES = set(
    """
    attr attrs bs4 chess codewars_test Crypto cryptography cv2 dateutil django docx faker flask flask_mail folium
    freezegun gensim geopy hypothesis jax keras librosa lxml matplotlib mechanize mock mpl_toolkits mpmath networkx
    nltk nose nose2 numba numpy openpyxl pandas parameterized PIL plotly polars psutil pydantic pytest
    pytest_asyncio pythonds pytz regex requests rich rsa scipy seaborn setuptools shapely simplejson six skimage
    sklearn sortedcontainers sqlalchemy statsmodels sympy tensorflow testfixtures textblob texttable torch tqdm
    typing_extensions wordcloud xlwt xmltodict yaml
    """.split()  # noqa: SIM905 - a list of so many is hard to read
)
# What runs all tests of a module; its result would be lost.
RUNNERS = ("unittest.main", "pytest.main", "TextTestRunner", "nose.main")
# Ways in which a test skips itself while it runs.
SKIPPING = re.compile(r"pytest\.(?:skip|importorskip|exit|xfail)|self\.skipTest|(?:unittest\.)?SkipTest")


@dataclass(frozen=True, slots=True)
class Runnable:
    """The code of a test that runs its functions and classes, and the names that it imports from the program.

    `names` has a `*` if it imports all. Without those in `required`, an import fails.
    """

    code: str
    names: frozenset[str] = frozenset()
    required: frozenset[str] = frozenset()


def runnable(test_code: str, entry_point: str = "") -> Runnable:
    """Return the code of a test so that its functions and classes run; the same text if it has none.

    Raises Unjudgeable if they can't be run, and one of `UNPARSABLE` for code that isn't Python.
    """
    tree = parse(test_code)
    text, imported = Text(test_code), set[str]()
    required = _required(tree, entry_point)
    edits = list(_without_imports(tree, text, entry_point, imported))
    scope = Scope.of(tree, text)
    called = _called_at_top_level(tree, scope)
    require_all_seen(tree, scope, called)
    definitions = [each for each in tree.body if isinstance(each, DEFINITIONS) and each.name not in called]
    tests = [each for each in definitions if _is_test(each, scope) and not _is_helper(each, scope, tree)]
    if not tests:
        edits += _without_exit(tree, text)
        return Runnable(text.edited(edits) if edits else test_code, frozenset(imported), required)
    _require_no_skipping(tests)
    # Of edits of the same place, the first counts: an exit status may be that of a runner.
    edits += [*_without_decorators(tree, text), *_without_runners(tree, text), *_without_exit(tree, text)]
    code = _without_pytest(f"{text.edited(edits)}\n{Calls(scope).of(tests)}")
    return Runnable(code, frozenset(imported), required)


def _is_program(module: str, names: Sequence[str], entry_point: str) -> bool:
    """Whether a module stands for the program."""
    root = module.partition(".")[0]
    if root == "__main__" or module == "":
        return True
    if root == "code" and names:  # one of Python's modules, too
        return not any(hasattr(code, name) for name in names)
    if root in sys.stdlib_module_names or root in PACKAGES:
        return False
    return _is_named(module, names, entry_point) or root not in _installed()


def _is_named(module: str, names: Sequence[str], entry_point: str) -> bool:
    """Whether the name of a module, or what is imported from it, shows that it stands for the program."""
    name = module.rpartition(".")[2]
    return name in ("", "__main__") or bool(OF_PROGRAM.search(name)) or entry_point in names


def _required(tree: ast.Module, entry_point: str) -> frozenset[str]:
    """Return the names that the code imports from the program, unless it may catch that there is none."""
    caught = {id(each) for node in ast.walk(tree) if isinstance(node, ast.Try) for each in ast.walk(node)}
    found = set[str]()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and id(node) not in caught:
            module, names = "" if node.level else node.module or "", [each.name for each in node.names]
            if _is_program(module, names, entry_point) and _is_named(module, names, entry_point):
                found.update(names)
    return frozenset(found - {"*"})


@functools.cache
def _installed() -> frozenset[str]:
    return frozenset(importlib.metadata.packages_distributions()) | {"alpha_codium"}


def _without_imports(tree: ast.Module, text: Text, entry_point: str, imported: set[str]) -> Iterator[Edit]:
    """Yield the edits after which names imported from the program, and attributes of its module, are its own names.

    These are added to `imported`.
    """
    modules, roots = set[str](), {"__main__"}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            if node.level or _is_program(node.module or "", [each.name for each in node.names], entry_point):
                renamed = [
                    f"{each.asname} = {each.name}" for each in node.names if each.asname not in (None, each.name)
                ]
                roots.add(node.module or "")
                imported |= {each.name for each in node.names}
                yield (*text.span(node), "; ".join(renamed) or "pass")
        elif isinstance(node, ast.Import) and (
            those := [each for each in node.names if _is_program(each.name, (), entry_point)]
        ):
            rest = [each for each in node.names if each not in those]
            modules |= {each.asname or each.name for each in those}
            roots |= {each.name for each in those}
            yield (*text.span(node), ast.unparse(ast.Import(rest)) if rest else "pass")
    yield from _without_modules(tree, text, modules, roots, imported)


def _without_modules(
    tree: ast.Module, text: Text, modules: set[str], roots: set[str], imported: set[str]
) -> Iterator[Edit]:
    """Yield the edits after which `modules` aren't used.

    The program's module is `program`: `patch` finds its names there, and what is set must be set there.
    """
    seen = set[int]()
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and modules and ast.unparse(node.value) in modules:
            seen |= {id(each) for each in ast.walk(node.value)}
            imported.add(node.attr)
            yield (*text.span(node), node.attr if isinstance(node.ctx, ast.Load) else f"{MODULE}.{node.attr}")
        elif isinstance(node, ast.Call) and node.args and "patch" in name_of_call(node):
            path = text_of(node.args[0])
            for root in roots - {""}:
                if path.startswith(f"{root}."):
                    yield (*text.span(node.args[0]), repr(f"program{path.removeprefix(root)}"))
        elif isinstance(node, ast.Name) and node.id in modules and id(node) not in seen:
            raise Unjudgeable(f"the code of the test uses the program as a module, {node.id}, not only what it defines")


def _called_at_top_level(tree: ast.Module, scope: Scope) -> set[str]:
    """Return the functions that the module's own statements call, and the classes of which they call all tests.

    Only calls that always happen, and whose failure fails the module, count: others don't replace ours.
    """
    calls = [each.value for each in _own_statements(tree) if isinstance(each, ast.Expr)]
    names = {name_of_call(each) for each in calls if isinstance(each, ast.Call)}
    methods = {name.rpartition(".")[2] for name in names if "." in name}
    for kind in scope.classes.values():
        tests = {each.name for each in scope.methods(kind) if is_test_function(each)}
        if tests and tests <= methods:
            names.add(kind.name)
    return names


def _own_statements(tree: ast.Module) -> Iterator[ast.stmt]:
    """Yield the statements of a module, those below `if __name__ == "__main__"` in its place."""
    for each in tree.body:
        yield from each.body if is_main_guard(each) else [each]


def _without_exit(tree: ast.Module, text: Text) -> Iterator[Edit]:
    """Yield the edit after which a last `sys.exit(x)` asserts that x means success."""
    last = list(_own_statements(tree))[-1:]
    for call in (each.value for each in last if isinstance(each, ast.Expr) and isinstance(each.value, ast.Call)):
        if name_of_call(call) in ("sys.exit", "exit", "quit") and not call.keywords:
            yield (*text.span(call), f"assert not ({text.of(call.args[0])})" if call.args else "pass")


def _is_test(node: ast.stmt, scope: Scope) -> bool:
    if isinstance(node, ast.ClassDef):
        return scope.is_unittest(node) or (
            node.name.startswith("Test")
            and any(map(is_test_function, scope.methods(node)))
            and not any(each.name == "__init__" for each in scope.methods(node))
        )
    return is_test_function(node)


def _is_helper(node: ast.stmt, scope: Scope, tree: ast.Module) -> bool:
    """Whether a function is called by other tests, with arguments that pytest couldn't give it."""
    if isinstance(node, ast.ClassDef):
        # A class that others are derived from, without tests of its own.
        return not any(map(is_test_function, scope.methods(node)))
    if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) or scope.can_call(node):
        return False
    return any(isinstance(each, ast.Call) and name_of_call(each) == node.name for each in ast.walk(tree))


def _without_decorators(tree: ast.Module, text: Text) -> Iterator[Edit]:
    """Yield the edits that remove marks and fixtures of pytest, which the calls do without."""
    for node in ast.walk(tree):
        if isinstance(node, DEFINITIONS):
            for decorator in node.decorator_list:
                if MARK.match(ast.unparse(decorator)) or FIXTURE.match(ast.unparse(decorator)):
                    start, end = text.span(decorator)
                    yield text.data.rindex(b"@", 0, start), end, ""
    for statement in tree.body:
        if isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) == "pytestmark":
            yield (*text.span(statement), "pass")


def _without_runners(tree: ast.Module, text: Text) -> Iterator[Edit]:
    """Yield the edits that remove what would run the tests at the end of a file, directly or by a function."""
    runners = [*RUNNERS, *(each.name for each in tree.body if is_function(each) and _runs_tests(each, RUNNERS))]
    if any(isinstance(each, ast.ImportFrom) and _imports_main(each) for each in tree.body):
        runners.append("main")
    held = set[str]()  # names of a runner, or of what it found
    for statement in (part for each in tree.body for part in (each, *(each.body if isinstance(each, ast.If) else ()))):
        if isinstance(statement, (*DEFINITIONS, *IMPORTS)):
            continue
        parts = list(ast.walk(statement.test if isinstance(statement, ast.If) else statement))
        names = {each.id for each in parts if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load)}
        bound = {each.id for each in parts if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)}
        if names & held or any(_runs_tests(each, runners) for each in parts if isinstance(each, ast.Call)):
            held |= bound
            yield (*text.span(statement), "pass")
        else:
            held -= bound


def _runs_tests(node: ast.AST, runners: Iterable[str]) -> bool:
    calls = [name_of_call(each) for each in ast.walk(node) if isinstance(each, ast.Call)]
    return any(re.match(rf"(?:\w+\.)?{re.escape(name)}\b", call) for call in calls for name in runners)


def _imports_main(node: ast.ImportFrom) -> bool:
    return node.module in ("unittest", "pytest") and any(each.name == "main" for each in node.names)


def _require_no_skipping(tests: Sequence[ast.AST]) -> None:
    """Raise Unjudgeable if a test might skip itself: a program could make it do so."""
    for test in tests:
        for node in ast.walk(test):
            if isinstance(node, ast.Call) and SKIPPING.fullmatch(called := name_of_call(node)):
                raise Unjudgeable(f"the code of the test can skip itself ({called}), which isn't supported")


def _without_pytest(code: str) -> str:
    """Return the code without `import pytest` if nothing uses it: importing it takes longer than most tests."""
    try:
        tree = parse(code)
    except UNPARSABLE:
        return code
    if any(isinstance(node, ast.Name) and node.id == "pytest" for node in ast.walk(tree)):
        return code
    text = Text(code)
    unused = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Import) and [each.name for each in node.names] == ["pytest"]
    ]
    unused = [node for node in unused if node.names[0].asname is None]
    return text.edited((*text.span(node), "pass") for node in unused) if unused else code
