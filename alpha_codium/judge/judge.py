"""The judge: runs programs on tests in a sandbox and decides, outside of the program's process, what they did.

The kind of a problem's tests says how one runs a program and what is compared: see `kinds`, `by_program` and
`assertions`.
"""

from dataclasses import dataclass, field

from alpha_codium.checkers import PROGRAM, Checker, make_checker
from alpha_codium.errors import Unjudgeable, UserError
from alpha_codium.judge.assertions import AssertionsKind
from alpha_codium.judge.by_program import CheckerProgramKind
from alpha_codium.judge.call_result import call_result
from alpha_codium.judge.checker_program import CheckerProgram
from alpha_codium.judge.kinds import CallKind, StdinKind, TestKind
from alpha_codium.judge.order import FailureCounts
from alpha_codium.judge.problem_judge import ProblemJudge
from alpha_codium.judge.rules import Rules
from alpha_codium.judge.runner import Runner, size_of
from alpha_codium.problem import CheckerSpec, Problem
from alpha_codium.sandbox import Sandbox

# What a record may call its files where it means the streams.
STREAMS = ("", "stdin", "stdout", "standard input", "standard output")
# Names that stand in a program's folder already, and the bytes that a name may have.
TAKEN, LONGEST_NAME = ("program.py", "driver.py"), 255


@dataclass(frozen=True, slots=True)
class Judge:
    """Judges programs by `rules` in `sandbox`; `failures` counts, by problem, which tests failed programs so far."""

    sandbox: Sandbox
    rules: Rules = field(default_factory=Rules)
    failures: FailureCounts = field(default_factory=FailureCounts)

    def for_problem(self, problem: Problem) -> ProblemJudge:
        """The judge of one problem; raises Unjudgeable where its checker or its kind of tests isn't supported."""
        failures = self.failures if self.rules.test_order == "fails_soonest" else None
        try:
            kind = self._kind_of(problem)
        except UserError as error:
            raise Unjudgeable(f"problem {problem.name!r}: {error}") from error
        return ProblemJudge(problem.name, kind, self.rules.stop_on_first_failure, failures)

    def _kind_of(self, problem: Problem) -> TestKind:
        limits, spec = self.rules.limits_for(problem), self.rules.execution_of(problem)
        if spec.kind == "call":
            return CallKind(self.sandbox, limits, self._call_checker(problem), spec)
        if spec.kind == "assertions":
            return AssertionsKind(self.sandbox, limits, spec)
        if spec.kind != "stdin":
            raise Unjudgeable(f"it has tests of the kind {spec.kind!r}: there are stdin, call and assertions")
        files = (_own_file(problem.input_file), _own_file(problem.output_file))
        runner = Runner(self.sandbox, limits, spec.setup_code, *files)
        checker = self.rules.checker_for(problem)
        if checker.name == PROGRAM:
            return CheckerProgramKind(runner, CheckerProgram.of(checker.arguments))
        return StdinKind(runner, make_checker(checker))

    def _call_checker(self, problem: Problem) -> Checker:
        spec = problem.checker or CheckerSpec("call_result", {"abs": self.rules.delta, "rel": self.rules.delta})
        if spec.name != "call_result":
            raise Unjudgeable(f"the checker {spec.name!r} compares what is printed, not what a call returns")
        try:
            return call_result(**spec.arguments)
        except TypeError as error:
            raise Unjudgeable(f"the checker {spec.name!r} doesn't take {spec.arguments}: {error}") from error


def _own_file(name: str) -> str:
    """The file that a program uses in place of a stream; empty where it uses that. Raises Unjudgeable."""
    if name.strip().lower() in STREAMS:
        return ""
    if "/" in name or "\0" in name or name in (".", ".."):
        raise Unjudgeable(f"it uses the file {name!r}: only files in the program's own folder can be judged")
    if name in TAKEN:
        raise Unjudgeable(f"it uses the file {name!r}, which is a name of ours: give the file another one")
    if size_of(name) > LONGEST_NAME:
        raise Unjudgeable(f"it uses the file {name[:40]!r}...: a name may have {LONGEST_NAME} bytes at most")
    return name
