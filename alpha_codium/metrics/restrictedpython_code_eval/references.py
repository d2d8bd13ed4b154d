"""Preparation of references that were written to share a restricted module with the candidate, to run separately.

1. References come from the user and run on the other side of the pair, unrestricted.
2. `printed` is the output of the candidate, followed by that of the reference, if any.
3. If an output is to be returned, a reference needn't assert or call anything: it may just set the variable.
"""

import ast

from alpha_codium.languages.python.syntax import UNPARSABLE, parse

PRINTING = """
_printed_lines_ = [printed]
def _print_line_(*objects, sep=" ", end="\\n", file=None, flush=False):
    if file is not None:
        return print(*objects, sep=sep, end=end, file=file, flush=flush)
    sep, end = " " if sep is None else sep, "\\n" if end is None else end
    _printed_lines_.append(sep.join(map(str, objects)) + end)
def _printed_() -> str:
    return "".join(_printed_lines_)
"""
# A call that uses no name.
CALL = "\n(lambda: None)()\n"


def prepared(reference: str, *, with_output: bool) -> str:
    """Return the reference as it runs; unchanged if it isn't valid Python, which is reported elsewhere."""
    if "printed" in reference and "print" in reference.replace("printed", ""):
        reference = _collecting(reference)
    return reference + CALL if with_output and _has_code(reference) else reference


def _has_code(reference: str) -> bool:
    try:
        return bool(parse(reference).body)
    except UNPARSABLE:
        return False


def _collecting(reference: str) -> str:
    try:
        tree = parse(reference)
    except UNPARSABLE:
        return reference
    # After future imports, which must come first.
    future = [isinstance(node, ast.ImportFrom) and node.module == "__future__" for node in tree.body]
    first = future.index(False) if False in future else len(future)
    tree = _Collecting().visit(tree)
    tree.body[first:first] = parse(PRINTING).body
    return ast.unparse(ast.fix_missing_locations(tree))


class _Collecting(ast.NodeTransformer):
    """Collects printed text, and reads `printed` from there, as RestrictedPython does."""

    def visit_Name(self, node: ast.Name) -> ast.AST:
        if isinstance(node.ctx, ast.Load) and node.id == "print":
            return ast.Name("_print_line_", ast.Load())
        if isinstance(node.ctx, ast.Load) and node.id == "printed":
            return ast.Call(ast.Name("_printed_", ast.Load()), [], [])
        return node
