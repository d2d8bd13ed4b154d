"""What programs do on inputs for which no right answer is known, so that two of them can be told apart.

1. An input is what the kind of tests runs programs by: text to read, a JSON list of arguments, or, for assertions, an
   expression.
2. Two programs behave alike where their `key`s are equal: printed words, or returned values as `==` sees them. Floats
   are taken to nine digits, sets and dicts in no order, addresses in a `repr` out.
3. A program that crashes or reaches a limit behaves like no other, and so does one that ends in place of giving a
   value (`sys.exit()`). After a limit the rest of its inputs is left out: it would cost as much again.
4. What is shown has no addresses of objects: they are others in each run, and a prompt that holds one couldn't be
   asked again in the same words.
"""

import ast
import hashlib
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from alpha_codium.judge.assertions import AssertionsKind
from alpha_codium.judge.call_result import BUILD, Hashed
from alpha_codium.judge.codec import Malformed, decode
from alpha_codium.judge.kinds import CallKind, Kind
from alpha_codium.languages.python.syntax import UNPARSABLE, parse
from alpha_codium.problem import TestCase
from alpha_codium.verdict import Execution, Status, Verdict

# Characters of a value up to which it stands in a key as it is.
KEPT = 1 << 12
# Digits that are spelt in decimal; Python refuses to spell far longer ones.
LARGE_BITS = 10_000
ADDRESS = re.compile(r" at 0x[0-9a-f]+")
DRIVER_LINES = re.compile(r'^  File "driver\.py".*\n(?:    .*\n)*', re.MULTILINE)
GOES_ON = (Status.FINISHED, Status.RUNTIME_ERROR)
ENDED = "(the program ended, and gave no value)"


@dataclass(frozen=True, slots=True)
class Behaviour:
    """What a program did on one input; `key` is equal where two did the same, `shown` is for people and models."""

    status: Status
    key: str = ""
    shown: str = ""

    @property
    def ran(self) -> bool:
        """Whether the program came to an end by itself, without a fault."""
        return self.status is Status.FINISHED


def input_fault(kind: Kind, text: str) -> str:
    """Why `text` is no input of this kind, as one that a model wrote may be none; nothing where it is one."""
    if isinstance(kind, AssertionsKind):
        return kind.fault_of(TestCase(_assigning(text), ""))
    return kind.fault_of(TestCase(text, "null"))


async def behaviours(kind: Kind, program: str, inputs: Sequence[str]) -> tuple[Behaviour, ...]:
    """What `program` did on each input, in order."""
    found: list[Behaviour] = []
    for text in inputs:
        found.append(await _behaviour(kind, program, text))
        if found[-1].status not in GOES_ON:
            break
    return tuple(found + found[-1:] * (len(inputs) - len(found)))


async def what_came(kind: Kind, program: str, test: TestCase, execution: Execution) -> Behaviour:
    """What the program that fails `test` gave in place of what was wanted: output, value, or what ended it.

    Of an assertion the compared value is found by another run, which may fail through a fault of ours.
    """
    if isinstance(kind, AssertionsKind):
        compared = _compared(test.input)
        if execution.status is Status.FINISHED and compared:
            return await _behaviour(kind, program, compared)
    return Behaviour(execution.status, shown=_shown(kind, execution))


async def _behaviour(kind: Kind, program: str, text: str) -> Behaviour:
    if isinstance(kind, AssertionsKind):
        attempt = await kind.attempt(program, _assigning(text), output_variable="value")
        execution = attempt.result.execution
        if execution.status is not Status.FINISHED:
            return Behaviour(execution.status, shown=_shown(kind, execution))
        if attempt.result.verdict is not Verdict.ACCEPTED:
            return Behaviour(Status.RUNTIME_ERROR, shown=ENDED)
        return Behaviour(Status.FINISHED, _short(spelt(attempt.output, exact=False)), spelt(attempt.output))
    execution = await kind.execute(program, text)
    shown = _shown(kind, execution)
    if execution.status is not Status.FINISHED:
        return Behaviour(execution.status, shown=shown)
    if isinstance(kind, CallKind):
        returned = _returned(execution.stdout, exact=False)
        if returned is None:
            return Behaviour(Status.RUNTIME_ERROR, shown=shown)
        return Behaviour(Status.FINISHED, _short(returned), shown)
    return Behaviour(Status.FINISHED, _short(" ".join(map(_word, shown.split()))), shown)


def _assigning(expression: str) -> str:
    """Code that notes an expression's value; it asserts nothing that can fail, but has to assert."""
    return f"value = ({expression}\n)\nassert True"


def _compared(test_code: str) -> str:
    """The left side of a lone `assert LEFT == RIGHT`; empty for any other code."""
    try:
        body = parse(test_code.strip()).body
    except UNPARSABLE:
        return ""
    match body:
        case [ast.Assert(test=ast.Compare(left=left, ops=[ast.Eq() | ast.Is()]))]:
            return ast.unparse(left)
        case [ast.Assert(test=ast.UnaryOp(op=ast.Not(), operand=left))] | [ast.Assert(test=left)]:
            return ast.unparse(left)
    return ""


def _shown(kind: Kind, execution: Execution) -> str:
    """One run for a reader. What was printed before a limit depends on the machine, and a prompt mustn't."""
    if execution.status is Status.FINISHED and isinstance(kind, CallKind):
        return _returned(execution.stdout) or ENDED
    if execution.status is Status.FINISHED and not isinstance(kind, AssertionsKind):
        return ADDRESS.sub("", execution.stdout)
    if execution.status in (Status.FINISHED, Status.RUNTIME_ERROR, Status.COMPILATION_ERROR):
        told = ADDRESS.sub("", DRIVER_LINES.sub("", execution.stderr))
        # The frames of assertions are the test's own: they say nothing of the program.
        return told.strip().rpartition("\n")[2] if isinstance(kind, AssertionsKind) else told
    return f"({execution.status.value.replace('_', ' ')})"


def _returned(text: str, *, exact: bool = True) -> str | None:
    """The value that a call returned, spelt; None where it returned none."""
    try:
        return spelt(decode(text, BUILD), exact=exact)
    except Malformed:
        return None


def spelt(value: Any, *, exact: bool = True) -> str:
    """A value as text, the same for equal values: sets and dicts in the order of their items' texts.

    `exact` spells numbers as Python does; else `1`, `1.0` and `True` are one, and floats have nine digits.
    """
    if isinstance(value, Hashed):
        items = list(value.items)
        return _braces(_pairs(items[::2], items[1::2], exact) if value.kind == "dict" else _all(items, exact))
    if isinstance(value, dict):
        return _braces(_pairs(list(value), list(value.values()), exact))
    if isinstance(value, set | frozenset):
        return _braces(_all(value, exact))
    if isinstance(value, tuple):
        return f"({', '.join(_all(value, exact))}{',' if len(value) == 1 else ''})"
    if isinstance(value, list):
        return f"[{', '.join(_all(value, exact))}]"
    if isinstance(value, bool | int | float):
        return _number(value, exact)
    return ADDRESS.sub("", repr(value))


def _all(values: Any, exact: bool) -> list[str]:
    return [spelt(value, exact=exact) for value in values]


def _pairs(keys: Sequence[Any], values: Sequence[Any], exact: bool) -> list[str]:
    return [f"{spelt(k, exact=exact)}: {spelt(v, exact=exact)}" for k, v in zip(keys, values, strict=False)]


def _braces(items: list[str]) -> str:
    return "{" + ", ".join(sorted(items)) + "}"


def _number(value: float, exact: bool) -> str:
    if isinstance(value, float):
        whole = not exact and math.isfinite(value) and value == int(value)
        return _number(int(value), exact) if whole else repr(value) if exact else f"{value:.9g}"
    if value.bit_length() > LARGE_BITS:
        return hex(value)
    return repr(value if exact else int(value))


def _word(word: str) -> str:
    """A printed word; a float to nine digits."""
    if "." not in word:
        return word
    try:
        return f"{float(word):.9g}"
    except ValueError:
        return word


def _short(key: str) -> str:
    return key if len(key) <= KEPT else hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()
