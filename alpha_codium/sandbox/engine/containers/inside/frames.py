"""What the host and an agent say to each other: frames, over the agent's stdin and stdout.

A frame is a header, with the number of the candidate that it is about, and so many bytes.

host -> agent    CONFIGURE with the configuration (marshalled); BEGIN with a candidate (marshalled); TEST with a byte
                 that says whether there is a link, and the input; END_TEST; KILL the runner; END of the candidate
agent -> host    READY with a byte a fact; `wire`'s COMPILING, then COMPILED, or NOT_COMPILED with why; HELD when all
                 of a large input is there; RESULT of a test with its outputs; GONE with its last words, where the
                 runner died; ENDED, after END, and how
both ways        LINK with what one end of a link read; TAKEN when it was written at the other, which may read on then;
                 CLOSED

The host takes nothing but numbers and bytes from here: a container that was broken out of can't do more than lie.
"""

import struct

CONFIGURE = b"F"
BEGIN = b"B"
TEST = b"T"
END_TEST = b"U"
KILL = b"Q"
END = b"E"
READY = b"Z"
HELD = b"H"
RESULT = b"R"
GONE = b"G"
ENDED = b"D"
LINK = b"L"
TAKEN = b"A"
CLOSED = b"O"

# kind, number of the candidate, bytes that follow
HEADER = struct.Struct("=cII")
# wait status, CPU seconds, wall seconds, peak memory in KiB, processes, whether folders were touched; the sizes of
# both outputs, and how much of each follows: the beginning of stdout, the end of stderr
OUTCOME = struct.Struct("=iddqi?QQII")
# Before the first frame: the size of the marshalled modules.
SIZE = struct.Struct("=I")
# The most that a link carries at once.
CHUNK = 1 << 16
STDERR_KEPT = 1 << 20
# An input from here on takes time to carry that is not the program's.
LARGE_INPUT = 1 << 20
