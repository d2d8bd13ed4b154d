# expect: blocked or killed: calls that reach further into the kernel than any program needs
# machine: x86_64
import ctypes
import os

print("ran", flush=True)
libc = ctypes.CDLL(None, use_errno=True)
buffer = ctypes.create_string_buffer(4096)
CALLS = {
    "mount": (165, b"none", b".", b"tmpfs", 0, None), "umount": (166, b"/proc", 2), "pivot_root": (155, b".", b"."),
    "unshare user": (272, 0x10000000), "unshare mount": (272, 0x20000), "setns": (308, 0, 0), "fsopen": (430, b"tmpfs", 0),
    "open_tree": (428, -100, b"/", 1), "mount_setattr": (442, -100, b"/", 0, buffer, 32), "acct": (163, None),
    "sethostname": (170, b"planted", 7), "kcmp": (312, 1, os.getpid(), 0, 0, 0), "fanotify": (300, 0, 0),
    "syslog": (103, 3, buffer, 100), "swapoff": (168, b"/x"), "iopl": (172, 3), "ioperm": (173, 0x80, 1, 1),
    "modify_ldt": (154, 1, buffer, 16), "memfd_secret": (447, 0), "process_madvise": (440, 0, buffer, 1, 4, 0),
    "migrate_pages": (256, 1, 8, buffer, buffer), "move_pages": (279, 1, 0, 0, 0, 0, 0), "lookup_dcookie": (212, 0, buffer, 9),
    "name_to_handle": (303, -100, b"/", buffer, buffer, 0), "add_key": (248, b"user", b"k", b"v", 1, -3),
    "inotify": (294, 0), "socket netlink": (41, 16, 3, 0), "socket packet": (41, 17, 3, 0), "socket inet": (41, 2, 1, 0),
    "socket vsock": (41, 40, 1, 0), "socket alg": (41, 38, 5, 0), "mknod": (133, b"device", 0o20666, 0x103),
    "setuid": (105, 0), "setresuid": (117, 0, 0, 0), "io_uring": (425, 8, buffer), "userfaultfd": (323, 1),
    "perf": (298, buffer, 0, -1, -1, 0), "bpf": (321, 0, buffer, 48),
}  # fmt: skip
done = []
for name, (number, *arguments) in CALLS.items():
    # In a child where there may be one, for some of them kill.
    try:
        child = os.fork()
    except OSError:
        child = 0
        if name in ("mount", "unshare user"):
            continue
    if child == 0:
        result = libc.syscall(number, *arguments)
        if result >= 0 and not (number == 105 and os.getuid()):
            done.append(name)
        if os.getpid() != os.getpgrp():
            os._exit(bool(done))
    elif os.WEXITSTATUS(os.waitpid(child, 0)[1]) == 1:
        done.append(name)
print("ESCAPED: " + " ".join(done) if done else "blocked")
