"""The frames between the host and an agent, over the agent's stdin and stdout.

A frame is a header, with the number of its candidate, and data.

host -> agent    CONFIGURE with the configuration (marshalled); BEGIN with a candidate (marshalled); TEST with a byte
                 for whether there is a link, and the input; END_TEST; KILL the runner; END of the candidate
agent -> host    READY with a byte per fact; `wire`'s COMPILING, then COMPILED, or NOT_COMPILED with the reason; HELD
                 when a large input has been read; RESULT of a test with its outputs; GONE with stderr, if the runner
                 died; ENDED, after END, with its wait status
both ways        LINK with data that one end of a link read; TAKEN when the other end has written it, so that more can
                 be read; CLOSED

The host parses only numbers and bytes: even if a program took over the container, it could only send false results.
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
# Sent before the first frame: the size of the marshalled modules.
SIZE = struct.Struct("=I")
# The most bytes that a link carries at once.
CHUNK = 1 << 16
STDERR_KEPT = 1 << 20
# The time to send larger inputs isn't counted as the program's.
LARGE_INPUT = 1 << 20
