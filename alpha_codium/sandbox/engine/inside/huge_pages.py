"""The interpreter's code in huge pages of memory, where the kernel has them.

After a fork, a process maps the code that it executes anew, 64 KiB at each page fault; what is in memory is shared with
one entry for two megabytes. That is a sixth of the CPU time of a short test.
"""

from __future__ import annotations

import ctypes

PATH = "/sys/kernel/mm/transparent_hugepage/"
READ, WRITE, EXECUTE = 1, 2, 4
PRIVATE_MEMORY, ADVISE_HUGE, MOVE_THERE = 0x22, 14, 3
FAILED = (1 << 64) - 1

_libc = ctypes.CDLL(None, use_errno=True)
_libc.mmap.restype = _libc.mremap.restype = ctypes.c_void_p
_libc.mmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t) + (ctypes.c_int,) * 3 + (ctypes.c_long,)
_libc.mremap.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_size_t, ctypes.c_int, ctypes.c_void_p)
_libc.mprotect.argtypes = _libc.madvise.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
_libc.munmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t)


def hold_code() -> bool:
    """Move the whole huge pages of the interpreter's code and constants into memory; return whether it was possible.

    No other thread may run.
    """
    try:
        with open(PATH + "enabled") as file:
            enabled = file.read()
        with open(PATH + "hpage_pmd_size") as file:
            size = int(file.read())
        start, end = code_of_interpreter()
        start, end = -(-start // size) * size, end // size * size
        return "[never]" not in enabled and start < end and move(start, end - start, size)
    except (OSError, ValueError):
        return False


def code_of_interpreter() -> tuple[int, int]:
    """Return where the interpreter's file is mapped without a right to write: its first address, and that after it."""
    within = ctypes.cast(ctypes.pythonapi.Py_GetVersion, ctypes.c_void_p).value or 0
    first, after, file = 0, 0, ""
    with open("/proc/self/maps") as maps:
        for line in maps:
            where, rights, _, _, inode = line.split()[:5]
            start, end = (int(each, 16) for each in where.split("-"))
            if "w" in rights or inode != file or start != after:
                if first <= within < after:
                    break
                first, file = start, inode
            after = end if "w" not in rights and inode != "0" else 0
    if not first <= within < after:
        raise OSError("the interpreter isn't mapped from a file")
    return first, after


def move(start: int, length: int, size: int) -> bool:
    """Replace mapped code by a copy in huge pages of `size` bytes; return whether there were enough of them."""
    room = _libc.mmap(None, length + size, READ | WRITE, PRIVATE_MEMORY, -1, 0)
    if room is None or room == FAILED:
        return False
    copy = -(-room // size) * size
    _libc.madvise(copy, length, ADVISE_HUGE)
    ctypes.memmove(copy, start, length)
    # Small pages would cost each fork more than they save.
    moved = huge_bytes(copy) >= length and _libc.mprotect(copy, length, READ | EXECUTE) == 0
    moved = moved and _libc.mremap(copy, length, length, MOVE_THERE, start) == start
    if not moved:
        _libc.munmap(copy, length)
    for first, after in ((room, copy), (copy + length, room + length + size)):
        if first < after:
            _libc.munmap(first, after - first)
    return moved


def huge_bytes(address: int) -> int:
    """Return how much of the mapping that begins at `address` is in huge pages; 0 if the kernel doesn't tell."""
    try:
        maps = open("/proc/self/smaps")
    except OSError:
        return 0
    with maps:
        found = False
        for line in maps:
            if "-" in line.split(" ", 1)[0]:
                found = int(line.split("-", 1)[0], 16) == address
            elif found and line.startswith("AnonHugePages:"):
                return int(line.split()[1]) << 10
    return 0
