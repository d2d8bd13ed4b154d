"""Tests that call a function of the program: their kind, and the checker of what was returned."""

import functools
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from alpha_codium.checkers import Checker
from alpha_codium.judge.behaviour import ENDED, SAFE_BUILDERS, Behaviour, Unordered, error_shown, key_of, returned
from alpha_codium.judge.codec import Malformed, Unencodable, decode, encode
from alpha_codium.judge.drivers import driver
from alpha_codium.judge.kinds import TestKind, compared
from alpha_codium.limits import Limits
from alpha_codium.problem import ExecutionSpec, TestCase
from alpha_codium.program import Job, Program
from alpha_codium.sandbox import Sandbox
from alpha_codium.sandbox.protocol import report_of
from alpha_codium.verdict import Execution, Status, TestResult

INVALID = object()
# From this many characters on, arguments are read faster as JSON.
LARGE_ARGUMENTS = 10_000
NUMBERS = {int, float}


@dataclass(frozen=True, slots=True)
class CallKind(TestKind):
    """The test's input is a JSON list of arguments; the checker compares what the entry point returns.

    The driver `call` writes that as `codec` spells it, and `call_result` compares it outside of the sandbox.
    """

    name: ClassVar[str] = "call"

    sandbox: Sandbox
    limits: Limits
    checker: Checker
    spec: ExecutionSpec

    def fault_of(self, test: TestCase) -> str:
        """See `TestKind`; the input must be a JSON list, the output JSON."""
        return _fault_of(test)

    async def results(self, program: Program, tests: Sequence[TestCase], *, stop_early: bool) -> list[TestResult]:
        """See `TestKind`."""
        program = Program.from_source(program.language, _loading_early(program.source, self.spec.setup_code))
        job = self._job(program, [test.input for test in tests])
        return await compared(self.sandbox, job, tests, self.checker, stop_early=stop_early)

    async def execute(self, program: Program, input: str) -> Execution:
        """See `TestKind`; the returned value is on stdout, as `codec` spells it."""
        return (await report_of(self.sandbox, self._job(program, [input]))).last

    async def behaviour(self, program: Program, input: str) -> Behaviour:
        """See `TestKind`; what was returned."""
        execution = await self.execute(program, input)
        value = returned(execution.stdout, exact=False) if execution.finished else None
        if value is None:
            status = Status.RUNTIME_ERROR if execution.finished else execution.status
            return Behaviour(status, shown=self.shown(execution))
        return Behaviour(Status.FINISHED, key_of(value), self.shown(execution))

    def shown(self, execution: Execution) -> str:
        """See `TestKind`."""
        return (returned(execution.stdout) or ENDED) if execution.finished else error_shown(execution)

    def _job(self, program: Program, inputs: Sequence[str]) -> Job:
        head = encode((self.spec.entry_point, self.spec.setup_code))
        return Job(program, tuple(f"{head}\n{_spelt(text)}" for text in inputs), self.limits, driver("call"))


def call_result(unwrap: bool = True, abs: float = 0.0, rel: float = 0.0, first: bool = False) -> Checker:
    """A checker of what the driver `call` wrote against expected JSON.

    1. Values are compared as Python does, all the way down: `1`, `1.0` and `True` are equal, `"1"` isn't. Where `abs`
       or `rel` is above 0, a number within either of the expected one is right, if either is a float.
    2. A tuple is as good as a list: JSON has no tuples.
    3. `unwrap`: where the expected value is a list of one item, that item alone is right, too: the APPS dataset has
       many values in a list of their own. `first`: the first item of a longer list is right, too, as in the metric that
       APPS was published with: 1 for `[1, 2]`.
    4. A dict whose keys are integers is compared with an object whose keys spell those: keys of JSON are text.
    5. A set is equal to nothing: JSON has no sets.

    Raises ValueError where the expected output is no JSON: the judge sees to that before anything runs.
    """

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
        wanted = json.loads(expected)
        try:
            # A value of JSON takes at least one character.
            returned = decode(actual, SAFE_BUILDERS, most=len(expected))
        except Malformed:
            return False
        if same(wanted, returned):
            return True
        stands_for_first = isinstance(wanted, list) and bool(wanted) and (first or (unwrap and len(wanted) == 1))
        return stands_for_first and same(wanted[0], returned)

    return check


def _key(key: Any) -> str | None:
    """A dict's key as JSON spells it; text has hashes that nobody foresees."""
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
    """The arguments as the driver reads them fastest."""
    if len(arguments) >= LARGE_ARGUMENTS:
        return arguments
    try:
        return encode(json.loads(arguments))
    except Unencodable:  # they are nested very deep
        return arguments


def _loading_early(program: str, setup_code: str) -> str:
    """The program with a comment that has a sandbox load the setup code's modules once, not in each test.

    The empty line is for a program that ends in a backslash.
    """
    imports = [line for line in setup_code.splitlines() if "import" in line]
    return "\n# ".join([f"{program}\n", *imports]) if imports else program


def _json_of(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return INVALID
