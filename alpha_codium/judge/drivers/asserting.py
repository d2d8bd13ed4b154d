"""In the place of a program, on the left of a pair: runs assertions against proxies of the objects on the right.

1. stdin holds, as `codec` spells it, `(token, task)`; the program is the code with the assertions. The setup code runs
   and the modules are imported here, out of reach of the program under test; `names` come from that.
2. Calls and results cross as values of exact types (`codec`, `describing`), what a call does to its arguments comes
   back (`changes`), and functions and iterators of the assertions are lent to the program (`assertion_side`). What
   can't cross stays on the right, and a proxy stands for it here (`proxies`).
3. An exception of the program's is raised here: of Python's own class, or of one made here that has the same bases.
4. Last, the token, the outcome and `(text of the exception, whether the program was believed, output)` go to stdout.
   The outcome: `passed`, `wrong` (an assertion), `raised` (by the program), `ended` (the program has ended, or answered
   nonsense), `foreign` (an object of the program's had to be compared) or `unsupported` (the assertions pass what can't
   be lent). The last three stay, whatever the assertions catch.
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
    out, peer = set_stdout_aside(), LeftPeer(task["catches"], task["has_class"], task["classes"])
    outcome, said = outcome_of(peer, test_code, task)
    os.write(out, f"{token} {outcome} {encode(said)}\n".encode())
    exit_process(0 if outcome == "passed" else 1)


if "program" in globals():
    run(globals()["program"])
