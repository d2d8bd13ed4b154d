"""The driver of a pair's left side: runs the assertions against proxies of the objects on the right side.

1. stdin holds `(token, task)`, encoded by `codec`; the program is the code with the assertions. The setup code runs and
   the modules are imported here, out of the tested program's reach; `names` come from that program.
2. Arguments and results are sent as values of exact types (`codec`, `describing`), changes of arguments are sent back
   (`changes`), and functions and iterators of the assertions are lent to the program (`lending`). Other objects
   stay on the right; here they are represented by proxies (`proxies`).
3. An exception of the program is raised here with its class, if both sides have it, or with a new class that has the
   same bases (`exceptions`).
4. At the end, the token, the outcome and its details go to stdout: `(text of the exception, whether the program was
   believed, value that the program returned last before a failed assertion, value of the output variable)`. The outcome
   is `passed`, `wrong` (a failed assertion), `raised` (by the program), `ended` (the program ended, or sent an invalid
   answer), `foreign` (an object of the program had to be compared) or `unsupported` (the assertions pass an object that
   can't be lent). The last three can't be undone by catching an exception.
"""

import os
import sys
from types import CodeType

from alpha_codium.judge.codec import decode, encode
from alpha_codium.judge.drivers.assertion_side import LeftPeer
from alpha_codium.judge.drivers.loading import exit_process, set_stdout_aside
from alpha_codium.judge.drivers.outcomes import outcome_of


def run(test_code: "CodeType") -> None:
    """Run the assertions, and write the outcome to stdout."""
    token, task = decode(sys.stdin.read())
    out = set_stdout_aside()
    peer = LeftPeer(task["catches"], task["has_class"], task["classes"], task["imports"])
    if task["seeds"]:
        peer.follow_seeds()
    outcome, said = outcome_of(peer, test_code, task)
    os.write(out, f"{token} {outcome} {encode(said)}\n".encode())
    exit_process(0 if outcome == "passed" else 1)


if "program" in globals():
    run(globals()["program"])
