"""The messages between host and jail: over SOCK_SEQPACKET with the zygote, over a stream with a runner.

host -> zygote   a candidate (marshalled), with [source, driver, runner's socket, stderr of the compilation]; RENEW
zygote -> host   READY, a byte each for Landlock, /proc and the number of descriptors of the scratch folder, and these;
                 STARTED with [pidfd of the runner]; ENDED with its wait status; READY again after RENEW
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
# The size of the longest message, the configuration.
MESSAGE_BYTES = 1 << 17
# nonce, wait status, CPU seconds, wall seconds, peak memory in KiB, processes
RESULT = struct.Struct("=16siddqi")
WAIT_STATUS = struct.Struct("=i")

# One file system for all that a program can write. Without namespaces there is only the programs' folder, somewhere on
# the host.
SCRATCH = "/scratch"
FOLDER = SCRATCH + "/box"
PROGRAM = "program.py"
BOX = "box"
DRIVER = "driver.py"
# A placeholder in a filter for the process id of the process that installs it.
OWN_PROCESS = 0x5E1F5E1F
# The beginning of the error if a workspace's script fails.
WARM_UP_FAILED = "the workspace's script failed"
# The descriptor at which a process of a pair finds its end of the link.
LINK = 3
# Code that measures how deep a module can recurse within the default limit, run in a plain interpreter and in ours.
DEPTH = """
def recurse(n):
    try:
        return recurse(n + 1)
    except RecursionError:
        return n
depth = recurse(0)
"""


def write_all(fd: int, data: bytes) -> None:
    """Write all of `data`."""
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]


def read_all(fd: int) -> bytes:
    """Return the contents of a file in memory."""
    return os.pread(fd, os.fstat(fd).st_size, 0)
