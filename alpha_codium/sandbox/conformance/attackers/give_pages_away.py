# expect: TLE/RE or finishes; pages given to pipes and outputs by vmsplice, splice, tee and copies
# machine: x86_64
import ctypes
import mmap
import os

print("ran", flush=True)
libc = ctypes.CDLL(None, use_errno=True)
reader, writer = os.pipe()
page = mmap.mmap(-1, 4096)
page[:] = b"z" * 4096
vector = (ctypes.c_size_t * 2)(ctypes.addressof(ctypes.c_char.from_buffer(page)), 4096)
libc.syscall(278, writer, vector, 1, 8)
libc.syscall(275, reader, None, 1, None, 4096, 5)
libc.syscall(276, reader, writer, 4096, 2)
libc.syscall(278, 1, vector, 1, 8)
libc.syscall(326, 0, None, 1, None, 4096, 0)
libc.syscall(40, 1, 0, None, 4096)
libc.syscall(285, 1, 3, 4096, 4096)
libc.syscall(285, 1, 0, 1 << 40, 4096)
libc.syscall(16, 1, 0x40049409, 0)
page[:10] = b"w" * 10
