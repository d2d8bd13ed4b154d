# expect: blocked or MLE/RE/TLE; memory that isn't counted in any address space: files in memory, segments, pipes, sockets
# machine: x86_64
import ctypes
import fcntl
import os
import socket

print("ran", flush=True)
libc = ctypes.CDLL(None, use_errno=True)
block, total, kept = b"x" * (1 << 20), 0, []
for kind in ("memfd", "shm", "pipe", "socket", "secret"):
    try:
        for _ in range(64):
            if kind == "memfd":
                kept.append(os.memfd_create("m"))
                for _ in range(16):
                    total += os.write(kept[-1], block)
            elif kind == "shm":
                segment = libc.shmget(0, 16 << 20, 0o1600)
                if segment < 0:
                    raise OSError(ctypes.get_errno(), "shmget")
                libc.shmat.restype = ctypes.c_void_p
                address = libc.shmat(segment, 0, 0)
                if address in (None, 2**64 - 1):
                    raise OSError("shmat")
                ctypes.memset(address, 1, 16 << 20)
                libc.shmdt(ctypes.c_void_p(address))
                total += 16 << 20
            elif kind == "pipe":
                reader, writer = os.pipe()
                kept += [reader, writer]
                fcntl.fcntl(writer, 1031, 1 << 20)
                os.set_blocking(writer, False)
                total += os.write(writer, block)
            elif kind == "socket":
                left, right = socket.socketpair()
                kept += [left, right]
                left.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 30)
                left.setblocking(False)
                total += left.send(block)
            else:
                secret = libc.syscall(447, 0)
                if secret < 0:
                    raise OSError("memfd_secret")
                os.ftruncate(secret, 16 << 20)
    except (OSError, MemoryError):
        pass
print(f"ESCAPED: {total >> 20} MB" if total > 600 << 20 else f"blocked at {total >> 20} MB")
