# expect: TLE/RE or finishes; the program's own seccomp filter, under which no call works, not even exit
# machine: x86_64
import ctypes
import struct

print("ran", flush=True)
libc = ctypes.CDLL(None, use_errno=True)
# Every call "succeeds" without being made.
code = struct.pack("HBBI", 0x06, 0, 0, 0x00050000)
program = ctypes.create_string_buffer(code, len(code))
header = struct.pack("H6xQ", 1, ctypes.addressof(program))
libc.prctl(38, 1, 0, 0, 0)
if libc.prctl(22, 2, ctypes.create_string_buffer(header, 16), 0, 0):
    print("blocked", ctypes.get_errno())
