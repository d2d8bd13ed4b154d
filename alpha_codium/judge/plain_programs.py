"""Static analysis that finds the programs which can't read the data of the driver that runs them.

A batch hands all requests to a program's process at once. A program that finds them in its memory knows the arguments
of later calls, which may be answers to earlier ones. A program is plain if nothing in it leads out of its own objects:
it imports only `MODULES`, uses no name or attribute that begins with an underscore or leads to a frame, and no function
that evaluates text, reads files, or looks attributes up by their names. What this analysis doesn't know isn't plain:
such programs are judged as pairs, which only takes longer.
"""

import ast
import sys

from alpha_codium.languages.python.syntax import UNPARSABLE, parse

LONGEST = 1 << 16
MODULES = frozenset(
    [
        *("__future__", "math", "cmath", "re", "string", "collections", "itertools", "functools", "heapq", "bisect"),
        *("typing", "random", "statistics", "decimal", "fractions", "datetime", "time", "copy", "hashlib", "abc"),
    ]
)
FORBIDDEN = frozenset(
    [
        *("eval", "exec", "compile", "open", "input", "getattr", "setattr", "delattr", "hasattr", "globals", "locals"),
        *("vars", "breakpoint", "help", "dir", "memoryview", "attrgetter", "methodcaller", "Formatter", "vformat"),
        *("get_field", "get_type_hints", "ForwardRef", "evaluate_forward_ref", "singledispatch", "file_digest"),
        *("singledispatchmethod", "update_wrapper", "wraps", "total_ordering", "TypedDict", "NamedTuple"),
    ]
)
# Beginnings of special names, and of the attributes of generators, tracebacks, frames and code objects.
HIDDEN = ("_", "gi_", "cr_", "ag_", "tb_", "f_", "co_")
HARMLESS = frozenset(["_", "__name__", "__init__"])
# Modules that are attributes of other modules.
OTHER_MODULES = sys.stdlib_module_names - MODULES
# Harmless members of `sys`, which many programs use.
OF_SYS = frozenset(["maxsize", "setrecursionlimit", "getrecursionlimit", "float_info"])
UNKNOWN = (ast.MatchClass, ast.AsyncFunctionDef, ast.Await, ast.AsyncFor, ast.AsyncWith)


def is_plain(program: str) -> bool:
    """Whether a program can't read the data of its driver."""
    if len(program) > LONGEST:
        return False
    try:
        nodes = list(ast.walk(parse(program)))
    except UNPARSABLE:
        return True  # it doesn't run
    # `sys` may be used only in the form `sys.maxsize`.
    used = {id(node.value) for node in nodes if isinstance(node, ast.Attribute) and node.attr in OF_SYS}
    return all(_is_plain(node) and (id(node) in used or not _is_sys(node)) for node in nodes)


def _is_plain(node: ast.AST) -> bool:
    match node:
        case ast.Name(id=name):
            return not _is_forbidden(name)
        case ast.Attribute(value=value, attr="format" | "format_map"):
            # A field such as {0.gi_frame} reads an attribute.
            return isinstance(value, ast.Constant) and isinstance(value.value, str) and not _reads(value.value)
        case ast.Attribute(attr=name):
            return name == "compile" or not _leads_out(name)
        case ast.Import(names=names):
            return all(each.name in MODULES or (each.name == "sys" and not each.asname) for each in names)
        case ast.ImportFrom(module=module, names=names, level=level):
            known = module in MODULES or module == "collections.abc"
            return known and not level and not any(_leads_out(each.name) or each.name == "*" for each in names)
    return not isinstance(node, UNKNOWN)


def _is_forbidden(name: str) -> bool:
    return name in FORBIDDEN or (name.startswith(HIDDEN) and name not in HARMLESS)


def _leads_out(member: str) -> bool:
    """Whether a member of a module or object is forbidden, or may be another module."""
    return _is_forbidden(member) or member in OTHER_MODULES


def _is_sys(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and node.id == "sys"


def _reads(form: str) -> bool:
    """Whether a format string reads attributes or items."""
    fields = [part.partition("}")[0].partition(":")[0] for part in form.split("{")[1:]]
    return any("." in field or "[" in field for field in fields)
