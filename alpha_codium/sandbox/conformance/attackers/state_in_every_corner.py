# expect: finishes; no channel that outlives a process passes data to the next test or candidate
# machine: x86_64
import ctypes
import os
import socket

print("ran", flush=True)
libc = ctypes.CDLL(None, use_errno=True)
KEY = 0x6E63
seen = [name for name, number in {"shm": 29, "sem": 64}.items() if libc.syscall(number, KEY, 1, 0) >= 0]
if libc.msgget(KEY, 0) >= 0:
    seen.append("msg")
if libc.syscall(240, b"planted", 0, 0, 0) >= 0:
    seen.append("mqueue")
if socket.gethostname() == "planted":
    seen.append("host name")
if os.getpriority(os.PRIO_PROCESS, 0) or os.getpriority(os.PRIO_PROCESS, 1):
    seen.append("priority")
if os.umask(0) == 0o111:
    seen.append("umask")
if len(os.sched_getaffinity(0)) != len(os.sched_getaffinity(1)):
    seen.append("affinity")
listener = None
try:
    listener = socket.socket(socket.AF_UNIX)
    listener.connect("\0planted")
    seen.append("abstract socket")
except OSError:
    pass
print("ESCAPED: " + " ".join(seen) if seen else "clean")
libc.shmget(KEY, 1, 0o1777)
libc.semget(KEY, 1, 0o1777)
libc.msgget(KEY, 0o1777)
libc.syscall(240, b"planted", os.O_CREAT | os.O_RDWR, 0o777, 0)
os.umask(0o111)
for attempt in (
    lambda: os.sched_setaffinity(0, {0}),
    lambda: os.nice(5),
    lambda: (listener.bind("\0planted"), listener.listen()),
):
    try:
        attempt()
    except (OSError, AttributeError):
        pass
