"""Where the code of a test runs: outside of the program's process, within it, or there only after a failure outside.

1. It runs within if it replaces what the program uses (`unittest.mock`, `sys.stdin`, a name of the program that it
   binds anew), subclasses a class of the program, makes files that the program reads, or watches its process.
2. It is `doubtful` if a right program may fail it outside: it imports a package whose objects only that package can
   compare (pandas); compares what builtins give, which the program may define; runs things side by side, which cross
   one by one; looks into functions and classes, or has the program look into its own; changes the state of its
   process; or uses a variable of the program, which the program may bind anew. A program that fails it outside is
   judged again within.
3. Its calls can be recorded if it uses nothing but its own values, and changes none.
"""

import ast
import builtins
import re
import sys
from dataclasses import dataclass
from functools import cached_property

from alpha_codium.judge.assertion_scope import MODULE
from alpha_codium.judge.drivers.outcomes import ALIASES
from alpha_codium.languages.python.syntax import parse

# Names of tools that replace parts of the program, or of what it uses.
REPLACING = {"mock", "patch", "monkeypatch", "MonkeyPatch", "MagicMock"}
# Names of tools that make or read files and folders, or change what a process inherits.
SHARING = {"tempfile", "tmp_path", "tmpdir", "shutil", "makedirs", "mkdir", "rmtree", "write_text", "write_bytes"}
SHARING |= {"touch", "open", "ZipFile", "chdir", "environ", "putenv"}
# Names of tools that watch the warnings and logs of the program's process, or inspect its classes and their objects.
WATCHING = {"warns", "assertWarns", "assertWarnsRegex", "deprecated_call", "assertLogs", "assertNoLogs"}
WATCHING |= {"asdict", "astuple", "is_dataclass", "isabstract", "getsource"}
# Base classes, and the functions by which a test asks whether a class of the program is derived from them.
ABSTRACT, ASKING = {"ABC", "Enum", "IntEnum", "StrEnum", "Flag", "IntFlag"}, {"isinstance", "issubclass"}
# Packages whose values cross, and tools of tests.
CROSSING = {"numpy", "pytest", "hypothesis", "parameterized", "pytest_asyncio", "typing_extensions", "sortedcontainers"}
# Names of functions and attributes that look up names given as strings.
LOOKING_UP = {"eval", "exec", "globals", "locals", "vars", "__dict__"}
# Names whose results depend on the process, or differ between runs, besides those of `DOUBTFUL`.
SEEING = frozenset(
    [
        *LOOKING_UP,
        *REPLACING,
        *("compile", "__import__", "import_module", "getattr", "setattr", "id", "open", "input", "stdin", "stdout"),
        *("stderr", "modules", "_getframe", "settrace", "setprofile", "exc_info", "os", "pathlib", "io", "tempfile"),
        *("socket", "subprocess", "signal", "multiprocessing", "marshal", "ctypes", "gc", "weakref", "traceback"),
        *("warnings", "logging", "thread", "time", "datetime", "secrets", "uuid", "urandom", "numpy", "seed"),
        *ALIASES,
    ]
)
# Names of modules by which a test runs things side by side, or looks into functions, classes and their objects.
DOUBTFUL = {"asyncio", "threading", "concurrent", "inspect", "pickle", "dataclasses"}
# Names of functions that change the state of a process, or look at what a program prints and writes.
DOUBTFUL |= {"setrecursionlimit", "getcontext", "localcontext", "catch_warnings", "simplefilter", "addHandler", "argv"}
DOUBTFUL |= {"redirect_stdout", "redirect_stderr", "_Captured_", "exists", "isfile", "listdir", "read_text"}
DOUBTFUL |= {"read_bytes"}
# Classes that an object is one of by what it does.
OF_BEHAVIOUR = {"Iterator", "Iterable", "Generator", "AsyncIterator", "AsyncIterable", "AsyncGenerator", "Coroutine"}
OF_BEHAVIOUR |= {
    "Awaitable",
    "Hashable",
    "Sized",
    "Container",
    "Collection",
    "AbstractContextManager",
    "Match",
    "chain",
}
# Functions to which a test says which exception it expects, and names of exceptions: outside, a class of these makes
# objects without the attributes that the program's has.
EXPECTING, ERROR = {"raises", "assertRaises", "assertRaisesRegex"}, re.compile(r"(?:Error|Exception)$")
# Methods by which a test changes a container.
CHANGING = {"append", "extend", "insert", "pop", "remove", "clear", "sort", "reverse", "update", "add", "setdefault"}
# Functions of Python that a program calls, and that are the test's if it defines them.
CALLED = {"input", "print", "open"}
BUILTINS = set(dir(builtins))


@dataclass(frozen=True)
class Code:
    """The code of a test, of which each part is read once."""

    tree: ast.Module

    @cached_property
    def nodes(self) -> list[ast.AST]:
        """All nodes of the syntax tree."""
        return list(ast.walk(self.tree))

    @cached_property
    def words(self) -> set[str]:
        """All names and attributes that the code uses, and what it imports."""
        words = set()
        for node in self.nodes:
            if isinstance(node, ast.Name):
                words.add(node.id)
            elif isinstance(node, ast.Attribute):
                words.add(node.attr)
            elif isinstance(node, ast.alias):
                words.update(node.name.split("."))
            elif isinstance(node, ast.ImportFrom):
                words.update((node.module or "").split("."))
        return words


def runs_within(code: Code, names: set[str], rebound: set[str]) -> bool:
    """Whether code has to run in the program's process; `names` are the program's, `rebound` those it binds anew."""
    words = code.words
    asks = words & ABSTRACT and words & ASKING
    return bool(rebound or asks or words & (REPLACING | SHARING | WATCHING)) or _derives_or_replaces(code, names)


def is_doubtful(code: Code, names: set[str], imports: set[str], setup_code: str) -> bool:
    """Whether a program that fails the code outside of its process is judged within it; see the module's docstring.

    `setup_code` is that whose helpers the code uses.
    """
    if not {name.partition(".")[0] for name in imports} <= sys.stdlib_module_names | CROSSING:
        return True
    # What the code imports, and the names of the program: to bind their attributes changes what the program sees.
    owners = names | {name for node in code.nodes if isinstance(node, ast.alias) for name in _bound_by(node)}
    raised = {name for node in code.nodes for name in _exceptions_in(node)} | set(filter(ERROR.search, names))
    return bool(
        code.words & DOUBTFUL
        or any(isinstance(node, ast.ClassDef) for node in parse(setup_code).body)
        or any(_used_by(node) in raised & names for node in code.nodes)
        or _gives_own(code)
        or any(_is_doubtful_part(node, names, owners) for node in code.nodes)
    )


def _is_doubtful_part(node: ast.AST, names: set[str], owners: set[str]) -> bool:
    """Whether a part of the code makes it doubtful; `owners` are the names whose attributes it mustn't bind."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return node.name in CALLED or any(names & names_in(each) for each in node.decorator_list)
    if isinstance(node, ast.ClassDef):
        # A decorator, a metaclass or a descriptor of the program.
        parts = (*node.decorator_list, *node.keywords, *(each for each in node.body if isinstance(each, ast.Assign)))
        return any(names & names_in(each) for each in parts)
    if isinstance(node, ast.Assign):
        owned = [name_of(each.value) for each in node.targets if isinstance(each, ast.Attribute)]
        return not owners.isdisjoint(owned) or not CALLED.isdisjoint(map(name_of, node.targets))
    if isinstance(node, ast.MatchClass):
        return bool(names & names_in(node.cls))
    if isinstance(node, ast.Compare):
        return any(name_of(each) in names for each in (node.left, *node.comparators)) or _is_of_builtins(node, names)
    if isinstance(node, ast.Subscript):
        return name_of(node.value) in names
    if isinstance(node, ast.Call) and name_of(node.func) in ASKING and len(node.args) == 2:
        kinds = node.args[1].elts if isinstance(node.args[1], ast.Tuple) else [node.args[1]]
        return any(variable_of(each).rpartition(".")[2] in OF_BEHAVIOUR for each in kinds)
    return False


def _is_of_builtins(node: ast.Compare, names: set[str]) -> bool:
    """Whether nothing but builtins is compared: `assert sum(1, 2) == 3` is about a `sum` of the program's."""
    used = names_in(node)
    return bool(used) and used <= BUILTINS - names and any(isinstance(each, ast.Call) for each in ast.walk(node.left))


def _gives_own(code: Code) -> bool:
    """Whether the code gives objects of its own classes, but those of tests, to a function."""
    classes = (each for each in code.nodes if isinstance(each, ast.ClassDef))
    own = {each.name for each in classes if not any(variable_of(base).endswith("TestCase") for base in each.bases)}
    if not own:
        return False
    made = (each for each in code.nodes if isinstance(each, ast.Assign) and _used_by(each.value) in own)
    given = own | {name for each in made for name in map(name_of, each.targets)} - {""}
    calls = (each for each in code.nodes if isinstance(each, ast.Call) and name_of(each.func) not in own | ASKING)
    return any(given & names_in(part) for each in calls for part in (*each.args, *each.keywords))


def _exceptions_in(node: ast.AST) -> set[str]:
    """Return the names of exceptions that a part of the code raises or expects."""
    if isinstance(node, ast.ExceptHandler | ast.Raise):
        expected = node.type if isinstance(node, ast.ExceptHandler) else node.exc
        return set() if expected is None else names_in(expected)
    if isinstance(node, ast.Call) and variable_of(node.func).rpartition(".")[2] in EXPECTING and node.args:
        return names_in(node.args[0])
    return set()


def _used_by(node: ast.AST) -> str:
    """Return the name that a part of the code calls, or of which it reads an attribute."""
    used = node.func if isinstance(node, ast.Call) else node.value if isinstance(node, ast.Attribute) else None
    return "" if used is None else name_of(used)


def is_recordable(code: Code) -> bool:
    """Whether code uses nothing that depends on the process, and no attribute that a recorded function lacks.

    Nor may it change a container or ask whether two are the same: answers are copies.
    """
    private = any(isinstance(node, ast.Attribute) and node.attr.startswith("_") for node in code.nodes)
    return not (private or code.words & SEEING or any(map(_changes_container, code.nodes)))


def _changes_container(node: ast.AST) -> bool:
    if isinstance(node, ast.Subscript):
        return not isinstance(node.ctx, ast.Load)
    if isinstance(node, ast.Compare):
        plain = all(isinstance(each, ast.Constant) for each in node.comparators)
        return not plain and any(isinstance(each, ast.Is | ast.IsNot) for each in node.ops)
    call = node.value if isinstance(node, ast.Expr) else None
    return isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr in CHANGING


def rebound_in(tree: ast.Module) -> set[str]:
    """Return the names that a module binds first by an assignment that uses them: `f = cached(f)`, `total += 1`."""
    found: set[str] = set()
    bound: set[str] = set()
    for node in tree.body:
        if isinstance(node, ast.Assign):
            found |= set(map(name_of, node.targets)) & names_in(node.value) - _bound_by(node.value) - bound
        elif isinstance(node, ast.AugAssign):
            found |= {name_of(node.target)} - bound
        bound |= _bound_by(node)
    return found - {""}


def _bound_by(node: ast.AST) -> set[str]:
    """Return the names that a statement or an expression binds, in itself or in a scope of its own."""
    bound = set()
    for each in ast.walk(node):
        if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store):
            bound.add(each.id)
        elif isinstance(each, ast.arg):
            bound.add(each.arg)
        elif isinstance(each, ast.alias):
            bound.add(each.asname or each.name.partition(".")[0])
        elif isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            bound.add(each.name)
    return bound


def _derives_or_replaces(code: Code, names: set[str]) -> bool:
    """Whether the code subclasses a class of the program, or replaces what the program reads."""
    for node in code.nodes:
        if isinstance(node, ast.ClassDef) and any(names & names_in(base) for base in node.bases):
            return True
        if isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load) and ast.unparse(node.value) == MODULE:
            return True
        for target in node.targets if isinstance(node, ast.Assign) else ():
            if isinstance(target, ast.Attribute):
                owner = name_of(target.value)
                if owner == "builtins" or (owner, target.attr) == ("sys", "stdin"):
                    return True
    return False


def name_of(node: ast.AST) -> str:
    """Return the name if `node` is one, else an empty string."""
    return node.id if isinstance(node, ast.Name) else ""


def variable_of(node: ast.AST) -> str:
    """Return the name, or the attribute of a name such as `self.x`, if `node` is one, else an empty string."""
    if isinstance(node, ast.Attribute):
        return f"{node.value.id}.{node.attr}" if isinstance(node.value, ast.Name) else ""
    return name_of(node)


def names_in(node: ast.AST) -> set[str]:
    """Return all names in code."""
    return {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
