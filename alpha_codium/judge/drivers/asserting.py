"""In the place of a program, on the left of a pair: runs assertions against proxies of what is on the right.

1. stdin holds, as `codec` spells it, `(token, task)`; the program is the code with the assertions. The setup code and
   the modules are run and imported here, where the program under test can't touch them; `names` stand for what the
   program defines.
2. Calls and results cross as values of exact types (`codec`, `describing`), what a call does to its arguments comes
   back (`changes`), and functions and iterators of the assertions are lent to the program (`lending`). What can't cross
   stays on the right, and a proxy stands for it here (`left`, `proxies`).
3. An exception of the program's is raised here: of Python's own class, or of one made here that has the same bases.
4. Last, the token, the outcome and `(what was raised, whether the program was believed, output)` go to stdout. The
   outcome: `passed`, `wrong` (an assertion), `raised` (by the program), `ended` (the program was gone, or answered
   nonsense), `foreign` (an object of the program's had to be compared) or `unsupported` (the assertions pass what can't
   be lent). The last three stay, whatever the assertions catch.
"""

import os
import sys

from alpha_codium.judge.codec import decode, encode
from alpha_codium.judge.drivers.assertion_side import LeftPeer
from alpha_codium.judge.drivers.loading import leave, set_stdout_aside
from alpha_codium.judge.drivers.outcomes import outcome_of

TYPE_CHECKING = False  # as in typing, which takes long to import
if TYPE_CHECKING:
    from types import CodeType


def run(test_code: "CodeType") -> None:
    """Run the assertions, and say on stdout what came of it."""
    token, task = decode(sys.stdin.read())
    out, peer = set_stdout_aside(), LeftPeer(task["catches"], task["has_class"], task["classes"])
    outcome, said = outcome_of(peer, test_code, task)
    os.write(out, f"{token} {outcome} {encode(said)}\n".encode())
    leave(0 if outcome == "passed" else 1)


if "program" in globals():
    run(globals()["program"])
