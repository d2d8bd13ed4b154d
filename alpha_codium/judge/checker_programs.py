"""Checkers that are programs: their form in records, their protocols, and running them on outputs.

| protocol  | called with                     | on stdin   | accepts | rejects    |
|-----------|---------------------------------|------------|---------|------------|
| `icpc`    | input, answer, feedback/, flags | the output | 42      | 43         |
| `testlib` | input, output, answer, flags    | the output | 0       | 1, 2, 4, 8 |
| `open_r1` | input, answer, output           | the output | prints 1 or 100 | prints anything else |

Sources: icpc.io/problem-package-format, "output validators"; github.com/MikeMirzayanov/testlib, its exit codes; for
`open_r1`, whose checkers are in Python and get texts without empty lines, `cf_python3` of huggingface/piston.
If the checker ends in any other way (a signal, a limit, another status, such as testlib's 3 for a mistake in the test),
it has failed on that output. Then it runs on the expected output: if it fails on that, too, the verdict is
`internal_error`, with the end of its stderr; otherwise the program's output is wrong. So no program can withhold a
score with an output that breaks the checker.

The candidate runs on a few tests; then the checker runs on each whole output, in its own process. The next round has
four times as many tests, and so on up to the first failure, so that a program that fails early isn't run on all tests.
A round is cut short when its outputs reach `SLICE` characters.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import Any, ClassVar, Self

from alpha_codium.checkers import PROGRAM
from alpha_codium.errors import SandboxError, Unjudgeable, nearest
from alpha_codium.judge.cpp_checkers import SUFFIXES, cpp_side, first_error, last_line
from alpha_codium.judge.drivers import driver
from alpha_codium.judge.kinds import goes_on, no_verdict, require_compiled
from alpha_codium.judge.packing import pack
from alpha_codium.judge.stdin import StdinKind, fault_of_size
from alpha_codium.limits import CHECKER_LIMITS
from alpha_codium.problem import TestCase
from alpha_codium.program import PYTHON, Job, Program, Side, fault_of_paths
from alpha_codium.sandbox import Sandbox
from alpha_codium.values import surrogate_in
from alpha_codium.verdict import Execution, Status, TestResult, Verdict

ACCEPTS = {"icpc": (42,), "testlib": (0,)}
REJECTS = {"icpc": (43,), "testlib": (1, 2, 4, 8)}
# Reserved names in the folder where a checker runs.
RESERVED_NAMES = ("input", "answer", "output", "feedback", "program.py")
# Names of the protocols in records.
PROTOCOLS = {
    **dict.fromkeys(("", "icpc", "kattis", "icpc output validator", "kattis output validator"), "icpc"),
    "testlib": "testlib",
    **dict.fromkeys(("open_r1", "open-r1"), "open_r1"),
}
# What a checker of open-r1, which ends with 0, prints for an output that is right.
PRINTED = ("1", "100")
ARGUMENTS = ("protocol", "flags", "files", "main")
# Statuses with which the checker's exit status counts.
ENDED = (Status.FINISHED, Status.RUNTIME_ERROR, Status.MEMORY_LIMIT_EXCEEDED)


@dataclass(frozen=True, slots=True)
class CheckerProgram:
    """A checker program: `files` are relative paths and texts; `main` is the Python file to run, empty for C++.

    `name` is that of the checker in records. Messages call the program `noun`, and the driver is told its `mode`.
    """

    name: ClassVar[str] = PROGRAM
    noun: ClassVar[str] = "checker"
    mode: ClassVar[str] = ""

    protocol: str
    files: tuple[tuple[str, str], ...]
    main: str = ""
    flags: str = ""

    @classmethod
    def of(cls, arguments: Mapping[str, Any]) -> Self:
        """The checker that the arguments of the checker `name` describe; raises Unjudgeable.

        `files`: {path: text}, all in C++ or all in Python; `protocol`: `icpc` (the default) or `testlib`; `flags`: its
        arguments, separated by spaces, or a list of them; `main`: the file to run, if there are several in Python.
        """
        for name in arguments:
            if name not in ARGUMENTS:
                raise Unjudgeable(f"the checker {cls.name!r} has no argument {name!r}{nearest(name, ARGUMENTS)}")
        files, protocol = arguments.get("files"), str(arguments.get("protocol") or "")
        if not isinstance(files, Mapping) or not files or not all(map(_is_text, (*files, *files.values()))):
            raise Unjudgeable(f"the checker {cls.name!r} takes `files`: the paths of its source files and their texts")
        # A colon may be followed by an explanation.
        known = PROTOCOLS.get(protocol.lower().partition(":")[0].strip())
        if known is None:
            raise Unjudgeable(f"there is no checker protocol {protocol!r}{nearest(protocol, PROTOCOLS)}")
        files = {str(PurePosixPath(path)): text for path, text in files.items()}
        if fault := fault_of_paths(files):
            raise Unjudgeable(f"its {cls.noun}: {fault}")
        main = str(arguments.get("main") or "")
        main = _main_of(files, main and str(PurePosixPath(main)))
        if known == "open_r1" and (not main or cls.mode):
            raise Unjudgeable(f"the protocol 'open_r1' is for checkers in Python, not for this {cls.noun}")
        made = cls(known, tuple(sorted(files.items())), main, _flags_of(arguments.get("flags")))
        if fault := surrogate_in(made.flags, *files.values()):
            raise Unjudgeable(f"its {cls.noun} is {fault}")
        for path, _ in made.beside():
            if PurePosixPath(path).parts[:1] and PurePosixPath(path).parts[0] in RESERVED_NAMES:
                taken = ", ".join(RESERVED_NAMES)
                raise Unjudgeable(f"beside a checker stand {taken}: give its file {path!r} another name")
        return made

    def side_for(self, sandbox: Sandbox) -> Side:
        """Return the program with its driver; raises Unjudgeable if the sandbox can't run it."""
        if self.main:
            if not sandbox.has_files:
                raise Unjudgeable(f"its {self.noun} needs a sandbox with files: use `ac.open_sandbox('local')`")
            return Side(Program.from_source(PYTHON, dict(self.files)[self.main]), driver("checking"))
        side = cpp_side(dict(self.files))
        try:
            sandbox.tool_version(side.program.language)
        except SandboxError as error:
            raise Unjudgeable(f"its {self.noun} is written in C++: {error}") from error
        return side

    def check_compiled(self, compilation: Execution) -> None:
        """Raise Unjudgeable, with the first error in one line, unless the program compiled."""
        if not compilation.finished:
            says = "doesn't compile" if compilation.status is Status.COMPILATION_ERROR else "can't be compiled"
            why = last_line(compilation) if self.main else first_error(compilation)
            raise Unjudgeable(f"its {self.noun} {says}: {why}")

    def packed(self, test: TestCase, output: str = "") -> str:
        """Return the input of the driver for one output; an interactor gets none."""
        beside = [part for file in self.beside() for part in file]
        # U+FFFD takes three bytes for each invalid one: a program could fill the checker's folder.
        answer, output = test.output, output.replace("\ufffd", "?")
        if self.protocol == "open_r1":
            answer, output = without_empty_lines(answer), without_empty_lines(output)
        protocol = f"{self.protocol} {self.mode}".strip()
        return pack([protocol, self.flags, test.input, answer, output, *beside])

    def beside(self) -> list[tuple[str, str]]:
        """Return the checker's other files, as relative paths and texts; a compiled checker has none."""
        if not self.main:
            return []
        folder = PurePosixPath(self.main).parent
        others = [(PurePosixPath(path), text) for path, text in self.files if path != self.main]
        return [(str(path.relative_to(folder)), text) for path, text in others if path.is_relative_to(folder)]

    def verdict_of(self, checking: Execution) -> bool | str:
        """Whether the checker accepts, by its exit status or what it prints; if it gave no verdict, the reason."""
        if self.protocol == "open_r1" and checking.finished:
            return checking.stdout.strip() in PRINTED
        if checking.status in ENDED and checking.exit_code in ACCEPTS.get(self.protocol, ()):
            return True
        if checking.status in ENDED and checking.exit_code in REJECTS.get(self.protocol, ()):
            return False
        lines = checking.stderr.strip().splitlines()
        return f"the {self.noun} {_end_of(checking)}" + (f": {lines[-1].strip()[:300]}" if lines else "")

    def fails(self, checking: Execution) -> bool:
        """Whether the checker gave no verdict on an output, and the sandbox isn't to blame."""
        return isinstance(self.verdict_of(checking), str) and checking.status is not Status.INTERNAL_ERROR


def without_empty_lines(text: str) -> str:
    """Return a text without its empty lines."""
    return "".join(line for line in text.splitlines(keepends=True) if line.strip("\n"))


def _flags_of(flags: object) -> str:
    if isinstance(flags, list | tuple) and all(map(_is_text, flags)):
        return " ".join(flags)
    if flags is not None and not isinstance(flags, str):
        raise Unjudgeable(f"a checker's flags must be a string or a list of strings, not {flags!r}")
    return flags or ""


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _main_of(files: Mapping[str, str], main: str) -> str:
    """Return the Python file to run, empty if the files are C++."""
    if main and main not in files:
        raise Unjudgeable(f"there is no checker's file {main!r}{nearest(main, files)}")
    if PurePosixPath(main).suffix == ".py":
        return main
    python = [path for path in files if PurePosixPath(path).suffix == ".py"]
    compiled = [path for path in files if PurePosixPath(path).suffix in SUFFIXES]
    if compiled and not python:
        return ""
    if len(python) == 1 and not compiled:
        return python[0]
    if not python:
        raise Unjudgeable(f"a checker must be written in C++ or Python; its files are {', '.join(sorted(files))[:200]}")
    raise Unjudgeable(f"the checker has several programs: say which with main ({', '.join(sorted(python))[:200]})")


def _end_of(checking: Execution) -> str:
    """Describe how a checker ended without a verdict."""
    if checking.status is Status.TIME_LIMIT_EXCEEDED:
        return f"took more than {CHECKER_LIMITS.cpu_seconds:g} s"
    if checking.status not in ENDED:
        return f"ended with {checking.status.value.replace('_', ' ')}"
    if checking.signal is not None:
        return f"was ended by signal {checking.signal}"
    return f"ended with {checking.exit_code}, which is no verdict"


FIRST_TESTS, GROWTH = 4, 4
# Characters of outputs after which a round is cut short.
SLICE = 32 << 20


@dataclass(frozen=True, slots=True)
class CheckerProgramKind(StdinKind):
    """The test's input is what the program reads; a checker program judges what it prints."""

    checker: CheckerProgram  # pyrefly: ignore[bad-override] - it is a program, not a function

    def own_fault_of(self, test: TestCase) -> str:
        """See `TestKind`; the test must fit into the files that the checker, and maybe the program, reads."""
        return fault_of_size(test.input, test.output)

    async def results(self, program: Program, tests: Sequence[TestCase], *, stop_early: bool) -> list[TestResult]:
        """See `TestKind`; raises Unjudgeable if the checker doesn't compile."""
        checker = await asyncio.to_thread(self.checker.side_for, self.sandbox)
        results: list[TestResult] = []
        size = FIRST_TESTS
        while True:
            rest = tests[len(results) :]
            executions = await self._slice(program, [test.input for test in rest[:size]])
            results += await self._checked(checker, rest, executions, stop_early=stop_early)
            stopped = bool(results) and not goes_on(results[-1], stop_early=stop_early)
            if stopped or not executions or len(results) == len(tests):
                return results
            size *= GROWTH

    async def _slice(self, program: Program, inputs: Sequence[str]) -> list[Execution]:
        """Return executions with whole outputs, until their total reaches `SLICE`."""
        kept: list[Execution] = []

        def keep(execution: Execution) -> bool:
            kept.append(execution)
            return sum(len(each.stdout) for each in kept) < SLICE

        require_compiled(await self.sandbox.consume(self.job(program, inputs), keep))
        return kept

    async def _checked(
        self, checker: Side, tests: Sequence[TestCase], executions: Sequence[Execution], *, stop_early: bool
    ) -> list[TestResult]:
        """Return the results of some tests; the checker runs in its own process on each finished execution's output."""
        results = {
            place: TestResult(Verdict(execution.status.value), execution.shortened())
            for place, execution in enumerate(executions)
            if not execution.finished
        }
        end = min(results, default=len(executions)) if stop_early else len(executions)
        places = [place for place in range(end) if place not in results]
        unchecked, failed = iter(places), list[int]()

        def take(check: Execution) -> bool:
            place = next(unchecked)
            results[place] = self._checked_result(executions[place], check)
            if self.checker.fails(check):
                failed.append(place)
            return goes_on(results[place], stop_early=stop_early)

        await self._check(checker, [(tests[place], executions[place].stdout) for place in places], take)
        for place in failed:
            if await self._decides(checker, tests[place]):
                why = f"on this output, but not on the expected one, {results[place].execution.stderr}"
                results[place] = TestResult(Verdict.WRONG_ANSWER, replace(executions[place].shortened(), stderr=why))
        return in_order(results, stop_early=stop_early)

    async def _check(
        self, checker: Side, outputs: Sequence[tuple[TestCase, str]], take: Callable[[Execution], bool]
    ) -> None:
        """Run the checker on outputs; `take` gets its executions, and returns whether to go on."""
        if not outputs:
            return
        inputs = tuple(self.checker.packed(test, output) for test, output in outputs)
        job = Job(checker.program, inputs, CHECKER_LIMITS, checker.driver)
        compilation = await self.sandbox.consume(job, take)
        self.checker.check_compiled(compilation)

    async def _decides(self, checker: Side, test: TestCase) -> bool:
        """Whether the checker gives a verdict on the expected output."""
        checks: list[Execution] = []
        await self._check(checker, [(test, test.output)], lambda check: not checks.append(check))
        return bool(checks) and not isinstance(self.checker.verdict_of(checks[0]), str)

    def _checked_result(self, execution: Execution, check: Execution) -> TestResult:
        accepted = self.checker.verdict_of(check)
        if isinstance(accepted, str):
            return no_verdict(execution, accepted)
        return TestResult(Verdict.ACCEPTED if accepted else Verdict.WRONG_ANSWER, execution.shortened())


def in_order(results: Mapping[int, TestResult], *, stop_early: bool) -> list[TestResult]:
    """Return the results in order, up to a gap or, with `stop_early`, up to the first that isn't accepted."""
    found: list[TestResult] = []
    while len(found) in results and (not found or goes_on(found[-1], stop_early=stop_early)):
        found.append(results[len(found)])
    return found
