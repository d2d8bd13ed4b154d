"""Deciding whether a text is a Python program, without running it and at a bounded cost.

1. The text comes from a model and may overload the parser. Its length, the depth of its brackets and the length of its
   dotted names are checked first (`import a.a.a...` of 40 kB takes 450 MB).
2. Code that parses is a program if it reads and prints, or defines a function or class other than tests; a snippet if
   it does anything; and inert if it does nothing, such as test data (`5`) and single words.
3. When the reader's budget is used up, further texts count as broken.
"""

import ast
import re
from collections.abc import Sequence

from alpha_codium.languages import READING_BUDGET, CodeKind, Reader
from alpha_codium.languages.python import Python
from alpha_codium.languages.python.prelude import with_prelude
from alpha_codium.languages.python.syntax import DEFINITIONS, UNPARSABLE, bound_names, missing_names, parse

MAX_BRACKET_DEPTH = 100
LONG_DOTTED_NAME = re.compile(r"(?:\.[\s\\]*+\w++[\s\\]*+){64}")
READERS = {"input", "open", "stdin", "raw_input"}
PRINTERS = {"print", "stdout", "write", "writelines"}


class ProgramReader(Reader):
    """See `Reader`."""

    def __init__(self, budget: int = READING_BUDGET) -> None:
        super().__init__(Python(), budget)

    def _kind_of(self, code: str) -> CodeKind:
        tree = self.tree_of(code)
        return CodeKind.BROKEN if tree is None else _kind_of_tree(tree)

    def tree_of(self, code: str) -> ast.Module | None:
        """Return the syntax tree of `code`; None if it is broken, too long, too deep or the budget is used up."""
        tree = self._parse(code)
        return tree if isinstance(tree, ast.Module) else None

    def with_needed(self, code: str, earlier: Sequence[str]) -> str:
        """See `Reader`."""
        tree, needed = self.tree_of(code), list[str]()
        missing = missing_names(tree) if tree else set[str]()
        for block in reversed(earlier):
            other = self.tree_of(block) if missing else None
            if other is not None and missing & (bound := bound_names(other.body)):
                needed.insert(0, block)
                missing = missing - bound | missing_names(other)
        return with_prelude("\n".join(needed), code)

    def line_of_error(self, code: str) -> int | None:
        """See `Reader`."""
        error = self._parse(code)
        return error.lineno if isinstance(error, SyntaxError) else None

    def _parse(self, code: str) -> ast.Module | Exception | None:
        """Return the syntax tree, or the parser's error, or None if the text can't be parsed at a bounded cost."""
        if not self._may_read(code) or _bracket_depth(code) > MAX_BRACKET_DEPTH or LONG_DOTTED_NAME.search(code):
            return None
        try:
            return parse(code)
        except UNPARSABLE as error:
            return error


def _bracket_depth(code: str) -> int:
    """Return the depth of nested brackets, including those in strings and comments."""
    depth = deepest = 0
    for bracket in re.findall(r"[()\[\]{}]", code):
        depth = depth + 1 if bracket in "([{" else max(0, depth - 1)
        deepest = max(deepest, depth)
    return deepest


def _kind_of_tree(tree: ast.Module) -> CodeKind:
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    names |= {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    if any(isinstance(node, DEFINITIONS) and not _is_test(node) for node in tree.body) or (
        names & READERS and names & PRINTERS
    ):
        return CodeKind.PROGRAM
    return CodeKind.SNIPPET if any(map(_does_something, tree.body)) else CodeKind.INERT


def _is_test(definition: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> bool:
    bases = definition.bases if isinstance(definition, ast.ClassDef) else []
    names = {getattr(base, "attr", "") or getattr(base, "id", "") for base in bases}
    return definition.name.lower().startswith("test") or "TestCase" in names


def _does_something(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.Expr):
        return any(isinstance(node, ast.Call | ast.Await | ast.NamedExpr) for node in ast.walk(statement))
    # `Output: 5` in prose parses as an annotation.
    return not isinstance(statement, ast.Pass) and not (
        isinstance(statement, ast.AnnAssign) and statement.value is None
    )
