"""Static analysis of what the assertions of a test need to run. Candidates aren't consulted: they are untrusted.

1. A name that the code uses and doesn't define comes from the setup code if that defines it (the helpers of a
   HumanEval prompt); else it is a module if it is used as one (`sys.getsizeof`, `np.allclose`); else it comes from
   the program. A builtin comes from the program only if it is the entry point, or if the code uses no other name.
2. `check` is called with the entry point if the code defines it and doesn't call it.
3. A name from the program is a class if the code uses it as one: `except E`, `isinstance(x, C)`, `C.x`, or an attribute
   of `C()` that no value of the standard types has. Capitals aren't evidence: functions in MBPP have them, too. But
   they are if the code imports the name from the program.
4. Where the code runs, see `assertion_process`.
"""

import ast
import builtins
import collections
import datetime
import decimal
import fractions
import functools
import keyword
import re
import symtable
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from alpha_codium.errors import Unjudgeable
from alpha_codium.judge.assertion_code import runnable
from alpha_codium.judge.assertion_process import (
    LOOKING_UP,
    Code,
    is_doubtful,
    is_recordable,
    name_of,
    names_in,
    rebound_in,
    runs_within,
    variable_of,
)
from alpha_codium.judge.drivers.outcomes import ALIASES
from alpha_codium.languages.python.syntax import UNPARSABLE, fault_in, parse
from alpha_codium.problem import ExecutionSpec

# Exceptions that end more than a call, unless the code names them.
CATCHABLE = {"SystemExit", "StopIteration", "KeyboardInterrupt"}
MOST_IDENTIFIERS = 2_000
ERRORS = {name for name, kind in vars(builtins).items() if isinstance(kind, type) and issubclass(kind, Exception)}
CAMEL_CASE = re.compile(r"(?:[A-Z]+[a-z0-9]+)+")
VALUES = (str, bytes, bytearray, int, float, complex, list, tuple, dict, set, frozenset, BaseException)
VALUES += (collections.deque, collections.Counter, datetime.datetime, datetime.timedelta, decimal.Decimal)
# Methods of unittest that compare their first two arguments.
COMPARING = {"assertEqual", "assertNotEqual", "assertIn", "assertNotIn"}
# Attributes that don't show that a result is of a class of the program.
COMMON = {name for kind in (*VALUES, fractions.Fraction, type(_ for _ in ())) for name in dir(kind)} | {
    *("shape", "dtype", "ndim", "size", "T", "all", "any", "sum", "mean", "min", "max", "tolist", "flatten", "astype"),
    *("cache_info", "cache_clear", "func", "search", "match", "group", "read", "write"),
}


@dataclass(frozen=True, slots=True)
class Needs:
    """What assertions need: names from the program, modules, setup code, a call of `check`; and their `code`, which
    calls its functions and classes (`assertion_code`).

    `classes` are the names used as classes. `in_process` means that the assertions have to run in the program's
    process, `doubtful` that they have to if the program fails them outside of it, `recordable` that their calls may be
    known in advance. `catches` are the names of `CATCHABLE` that they use. `types`, `random` and `seeds`: whether they
    use `type(x)`, random numbers, and seeds of these. `imports` are the modules that the code imports anywhere,
    `required` the names that it imports from the program. `errors` are exceptions of Python that may be the program's
    instead.
    """

    names: tuple[str, ...]
    modules: tuple[str, ...] = ()
    setup_code: str = ""
    calls_check: bool = False
    classes: tuple[str, ...] = ()
    in_process: bool = False
    doubtful: bool = False
    recordable: bool = True
    catches: tuple[str, ...] = ()
    types: bool = False
    random: bool = False
    seeds: bool = False
    imports: tuple[str, ...] = ()
    required: tuple[str, ...] = ()
    errors: tuple[str, ...] = ()
    code: str = field(default="", compare=False)

    @property
    def has_class(self) -> bool:
        """Whether a name from the program is spelt like a class in the test's code."""
        return any(name[:1].isupper() for name in self.names)


@functools.lru_cache(maxsize=256)
def needs_of(test_code: str, spec: ExecutionSpec) -> Needs:
    """Return what `test_code` needs; raises Unjudgeable if it isn't Python or asserts nothing."""
    try:
        ours = runnable(test_code, spec.entry_point)
        tree, scopes = parse(ours.code), list(_scopes(symtable.symtable(ours.code, "tests.py", "exec")))
        helpers = _defined(symtable.symtable(spec.setup_code, "setup.py", "exec"))
    except UNPARSABLE as error:
        raise Unjudgeable(f"the code of the test, or its setup code, isn't Python: {error}") from error
    if fault := fault_in(ours.code):
        raise Unjudgeable(f"the code of the test doesn't compile: {fault}")
    defined = _defined(scopes[0])
    used = {symbol.get_name() for scope in scopes for symbol in scope.get_symbols() if _is_used_global(symbol, scope)}
    calls_check = "check" in defined and "check" not in used
    if not any(map(_can_fail, _body_of("check", tree) if calls_check else tree.body)):
        raise Unjudgeable("the code of the test asserts nothing")
    if calls_check and not spec.entry_point:
        raise Unjudgeable("the code of the test has a function check, and there is no entry point to call it with")
    rebound = rebound_in(tree) - helpers - set(dir(builtins))
    wanted = (used - defined | rebound) - {spec.entry_point}
    known_modules = sys.stdlib_module_names | ALIASES.keys()
    modules = {name for name in wanted & known_modules if _is_only_module(tree, name)} - helpers
    foreign = wanted - helpers - modules - set(dir(builtins))
    code = Code(tree)
    words = code.words
    if words & LOOKING_UP:
        foreign |= _identifiers(tree) - defined - helpers - modules - set(dir(builtins))
    foreign |= wanted & ours.names
    names = foreign | ({spec.entry_point} if spec.entry_point else set()) or wanted
    from_setup = spec.setup_code if wanted & helpers else ""
    classes = _classes_in(tree, set(names)) | set(filter(CAMEL_CASE.fullmatch, ours.names & set(names)))
    imports = _imports(tree)
    doubtful = is_doubtful(code, set(names) & {*used, spec.entry_point}, imports, from_setup)
    return Needs(
        tuple(sorted(names)),
        tuple(sorted(modules)),
        from_setup,
        calls_check,
        classes=tuple(sorted(classes)),
        in_process=runs_within(code, set(names), rebound),
        doubtful=doubtful,
        recordable=not (doubtful or modules or classes or set(names) & set(dir(builtins)) - {spec.entry_point})
        and is_recordable(code),
        catches=tuple(sorted(words & CATCHABLE)),
        types="type" in words and _is_only_called(tree, "type"),
        random="random" in words,
        seeds="seed" in words,
        imports=tuple(sorted(imports | modules)),
        required=tuple(sorted(ours.required)),
        errors=tuple(sorted(set() if ours.names - {"*"} else wanted & ERRORS - set(names) - _raised_in(tree))),
        code=ours.code,
    )


def _body_of(name: str, tree: ast.Module) -> list[ast.stmt]:
    """Return the body of the module's function `name`, or the module's body unless there is exactly one."""
    found = [each for each in tree.body if isinstance(each, ast.FunctionDef) and each.name == name]
    return found[0].body if len(found) == 1 else tree.body


def _can_fail(statement: ast.stmt) -> bool:
    """Whether a module-level statement does more than define something."""
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return bool(statement.decorator_list)
    return any(isinstance(node, ast.Assert | ast.Call | ast.Raise) for node in ast.walk(statement))


def _imports(tree: ast.AST) -> set[str]:
    """Return the modules that the code imports; of `from a import b`, both `a` and `a.b`, which may be one."""
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names.update(each.name for each in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.update([node.module, *(f"{node.module}.{each.name}" for each in node.names)])
    return names


def _identifiers(tree: ast.AST) -> set[str]:
    """Return the identifiers in the code's string literals, since it may look them up."""
    texts = [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    found = {word for text in texts for word in re.findall(r"[^\W\d]\w*", text)[:MOST_IDENTIFIERS]}
    return {word for word in found if not keyword.iskeyword(word)}


def _is_only_called(tree: ast.AST, name: str) -> bool:
    """Whether each use of `name` is a call with one argument."""
    calls = (node for node in ast.walk(tree) if isinstance(node, ast.Call) and len(node.args) == 1)
    return _uses(name, ast.walk(tree)) == _uses(name, (node.func for node in calls))


def _is_only_module(tree: ast.AST, name: str) -> bool:
    """Whether each use of `name` is an attribute access, `name.x`."""
    owners = (node.value for node in ast.walk(tree) if isinstance(node, ast.Attribute))
    return _uses(name, ast.walk(tree)) == _uses(name, owners)


def _uses(name: str, nodes: Iterable[ast.AST]) -> int:
    return sum(name_of(node) == name for node in nodes)


def _scopes(table: symtable.SymbolTable) -> Iterator[symtable.SymbolTable]:
    yield table
    for child in table.get_children():
        yield from _scopes(child)


def _defined(module: symtable.SymbolTable) -> set[str]:
    return {
        symbol.get_name()
        for symbol in module.get_symbols()
        if symbol.is_assigned() or symbol.is_imported() or symbol.is_namespace()
    }


def _is_used_global(symbol: symtable.Symbol, scope: symtable.SymbolTable) -> bool:
    return symbol.is_referenced() and (scope.get_type() == "module" or symbol.is_global())


def _raised_in(tree: ast.AST) -> set[str]:
    """Return the names of the exceptions that the code raises itself, by `assert`, too: no program may define these."""
    raised = (node.exc for node in ast.walk(tree) if isinstance(node, ast.Raise) and node.exc)
    return {"AssertionError", *(name_of(each.func if isinstance(each, ast.Call) else each) for each in raised)}


def _classes_in(tree: ast.AST, names: set[str]) -> set[str]:
    """Return the `names` that must be classes if the code is right."""
    made: dict[str, str] = {}
    for target, value in (binding for node in ast.walk(tree) for binding in _bindings(node)):
        made_by = name_of(value.func) if isinstance(value, ast.Call) else made.get(variable_of(value))
        if made_by and variable_of(target):
            made[variable_of(target)] = made_by
    return {name for node in ast.walk(tree) for name in _shown_by(node, made) if name in names}


def _bindings(node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Yield what a node binds, and to what: `a, b = A(), B()`, `with A() as a`."""
    if isinstance(node, ast.withitem) and node.optional_vars is not None:
        yield node.optional_vars, node.context_expr
    elif isinstance(node, ast.Assign):
        for target in node.targets:
            if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
                yield from zip(target.elts, node.value.elts, strict=False)
            else:
                yield target, node.value


def _shown_by(node: ast.AST, made: dict[str, str]) -> set[str]:
    """Return the names that `node` uses as classes; `made` maps a variable to the name whose call it is bound to."""
    if isinstance(node, ast.ExceptHandler) and node.type is not None:
        return names_in(node.type)
    if isinstance(node, ast.Call) and len(node.args) > 1 and name_of(node.func) in ("isinstance", "issubclass"):
        return names_in(node.args[1])
    if isinstance(node, ast.Compare | ast.Call):
        return _shown_by_comparison(node, made)
    if not isinstance(node, ast.Attribute):
        return set()
    owner = name_of(node.value)
    shown = {owner} if owner[:1].isupper() else set()
    if node.attr not in COMMON:
        shown.add(
            name_of(node.value.func) if isinstance(node.value, ast.Call) else made.get(variable_of(node.value), "")
        )
    return shown


def _shown_by_comparison(node: ast.Compare | ast.Call, made: dict[str, str]) -> set[str]:
    """Return the names with a capital whose results stand on both sides of a comparison, or are asked for an item."""
    if isinstance(node, ast.Compare):
        sides, asks = (node.left, node.comparators[0]), isinstance(node.ops[0], ast.In | ast.NotIn)
    elif isinstance(node.func, ast.Attribute) and node.func.attr in COMPARING and len(node.args) > 1:
        sides, asks = (node.args[0], node.args[1]), node.func.attr in ("assertIn", "assertNotIn")
    else:
        return set()
    one, other = ({name for name in _makers_in(each, made) if name[:1].isupper()} for each in sides)
    return other if asks else one & other


def _makers_in(node: ast.AST, made: dict[str, str]) -> Iterator[str]:
    """Yield the names whose calls, or variables bound to these, are in an expression."""
    for each in ast.walk(node):
        if isinstance(each, ast.Call):
            yield name_of(each.func)
        elif isinstance(each, ast.Name | ast.Attribute):
            yield made.get(variable_of(each), "")
