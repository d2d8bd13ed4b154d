# expect: blocked or killed: the runner's socket, memory and descriptors, and the nonce in it
# machine: x86_64
import ctypes
import os
import socket

print("ran", flush=True)
libc = ctypes.CDLL(None, use_errno=True)
got = []
for descriptor in range(3, 512):
    for flags in (0, socket.MSG_PEEK):
        buffer = ctypes.create_string_buffer(64)
        if libc.recv(descriptor, buffer, 64, flags | socket.MSG_DONTWAIT) >= 0:
            got.append(f"received from {descriptor}")
for pid in {1, os.getppid(), os.getpid() - 1}:
    for name in (
        "mem",
        "maps",
        "environ",
        "fd",
        "fd/3",
        "root",
        "cwd",
        "exe",
        "map_files",
        "task/1/mem",
        "ns/pid",
        "fdinfo",
    ):
        path = f"/proc/{pid}/{name}"
        try:
            if os.path.isdir(path):
                got += [path] if os.listdir(path) else []
            else:
                with open(path, "rb") as file:
                    got += [path] if file.read(10) else []
        except OSError:
            pass
try:
    stolen = libc.syscall(438, os.pidfd_open(1), 3, 0)
    got += ["pidfd_getfd"] if stolen >= 0 else []
except OSError:
    pass
print("ESCAPED: " + " ".join(got) if got else "blocked", flush=True)
if libc.syscall(101, 16, 1, 0, 0) == 0 or libc.syscall(101, 0x4206, 1, 0, 0) == 0:
    print("ESCAPED: ptrace of process 1")
