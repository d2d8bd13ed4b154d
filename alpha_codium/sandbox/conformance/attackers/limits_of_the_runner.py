# expect: blocked: limits, priority, affinity and memory policy of process 1 and of the other workers stay
# machine: x86_64
import ctypes
import os
import resource

print("ran", flush=True)
done = []
limits = ("CPU", "NOFILE", "AS", "FSIZE", "NPROC", "DATA", "STACK", "RSS", "SIGPENDING")
for name in limits:
    try:
        resource.prlimit(1, getattr(resource, "RLIMIT_" + name), (0, 0))
        done.append(name)
    except (OSError, ValueError):
        pass
for name, attempt in {
    "affinity": lambda: os.sched_setaffinity(1, {0}),
    "scheduler": lambda: os.sched_setscheduler(1, os.SCHED_IDLE, os.sched_param(0)),
    "priority": lambda: os.setpriority(os.PRIO_PROCESS, 1, 19),
    "priority of group": lambda: os.setpriority(os.PRIO_PGRP, 1, 19),
    "group": lambda: os.setpgid(1, 0),
}.items():
    try:
        attempt()
        done.append(name)
    except OSError:
        pass
libc = ctypes.CDLL(None, use_errno=True)
if libc.syscall(251, 1, 1, 3 << 13) == 0:
    done.append("ioprio")
try:
    os.setpriority(os.PRIO_USER, 0, 19)
    done += ["priority of user"] if os.getpriority(os.PRIO_PROCESS, 1) == 19 else []
except OSError:
    pass
print("ESCAPED: " + " ".join(done) if done else "blocked")
