"""Examples in the description of a function, as assertions: HumanEval has no other public tests.

1. Doctests: `>>> f(1)` and the value in the next line.
2. Lines such as `f(1) == 2`, `f(1) -> 2`, `f(1) => 2`, `f(1) returns 2`, whose arguments and value are literals.
3. Only calls of the function that is asked for count; a call with two different values gives no example.

Some examples are wrong: those of HumanEval/47, 116, 130 and 148 contradict the problem's own solution.
"""

import ast
import doctest
import itertools
import re
from collections.abc import Iterator

from alpha_codium.languages.python.beginnings import Beginning, beginning_of, parsed
from alpha_codium.problem import Statement, TestCase

GIVES = re.compile(
    r"\s*(?:[)`]\s*)?(?:[=-]{0,3}>|={1,3}|\u27a1|\u279e|\u2192|#\s*(?:returns?|=>|->)|(?:should |must |will )?returns?"
    r"|gives?|is)\s*"
)
SENTENCE_END = re.compile(r"\s+#|\s{2,}|[.,;]\s|\s(?:and|because|since)\b")
CONSTANTS = {"true": "True", "false": "False", "none": "None", "null": "None"}
# The length of the longest call or value.
LONGEST = 2_000
MOST_CALLS = 20
MOST_BRACKETS = 60
# Characters to parse to find the calls in one line.
MOST_PARSED = 40_000
MOST_ENDS = 20


def examples_in(statement: Statement) -> tuple[TestCase, ...]:
    """Return the examples of a description as tests of kind `assertions`; none if it isn't a function's beginning."""
    beginning = beginning_of(statement.description)
    if beginning is None:
        return ()
    values: dict[str, set[str]] = {}
    for call, value in [*_doctests(beginning), *_written(beginning)]:
        values.setdefault(call, set()).add(value)
    return tuple(TestCase(f"assert {call} == {min(each)}", "") for call, each in values.items() if len(each) == 1)


def _doctests(beginning: Beginning) -> Iterator[tuple[str, str]]:
    tree = parsed(f"{beginning.text}\n{beginning.indent}pass\n")
    function = tree.body[-1] if tree else None
    docstring = ast.get_docstring(function) if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef) else ""
    try:
        found = doctest.DocTestParser().get_examples(docstring or "")
    except ValueError:  # the indentation of an answer is off
        found = []
    for example in found:
        call, value = expression(example.source), literal(example.want.strip())
        if call is not None and value is not None and calls(call, beginning.name):
            yield ast.unparse(call), ast.unparse(value)


def _written(beginning: Beginning) -> Iterator[tuple[str, str]]:
    for line in beginning.text.splitlines():
        for call, end in literal_calls(line, beginning.name):
            match = GIVES.match(line, end)
            value = _leading_literal(line[match.end() :]) if match else None
            if value is not None:
                yield ast.unparse(call), ast.unparse(value)


def literal_calls(line: str, name: str) -> Iterator[tuple[ast.Call, int]]:
    """Yield the calls of `name` in a line whose arguments are literals, and where each ends."""
    starts = [match.start() for match in re.finditer(rf"(?<![\w.]){re.escape(name)}\(", line)]
    left = MOST_PARSED
    for start in starts[:MOST_CALLS]:
        for match in itertools.islice(re.finditer(r"\)", line[start : start + LONGEST]), MOST_BRACKETS):
            left -= match.end()
            call = expression(line[start : start + match.end()]) if left > 0 else None
            if isinstance(call, ast.Call):
                if all(is_literal(each) for each in (*call.args, *(k.value for k in call.keywords))):
                    yield call, start + match.end()
                break


def expression(text: str) -> ast.expr | None:
    """Return the expression that a text is; None if it isn't one."""
    tree = parsed(text.strip()) if len(text) <= LONGEST else None
    match tree.body if tree else []:
        case [ast.Expr(value=value)]:
            return value
    return None


def literal(text: str) -> ast.expr | None:
    """Return the literal that a text is; None if it isn't one. `true` is read as `True`."""
    value = expression(CONSTANTS.get(text, text))
    return value if value is not None and is_literal(value) else None


def is_literal(node: ast.AST) -> bool:
    """Whether an expression consists of constants only."""
    try:
        ast.literal_eval(node)  # type: ignore[arg-type]
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return False
    return True


def calls(node: ast.AST, name: str) -> bool:
    """Whether an expression contains a call of `name`."""
    found = (each.func for each in ast.walk(node) if isinstance(each, ast.Call))
    return any(isinstance(function, ast.Name) and function.id == name for function in found)


def _leading_literal(text: str) -> ast.expr | None:
    """Return the longest literal that a text begins with, up to its end or to punctuation."""
    whole = text.strip()
    ends = [len(whole), *(match.start() for match in reversed(list(SENTENCE_END.finditer(whole))))]
    for end in ends[:MOST_ENDS]:
        value = literal(whole[:end].rstrip(".,;:` "))
        if value is not None:
            return value
    return None
