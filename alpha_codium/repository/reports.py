"""Results as a text in the form of unittest's own reports, which clients of other benchmarks read, and back."""

import re
from collections import Counter
from collections.abc import Sequence
from enum import StrEnum

from alpha_codium.repository.harness import NOT_RUN, PASSED, SKIPPED, RepositoryTestResult, SuiteRun

RULE, THIN_RULE = "=" * 70, "-" * 70
# The lines of a report that say how the tests ended; a program may print such lines, too.
SUMMARY = re.compile(r"^(?=OK|Ran \d|FAILED|NO TESTS RAN)", re.MULTILINE)
RAN = re.compile(r"^Ran (\d+) tests? in .*\n+(OK|FAILED|NO TESTS RAN)", re.MULTILINE)
# The name of a test and its class, as in `FAIL: test_a (module.Class.test_a)`, or without `.test_a` in older versions.
HEADING = re.compile(r"^(FAIL|ERROR): (\S+) \(([^()\s]+)\)", re.MULTILINE)


class RunStatus(StrEnum):
    """How the tests of an edit ended. With `CRUSHED`, the process ended before it could report."""

    OK = "OK"
    FAILED = "FAILED"
    NOT_RUN = "NOT_RUN"
    CRUSHED = "CRUSHED"


def status_of(run: SuiteRun) -> RunStatus:
    """Return how the tests ended."""
    if run.crash:
        return RunStatus.CRUSHED
    if run.passed:
        return RunStatus.OK
    return RunStatus.NOT_RUN if {each.status for each in run.results} <= {NOT_RUN, SKIPPED} else RunStatus.FAILED


def report_text(run: SuiteRun) -> str:
    """Return the results as unittest reports them; a crash has no summary."""
    if run.crash:
        return f"{RunStatus.CRUSHED}: {run.crash}\n"
    parts = [_failure(each) for each in run.results if each.status not in (PASSED, SKIPPED)]
    return "".join([*parts, f"{THIN_RULE}\n{_summary(run)}\n"])


def _failure(result: RepositoryTestResult) -> str:
    kind = "FAIL" if result.status == "failed" else "ERROR"
    message = SUMMARY.sub("| ", result.message).strip() or f"the test's outcome is {result.status}"
    short = result.name.rpartition("::")[2].rpartition(".")[2]
    return f"{RULE}\n{kind}: {short} ({result.name})\n{THIN_RULE}\n{message}\n\n"


def _summary(run: SuiteRun) -> str:
    count = Counter(each.status for each in run.results)
    failures, ran = count["failed"], len(run.results)
    errors = ran - failures - count[PASSED] - count[SKIPPED]
    numbers = {"failures": failures, "errors": errors, "skipped": count[SKIPPED]}
    status = status_of(run)
    if status is RunStatus.NOT_RUN:
        status, ran = "NO TESTS RAN", 0
    shown = ", ".join(f"{name}={number}" for name, number in numbers.items() if number)
    tests = "test" if ran == 1 else "tests"
    return f"Ran {ran} {tests} in {run.cpu_seconds:.3f}s\n\n{status}" + (f" ({shown})" if shown else "")


def run_of_text(text: str, tests: Sequence[str]) -> SuiteRun:
    """Return the results of these tests that a report tells, as far as it does.

    Unless it says that all passed, the tests that aren't named in it passed only if another one is named.
    """
    found = list(RAN.finditer(text))
    if not found:
        crash = text.strip().splitlines()[-1:] or ["there is no report"]
        return SuiteRun(tuple(RepositoryTestResult(name, NOT_RUN) for name in tests), 0.0, crash=crash[0])
    count, end = int(found[-1][1]), found[-1][2]
    failed = {name: kind for kind, method, place in HEADING.findall(text) for name in (place, f"{place}.{method}")}
    named = [name for name in tests if name in failed]
    others = PASSED if end == "OK" or named else "error"
    if not count or end == "NO TESTS RAN":
        others = NOT_RUN
    statuses = {"FAIL": "failed", "ERROR": "error"}
    results = (
        RepositoryTestResult(name, statuses[failed[name]], text)
        if name in failed
        else RepositoryTestResult(name, others, "" if others == PASSED else text)
        for name in tests
    )
    return SuiteRun(tuple(results), 0.0)
