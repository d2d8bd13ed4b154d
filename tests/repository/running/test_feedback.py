"""What a model is told about tests."""

from alpha_codium.repository.harness import RepositoryTestResult, SuiteRun
from alpha_codium.repository.running.feedback import CUT, feedback_of, relevant
from tests.repository.shop import SOURCE, task_of_shop

TASK = task_of_shop("Sale.net", ())
TRACE = """Traceback (most recent call last):
  File "/tree/test_prices.py", line 9, in test_net
    self.assertEqual(net(), 1)
    ^^^^^^^^
  File "/lib/one.py", line 1, in one
    two()
  File "/lib/two.py", line 1, in two
    net()
  File "/tree/shop/prices.py", line 40, in net
    raise KeyError
  File "/lib/three.py", line 1, in three
    fail()
  File "/lib/end.py", line 1, in fail
    raise ValueError
ValueError: no
"""


def run(*results: RepositoryTestResult, crash: str = "", swapped: bool = False) -> SuiteRun:
    return SuiteRun(results, 0.0, swapped, crash)


def test_only_tests_that_did_not_pass_are_told_and_equal_messages_once() -> None:
    results = [RepositoryTestResult(name, "failed", "3 != 4") for name in ("a", "b")]
    passed = RepositoryTestResult("c", "passed"), RepositoryTestResult("d", "skipped", "not today")
    text = feedback_of(run(*results, *passed, RepositoryTestResult("e", "error", "KeyError")), TASK, 1000)
    assert text == "a, b: failed\n3 != 4\n\ne: error\nKeyError"


def test_a_traceback_keeps_the_test_the_edited_file_and_the_place_of_the_error() -> None:
    assert (
        relevant(TRACE, "shop/prices.py")
        == """Traceback (most recent call last):
  File "/tree/test_prices.py", line 9, in test_net
    self.assertEqual(net(), 1)
    ^^^^^^^^
  ...
  File "/tree/shop/prices.py", line 40, in net
    raise KeyError
  ...
  File "/lib/end.py", line 1, in fail
    raise ValueError
ValueError: no
"""
    )


def test_the_end_of_a_long_text_is_kept() -> None:
    text = feedback_of(run(RepositoryTestResult("a", "failed", "x" * 50 + "end")), TASK, 10)
    assert text == CUT + "xxxxxxxend"


def test_a_crash_is_told() -> None:
    text = feedback_of(run(RepositoryTestResult("a", "not_run"), crash="time_limit_exceeded"), TASK, 1000)
    assert text == "a: not_run\n\nThe process of the tests ended early: time_limit_exceeded"


def test_other_functions_of_the_edited_file_are_shown_as_they_are_in_the_repository() -> None:
    line = next(number for number, text in enumerate(SOURCE.splitlines(), 1) if "return cls(0)" in text)
    message = f'  File "/tree/shop/prices.py", line {line}, in free\n    an = "other line"\n    ~~~\nKeyError\n'
    right = f'  File "/tree/shop/prices.py", line {line}, in free\n    return cls(0)\nKeyError'
    result = RepositoryTestResult("a", "error", message)
    assert feedback_of(run(result, swapped=True), TASK, 1000) == f"a: error\n{right}"
    assert feedback_of(run(result), TASK, 1000) == f"a: error\n{message.rstrip()}", "all of the file was loaded"
