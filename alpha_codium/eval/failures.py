"""What a person needs to see why a program failed: its first failing test, in shortened texts."""

import difflib
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from alpha_codium.judge.behaviour import DRIVER_LINES
from alpha_codium.judge.judge import ProblemJudge
from alpha_codium.problem import TestCase
from alpha_codium.program import PYTHON
from alpha_codium.values import JsonValue, Readers
from alpha_codium.verdict import Judgement, Verdict

# The most characters of a text, and those before the first difference of two outputs.
KEPT, BEFORE = 800, 200
LIMITED = (Verdict.TIME_LIMIT_EXCEEDED, Verdict.MEMORY_LIMIT_EXCEEDED)
NO_FAILURE = (Verdict.ACCEPTED, Verdict.INTERNAL_ERROR, Verdict.NO_TESTS)


@dataclass(frozen=True, slots=True)
class Failure(JsonValue):
    """The first failing test of a program; `test` is its index among all tests, None if the program doesn't compile.

    `actual` is what the program printed or, for calls and assertions, the value that it returned last. `assertion` is
    the one that failed. `stderr` is the end of what was written there. Longer texts are cut to 800
    characters, outputs to the part where they differ. `used` says what the test used of its limits if it exceeded one.
    """

    optional: ClassVar[tuple[str, ...]] = ("input", "expected", "actual", "assertion", "stderr", "used")
    readers: ClassVar[Readers] = dict.fromkeys(("input", "expected", "actual", "assertion", "stderr"), sys.intern)

    test: int | None
    verdict: Verdict
    input: str = ""
    expected: str = ""
    actual: str = ""
    assertion: str = ""
    stderr: str = ""
    exit_code: int | None = None
    signal: int | None = None
    used: str = ""

    def lines(self, total: int, which: str = "") -> Iterator[str]:
        """The failure as lines for people; `total` is the number of tests, and `which` says which they are."""
        if self.test is not None:
            test = f"{which} test".strip()
            yield f"first failing {test}: number {self.test + 1} of {total}, {self.verdict.value}"
        yield from [f"used {self.used}"] if self.used else ()
        if self.assertion:
            yield from _section("failing assertion", self.assertion)
            yield from _section("value", self.actual)
        elif self.test is not None:
            compared = self.expected or self.actual
            # Tests with assertions have long inputs, and a traceback says more.
            yield from _section("input", self.input if compared or not self.stderr else "")
            if compared:
                yield "difference (- expected, + actual):"
                yield from self._difference()
        how = f" ({self.ending})" if self.ending else ""
        if self.stderr or not self.used:
            yield from _section(f"end of stderr{how}", self.stderr or "(nothing)")

    @property
    def last_line(self) -> str:
        """The last line of stderr, which names an exception of Python."""
        return self.stderr.strip().rpartition("\n")[2]

    @property
    def ending(self) -> str:
        """How the program ended: its exit status, if that isn't 0, or the signal; empty for others."""
        if self.signal:
            return f"signal {self.signal}"
        return f"exit status {self.exit_code}" if self.exit_code else ""

    def _difference(self) -> Iterator[str]:
        expected, actual = self.expected.splitlines(), self.actual.splitlines()
        lines = list(difflib.ndiff(expected, actual)) if expected != actual else [f"  {line}" for line in expected]
        yield from (f"  {line.rstrip()}" for line in lines if not line.startswith("?"))


def failure_of(
    judge: ProblemJudge, tests: Sequence[TestCase], judgement: Judgement, language: str = PYTHON
) -> Failure | None:
    """Return why a program in `language` failed `tests`, or None if it didn't."""
    if judgement.verdict in NO_FAILURE or judgement.failed is None or not judgement.tests:
        return None
    result = next(test for test in judgement.tests if test.verdict is not Verdict.ACCEPTED)
    execution, test = result.execution, tests[judgement.failed]
    stderr = shortened_end(DRIVER_LINES.sub("", execution.stderr))
    ended = {"exit_code": execution.exit_code, "signal": execution.signal}
    if result.verdict is Verdict.COMPILATION_ERROR:
        return Failure(None, result.verdict, stderr=stderr, **ended)
    assertion = shortened(judge.kind.failed_assertion(test, execution))
    expected, actual = around_difference(test.output, judge.kind.given(result))
    given = shortened(test.input)
    amounts = (execution.cpu_seconds, execution.wall_seconds, execution.max_rss_bytes)
    limits = judge.kind_for(language).limits
    used = limits.use(*amounts) if result.verdict in LIMITED else ""
    if result.verdict is Verdict.MEMORY_LIMIT_EXCEEDED and execution.max_rss_bytes < limits.memory_bytes / 2:
        used += ", and asked for more than there was"
    return Failure(judgement.failed, result.verdict, given, expected, actual, assertion, stderr, used=used, **ended)


def around_difference(expected: str, actual: str) -> tuple[str, str]:
    """Return two outputs, shortened to the part around their first difference."""
    if len(expected) <= KEPT and len(actual) <= KEPT:
        return shortened(expected), shortened(actual)
    pairs = enumerate(zip(expected, actual, strict=False))
    first = next((place for place, (one, other) in pairs if one != other), min(len(expected), len(actual)))
    start = max(0, expected.rfind("\n", 0, max(0, first - BEFORE)) + 1)
    start = start if first - start < KEPT else first - BEFORE
    return shortened(expected, start), shortened(actual, start)


def shortened(text: str, start: int = 0) -> str:
    """Return a part of a text, with the number of characters left out; it can be encoded."""
    before = f"[{start} characters]..." if start else ""
    after = f"...[{len(text) - start - KEPT} characters]" if len(text) - start > KEPT else ""
    return _encodable(before + text[start : start + KEPT] + after)


def shortened_end(text: str) -> str:
    """Return the end of a text, with the number of characters left out; it can be encoded."""
    left_out = len(text) - KEPT
    return _encodable(text if left_out <= 0 else f"[{left_out} characters]...{text[-KEPT:]}")


def _encodable(text: str) -> str:
    # Programs that fail the same test share its texts.
    return sys.intern(text.encode("utf-8", "replace").decode("utf-8"))


def _section(title: str, text: str) -> Iterator[str]:
    if text:
        yield f"{title}:"
        yield from (f"  {line}" for line in text.splitlines())
