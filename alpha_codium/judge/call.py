"""Tests that call a function of the program: their kind, and the checker of the returned value."""

import functools
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from alpha_codium.checkers import Checker, require_tolerances
from alpha_codium.judge.behaviour import ENDED, SAFE_BUILDERS, Behaviour, Unordered, error_shown, key_of, returned
from alpha_codium.judge.codec import Malformed, Unencodable, decode, encode
from alpha_codium.judge.drivers import driver
from alpha_codium.judge.kinds import ComparedKind
from alpha_codium.problem import ExecutionSpec, TestCase
from alpha_codium.program import Job, Program
from alpha_codium.values import DIGITS, parse_json
from alpha_codium.verdict import Execution, Status, TestResult

INVALID = object()
# Arguments of at least this many characters are read faster as JSON.
LARGE_ARGUMENTS = 10_000
# Python's JSON in the driver doesn't read longer integers.
LONG_INTEGER = re.compile(rf"[0-9]{{{DIGITS}}}")
NUMBERS = {int, float}
# For comparisons: a deque equals no list.
BUILDERS = {**SAFE_BUILDERS, "Q": functools.partial(Unordered, "deque")}


@dataclass(frozen=True, slots=True)
class CallKind(ComparedKind):
    """The test's input is a JSON list of arguments; the checker compares what the entry point returns.

    The driver `call` writes the value, encoded by `codec`; `call_result` compares it outside the sandbox.
    """

    name: ClassVar[str] = "call"
    title: ClassVar[str] = "tests that call a function"

    spec: ExecutionSpec

    def own_fault_of(self, test: TestCase) -> str:
        """See `TestKind`; the input must be a JSON list, the output JSON."""
        return _fault_of(test)

    async def behaviour(self, program: Program, input: str) -> Behaviour:
        """See `TestKind`; the returned value."""
        execution = await self.execute(program, input)
        value = returned(execution.stdout, exact=False) if execution.finished else None
        if value is None:
            status = Status.RUNTIME_ERROR if execution.finished else execution.status
            return Behaviour(status, shown=self.shown(execution))
        return Behaviour(Status.FINISHED, key_of(value), self.shown(execution))

    def given(self, result: TestResult) -> str:
        """See `TestKind`; the returned value."""
        return self.shown(result.execution) if result.execution.finished else ""

    def printed(self, result: TestResult) -> str:
        """See `TestKind`; a long value, which is cut, as it was encoded."""
        return returned(result.execution.stdout) or result.execution.stdout

    def shown(self, execution: Execution) -> str:
        """See `TestKind`."""
        return (returned(execution.stdout) or ENDED) if execution.finished else error_shown(execution)

    def job(self, program: Program, inputs: Sequence[str]) -> Job:
        """See `ComparedKind`; the returned value is on stdout, encoded by `codec`."""
        program = Program.from_source(program.language, _loading_early(program.source, self.spec.setup_code))
        head = encode((self.spec.entry_point, self.spec.setup_code))
        return Job(program, tuple(f"{head}\n{_spelt(text)}" for text in inputs), self.limits, driver("call"))


def call_result(unwrap: bool = True, abs: float = 0.0, rel: float = 0.0, first: bool = False) -> Checker:
    """Return a checker that compares the output of the driver `call` with the expected JSON.

    1. Values are compared recursively, as in Python: `1`, `1.0` and `True` are equal, `"1"` isn't. With `abs` or `rel`
       above 0, a number within either tolerance of the expected one is right, if one of the two is a float.
    2. A tuple equals a list, since JSON has no tuples; a set or deque equals nothing.
    3. With `unwrap`, `x` is right if `[x]` is expected: APPS wraps many values in a list. With `first`, so is the first
       item of a longer list, as in the original metric of APPS: 1 for `[1, 2]`.
    4. A dict's integer keys equal the strings that spell them, since keys of JSON are strings.

    The checker raises ValueError if the expected output isn't JSON; `fault_of` finds this before anything runs. Raises
    TypeError unless the tolerances are numbers of at least 0.
    """
    require_tolerances(abs=abs, rel=rel)

    def close(expected: Any, actual: Any) -> bool:
        if expected == actual or not (abs or rel) or not {type(expected), type(actual)} <= NUMBERS:
            return expected == actual
        try:
            near = math.isclose(expected, actual, rel_tol=rel, abs_tol=abs)
        except OverflowError:
            return False
        return near and float in (type(expected), type(actual))

    def same(expected: Any, actual: Any) -> bool:
        if isinstance(expected, list):
            return isinstance(actual, list) and len(expected) == len(actual) and all(map(same, expected, actual))
        if isinstance(expected, dict):
            return isinstance(actual, Unordered) and actual.kind == "dict" and same_items(expected, actual.items)
        return not isinstance(actual, list | Unordered) and close(expected, actual)

    def same_items(expected: dict[str, Any], items: Sequence[Any]) -> bool:
        if len(items) != 2 * len(expected):
            return False
        keyed = {_key(key): item for key, item in zip(items[::2], items[1::2], strict=True)}
        return len(keyed) == len(expected) and all(key in keyed and same(expected[key], keyed[key]) for key in expected)

    def check(_input: str, expected: str, actual: str, /) -> bool:
        wanted = parse_json(expected)
        try:
            # An equal value can't have more parts than the expected JSON has characters.
            returned = decode(actual, BUILDERS, most=len(expected))
        except Malformed:
            return False
        if same(wanted, returned):
            return True
        stands_for_first = isinstance(wanted, list) and bool(wanted) and (first or (unwrap and len(wanted) == 1))
        return stands_for_first and same(wanted[0], returned)

    return check


def _key(key: Any) -> str | None:
    """Return a dict's key as a string, as in JSON; a program can't predict the hashes of strings."""
    return key if type(key) is str else str(key) if type(key) is int and key.bit_length() < 256 else None


@functools.lru_cache(maxsize=256)
def _fault_of(test: TestCase) -> str:
    if not isinstance(_json_of(test.input), list):
        return f"the input of a call must be a JSON list of arguments, not {test.input[:80]!r}"
    if _json_of(test.output) is INVALID:
        return f"the output of a call must be JSON, not {test.output[:80]!r}"
    return ""


@functools.lru_cache(maxsize=256)
def _spelt(arguments: str) -> str:
    """Return the arguments in the form that the driver reads fastest."""
    if len(arguments) >= LARGE_ARGUMENTS and not LONG_INTEGER.search(arguments):
        return arguments
    try:
        return encode(parse_json(arguments))
    except Unencodable:  # nested too deep
        return arguments


def _loading_early(program: str, setup_code: str) -> str:
    """Return the program with a comment from which the sandbox preloads the setup code's modules, once for all tests.

    An empty line comes first, in case the program ends in a backslash.
    """
    imports = [line for line in setup_code.splitlines() if "import" in line]
    return "\n# ".join([f"{program}\n", *imports]) if imports else program


def _json_of(text: str) -> Any:
    try:
        return parse_json(text)
    except (ValueError, RecursionError):
        return INVALID
