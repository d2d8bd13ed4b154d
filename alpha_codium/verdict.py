"""Results of running programs: executions from a sandbox, verdicts from the judge."""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import ClassVar

from alpha_codium.values import JsonValue, named

# The version of the judging rules: raised by every change that can change a verdict on some program. docs/runs.md lists
# what changed with each.
JUDGING_RULES = 2
# Where a verdict was decided, outside of the program's process or in it.
OUTSIDE, IN_PROCESS = "outside", "in_process"
# Characters of an output that a result keeps.
KEPT = 1 << 16


class Status(StrEnum):
    """How an execution ended, as reported by a sandbox."""

    FINISHED = "finished"
    RUNTIME_ERROR = "runtime_error"
    TIME_LIMIT_EXCEEDED = "time_limit_exceeded"
    MEMORY_LIMIT_EXCEEDED = "memory_limit_exceeded"
    OUTPUT_LIMIT_EXCEEDED = "output_limit_exceeded"
    COMPILATION_ERROR = "compilation_error"
    SANDBOX_VIOLATION = "sandbox_violation"
    INTERNAL_ERROR = "internal_error"


class Verdict(StrEnum):
    """The judge's verdict on a test or a candidate; `no_tests` is a candidate's only, and never a pass."""

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
    """One run of a program on one input; `stdout` and `stderr` are cut at the output limit.

    `exit_code` is None if a signal ended the program, `signal` if none did. Bytes that aren't UTF-8 become U+FFFD.
    """

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
        """Whether the program ended with exit status 0."""
        return self.status is Status.FINISHED

    def shortened(self) -> "Execution":
        """Return it with shortened outputs: the full outputs of a hundred tests could fill the memory."""
        if len(self.stdout) <= KEPT and len(self.stderr) <= KEPT:
            return self
        return replace(self, stdout=self.stdout[:KEPT], stderr=self.stderr[-KEPT:])


@dataclass(frozen=True, slots=True)
class Report(JsonValue):
    """A sandbox's report on one program: how compiling it ended, and one execution per input, in order.

    There are fewer executions if the caller stopped early, and none if the program doesn't compile.
    """

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
    """A sandbox's report on the two sides of a pair; each has one execution, if both compiled.

    `first` is the side of a dialogue that ended first, `left` or `right`.
    """

    optional: ClassVar[Sequence[str]] = ("first",)

    left: Report
    right: Report
    first: str = ""


@dataclass(frozen=True, slots=True)
class Identity(JsonValue):
    """What verdicts depend on besides the settings. Verdicts of two identities are never mixed.

    `version` is that of the backend, or of its runtime if it has one. `interpreter` includes the full version. `image`
    is a digest, or empty. `isolation` names the layers of isolation in use. `packages` are those that Python programs
    can import, as `NAME==VERSION`; they are empty if the image has them. `rules` is the version of the judging rules,
    which the judge adds: 0 if it isn't known.
    """

    optional: ClassVar[Sequence[str]] = ("packages", "rules")

    backend: str
    version: str
    interpreter: str
    image: str = ""
    isolation: tuple[str, ...] = ()
    packages: tuple[str, ...] = ()
    rules: int = 0

    @property
    def digest(self) -> str:
        """A short digest of all fields."""
        return hashlib.sha256(json.dumps(self.to_json(), sort_keys=True).encode()).hexdigest()[:16]

    @property
    def is_unsafe(self) -> bool:
        """Whether programs ran with the user's rights: `sandbox = false`."""
        return self.backend == "portable" and not self.isolation


@dataclass(frozen=True, slots=True)
class TestResult:
    """One test's verdict and the execution that it is based on.

    `trust` is where the verdict was decided: `outside` of the program's process, or `in_process`, where a program can
    forge it. `near_limit` names the limits, `cpu`, `wall` and `memory`, of which the test used between 80 % and 120 %:
    the machine's load may change the verdict.
    """

    __test__ = False  # for pytest, which collects classes called Test...

    verdict: Verdict
    execution: Execution
    trust: str = OUTSIDE
    near_limit: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Judgement(JsonValue):
    """A candidate's verdict, and those of its tests in the dataset's order.

    `tests_total` counts tests, too, that weren't run after an early stop and are missing in `tests`. `failed` is the
    index among all tests of the first that isn't accepted, None if there is none. `message` says why a program didn't
    compile, or why a test has the verdict `internal_error`.
    """

    in_json: ClassVar[Mapping[str, str]] = named("verdict", "tests_passed", "tests_total")

    verdict: Verdict
    tests: tuple[TestResult, ...] = ()
    tests_total: int = 0
    message: str = ""
    failed: int | None = None

    @property
    def accepted(self) -> bool:
        """Whether there are tests and all were passed."""
        return self.verdict is Verdict.ACCEPTED

    @property
    def judged(self) -> bool:
        """Whether there are tests and none of them got `internal_error`, which isn't the program's fault."""
        verdicts = {self.verdict, *(test.verdict for test in self.tests)}
        return not verdicts & {Verdict.INTERNAL_ERROR, Verdict.NO_TESTS}

    @property
    def tests_passed(self) -> int:
        """The number of tests with the verdict accepted."""
        return sum(test.verdict is Verdict.ACCEPTED for test in self.tests)

    @property
    def trust(self) -> str:
        """`in_process` if any test's verdict was decided there, else `outside`."""
        return IN_PROCESS if any(test.trust == IN_PROCESS for test in self.tests) else OUTSIDE


def first_failure(verdicts: Iterable[Verdict]) -> Verdict:
    """Return a candidate's verdict: that of its first test that isn't accepted; `no_tests` if there are none."""
    overall = Verdict.NO_TESTS
    for verdict in verdicts:
        if verdict is not Verdict.ACCEPTED:
            return verdict
        overall = verdict
    return overall


def judgement_of(results: Sequence[TestResult], total: int) -> Judgement:
    """Return the judgement by the results of the first of `total` tests, of which the others weren't run."""
    failed = next((place for place, result in enumerate(results) if result.verdict is not Verdict.ACCEPTED), None)
    lost = (result.execution.stderr for result in results if result.verdict is Verdict.INTERNAL_ERROR)
    verdict = first_failure(result.verdict for result in results)
    return Judgement(verdict, tuple(results), total, next(lost, ""), failed)
