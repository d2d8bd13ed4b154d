"""In the program's place, on the right of a pair: does what the assertions on the left ask of the program.

1. stdin holds the setup code, as `codec` spells it. The program runs whole before the first request is read.
2. The first request is `load` with the names that are wanted: the answer has those that there are, or the exception
   that the program raised while it ran. Others are those of `OPERATIONS`; see `peer`.
3. What `codec` refuses stays here, and a number stands for it on the left.

The program can do and answer what it likes on this side: it can't make more of it than values on the left.
"""

import sys

from alpha_codium.judge.codec import decode
from alpha_codium.judge.drivers.channel import Gone
from alpha_codium.judge.drivers.loading import leave
from alpha_codium.judge.drivers.program_side import RightPeer, loader

TYPE_CHECKING = False  # as in typing, which takes long to import
if TYPE_CHECKING:
    from types import CodeType


def serve(program: "CodeType") -> None:
    """Load the program, then answer until the left side is gone."""
    peer = RightPeer(loader(program, decode(sys.stdin.read())))
    while True:
        try:
            message = peer.receive()
        except Gone:
            leave(0)
        peer.take(message[0], list(message[1:]), (), {})


if "program" in globals():
    serve(globals()["program"])
