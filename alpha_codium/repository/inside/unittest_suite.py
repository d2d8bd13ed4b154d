"""The tests of the module or package `LABEL`, which unittest finds in `FOLDER`; Django's have a `load` of their own."""

from __future__ import annotations

import functools
import os
import unittest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

    Report = Callable[[str, str, str], None]

# Tracebacks leave out the frames of this module, as those of unittest.
__unittest = True
TESTS: dict[str, unittest.TestCase] = {}
SUITES: list[Any] = []
NOTHING = object()
LABEL = FOLDER = ""
compare = unittest.TestCase.assertEqual


@functools.wraps(compare)
def assert_equal(test: unittest.TestCase, first: Any, second: Any, msg: Any = None) -> None:
    """Refuse values that are equal to everything, as a program may return, before they are compared."""
    for value in (first, second):
        if equals_everything(value):
            raise test.failureException(f"a value of type {type(value).__name__} is equal to everything")
    compare(test, first, second, msg)


def equals_everything(value: Any) -> bool:
    """Whether a value is equal even to an object that was made just for this."""
    try:
        return bool(value == NOTHING)
    except Exception:
        return False


def load() -> None:
    """Load the tests."""
    os.chdir(FOLDER)
    remember(unittest.defaultTestLoader.loadTestsFromName(LABEL))


def remember(suite: unittest.TestSuite) -> None:
    """Make the tests of a suite known, in its order."""
    unittest.TestCase.assertEqual = assert_equal  # pyrefly: ignore[bad-assignment] - a function of the same form
    TESTS.clear()
    SUITES[:] = [suite]
    TESTS.update((test.id(), test) for test in flat(suite))


def flat(suite: Iterable[Any]) -> Iterator[unittest.TestCase]:
    """Yield the tests of a suite of suites."""
    for each in suite:
        yield from flat(each) if isinstance(each, unittest.TestSuite) else [each]


def run(names: list[str], report: Report, fail_fast: bool) -> None:
    """Run these tests in this order and report each: its name, status, and message; or until the first that fails."""
    suite = type(SUITES[0])([TESTS[name] for name in names if name in TESTS])
    reporter = Reporter(report)
    reporter.failfast = fail_fast
    suite.run(reporter)


def namespaces(names: list[str]) -> list[Any]:
    """Return what the classes of these tests define and inherit, which programs must not change."""
    kinds = {kind for name in names if name in TESTS for kind in type(TESTS[name]).__mro__}
    return [vars(kind) for kind in sorted(kinds, key=id)]


def fail_at_end(name: str) -> None:
    """Have a test fail after it has passed."""
    test = TESTS[name]
    method = getattr(test, test._testMethodName)

    def failing() -> None:
        method()
        raise AssertionError("failed on purpose")

    setattr(test, test._testMethodName, failing)


class Reporter(unittest.TestResult):
    """Reports each test once, with its first failure."""

    def __init__(self, report: Report) -> None:
        super().__init__()
        self.report, self.outcome = report, ("passed", "")

    def startTest(self, test: unittest.TestCase) -> None:
        """See `unittest.TestResult`."""
        super().startTest(test)
        self.outcome = ("passed", "")

    def stopTest(self, test: unittest.TestCase) -> None:
        """See `unittest.TestResult`."""
        super().stopTest(test)
        self.report(test.id(), *self.outcome)

    def addFailure(self, test: Any, err: Any) -> None:
        """See `unittest.TestResult`."""
        self.note("failed", self.shown(err, test))

    def addError(self, test: Any, err: Any) -> None:
        """See `unittest.TestResult`; a class or module whose fixtures fail has no tests that are started."""
        message = self.shown(err, test)
        if isinstance(test, unittest.TestCase):
            self.note("error", message)
        else:
            self.report(str(test), "error", message)

    def addSubTest(self, test: Any, subtest: Any, err: Any) -> None:
        """See `unittest.TestResult`."""
        if err is not None:
            self.note("failed", subtest._subDescription() + "\n" + self.shown(err, test))

    def addSkip(self, test: Any, reason: str) -> None:
        """See `unittest.TestResult`."""
        self.note("skipped", reason)

    def addExpectedFailure(self, test: Any, err: Any) -> None:
        """See `unittest.TestResult`."""
        self.note("passed", "")

    def addUnexpectedSuccess(self, test: Any) -> None:
        """See `unittest.TestResult`."""
        self.note("failed", "it passed, but is expected to fail")

    def shown(self, error: Any, test: Any) -> str:
        """Return a traceback without the frames of unittest."""
        return self._exc_info_to_string(error, test)  # pyrefly: ignore[missing-attribute] - no public function does it

    def note(self, status: str, message: str) -> None:
        """Keep the first outcome that isn't a success."""
        if self.outcome[0] == "passed":
            self.outcome = (status, message)
        if self.failfast and status in ("failed", "error"):
            self.stop()
