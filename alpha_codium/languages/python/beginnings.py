"""Code that ends inside a function, like the prompts of HumanEval."""

import ast
from dataclasses import dataclass

from alpha_codium.languages.python.syntax import UNPARSABLE, first_line, parse

# Indentations to try for the rest of a body.
INDENTS = ("    ", "\t", "  ", " ")


@dataclass(frozen=True, slots=True)
class Beginning:
    """Code up to and into the function `name`, which is to be completed.

    `before` is the code before that function (imports, helpers), `indent` the indentation of its body.
    """

    text: str
    name: str
    before: str
    indent: str


def beginning_of(text: str) -> Beginning | None:
    """Return the beginning of a function that `text` is; None if it isn't Python that ends inside a function."""
    if "def " not in text:
        return None
    for indent in INDENTS:
        tree = parsed(f"{text}\n{indent}pass\n")
        if tree is not None:
            return _of_tree(text, tree, indent)
    return None


def _of_tree(text: str, tree: ast.Module, indent: str) -> Beginning | None:
    last = tree.body[-1]
    if not isinstance(last, ast.FunctionDef | ast.AsyncFunctionDef) or not isinstance(last.body[-1], ast.Pass):
        return None
    return Beginning(text, last.name, "\n".join(lines_of(text)[: first_line(last) - 1]).strip(), indent)


def lines_of(code: str) -> list[str]:
    """Split a text into lines as Python counts them; `str.splitlines` ends a line at a form feed, too."""
    return code.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def parsed(code: str) -> ast.Module | None:
    """Return the syntax tree of `code`, without warnings; None if it isn't Python."""
    try:
        return parse(code)
    except UNPARSABLE:
        return None
