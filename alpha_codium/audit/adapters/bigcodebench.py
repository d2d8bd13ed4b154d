"""BigCodeBench: `pip install bigcodebench matplotlib`. Its form is a class of unittest; each test is a method of it."""

import bigcodebench.eval

# Its process for each program imports this, too: once is enough.
import matplotlib.pyplot  # noqa: F401

SECONDS = 8
MEGABYTES = 30 * 1024
HEAD = "import unittest\n\n\nclass TestCases(unittest.TestCase):\n"
METHOD = "    def test_{number}(self):\n        exec(compile({text!r}, 'test', 'exec'), globals())\n\n"

# It gives every task four minutes by default.
bigcodebench.eval.TIMEOUT_LIMIT = SECONDS


def grade_assertions(program, tests, function):
    """Whether its status is `pass`."""
    methods = "".join(METHOD.format(number=number, text=text) for number, text in enumerate(tests)) or "    pass\n"
    limits = {"max_as_limit": MEGABYTES, "max_data_limit": MEGABYTES, "max_stack_limit": 10}
    times = {"min_time_limit": SECONDS, "gt_time_limit": SECONDS}
    status, _ = bigcodebench.eval.untrusted_check(program, HEAD + methods, function, **limits, **times)
    return status == "pass"
