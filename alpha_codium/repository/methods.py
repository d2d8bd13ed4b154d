"""Functions and methods of a source file, and texts made of the file by changing one of them.

All line numbers count from 0; ranges exclude their end, as slices do.
"""

import ast
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass

from alpha_codium.languages.python.syntax import UNPARSABLE, first_line, parse
from alpha_codium.values import JsonValue

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
Function = ast.FunctionDef | ast.AsyncFunctionDef


class AnswerError(Exception):
    """An answer isn't the method that was asked for; the message tells the model what to change."""


@dataclass(frozen=True, slots=True)
class Method(JsonValue):
    """A function or method, and its place in a file.

    `class_name` is empty for a function; that of a nested class has dots. `declaration` is the text from `def` to the
    docstring, and `body` is what follows it; both are whole lines of the file. `lines` is the range of lines from `def`
    to the end, `body_lines` that of the body. There are `decorators` lines before it with decorators.
    """

    name: str
    class_name: str
    declaration: str
    docstring: str
    body: str
    lines: tuple[int, int]
    body_lines: tuple[int, int]
    decorators: int = 0

    @property
    def qualified_name(self) -> str:
        """The name, with that of its class before it."""
        return f"{self.class_name}.{self.name}" if self.class_name else self.name

    @property
    def indent(self) -> str:
        """The indentation of the declaration."""
        return self.declaration[: len(self.declaration) - len(self.declaration.lstrip())]


def methods_of(source: str) -> Iterator[Method]:
    """Yield the functions and methods of a file, without those within functions; raises one of `UNPARSABLE`."""
    lines = source.splitlines(keepends=True)
    for class_name, node in _functions(parse(source).body):
        if node.body[0].lineno > node.lineno:
            yield _method(node, class_name, lines)


def find_method(source: str, qualified_name: str) -> Method:
    """Return the last method of that name, which is the one in effect; raises KeyError if there is none."""
    return {method.qualified_name: method for method in methods_of(source)}[qualified_name]


def _functions(body: list[ast.stmt], class_name: str = "") -> Iterator[tuple[str, Function]]:
    for node in body:
        if isinstance(node, FUNCTIONS):
            yield class_name, node
        elif isinstance(node, ast.ClassDef):
            yield from _functions(node.body, f"{class_name}.{node.name}" if class_name else node.name)


def _method(node: Function, class_name: str, lines: list[str]) -> Method:
    docstring, first, start, end = ast.get_docstring(node), node.body[0], node.lineno - 1, node.end_lineno or 0
    body = first_line(first) - 1 if docstring is None else first.end_lineno or 0
    return Method(
        name=node.name,
        class_name=class_name,
        declaration="".join(lines[start : first_line(first) - 1]),
        docstring=docstring or "",
        body="".join(lines[body:end]),
        lines=(start, end),
        body_lines=(body, end),
        decorators=node.lineno - first_line(node),
    )


def with_method(source: str, method: Method, text: str) -> str:
    """Return the file with `text` in place of the method."""
    lines = source.splitlines(keepends=True)
    return "".join([*lines[: method.lines[0]], text.rstrip("\n") + "\n", *lines[method.lines[1] :]])


def with_body(source: str, method: Method, body: str) -> str:
    """Return the file with another body of the method, below its docstring."""
    lines = source.splitlines(keepends=True)
    return with_method(source, method, "".join(lines[method.lines[0] : method.body_lines[0]]) + body)


def without_method(source: str, method: Method) -> str:
    """Return the file without the method and its decorators."""
    lines = source.splitlines(keepends=True)
    return "".join(lines[: method.lines[0] - method.decorators] + lines[method.lines[1] :])


def class_doc(source: str, method: Method) -> str:
    """Return the docstring of the method's class; "" without one, and for functions."""
    found = _class_of(source, method)
    return (ast.get_docstring(found) or "") if found else ""


def class_without_method(source: str, method: Method) -> str:
    """Return the text of the method's class without the method and its decorators; "" for functions."""
    found = _class_of(source, method)
    if found is None:
        return ""
    lines = source.splitlines(keepends=True)
    start, end = method.lines[0] - method.decorators, method.lines[1]
    return "".join(lines[first_line(found) - 1 : start] + lines[end : found.end_lineno])


def class_lines(source: str, method: Method) -> tuple[int, int] | None:
    """Return the range of lines of the outermost class that the method is in, without its decorators; None without."""
    around = (node for node in parse(source).body if isinstance(node, ast.ClassDef) and _is_around(node, method))
    return next(((node.lineno - 1, node.end_lineno or 0) for node in around), None)


def _class_of(source: str, method: Method) -> ast.ClassDef | None:
    """Return the innermost class that the method is in."""
    nodes = ast.walk(parse(source))
    around = [node for node in nodes if isinstance(node, ast.ClassDef) and _is_around(node, method)]
    return max(around, key=lambda node: node.lineno, default=None)


def _is_around(node: ast.ClassDef, method: Method) -> bool:
    return node.lineno <= method.lines[0] and method.lines[1] <= (node.end_lineno or 0)


def stubbed(source: str, method: Method) -> str:
    """Return the file with a body that only raises NotImplementedError."""
    return with_body(source, method, f"{method.indent}    raise NotImplementedError\n")


def completion_parts(method: Method) -> tuple[str, str]:
    """Return the lines of the body that a completion continues, and the others: about half of them each.

    The second part begins with a statement, and the first would be valid if one statement followed it.
    """
    lines = method.body.splitlines(keepends=True)
    cut = _cut_of(method, lines)
    return "".join(lines[:cut]), "".join(lines[cut:])


def without_completion(source: str, method: Method) -> str:
    """Return the file with a statement that raises NotImplementedError in place of the part to complete."""
    return with_body(source, method, _unfinished(*completion_parts(method)))


def _cut_of(method: Method, lines: list[str]) -> int:
    """Return the number of the line, nearest to the middle, at which the body may be cut."""
    # An indented method is valid in a class only.
    head = ("class _:\n" if method.indent else "") + method.declaration
    above = head.count("\n") + 1
    nodes = [node for node in ast.walk(parse(head + "".join(lines))) if isinstance(node, ast.stmt)]
    starts = {first_line(node) - above for node in nodes}
    for cut in sorted(
        (start for start in starts if start >= 0), key=lambda start: (abs(start - len(lines) // 2), -start)
    ):
        try:
            parse(head + _unfinished("".join(lines[:cut]), "".join(lines[cut:])))
        except UNPARSABLE:
            continue
        return cut
    return 0


def _unfinished(first: str, second: str) -> str:
    """Return the first part of a body, with a statement that fails in place of the second."""
    statement = second.splitlines()[0]
    return f"{first}{statement[: len(statement) - len(statement.lstrip())]}raise NotImplementedError\n"


def answered_method(code: str, method: Method) -> str:
    """Return the method in an answer without its decorators, indented as in the file.

    Raises AnswerError if the answer isn't exactly one function of that name.
    """
    code = textwrap.dedent(code.expandtabs(4)).strip("\n")
    try:
        statements = parse(code).body
    except UNPARSABLE as error:
        raise AnswerError(f"the answer is not valid Python: {error}") from error
    if len(statements) != 1 or not isinstance(statements[0], FUNCTIONS):
        raise AnswerError(f"the answer must be only the method, beginning with `def {method.name}` or a decorator")
    function = statements[0]
    if function.name != method.name:
        raise AnswerError(f"the answer must be the method `{method.name}`, not `{function.name}`")
    own = "\n".join(code.splitlines()[function.lineno - 1 : function.end_lineno])
    return textwrap.indent(own, method.indent) + "\n"
