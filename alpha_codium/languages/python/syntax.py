"""Syntax trees of Python code that models, datasets and users wrote."""

import ast
import builtins
import functools
import io
import re
import threading
import tokenize
import warnings
from collections.abc import Iterable, Iterator

DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
IMPORTS = (ast.Import, ast.ImportFrom)
# What `parse` raises for text that isn't Python, or that the parser can't handle.
UNPARSABLE = (SyntaxError, ValueError, RecursionError, MemoryError)
# CPython 3.11 raises SystemError when two threads build syntax trees at once (python/cpython#106905). Besides,
# `warnings.catch_warnings` isn't thread-safe.
_lock = threading.RLock()
# Unlike `str.splitlines`, Python ends no line at a form feed and the like.
LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
LAYOUT = (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT)


def parse(code: str) -> ast.Module:
    """Return the syntax tree of `code`; may be called from several threads at once.

    Warnings about the code (invalid escape sequences) are ignored. Raises one of `UNPARSABLE`.
    """
    with _lock, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(code)


@functools.lru_cache(maxsize=256)
def fault_in(code: str) -> str:
    """Return why `code` doesn't compile, such as a `return` outside of a function; empty if it does."""
    try:
        with _lock, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(code, "code", "exec", dont_inherit=True)
    except UNPARSABLE as error:
        return str(error) or type(error).__name__
    return ""


def lines_of(code: str) -> list[str]:
    """Return the lines of some code, with their ends, as Python counts them."""
    return LINE.findall(code)


def tokens_of(code: str) -> Iterator[tokenize.TokenInfo]:
    """Yield the tokens of some code, as far as it can be read, without comments and layout."""
    try:
        yield from (each for each in tokenize.generate_tokens(io.StringIO(code).readline) if each.type not in LAYOUT)
    except (tokenize.TokenError, *UNPARSABLE):
        return


def lines_in_strings(code: str) -> set[int]:
    """Return the numbers, from 0, of the lines that begin within a string, so that their indentation is content."""
    found = set[int]()
    for token in tokens_of(code):
        # From Python 3.12 on, the texts of f-strings are tokens of their own.
        if tokenize.tok_name[token.type] == "STRING" or tokenize.tok_name[token.type].endswith("STRING_MIDDLE"):
            found.update(range(token.start[0], token.end[0]))
    return found


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
