"""What host and jail say to each other: messages of SOCK_SEQPACKET with the zygote, a stream with a runner.

host -> zygote   a candidate (marshalled), with [source, driver, runner's socket, stderr of the compilation]; RENEW
zygote -> host   READY, a byte each for Landlock, /proc and the number of grips on the scratch folder, with these grips;
                 STARTED with [pidfd of the runner]; ENDED and how; READY again where that folder was renewed
runner -> host   COMPILING, then COMPILED or NOT_COMPILED; a RESULT for each test
host -> runner   TEST with [stdin, stdout, stderr, maybe a link], and behind it the nonce
"""

import os
import struct

READY = b"Z"
RENEW = b"R"
STARTED = b"S"
ENDED = b"D"
COMPILING = b"C"
COMPILED = b"K"
NOT_COMPILED = b"X"
TEST = b"T"

NONCE_BYTES = 16
# The most that a message holds; `marshal` of the configuration is the longest.
MESSAGE_BYTES = 1 << 17
# nonce, wait status, CPU seconds, wall seconds, peak memory in KiB, processes
RESULT = struct.Struct("=16siddqi")
WAIT_STATUS = struct.Struct("=i")

# One file system for all that a program can write; a folder each for what are different places elsewhere. Without
# namespaces there are only the programs' folder and its file, somewhere on the host.
SCRATCH = "/scratch"
FOLDER = SCRATCH + "/box"
PROGRAM = "program.py"
BOX = "box"
DRIVER = "driver.py"
# Stands in a filter for the number of the process that installs it.
OWN_PROCESS = 0x5E1F5E1F
# The descriptor at which a process of a pair finds its end of the link.
LINK = 3
# How deep a module can recurse before the default limit: asked of a plain start and of ours.
DEPTH = """
def recurse(n):
    try:
        return recurse(n + 1)
    except RecursionError:
        return n
depth = recurse(0)
"""


def read_all(fd: int) -> bytes:
    """The whole of a file in memory."""
    return os.pread(fd, os.fstat(fd).st_size, 0)
