"""In the program's place: runs the program and then the assertions, in one process.

For sandboxes without pairs, and for assertions that need objects of the program's own. stdin holds, as `codec` spells
it, `(token, task)`; last, the token, the outcome and what is said of it go to stdout, as those of `asserting`. Builtins
that the program replaced are put back. What it does besides is not kept out: a program that looks for the token finds
it, or returns an object that is equal to everything. A verdict from here says `in_process`.
"""

import builtins
import os
import sys

from alpha_codium.judge.codec import decode, encode
from alpha_codium.judge.drivers.loading import find, leave, load, set_stdout_aside, tell
from alpha_codium.judge.drivers.outcomes import crossing, text_of

TYPE_CHECKING = False  # as in typing, which takes long to import
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import CodeType
    from typing import Any


def run(program: "CodeType", execute: "Callable[..., Any]" = exec) -> None:
    """Run both, and say on stdout what came of it."""
    token, task = decode(sys.stdin.read())
    stdout = set_stdout_aside()
    tests, write, own = (
        compile(task["test_code"], "tests.py", "exec", dont_inherit=True),
        os.write,
        vars(builtins).copy(),
    )
    namespace: dict[str, Any] = {}
    outcome, failure = "raised", None
    try:
        namespace = load(program, task["setup_code"])
        vars(builtins).update(own)
        namespace["__name__"] = "__main__"
        outcome = "wrong"
        execute(tests, namespace)
        if task["calls_check"]:
            namespace["check"](find(namespace, task["entry_point"]))
        outcome = "passed"
    except Exception as error:  # noqa: BLE001 - however the assertions end, it is said
        if not isinstance(error, AssertionError):
            outcome = "raised"
        failure = text_of(error)
        tell(error)
    said = encode((failure, False, crossing(namespace.get(task["output_variable"]))))
    write(stdout, f"{token} {outcome} {said}\n".encode())
    leave(0 if outcome == "passed" else 1)


if "program" in globals():
    run(globals()["program"])
