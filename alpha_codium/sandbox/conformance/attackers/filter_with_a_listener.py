# expect: blocked or TLE/RE; every call waits for a supervisor that never answers
# machine: x86_64
import ctypes
import os
import struct

print("ran", flush=True)
libc = ctypes.CDLL(None, use_errno=True)
code = struct.pack("HBBI", 0x06, 0, 0, 0x7FC00000)
program = ctypes.create_string_buffer(code, len(code))
header = ctypes.create_string_buffer(struct.pack("H6xQ", 1, ctypes.addressof(program)), 16)
libc.prctl(38, 1, 0, 0, 0)
if libc.syscall(317, 1, 8, header) < 0:
    print("blocked", ctypes.get_errno(), flush=True)
    os._exit(0)
os.getpid()
print("ESCAPED: a call got through")
