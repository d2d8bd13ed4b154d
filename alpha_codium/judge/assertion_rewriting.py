"""The code of a test, rewritten for a recording of its calls, and for a replay of their results."""

import ast
from collections.abc import Callable

from alpha_codium.judge.drivers.replaying import MESSAGE
from alpha_codium.languages.python.syntax import parse


def without_assertions(test_code: str) -> str:
    """Return the code with each `assert x, message` replaced by `x`, as if no assertion failed."""
    return ast.unparse(ast.fix_missing_locations(_WithoutAsserts().visit(parse(test_code))))


def with_messages_apart(test_code: str) -> str:
    """Return the code with each message that contains calls wrapped: `assert x, _message_of_(lambda: message)`.

    All lines keep their numbers.
    """
    lines = test_code.encode().split(b"\n")
    asserts = (node for node in ast.walk(parse(test_code)) if isinstance(node, ast.Assert))
    messages = [node.msg for node in asserts if any(isinstance(each, ast.Call) for each in ast.walk(node.msg or node))]
    for message in sorted(filter(None, messages), key=lambda each: (each.lineno, each.col_offset), reverse=True):
        assert message.end_lineno is not None and message.end_col_offset is not None
        for line, column, text in (
            (message.end_lineno - 1, message.end_col_offset, b")"),
            (message.lineno - 1, message.col_offset, f"{MESSAGE}(lambda: ".encode()),
        ):
            lines[line] = lines[line][:column] + text + lines[line][column:]
    return b"\n".join(lines).decode()


class _WithoutAsserts(ast.NodeTransformer):
    def visit_Assert(self, node: ast.Assert) -> ast.stmt:
        return ast.copy_location(ast.Expr(node.test), node)


def rewritten(change: Callable[[str], str], code: str) -> str:
    """Return the changed code, empty if it can't be unparsed (f-strings with nested quotes before Python 3.12)."""
    try:
        return change(code)
    except (ValueError, RecursionError):
        return ""
