# expect: blocked or finishes; children with odd exit signals need __WALL to be reaped, and may not slay process 1
# machine: x86_64
import ctypes
import os

print("ran", flush=True)
libc = ctypes.CDLL(None, use_errno=True)
made = 0
for number in (0, 10, 12, 17, 34, 64):
    child = libc.syscall(56, number, 0, 0, 0, 0)
    if child == 0:
        # Outlives its parent, so that process 1 inherits it and is told of its end.
        for _ in range(10**6):
            pass
        libc._exit(0)
    made += child > 0
print("blocked" if not made else f"made {made}", flush=True)
os._exit(0)
