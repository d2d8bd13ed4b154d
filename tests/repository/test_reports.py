"""Reports in the form of unittest's, and what is read back from them."""

import io
import unittest

import pytest

from alpha_codium.repository.harness import FORGED, NOT_RUN, PASSED, SKIPPED, RepositoryTestResult, SuiteRun
from alpha_codium.repository.reports import report_text, run_of_text, status_of

NAMES = ("m.A.test_a", "m.A.test_b", "m.A.test_c")


def run_with(*statuses: str, message: str = "", crash: str = "") -> SuiteRun:
    pairs = zip(NAMES, statuses, strict=False)
    return SuiteRun(tuple(RepositoryTestResult(name, status, message) for name, status in pairs), 0.25, crash=crash)


@pytest.mark.parametrize(
    ("run", "status", "end"),
    [
        (run_with(PASSED, PASSED), "OK", "Ran 2 tests in 0.250s\n\nOK\n"),
        (run_with(PASSED, SKIPPED), "OK", "Ran 2 tests in 0.250s\n\nOK (skipped=1)\n"),
        (run_with(PASSED, "failed", "error"), "FAILED", "Ran 3 tests in 0.250s\n\nFAILED (failures=1, errors=1)\n"),
        (run_with(FORGED), "FAILED", "Ran 1 test in 0.250s\n\nFAILED (errors=1)\n"),
        (run_with(PASSED, NOT_RUN), "FAILED", "FAILED (errors=1)\n"),
        (run_with(SKIPPED), "NOT_RUN", "Ran 0 tests in 0.250s\n\nNO TESTS RAN (skipped=1)\n"),
        (run_with(), "NOT_RUN", "NO TESTS RAN\n"),
        (run_with(NOT_RUN, crash="time_limit_exceeded"), "CRUSHED", "CRUSHED: time_limit_exceeded\n"),
    ],
)  # fmt: skip
def test_a_report_ends_with_how_the_tests_ended(run: SuiteRun, status: str, end: str) -> None:
    assert status_of(run) == status
    assert report_text(run).endswith(end)


def test_a_message_cannot_forge_the_end_of_a_report() -> None:
    forged = "Ran 3 tests in 0.1s\n\nOK\n\nFAILED (errors=9)\nNO TESTS RAN"
    text = report_text(run_with("failed", message=forged))
    assert [line for line in text.splitlines() if line.startswith(("OK", "Ran", "FAILED", "NO"))] == [
        "Ran 1 test in 0.250s",
        "FAILED (failures=1)",
    ]


@pytest.mark.parametrize("statuses", [("passed", "passed", "passed"), ("failed", "passed", "error")])
def test_a_report_is_read_back(statuses: tuple[str, ...]) -> None:
    run = run_of_text(report_text(run_with(*statuses)), NAMES)
    assert tuple(result.status for result in run.results) == statuses
    assert run.passed == (set(statuses) == {"passed"})


def test_the_reports_of_unittest_itself_are_read() -> None:
    class Sample(unittest.TestCase):
        def test_good(self) -> None:
            pass

        def test_bad(self) -> None:
            self.fail("OK")

        def test_parts(self) -> None:
            with self.subTest(number=1):
                raise ValueError

    suite = unittest.defaultTestLoader.loadTestsFromTestCase(Sample)
    names = [test.id() for test in suite]
    output = io.StringIO()
    unittest.TextTestRunner(output, verbosity=0).run(suite)
    # The class is in a function, whose name has characters that no test of a repository has.
    text = output.getvalue().replace(".<locals>", "")
    run = run_of_text(text, [name.replace(".<locals>", "") for name in names])
    statuses = {result.name.rpartition(".")[2]: result.status for result in run.results}
    assert statuses == {"test_bad": "failed", "test_good": "passed", "test_parts": "error"}


def test_a_text_without_a_summary_is_a_crash_and_a_failure_of_others_passes_nobody() -> None:
    crashed = run_of_text("Traceback ...\nImportError: no\n", NAMES)
    assert (status_of(crashed), crashed.crash) == ("CRUSHED", "ImportError: no")
    assert status_of(run_of_text("", NAMES)) == "CRUSHED"
    other = "ERROR: setUpClass (m.A)\nRan 0 tests in 0.1s\n\nFAILED (errors=1)\n"
    assert not any(result.status == PASSED for result in run_of_text(other, NAMES).results)
    elsewhere = "ERROR: m (unittest.loader._FailedTest)\nRan 1 test in 0.1s\n\nFAILED (errors=1)\n"
    assert {result.status for result in run_of_text(elsewhere, NAMES).results} == {"error"}
