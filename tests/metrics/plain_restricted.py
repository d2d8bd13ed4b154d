"""RestrictedPython by itself, as its documentation uses it: one process, candidate and test compiled as one text.

To be run inside `unshare`, with a JSON list of [candidate, test, imports] on stdin; prints a JSON list of "passed" or
the text of what was raised. The guards are those that RestrictedPython brings; where it brings none, the plainest.
"""

import json
import operator
import sys
from typing import Any

from RestrictedPython import compile_restricted, limited_builtins, safe_builtins, utility_builtins
from RestrictedPython.Eval import default_guarded_getitem, default_guarded_getiter
from RestrictedPython.Guards import (
    full_write_guard,
    guarded_iter_unpack_sequence,
    guarded_unpack_sequence,
    safer_getattr,
)
from RestrictedPython.PrintCollector import PrintCollector

OPERATORS = {"+=": operator.iadd, "-=": operator.isub, "*=": operator.imul, "|=": operator.ior, "**=": operator.ipow}


def namespace_of(imports: list[str]) -> dict[str, Any]:
    def import_allowed(name: str, *rest: Any) -> Any:
        if name not in imports:
            raise ImportError(f"import of {name!r} is not allowed")
        return __import__(name, *rest)

    allowed = {**safe_builtins, **limited_builtins, **utility_builtins}
    if imports:
        allowed["__import__"] = import_allowed
    return {
        "__builtins__": allowed,
        "__metaclass__": type,
        "__name__": "program",
        "getattr": safer_getattr,
        "_getattr_": safer_getattr,
        "_getitem_": default_guarded_getitem,
        "_getiter_": default_guarded_getiter,
        "_iter_unpack_sequence_": guarded_iter_unpack_sequence,
        "_unpack_sequence_": guarded_unpack_sequence,
        "_write_": full_write_guard,
        "_inplacevar_": lambda symbol, left, right: OPERATORS[symbol](left, right),
        "_apply_": lambda function, *arguments, **keywords: function(*arguments, **keywords),
        "_print_": PrintCollector,
    }


def verdict_of(candidate: str, test: str, imports: list[str]) -> str:
    try:
        exec(compile_restricted(f"{candidate}\n{test}\n", "program.py", "exec"), namespace_of(imports))
    except BaseException as error:
        return f"{type(error).__name__}: {error}"
    return "passed"


if __name__ == "__main__":
    print(json.dumps([verdict_of(*case) for case in json.load(sys.stdin)]))
