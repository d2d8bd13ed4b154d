"""What code with assertions needs to run: read from the code alone, since nothing of a candidate is to be trusted.

1. Names that the code uses and doesn't define come from the setup code, where that defines them (the helpers of a
   HumanEval prompt); else from the standard library, where they are used as a module (`sys.getsizeof`); else from the
   program. A builtin comes from the program only as the entry point, or where the code uses no other name.
2. `check` is called with the entry point where the code defines it and doesn't call it.
"""

import ast
import builtins
import functools
import symtable
import sys
from collections.abc import Iterator
from dataclasses import dataclass

from alpha_codium.errors import Unjudgeable
from alpha_codium.problem import ExecutionSpec


@dataclass(frozen=True, slots=True)
class Needs:
    """What the assertions need: names of the program's, modules, the setup code, the call of `check`."""

    names: tuple[str, ...]
    modules: tuple[str, ...] = ()
    setup_code: str = ""
    calls_check: bool = False

    @property
    def has_class(self) -> bool:
        """Whether a name of the program's is spelt like a class: nothing that the program itself says is believed."""
        return any(name[:1].isupper() for name in self.names)


@functools.lru_cache(maxsize=256)
def needs_of(test_code: str, spec: ExecutionSpec) -> Needs:
    """What `test_code` needs; raises Unjudgeable where it isn't Python, or asserts nothing."""
    try:
        tree, scopes = ast.parse(test_code), list(_scopes(symtable.symtable(test_code, "tests.py", "exec")))
        helpers = _defined(symtable.symtable(spec.setup_code, "setup.py", "exec"))
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise Unjudgeable(f"the code of the test, or its setup code, isn't Python: {error}") from error
    if not any(isinstance(node, ast.Assert | ast.Call | ast.Raise) for node in ast.walk(tree)):
        raise Unjudgeable("the code of the test asserts nothing")
    defined = _defined(scopes[0])
    used = {symbol.get_name() for scope in scopes for symbol in scope.get_symbols() if _is_used_global(symbol, scope)}
    calls_check = "check" in defined and "check" not in used
    if calls_check and not spec.entry_point:
        raise Unjudgeable("the code of the test has a function check, and there is no entry point to call it with")
    wanted = used - defined - {spec.entry_point}
    modules = {name for name in wanted & sys.stdlib_module_names if _only_as_module(name, tree)} - helpers
    foreign = wanted - helpers - modules - set(dir(builtins))
    names = foreign | ({spec.entry_point} if spec.entry_point else set()) or wanted
    from_setup = spec.setup_code if wanted & helpers else ""
    return Needs(tuple(sorted(names)), tuple(sorted(modules)), from_setup, calls_check)


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


def _only_as_module(name: str, tree: ast.AST) -> bool:
    """Whether each use of `name` is the left side of a dot."""
    uses = sum(isinstance(node, ast.Name) and node.id == name for node in ast.walk(tree))
    dotted = sum(
        isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == name
        for node in ast.walk(tree)
    )
    return uses == dotted
