"""Syntax trees of Python code that models, datasets and users wrote."""

import ast
import builtins
import threading
import warnings
from collections.abc import Iterable

DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
IMPORTS = (ast.Import, ast.ImportFrom)
# What `parse` raises for text that isn't Python, or that the parser can't handle.
UNPARSABLE = (SyntaxError, ValueError, RecursionError, MemoryError)
# CPython 3.11 raises SystemError when two threads build syntax trees at once (python/cpython#106905). Besides,
# `warnings.catch_warnings` isn't thread-safe.
_lock = threading.RLock()


def parse(code: str) -> ast.Module:
    """Return the syntax tree of `code`; may be called from several threads at once.

    Warnings about the code (invalid escape sequences) are ignored. Raises one of `UNPARSABLE`.
    """
    with _lock, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(code)


def bound_names(statements: Iterable[ast.stmt]) -> set[str]:
    """Return the names that statements bind at the top level of their module."""
    bound = set[str]()
    for statement in statements:
        if isinstance(statement, DEFINITIONS):
            bound.add(statement.name)
        elif isinstance(statement, IMPORTS):
            bound.update((alias.asname or alias.name).partition(".")[0] for alias in statement.names)
        else:
            names = (node for node in ast.walk(statement) if isinstance(node, ast.Name))
            bound.update(name.id for name in names if isinstance(name.ctx, ast.Store))
    return bound


def missing_names(tree: ast.Module) -> set[str]:
    """Return the names that a module uses, but binds nowhere, in no scope."""
    used, bound = set[str](), set(dir(builtins))
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            (used if isinstance(node.ctx, ast.Load) else bound).add(node.id)
        elif isinstance(node, ast.alias):
            bound.add((node.asname or node.name).partition(".")[0])
        elif not isinstance(node, ast.keyword):  # functions, arguments, `except ... as name`, patterns
            bound.update(getattr(node, field, None) or "" for field in ("name", "arg", "rest"))
    return used - bound


def first_line(statement: ast.stmt) -> int:
    """Return the line, from 1, at which a statement begins: that of its first decorator, if it has any."""
    decorators = getattr(statement, "decorator_list", ())
    return min([statement.lineno, *(each.lineno for each in decorators)])
