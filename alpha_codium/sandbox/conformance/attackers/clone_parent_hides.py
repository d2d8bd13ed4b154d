# expect: blocked or RE; a sibling made by CLONE_PARENT succeeds, and must not be mistaken for the program, which fails
# machine: x86_64
import ctypes
import os

print("ran", flush=True)
CLONE_PARENT = 0x8000
libc = ctypes.CDLL(None, use_errno=True)
sibling = libc.syscall(56, CLONE_PARENT | 17, 0, 0, 0, 0)
if sibling == 0:
    libc._exit(0)
if sibling < 0:
    print("blocked", ctypes.get_errno(), flush=True)
    os._exit(7)
os._exit(7)
