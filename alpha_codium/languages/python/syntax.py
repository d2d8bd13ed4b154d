"""Syntax trees of Python code that models, datasets and users wrote."""

import ast
import threading
import warnings

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
