# expect: TLE/RE or finishes; a changed personality is gone for the next test
# machine: x86_64
import ctypes

print("ran", flush=True)
libc = ctypes.CDLL(None, use_errno=True)
before = libc.syscall(135, 0xFFFFFFFF)
if before not in (-1, 0):
    print("ESCAPED: personality of another test", hex(before))
for flags in (0x0400000, 0x0040000, 0x0008 | 0x0020000, 0x4000000):
    libc.syscall(135, flags)
