# expect: TLE/RE or finishes; process 1 survives every signal, sent by every system call
# machine: x86_64
import ctypes
import os
import signal

print("ran", flush=True)
libc = ctypes.CDLL(None, use_errno=True)
for number in range(1, 65):
    if number == signal.SIGUSR1:
        continue  # see signal_storm.py
    for target in {1, os.getppid()}:
        libc.syscall(62, target, number)
        libc.syscall(200, target, number)
        libc.syscall(234, target, target, number)
        info = (ctypes.c_int * 32)(number, 0, -1, 0, 0)
        libc.syscall(129, target, number, info)
        libc.syscall(297, target, target, number, info)
try:
    grip = os.pidfd_open(1)
    for number in (signal.SIGKILL, signal.SIGTERM, signal.SIGSEGV, signal.SIGSTOP):
        signal.pidfd_send_signal(grip, number)
except OSError:
    pass
print("done")
