"""DeepMind's C++ sandbox as `code-contests-tester` wraps it; its wheel is for CPython 3.9 only.

The library folders are those that a program's interpreter needs inside the sandbox, which sees nothing else. On more
than one core numpy starts threads, which this sandbox forbids: so it is run on one.
"""

import os
import sys

SYSTEM = ("/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu", "/lib64")
_state = {}


def start(_options: "dict[str, str]") -> None:
    """Start the sandbox's fork server."""
    import code_contests_tester  # pyrefly: ignore - in the peer's environment only

    libraries = [sys.prefix, f"{sys.base_prefix}/lib", *filter(os.path.isdir, SYSTEM)]
    _state["sandbox"] = code_contests_tester.Py3TesterSandboxer(sys.executable, libraries)
    _state["options"] = code_contests_tester.TestOptions()
    _state["options"].num_threads = 1
    _state["options"].stop_on_first_failure = False


def run(programs: "list[str]", inputs: "list[str]", outputs: "list[str]") -> int:
    """Run each program on each input."""
    right = 0
    for program in programs:
        result = _state["sandbox"].test(program, inputs, _state["options"], outputs, str.__eq__)
        right += sum(bool(test.passed) for test in result.test_results)
    return right
