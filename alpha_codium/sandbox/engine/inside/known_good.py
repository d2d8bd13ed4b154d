"""Who is to blame for a program that can't be started: the smallest program that there is has to start in its place.

Standard library only; the agent of `portable` uses it, too.
"""

from __future__ import annotations

import os
import struct

# The exit status of a program that can't be started, as in a shell, and what stands on its stderr, with the reason.
REFUSED = 126
WHY = "can't be started: %s"
# By name of the machine: its number in an ELF header, and instructions that exit with 0.
MACHINES = {
    "x86_64": (62, bytes.fromhex("31ff b83c000000 0f05")),  # xor edi, edi; mov eax, 60; syscall
    "aarch64": (183, bytes.fromhex("000080d2 a80b80d2 010000d4")),  # mov x0, 0; mov x8, 93; svc 0
}
ADDRESS, PAGE = 0x400000, 1 << 12
HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
SEGMENT = struct.Struct("<IIQQQQQQ")


def image() -> bytes:
    """Return a static executable for this machine that exits with 0; raises KeyError for machines not listed here."""
    number, code = MACHINES[os.uname().machine]
    begin = HEADER.size + SEGMENT.size
    size, identity = begin + len(code), b"\x7fELF\2\1\1"
    header = HEADER.pack(
        identity, 2, number, 1, ADDRESS + begin, HEADER.size, 0, 0, HEADER.size, SEGMENT.size, 1, 0, 0, 0
    )
    return header + SEGMENT.pack(1, 5, 0, ADDRESS, ADDRESS, size, size, PAGE) + code


def starts() -> bool:
    """Whether this process, with its limits, can start a program of which nothing can be wrong."""
    file = os.memfd_create("known good")
    os.write(file, image())
    os.fchmod(file, 0o555)
    pid = os.fork()
    if pid == 0:
        try:
            os.execve(file, ["known good"], {})  # noqa: S606 - no shell is wanted
        finally:
            os._exit(REFUSED)
    os.close(file)
    return os.waitpid(pid, 0)[1] == 0
