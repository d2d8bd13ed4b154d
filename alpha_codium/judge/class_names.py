"""Which names code with assertions uses as classes, read from the code alone."""

import ast
import collections
import datetime
import decimal
import fractions
from collections.abc import Iterator

VALUES = (str, bytes, bytearray, int, float, complex, list, tuple, dict, set, frozenset, BaseException)
VALUES += (collections.deque, collections.Counter, datetime.datetime, datetime.timedelta, decimal.Decimal)
# What a function's result may have without being of a class of the program's.
COMMON = {name for kind in (*VALUES, fractions.Fraction, type(_ for _ in ())) for name in dir(kind)} | {
    *("shape", "dtype", "ndim", "size", "T", "all", "any", "sum", "mean", "min", "max", "tolist", "flatten", "astype"),
    *("cache_info", "cache_clear", "func", "search", "match", "group", "read", "write"),
}


def classes_in(tree: ast.AST, names: set[str]) -> set[str]:
    """Those of `names` that are classes, if the code is right."""
    made: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign):
            names_of_target = [target.id for target in node.targets if isinstance(target, ast.Name)]
            if isinstance(node.value, ast.Call) and isinstance(node.value.func, ast.Name):
                made |= dict.fromkeys(names_of_target, node.value.func.id)
            elif isinstance(node.value, ast.Name) and node.value.id in made:
                made |= dict.fromkeys(names_of_target, made[node.value.id])
    return {name for node in ast.walk(tree) for name in _shown_by(node, made) if name in names}


def _shown_by(node: ast.AST, made: dict[str, str]) -> Iterator[str]:
    """The names that `node` uses as classes; `made` has the name whose call a variable is bound to."""
    if isinstance(node, ast.ExceptHandler) and node.type is not None:
        yield from _names_in(node.type)
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and len(node.args) > 1:
        if node.func.id in ("isinstance", "issubclass"):
            yield from _names_in(node.args[1])
    elif isinstance(node, ast.Attribute):
        owner = node.value
        if isinstance(owner, ast.Name) and owner.id[:1].isupper():
            yield owner.id
        if node.attr in COMMON:
            return
        if isinstance(owner, ast.Name) and owner.id in made:
            yield made[owner.id]
        elif isinstance(owner, ast.Call) and isinstance(owner.func, ast.Name):
            yield owner.func.id


def _names_in(node: ast.AST) -> Iterator[str]:
    yield from (each.id for each in ast.walk(node) if isinstance(each, ast.Name))
