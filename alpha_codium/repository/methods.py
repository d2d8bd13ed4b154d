"""Functions and methods of a source file, and texts made of the file by changing one of them.

All line numbers count from 0; ranges exclude their end, as slices do.
"""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from alpha_codium.languages.python.syntax import UNPARSABLE, first_line, lines_in_strings, lines_of, parse
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
    to the end, `body_lines` that of the body. There are `decorators` lines before it with decorators. If the body isn't
    on lines of its own, `declaration` has all, and `body` is empty.
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
        return _indent(self.declaration)


def methods_of(source: str) -> Iterator[Method]:
    """Yield the functions and methods of a file, without those within functions; raises one of `UNPARSABLE`."""
    lines = lines_of(source)
    for class_name, node in _functions(parse(source).body):
        yield _method(node, class_name, lines)


def find_method(source: str, qualified_name: str, line: int = -1) -> Method:
    """Return the method of that name that begins at `line`, or else the last one, which is the one in effect.

    Raises KeyError if there is none.
    """
    alike = [method for method in methods_of(source) if method.qualified_name == qualified_name]
    if not alike:
        raise KeyError(qualified_name)
    return next((method for method in alike if method.lines[0] == line), alike[-1])


def _functions(body: list[ast.stmt], class_name: str = "") -> Iterator[tuple[str, Function]]:
    for node in body:
        if isinstance(node, FUNCTIONS):
            yield class_name, node
        elif isinstance(node, ast.ClassDef):
            yield from _functions(node.body, f"{class_name}.{node.name}" if class_name else node.name)


def _method(node: Function, class_name: str, lines: list[str]) -> Method:
    docstring, first, start, end = ast.get_docstring(node), node.body[0], node.lineno - 1, node.end_lineno or 0
    body = first_line(first) - 1 if docstring is None else first.end_lineno or 0
    declared = first_line(first) - 1
    if lines[declared][: first.col_offset].strip():
        body = declared = end
    return Method(
        name=node.name,
        class_name=class_name,
        declaration="".join(lines[start:declared]),
        docstring=docstring or "",
        body="".join(lines[body:end]),
        lines=(start, end),
        body_lines=(body, end),
        decorators=node.lineno - first_line(node),
    )


def with_method(source: str, method: Method, text: str) -> str:
    """Return the file with `text` in place of the method."""
    lines = lines_of(source)
    return "".join([*lines[: method.lines[0]], text.rstrip("\n") + "\n", *lines[method.lines[1] :]])


def placed(source: str, method: Method, text: str) -> str:
    """Return the file with `text` in place of the method; raises AnswerError unless it is one method there, too."""
    whole = with_method(source, method, text)
    start, end = method.lines[0], method.lines[0] + len(lines_of(text.rstrip("\n")))
    try:
        found = next((each for each in methods_of(whole) if each.lines[0] == start), None)
    except UNPARSABLE as error:
        raise AnswerError(f"with the answer in its place, the file is not valid Python: {reason_of(error)}") from error
    if found is not None and found.qualified_name == method.qualified_name and found.lines[1] <= end:
        after = [line.strip() for line in lines_of(whole)[found.lines[1] : end]]
        if all(not line or line.startswith("#") for line in after):
            return whole
    raise AnswerError(f"the answer must be only the method `{method.name}`")


def with_body(source: str, method: Method, body: str) -> str:
    """Return the file with another body of the method, below its docstring."""
    lines = lines_of(source)
    return with_method(source, method, "".join(lines[method.lines[0] : method.body_lines[0]]) + body)


def without_method(source: str, method: Method) -> str:
    """Return the file without the method and its decorators."""
    lines = lines_of(source)
    return "".join(lines[: method.lines[0] - method.decorators] + lines[method.lines[1] :])


def class_doc(source: str, method: Method) -> str:
    """Return the docstring of the method's class; "" without one, and for functions."""
    classes = classes_around(source, method)
    return ast.get_docstring(classes[-1]) or "" if classes else ""


def class_without_method(source: str, method: Method) -> str:
    """Return the text of the method's class without the method and its decorators; "" for functions."""
    classes, lines = classes_around(source, method), lines_of(source)
    start, end = method.lines[0] - method.decorators, method.lines[1]
    return "".join(lines[first_line(classes[-1]) - 1 : start] + lines[end : classes[-1].end_lineno]) if classes else ""


def class_lines(source: str, method: Method) -> tuple[int, int] | None:
    """Return the range of lines of the outermost class that the method is in, without its decorators; None without."""
    classes = classes_around(source, method)
    return (classes[0].lineno - 1, classes[0].end_lineno or 0) if classes else None


def classes_around(source: str, method: Method) -> list[ast.ClassDef]:
    """Return the classes that the method is in, the outermost first; none for functions."""
    classes = (node for node in ast.walk(parse(source)) if isinstance(node, ast.ClassDef))
    start, end = method.lines
    return sorted((each for each in classes if each.lineno <= start and end <= (each.end_lineno or 0)), key=first_line)


def stubbed(source: str, method: Method) -> str:
    """Return the file with a body that only raises NotImplementedError."""
    return with_body(source, method, f"{method.indent}    raise NotImplementedError\n")


def completion_parts(method: Method) -> tuple[str, str]:
    """Return the lines of the body that a completion continues, and the others: about half of them each.

    The second part begins with a statement, and the first would be valid if one statement followed it.
    """
    lines = lines_of(method.body)
    cut = _cut_of(method, lines)
    return "".join(lines[:cut]), "".join(lines[cut:])


def without_completion(source: str, method: Method) -> str:
    """Return the file with a statement that raises NotImplementedError in place of the part to complete."""
    return with_body(source, method, unfinished(*completion_parts(method)))


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
            parse(head + unfinished("".join(lines[:cut]), "".join(lines[cut:])))
        except UNPARSABLE:
            continue
        return cut
    return 0


def unfinished(first: str, second: str, instead: str = "raise NotImplementedError") -> str:
    """Return the first part of a body, with another statement in place of the second."""
    return f"{first}{_indent(second.splitlines()[0])}{instead}\n"


def answered_method(code: str, method: Method) -> str:
    """Return the method in an answer without its decorators, indented as in the file.

    Raises AnswerError if the answer isn't exactly one function of that name.
    """
    function, text = only_statement(code, method.indent)
    if not isinstance(function, FUNCTIONS):
        raise AnswerError(f"the answer must be only the method, beginning with `def {method.name}` or a decorator")
    if function.name != method.name:
        raise AnswerError(f"the answer must be the method `{method.name}`, not `{function.name}`")
    return text


def only_statement(code: str, indent: str = "") -> tuple[ast.stmt | None, str]:
    """Return the only statement in some code, and its text without decorators, with this indentation.

    The statement is None if there are more or none. Raises AnswerError if the code isn't Python.
    """
    code, statements = statements_of(code)
    if len(statements) != 1:
        return None, ""
    statement, lines = statements[0], lines_of(code)
    own = slice(statement.lineno - 1, statement.end_lineno)
    old = _indent(lines[statement.lineno - 1])
    # Other indentation within strings would be another program; in a docstring, it is layout.
    fixed = lines_in_strings(code) - _docstring_lines(statement)
    moved = [line if number in fixed else _moved(line, old, indent) for number, line in enumerate(lines)]
    return statement, "".join(moved[own]).rstrip("\n") + "\n"


def statements_of(code: str) -> tuple[str, list[ast.stmt]]:
    """Return some code without blank lines before it, and its statements; all of it may be indented.

    If it mixes tabs and spaces in a way that Python refuses, the tabs become 4 spaces. Raises AnswerError if it isn't
    Python.
    """
    code, reason = code.strip("\n") + "\n", ""
    for text in (code, spaced(code)):
        try:
            return text, _parsed(text)
        except UNPARSABLE as error:
            reason = reason or reason_of(error)
    raise AnswerError(f"the answer is not valid Python: {reason}")


def _parsed(text: str) -> list[ast.stmt]:
    """Return the statements of a text that may be indented, with the numbers of its lines."""
    if not _indent(text):
        return parse(text).body
    try:
        tree = parse(f"if 1:\n{text}")
    except SyntaxError as error:
        error.lineno = (error.lineno or 1) - 1
        raise
    (block,) = tree.body[:1]
    if len(tree.body) > 1 or not isinstance(block, ast.If) or block.orelse:
        raise SyntaxError("its lines are not indented alike")
    for node in ast.walk(block):
        if isinstance(node, ast.stmt | ast.expr):
            node.lineno, node.end_lineno = node.lineno - 1, (node.end_lineno or 0) - 1
    return block.body


def reason_of(error: BaseException) -> str:
    """Return what Python says about a text that isn't valid."""
    if not isinstance(error, SyntaxError):
        return str(error) or type(error).__name__
    return f"{error.msg} (line {error.lineno})" if error.lineno else error.msg


def spaced(code: str) -> str:
    """Return some code with 4 spaces in place of each tab in the indentation of its lines."""
    return re.sub(r"^[ \t]+", lambda found: found[0].expandtabs(4), code, flags=re.MULTILINE)


def _moved(line: str, old: str, new: str) -> str:
    """Return a line with another indentation; one that has less than it, within brackets or of a comment, stays."""
    return new + line[len(old) :] if line.startswith(old) and line.strip() else line


def _docstring_lines(statement: ast.stmt) -> set[int]:
    if not isinstance(statement, FUNCTIONS) or ast.get_docstring(statement) is None:
        return set()
    return set(range(statement.body[0].lineno, statement.body[0].end_lineno or 0))


def _indent(text: str) -> str:
    return text[: len(text) - len(text.lstrip(" \t\f"))]
