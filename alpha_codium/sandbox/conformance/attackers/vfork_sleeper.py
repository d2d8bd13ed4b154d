# expect: blocked or TLE; a parent that CLONE_VFORK suspends can't be woken, but must be killed
# machine: x86_64
import ctypes
import time

print("ran", flush=True)
libc = ctypes.CDLL(None, use_errno=True)
child = libc.syscall(56, 0x4000 | 17, 0, 0, 0, 0)
if child == 0:
    time.sleep(10**6)
print("blocked" if child < 0 else "ESCAPED: the child ended by itself")
