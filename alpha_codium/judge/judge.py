"""The judge, which runs programs on a problem's tests in a sandbox and decides outside the program's process.

1. A candidate's verdict is that of its first test, in the dataset's order, that isn't accepted.
2. Without a test, a program or an execution, the verdict is never a pass.
3. A malformed test (arguments that aren't JSON) gives every program `internal_error`. So does a checker program that
   doesn't compile, once there is an output to check. A program in a language that can't be run on such tests gets it,
   too. What the sandbox couldn't run stays `internal_error`.
4. No program can choose `internal_error`: what fails because of a program is tried with something known to be good, and
   only if that fails, too, is the data or the sandbox to blame ("Who is to blame" in docs/checkers.md).
"""

from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from alpha_codium.checkers import CALL_RESULT, INTERACTOR, PROGRAM
from alpha_codium.errors import SandboxError, Unjudgeable, UserError
from alpha_codium.judge.appended_tests import AppendedKind
from alpha_codium.judge.assertions import AssertionsKind
from alpha_codium.judge.behaviour import Behaviour
from alpha_codium.judge.call import CallKind
from alpha_codium.judge.checker_programs import CheckerProgram, CheckerProgramKind
from alpha_codium.judge.comparing import named_checker
from alpha_codium.judge.interactive import InteractiveKind, Interactor
from alpha_codium.judge.kinds import NotCompiled, TestKind
from alpha_codium.judge.rules import Rules
from alpha_codium.judge.stdin import StdinKind, own_file
from alpha_codium.languages.python.syntax import fault_in
from alpha_codium.limits import Limits, too_little_memory
from alpha_codium.problem import EXECUTION_KINDS, Problem, TestCase
from alpha_codium.program import PYTHON, Job, Program, as_program
from alpha_codium.sandbox import Sandbox
from alpha_codium.values import surrogate_in
from alpha_codium.verdict import Execution, Judgement, Status, TestResult, Verdict, judgement_of

# Statuses after which the next input runs; after a limit, it would probably cost as much again.
GOES_ON = (Status.FINISHED, Status.RUNTIME_ERROR)
# Known solutions of an interactive problem that are tried beside an interactor that failed.
MOST_KNOWN = 3
NO_PROGRAM = Execution(Status.COMPILATION_ERROR, stderr="there is no program")


@dataclass(frozen=True, slots=True)
class ProblemJudge:
    """Judges programs by one problem's kind of tests, limits and checker, on any tests of that kind.

    `kind` has the limits of Python programs.
    """

    problem: Problem
    kind: TestKind
    rules: Rules = field(default_factory=Rules)

    def kind_for(self, language: str) -> TestKind:
        """Return the kind of tests with the limits of programs in `language`."""
        if language == PYTHON:
            return self.kind
        return self.kind.with_limits(self.rules.limits_for(self.problem, language))

    async def judge(
        self, program: str | Program, tests: Sequence[TestCase], *, stop_early: bool | None = None
    ) -> Judgement:
        """Judge `program`, or the source of a Python program; with `stop_early`, only up to the first failure."""
        run = self.prepare(as_program(program), tests, stop_early=stop_early)
        if isinstance(run, Judgement):
            return run
        try:
            return run.judgement(await run.kind.results(run.program, run.runnable, stop_early=run.stop_early))
        except NotCompiled as error:
            return uncompiled(error.execution, len(tests))
        except Unjudgeable as reason:
            return unjudged(f"problem {self.problem.name!r}: {reason}", len(tests))

    def prepare(
        self, program: Program, tests: Sequence[TestCase], *, stop_early: bool | None = None
    ) -> "PreparedJudgement | Judgement":
        """Return what has to be run to judge a program; its judgement if nothing has."""
        if not tests:
            return Judgement(Verdict.NO_TESTS, message="there are no tests")
        if compilation := _not_compiled(program):
            return uncompiled(compilation, len(tests))
        limits = self.rules.limits_for(self.problem, program.language)
        if reason := self.kind.why_not(program.language) or too_little_memory(program.language, limits.memory_bytes):
            return unjudged(f"problem {self.problem.name!r}: {reason}", len(tests))
        faults = {place: fault for place, test in enumerate(tests) if (fault := self.kind.fault_of(test))}
        stop_early = self.rules.stop_on_first_failure if stop_early is None else stop_early
        return PreparedJudgement(program, self.kind_for(program.language), tests, faults, stop_early)

    async def execute(self, program: str | Program, input: str) -> Execution:
        """Run `program` once under the problem's limits, without comparing its output."""
        program = as_program(program)
        if compilation := _not_compiled(program):
            return compilation
        return await self.kind_for(program.language).execute(program, input)

    async def behaviour(self, program: str | Program, inputs: Sequence[str]) -> tuple[Behaviour, ...]:
        """Run `program` on inputs without expected outputs (for assertions, expressions).

        After a limit, the remaining inputs don't run, and get the same result.
        """
        program, found = as_program(program), list[Behaviour]()
        if compilation := _not_compiled(program):
            return (Behaviour(compilation.status, shown=self.kind.shown(compilation)),) * len(inputs)
        for text in inputs:
            found.append(await self.kind_for(program.language).behaviour(program, text))
            if found[-1].status not in GOES_ON:
                break
        return tuple(found + found[-1:] * (len(inputs) - len(found)))

    async def actual_output(self, program: str | Program, test: TestCase, execution: Execution) -> Behaviour:
        """Return what a program that failed `test` by this execution gave instead, as `shown`."""
        program = as_program(program)
        return await self.kind_for(program.language).actual_output(program, test, execution)


@dataclass(frozen=True, slots=True)
class PreparedJudgement:
    """A program and the tests to run it on; `faults` says by their indices why some are malformed, and not run."""

    program: Program
    kind: TestKind
    tests: Sequence[TestCase]
    faults: Mapping[int, str]
    stop_early: bool

    @property
    def runnable(self) -> list[TestCase]:
        """The tests that aren't malformed."""
        return [test for place, test in enumerate(self.tests) if place not in self.faults]

    def judgement(self, found: Sequence[TestResult]) -> Judgement:
        """Return the judgement by the results of `runnable`; with an early stop, of those up to the first failure."""
        total, limits = range(len(self.tests)), self.kind.limits
        places = (place for place in total if place not in self.faults)
        results = {place: _not_run(fault) for place, fault in self.faults.items()}
        results |= {place: _marked(result, limits) for place, result in zip(places, found, strict=False)}
        if not (self.stop_early and any(result.verdict is not Verdict.ACCEPTED for result in results.values())):
            results = dict.fromkeys(total, _not_run("the sandbox didn't run this test")) | results
        return judgement_of([results[place] for place in sorted(results)], len(self.tests))


def _marked(result: TestResult, limits: Limits) -> TestResult:
    """Return the result, with the names of the limits that the test was near."""
    used = result.execution
    near = limits.near(used.cpu_seconds, used.wall_seconds, used.max_rss_bytes)
    return replace(result, near_limit=near) if near and result.verdict is not Verdict.INTERNAL_ERROR else result


def _not_compiled(program: Program) -> Execution | None:
    """Return the execution of a compiler for a program that no compiler gets; None if one may."""
    if not program.source.strip():
        return NO_PROGRAM
    reason = surrogate_in(program.source)
    return Execution(Status.COMPILATION_ERROR, stderr=f"the program is {reason}") if reason else None


def _not_run(why: str) -> TestResult:
    return TestResult(Verdict.INTERNAL_ERROR, Execution(Status.INTERNAL_ERROR, stderr=why))


def unjudged(why: str, tests: int) -> Judgement:
    """Return the judgement of a program that can't be judged by so many tests."""
    return Judgement(Verdict.INTERNAL_ERROR, (_not_run(why),) * tests, tests, why, failed=0)


def uncompiled(compilation: Execution, tests: int) -> Judgement:
    """Return the judgement of a program that doesn't compile, by the compiler's execution."""
    verdict = Verdict(compilation.status.value)
    return Judgement(verdict, (TestResult(verdict, compilation),) * tests, tests, compilation.stderr, failed=0)


@dataclass(frozen=True, slots=True)
class Judge:
    """Judges programs by `rules` in `sandbox`."""

    sandbox: Sandbox
    rules: Rules = field(default_factory=Rules)

    def for_problem(self, problem: Problem) -> ProblemJudge:
        """Return the judge of one problem; raises Unjudgeable if its checker or kind of tests isn't supported."""
        try:
            kind = self._kind_of(problem)
        except UserError as error:
            raise Unjudgeable(f"problem {problem.name!r}: {error}") from error
        return ProblemJudge(problem, kind, self.rules)

    def _kind_of(self, problem: Problem) -> TestKind:
        limits, spec = self.rules.limits_for(problem), self.rules.execution_of(problem)
        if spec.language == PYTHON and (fault := fault_in(spec.setup_code)):
            raise Unjudgeable(f"its setup code isn't Python: {fault}")
        if spec.kind == "assertions":
            return (AssertionsKind if spec.language == PYTHON else AppendedKind)(self.sandbox, limits, spec)
        checker = self.rules.checker_for(problem)
        if spec.kind == "call":
            if not spec.entry_point.isidentifier():
                raise Unjudgeable(f"`entry_point` must be the name of the function to call, not {spec.entry_point!r}")
            if checker.name != CALL_RESULT:
                raise Unjudgeable(f"the checker {checker.name!r} compares what is printed, not what a call returns")
            return CallKind(self.sandbox, limits, named_checker(checker), spec)
        if spec.kind != "stdin":
            raise Unjudgeable(f"it has tests of the kind {spec.kind!r}: there are {', '.join(EXECUTION_KINDS)}")
        files = (own_file(problem.input_file), own_file(problem.output_file))
        if checker.name == INTERACTOR:
            if any(files):
                raise Unjudgeable("it has an interactor, but programs use files in place of stdin and stdout")
            known = tuple(Program.from_source(each.language, each.code) for each in problem.solutions[:MOST_KNOWN])
            return InteractiveKind(self.sandbox, limits, Interactor.of(checker.arguments), spec, known=known)
        if checker.name == PROGRAM:
            program = CheckerProgram.of(checker.arguments)
            return CheckerProgramKind(self.sandbox, limits, program, spec, *files)
        return StdinKind(self.sandbox, limits, named_checker(checker), spec, *files)


class Nowhere(Sandbox):
    """A sandbox that runs nothing, for what is known of tests without running them."""

    async def execute(self, job: Job) -> AsyncGenerator[Execution, None]:
        """See `Sandbox`; raises SandboxError."""
        raise SandboxError("there is no sandbox to run this program in")
        yield


def kind_of(problem: Problem, rules: Rules | None = None) -> TestKind:
    """Return the kind of a problem's tests, to ask it for what is known without running them; raises Unjudgeable."""
    return Judge(Nowhere(), rules or Rules()).for_problem(problem).kind
