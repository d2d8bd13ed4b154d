"""Programs from the beginning of a function and the code of an answer, which may be the whole function or its body.

1. Code that defines the function is the program; what the prompt has before the function (imports, helpers) is put
   first, unless the code has it.
2. Code that isn't a program by itself, but is one as the body of the function, is put there. Models leave out the
   indentation, or that of the first line only.
3. Any other code stays as it is.
"""

import ast
import re
import textwrap
from collections.abc import Iterator

from alpha_codium.languages.python.beginnings import Beginning, lines_of
from alpha_codium.languages.python.programs import ProgramReader
from alpha_codium.languages.python.syntax import DEFINITIONS, IMPORTS, bound_names, first_line

FUTURE = "__future__"  # must come first


def completed(code: str, beginning: Beginning) -> str:
    """Return the program made of `code` and a beginning."""
    reader = ProgramReader()
    tree = reader.tree_of(code)
    if tree is None or _could_be_body(tree, beginning.name):
        body = as_body(code, beginning, reader)
        if body is not None:
            return body
    return code if tree is None else _with_what_stood_before(code, tree, beginning, reader)


def as_body(code: str, beginning: Beginning, reader: ProgramReader) -> str | None:
    """Return the beginning with `code` as its function's body; None if that isn't Python, or no body."""
    head = beginning.text.rstrip() + "\n"
    for body in dict.fromkeys(_indented(code.strip("\n"), beginning.indent)):
        whole = f"{head}{body.rstrip()}\n"
        tree = reader.tree_of(whole)
        if tree is not None and _is_its_body(tree, head, beginning.name):
            return whole
    return None


def _indented(code: str, indent: str) -> Iterator[str]:
    """Yield the code with its own indentation, with that of its second line, and with the body's."""
    first, *rest = code.split("\n")
    yield code
    second = next((re.match(r"[ \t]+", line) for line in rest if line.strip()), None)
    if second is not None and not first[:1].isspace():
        yield "\n".join([second[0] + first, *rest])
        yield "\n".join([indent + first, *rest])
    yield textwrap.indent(textwrap.dedent(code), indent)


def _is_its_body(tree: ast.Module, head: str, name: str) -> bool:
    """Whether the function has a statement after its beginning."""
    function = next((n for n in tree.body if isinstance(n, DEFINITIONS) and n.name == name), None)
    start = head.count("\n") + 1
    return function is not None and any(statement.lineno >= start for statement in function.body)


def _could_be_body(tree: ast.Module, name: str) -> bool:
    """Whether code that parses by itself can be the body of a function: it returns, or defines nothing."""
    if name in bound_names(tree.body):
        return False
    return _returns(tree) or not any(isinstance(node, DEFINITIONS) for node in tree.body)


def _returns(tree: ast.AST) -> bool:
    """Whether there is a `return` or `yield` outside of any function."""
    inside = [tree]  # no recursion: `1+1+1+...` is as deep as it is long
    while inside:
        for node in ast.iter_child_nodes(inside.pop()):
            if isinstance(node, ast.Return | ast.Yield | ast.YieldFrom):
                return True
            if not isinstance(node, (*DEFINITIONS, ast.Lambda)):
                inside.append(node)
    return False


def _with_what_stood_before(code: str, tree: ast.Module, beginning: Beginning, reader: ProgramReader) -> str:
    """Put the statements before the prompt's function first that bind names which the program doesn't bind."""
    before = reader.tree_of(beginning.before)
    if before is None or not before.body:
        return code
    bound, have = bound_names(tree.body), {ast.dump(node) for node in tree.body if isinstance(node, IMPORTS)}
    lines = lines_of(beginning.before)
    missing = [
        "\n".join(lines[first_line(statement) - 1 : statement.end_lineno])
        for statement in before.body
        if ast.dump(statement) not in have and not bound.issuperset(bound_names([statement]))
    ]
    if not missing:
        return code
    futures = [node.end_lineno or 0 for node in tree.body if isinstance(node, ast.ImportFrom) and node.module == FUTURE]
    if not futures:
        return "\n".join(missing) + "\n\n\n" + code
    own = lines_of(code)
    return "\n".join([*own[: max(futures)], *missing, *own[max(futures) :]])
