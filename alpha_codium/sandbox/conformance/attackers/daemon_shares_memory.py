# expect: blocked or RE; a child that shares the program's memory ends it with status 0
# machine: x86_64
import ctypes
import os

print("ran", flush=True)
libc = ctypes.CDLL(None, use_errno=True)
stack = ctypes.create_string_buffer(1 << 20)
CLONE_VM, CLONE_FS, CLONE_FILES, CLONE_SIGHAND = 0x100, 0x200, 0x400, 0x800
libc.clone.argtypes = (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p)
forever = ctypes.cast(libc.pause, ctypes.c_void_p)
top = (ctypes.addressof(stack) + len(stack)) & ~0xFFF
child = libc.clone(forever, top, CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND, None)
print("blocked" if child < 0 else "made one", flush=True)
os._exit(7)
