"""Code that stops inside a function, as the prompts of HumanEval do: what it is the beginning of."""

import ast
from dataclasses import dataclass

from alpha_codium.languages.python.syntax import UNPARSABLE, parse

# What a body may be indented by; the one that fits what stands there already is its own.
INDENTS = ("    ", "\t", "  ", " ")


@dataclass(frozen=True, slots=True)
class Beginning:
    """Code up to and into the function `name`, which is to be completed.

    `before` is what stands before that function (imports, helpers), `indent` what its body is indented by.
    """

    text: str
    name: str
    before: str
    indent: str


def beginning_of(text: str) -> Beginning | None:
    """What `text` is the beginning of; None where it isn't Python that ends inside a function."""
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
    first = min([last.lineno, *(each.lineno for each in last.decorator_list)])
    return Beginning(text, last.name, "\n".join(lines_of(text)[: first - 1]).strip(), indent)


def lines_of(code: str) -> list[str]:
    """The lines of a text as Python counts them, without their ends; `str.splitlines` ends one at a form feed, too."""
    return code.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def parsed(code: str) -> ast.Module | None:
    """The syntax tree of `code`, without warnings; None where it isn't Python."""
    try:
        return parse(code)
    except UNPARSABLE:
        return None
