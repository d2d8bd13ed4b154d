"""A driver that runs the program and then the assertions in one process.

For sandboxes without pairs, and for assertions that need the program's own objects. stdin and stdout are as in
`asserting`. Builtins that the program replaced are restored, but the program can still cheat, by finding the token or
returning an object that equals everything. So verdicts from here are marked `in_process`.
"""

import builtins
import os
import sys
from collections.abc import Callable
from types import CodeType
from typing import Any

from alpha_codium.judge.codec import decode, encode
from alpha_codium.judge.drivers.loading import exit_process, load, look_up, print_error, set_stdout_aside
from alpha_codium.judge.drivers.outcomes import crossing, text_of


def run(program: "CodeType", execute: "Callable[..., Any]" = exec) -> None:
    """Run both, and write the outcome to stdout."""
    token, task = decode(sys.stdin.read())
    stdout = set_stdout_aside()
    tests = compile(task["test_code"], "tests.py", "exec", dont_inherit=True)
    write, own = os.write, vars(builtins).copy()
    namespace: dict[str, Any] = {}
    outcome, failure = "raised", None
    try:
        namespace = load(program, task["setup_code"])
        vars(builtins).update(own)
        namespace["__name__"] = "__main__"
        for name in task["required"]:
            look_up(namespace, name)
        outcome = "wrong"
        execute(tests, namespace)
        if task["calls_check"]:
            namespace["check"](look_up(namespace, task["entry_point"]))
        outcome = "passed"
    except Exception as error:  # noqa: BLE001 - it is reported
        if not isinstance(error, AssertionError):
            outcome = "raised"
        failure = text_of(error)
        print_error(error)
    said = encode((failure, False, "", crossing(namespace.get(task["output_variable"]))))
    write(stdout, f"{token} {outcome} {said}\n".encode())
    exit_process(0 if outcome == "passed" else 1)


if "program" in globals():
    run(globals()["program"])
