# expect: finishes; flags, locks and leases on the standard streams must not reach the reader or the next test
import fcntl
import os
import struct

print("ran", flush=True)
for descriptor in (0, 1, 2):
    for function in (
        lambda fd: fcntl.fcntl(fd, fcntl.F_SETFL, os.O_NONBLOCK | os.O_APPEND | os.O_DIRECT | 0o20000),
        lambda fd: fcntl.fcntl(fd, fcntl.F_SETLEASE, fcntl.F_RDLCK),
        lambda fd: fcntl.fcntl(fd, fcntl.F_SETLEASE, fcntl.F_WRLCK),
        lambda fd: fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB),
        lambda fd: fcntl.lockf(fd, fcntl.LOCK_EX | fcntl.LOCK_NB),
        lambda fd: fcntl.fcntl(fd, 37, struct.pack("hhqqi4x", fcntl.F_WRLCK, 0, 0, 0, 0)),
        lambda fd: fcntl.fcntl(fd, 1033, 0x1F),
        lambda fd: fcntl.fcntl(fd, 1031, 1 << 20),
        lambda fd: fcntl.fcntl(fd, 1036, struct.pack("q", 5)),
        lambda fd: os.set_blocking(fd, False),
        lambda fd: os.fchmod(fd, 0),
    ):
        try:
            function(descriptor)
        except OSError:
            pass
print("done")
