"""What came of running a program: executions from a sandbox, verdicts from the judge."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import ClassVar

from alpha_codium.values import JsonValue, Readers, many

# Where a verdict was decided.
OUTSIDE, IN_PROCESS = "outside", "in_process"


# Characters of an output that stay in a result.
KEPT = 1 << 16


class Status(StrEnum):
    """How one execution ended, as a sandbox sees it."""

    FINISHED = "finished"
    RUNTIME_ERROR = "runtime_error"
    TIME_LIMIT_EXCEEDED = "time_limit_exceeded"
    MEMORY_LIMIT_EXCEEDED = "memory_limit_exceeded"
    OUTPUT_LIMIT_EXCEEDED = "output_limit_exceeded"
    COMPILATION_ERROR = "compilation_error"
    SANDBOX_VIOLATION = "sandbox_violation"
    INTERNAL_ERROR = "internal_error"


class Verdict(StrEnum):
    """What the judge says of a test or of a candidate.

    `no_tests` is said of a candidate only: there was nothing to judge it by. It is never a pass.
    """

    ACCEPTED = "accepted"
    WRONG_ANSWER = "wrong_answer"
    RUNTIME_ERROR = "runtime_error"
    TIME_LIMIT_EXCEEDED = "time_limit_exceeded"
    MEMORY_LIMIT_EXCEEDED = "memory_limit_exceeded"
    OUTPUT_LIMIT_EXCEEDED = "output_limit_exceeded"
    COMPILATION_ERROR = "compilation_error"
    SANDBOX_VIOLATION = "sandbox_violation"
    INTERNAL_ERROR = "internal_error"
    NO_TESTS = "no_tests"


@dataclass(frozen=True, slots=True)
class Execution(JsonValue):
    """One run of a program on one input; `stdout` and `stderr` hold what fitted under the output limit.

    `exit_code` is None where a signal ended the program, and `signal` where none did. Bytes that are not UTF-8
    stand as U+FFFD.
    """

    readers: ClassVar[Readers] = {"status": Status}

    status: Status
    stdout: str = ""
    stderr: str = ""
    exit_code: int | None = None
    signal: int | None = None
    cpu_seconds: float = 0.0
    wall_seconds: float = 0.0
    max_rss_bytes: int = 0

    @property
    def finished(self) -> bool:
        """Whether the program came to its end, with the exit status 0."""
        return self.status is Status.FINISHED

    def shortened(self) -> "Execution":
        """This one with the beginning of its outputs only: a hundred of what a program may print fill a machine."""
        if len(self.stdout) <= KEPT and len(self.stderr) <= KEPT:
            return self
        return replace(self, stdout=self.stdout[:KEPT], stderr=self.stderr[-KEPT:])


@dataclass(frozen=True, slots=True)
class Report(JsonValue):
    """What a sandbox says of one program: did it compile, and one execution an input, in order.

    `executions` is shorter than the inputs where the caller stopped early; a program that doesn't compile has
    none.
    """

    readers: ClassVar[Readers] = {"compilation": Execution.from_json, "executions": many(Execution.from_json)}

    compilation: Execution
    executions: tuple[Execution, ...] = ()

    @property
    def compiled(self) -> bool:
        """Whether the program compiled."""
        return self.compilation.status is Status.FINISHED

    @property
    def last(self) -> Execution:
        """The last execution; that of the compiler if there is no other."""
        return self.executions[-1] if self.executions else self.compilation


@dataclass(frozen=True, slots=True)
class PairReport(JsonValue):
    """What a sandbox says of the two sides of a pair; each has one execution, if both compiled."""

    readers: ClassVar[Readers] = {"left": Report.from_json, "right": Report.from_json}

    left: Report
    right: Report


@dataclass(frozen=True, slots=True)
class Identity(JsonValue):
    """What verdicts depend on besides programs, tests and limits. Verdicts of two identities are never mixed.

    `version` is that of the backend, or of its runtime if it has one. `interpreter` includes the full version. `image`
    is a digest, empty without an image. `isolation` names the layers of isolation in use.
    """

    readers: ClassVar[Readers] = {"isolation": tuple}

    backend: str
    version: str
    interpreter: str
    image: str = ""
    isolation: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TestResult:
    """One test's verdict and the execution it was reached on.

    `trust` says where the verdict was decided: `outside` of the program's process, or `in_process`, where a program
    that tries to can forge it.
    """

    __test__ = False  # pytest takes what begins with Test for a test

    verdict: Verdict
    execution: Execution
    trust: str = OUTSIDE


@dataclass(frozen=True, slots=True)
class Judgement:
    """A candidate's verdict, and those of its tests in the dataset's order.

    Tests that were left out after an early stop are counted in `tests_total` and absent from `tests`.
    """

    verdict: Verdict
    tests: tuple[TestResult, ...] = ()
    tests_total: int = 0
    message: str = ""

    @property
    def accepted(self) -> bool:
        """Whether every test was passed, and there was one."""
        return self.verdict is Verdict.ACCEPTED

    @property
    def tests_passed(self) -> int:
        """The number of tests with the verdict accepted."""
        return sum(test.verdict is Verdict.ACCEPTED for test in self.tests)

    @property
    def trust(self) -> str:
        """`in_process` where a test's verdict was decided there, else `outside`."""
        return IN_PROCESS if any(test.trust == IN_PROCESS for test in self.tests) else OUTSIDE


def first_failure(verdicts: Iterable[Verdict]) -> Verdict:
    """A candidate's verdict: its first test's that is not accepted; `no_tests` where there is none."""
    overall = Verdict.NO_TESTS
    for verdict in verdicts:
        if verdict is not Verdict.ACCEPTED:
            return verdict
        overall = verdict
    return overall
