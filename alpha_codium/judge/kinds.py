"""Kinds of tests: one class for each way in which the tests of a problem run a program, all behind `TestKind`."""

import functools
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

from alpha_codium.checkers import Checker
from alpha_codium.judge.behaviour import (
    ENDED,
    Behaviour,
    error_shown,
    key_of,
    key_of_output,
    returned,
    without_addresses,
)
from alpha_codium.judge.codec import Unencodable, encode
from alpha_codium.judge.drivers import driver
from alpha_codium.judge.runner import Runner
from alpha_codium.languages import LANGUAGES, language_named
from alpha_codium.limits import Limits
from alpha_codium.problem import ExecutionSpec, TestCase
from alpha_codium.program import Job, Program
from alpha_codium.sandbox import Sandbox
from alpha_codium.verdict import Execution, Status, TestResult, Verdict

INVALID = object()
# Characters from which on arguments are read faster as JSON.
LARGE_ARGUMENTS = 10_000


class NotCompiled(Exception):
    """The program doesn't compile, or the sandbox failed to compile it; `execution` is that of the compiler."""

    def __init__(self, execution: Execution) -> None:
        super().__init__(execution.stderr)
        self.execution = execution


class TestKind(Protocol):
    """Runs programs on tests of one kind, and shows what they do on inputs without an expected output."""

    name: ClassVar[str]

    def supports(self, language: str) -> bool:
        """Whether programs in that language can be run on such tests."""
        ...

    def fault_of(self, test: TestCase) -> str:
        """Why `test` is not of this kind, in one line; empty if it is. Tests at fault aren't run."""
        ...

    def input_fault(self, text: str) -> str:
        """Why `text` is not an input for `behaviour`; empty if it is."""
        ...

    async def results(self, program: Program, tests: Sequence[TestCase], *, stop_early: bool) -> list[TestResult]:
        """The results of the tests, in order; with `stop_early` none after the first that isn't accepted.

        Raises NotCompiled.
        """
        ...

    async def execute(self, program: Program, input: str) -> Execution:
        """One run of `program` on a test's input, not compared with anything."""
        ...

    async def behaviour(self, program: Program, input: str) -> Behaviour:
        """What `program` does on an input without an expected output."""
        ...

    async def actual_output(self, program: Program, test: TestCase, execution: Execution) -> Behaviour:
        """What a program that failed `test` by this execution gave instead: an output, a value, or an error."""
        ...


@dataclass(frozen=True, slots=True)
class StdinKind:
    """The test's input is what the program reads; the checker compares what it prints."""

    name: ClassVar[str] = "stdin"

    runner: Runner
    checker: Checker

    def supports(self, language: str) -> bool:
        """See `TestKind`; problems that name files need a language that is driven by files."""
        return is_driven(language, "files") if self.runner.uses_files else language in LANGUAGES

    def fault_of(self, test: TestCase) -> str:
        """See `TestKind`; any text may be read and printed, if it fits where a file has to hold it."""
        return self.runner.fault_of(test)

    def input_fault(self, text: str) -> str:
        """See `TestKind`."""
        return self.fault_of(TestCase(text, ""))

    async def results(self, program: Program, tests: Sequence[TestCase], *, stop_early: bool) -> list[TestResult]:
        """See `TestKind`."""
        job = self.runner.job(program, [test.input for test in tests])
        return await compared(self.runner.sandbox, job, tests, self.checker, stop_early=stop_early)

    async def execute(self, program: Program, input: str) -> Execution:
        """See `TestKind`."""
        return await self.runner.execute(program, input)

    async def behaviour(self, program: Program, input: str) -> Behaviour:
        """See `TestKind`; what was printed, word by word."""
        execution = await self.execute(program, input)
        shown = printed(execution)
        return Behaviour(execution.status, key_of_output(shown) if execution.finished else "", shown)

    async def actual_output(self, program: Program, test: TestCase, execution: Execution) -> Behaviour:
        """See `TestKind`."""
        return Behaviour(execution.status, shown=printed(execution))


@dataclass(frozen=True, slots=True)
class CallKind:
    """The test's input is a JSON list of arguments; the checker compares what the entry point returns.

    The driver `call` writes that as `codec` spells it, and `call_result` compares it out here.
    """

    name: ClassVar[str] = "call"

    sandbox: Sandbox
    limits: Limits
    checker: Checker
    spec: ExecutionSpec

    def supports(self, language: str) -> bool:
        """See `TestKind`."""
        return is_driven(language, self.name)

    def fault_of(self, test: TestCase) -> str:
        """See `TestKind`; the input must be a JSON list, the output JSON."""
        return _fault_of_call(test)

    def input_fault(self, text: str) -> str:
        """See `TestKind`."""
        return self.fault_of(TestCase(text, "null"))

    async def results(self, program: Program, tests: Sequence[TestCase], *, stop_early: bool) -> list[TestResult]:
        """See `TestKind`."""
        program = Program.from_source(program.language, _loading_early(program.source, self.spec.setup_code))
        inputs = tuple(self._input(test.input) for test in tests)
        job = Job(program, inputs, self.limits, driver("call"))
        return await compared(self.sandbox, job, tests, self.checker, stop_early=stop_early)

    async def execute(self, program: Program, input: str) -> Execution:
        """See `TestKind`; what was returned is on stdout, as `codec` spells it."""
        report = await self.sandbox.run(program, [self._input(input)], limits=self.limits, driver=driver("call"))
        return report.last

    async def behaviour(self, program: Program, input: str) -> Behaviour:
        """See `TestKind`; what was returned."""
        execution = await self.execute(program, input)
        value = returned(execution.stdout, exact=False) if execution.finished else None
        if value is None:
            status = Status.RUNTIME_ERROR if execution.finished else execution.status
            return Behaviour(status, shown=self._shown(execution))
        return Behaviour(Status.FINISHED, key_of(value), self._shown(execution))

    async def actual_output(self, program: Program, test: TestCase, execution: Execution) -> Behaviour:
        """See `TestKind`."""
        return Behaviour(execution.status, shown=self._shown(execution))

    def _shown(self, execution: Execution) -> str:
        return (returned(execution.stdout) or ENDED) if execution.finished else error_shown(execution)

    def _input(self, arguments: str) -> str:
        return encode((self.spec.entry_point, self.spec.setup_code)) + "\n" + _spelt(arguments)


async def compared(
    sandbox: Sandbox, job: Job, tests: Sequence[TestCase], checker: Checker, *, stop_early: bool
) -> list[TestResult]:
    """The results of the tests whose inputs a job has; outputs are compared in a thread. Raises NotCompiled."""
    results: list[TestResult] = []

    def compare(execution: Execution) -> bool:
        results.append(TestResult(verdict_of(checker, tests[len(results)], execution), execution.shortened()))
        return goes_on(results[-1], stop_early=stop_early)

    require_compiled(await sandbox.consume(job, compare))
    return results


def goes_on(result: TestResult, *, stop_early: bool) -> bool:
    """Whether more tests run after this result."""
    return not stop_early or result.verdict is Verdict.ACCEPTED


def require_compiled(compilation: Execution) -> None:
    """Raise NotCompiled unless the compiler's execution is `finished`."""
    if not compilation.finished:
        raise NotCompiled(compilation)


def verdict_of(checker: Checker, test: TestCase, execution: Execution) -> Verdict:
    """The verdict on one execution: what finished is compared, all else speaks for itself."""
    if not execution.finished:
        return Verdict(execution.status.value)
    return Verdict.ACCEPTED if checker(test.input, test.output, execution.stdout) else Verdict.WRONG_ANSWER


def printed(execution: Execution) -> str:
    """One run for a reader: what was printed, or what ended it.

    What was printed before a limit depends on the machine, and a prompt must not.
    """
    return without_addresses(execution.stdout) if execution.finished else error_shown(execution)


def is_driven(language: str, by: str) -> bool:
    """Whether programs of a language can be run in that way; see `Language.driven_by`."""
    return language in LANGUAGES and by in language_named(language).driven_by


@functools.lru_cache(maxsize=256)
def _fault_of_call(test: TestCase) -> str:
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
