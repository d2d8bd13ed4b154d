# expect: blocked or killed: traced by its parent, a program would stop when the parent waits for its end
# machine: x86_64
import ctypes
import os
import signal

print("ran", flush=True)
libc = ctypes.CDLL(None, use_errno=True)
if libc.ptrace(0, 0, 0, 0) == 0:
    print("ESCAPED: traced", flush=True)
    os.kill(os.getpid(), signal.SIGTRAP)
    os.kill(os.getpid(), signal.SIGSTOP)
else:
    print("blocked", ctypes.get_errno())
