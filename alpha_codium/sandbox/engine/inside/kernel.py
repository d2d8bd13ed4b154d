"""System calls that Python doesn't provide, through ctypes, for Linux on x86-64 and arm64; all raise OSError.

Numbers and layouts are those of the kernel's uapi headers (linux/sched.h, mount.h, prctl.h, capability.h, landlock.h,
seccomp.h).
"""

from __future__ import annotations

import ctypes
import errno
import os
import struct

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any, Optional

    Text = Optional[str]

CLONE_NEWNS, CLONE_NEWCGROUP, CLONE_NEWUTS, CLONE_NEWIPC = 0x00020000, 0x02000000, 0x04000000, 0x08000000
CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNET = 0x10000000, 0x20000000, 0x40000000

MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_REMOUNT, MS_NOATIME = 1, 2, 4, 8, 32, 1024
MS_BIND, MS_REC, MS_PRIVATE = 4096, 16384, 1 << 18
MNT_DETACH = 2

PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_CAPBSET_DROP, PR_SET_CHILD_SUBREAPER = 1, 4, 24, 36
PR_SET_NO_NEW_PRIVS, PR_CAP_AMBIENT = 38, 47
AT_FDCWD, AT_RECURSIVE = -100, 0x8000
LAST_CAP = 63
CAPABILITY_VERSION_3 = 0x20080522
M_ARENA_MAX = -8

# Newer calls have one number on all machines.
ARM = os.uname().machine == "aarch64"
CAPSET, PIVOT_ROOT, SECCOMP = (91, 41, 277) if ARM else (126, 155, 317)
CLOSE_RANGE, MOUNT_SETATTR = 436, 442
LANDLOCK_CREATE_RULESET, LANDLOCK_ADD_RULE, LANDLOCK_RESTRICT_SELF = 444, 445, 446

READ_FILE, READ_DIR, WRITE_FILE, TRUNCATE = 1 << 2, 1 << 3, 1 << 1, 1 << 14
EXECUTE, MAKE_CHAR, MAKE_BLOCK, IOCTL_DEV = 1 << 0, 1 << 6, 1 << 11, 1 << 15
READ = READ_FILE | READ_DIR
CHANGE = ((1 << 15) - 1) & ~(EXECUTE | MAKE_CHAR | MAKE_BLOCK)

_libc = ctypes.CDLL(None, use_errno=True)
_libc.syscall.restype = ctypes.c_long
_libc.mount.argtypes = (ctypes.c_char_p, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_ulong, ctypes.c_char_p)
# Made before the forks, for all processes.
_no_capabilities = (
    ctypes.create_string_buffer(struct.pack("=Ii", CAPABILITY_VERSION_3, 0), 8),
    ctypes.create_string_buffer(24),
)
_libc.prctl.argtypes = (ctypes.c_int,) + (ctypes.c_ulong,) * 4


def _checked(result: int, what: str) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, "%s: %s" % (what, os.strerror(number)))
    return result


def _call(what: str, number: int, *arguments: Any) -> int:
    """A raw system call; integers are passed as longs."""
    values = [ctypes.c_long(a) if isinstance(a, int) else a for a in arguments]
    return _checked(_libc.syscall(ctypes.c_long(number), *values), what)


def unshare(flags: int) -> None:
    """Move to new namespaces, given by `flags`."""
    _checked(_libc.unshare(ctypes.c_int(flags)), "unshare %#x" % flags)


def setns(fd: int, flag: int) -> None:
    """Join the namespace of `fd`."""
    _checked(_libc.setns(ctypes.c_int(fd), ctypes.c_int(flag)), "setns")


def prctl(option: int, *arguments: int) -> int:
    """Call prctl for this process."""
    values = list(arguments) + [0] * (4 - len(arguments))
    return _checked(_libc.prctl(option, *values), "prctl %d" % option)


def mount(source: str, target: str, kind: Text = None, flags: int = 0, data: Text = None) -> None:
    """Mount `source` at `target`; texts are encoded as file names."""
    texts = [None if text is None else os.fsencode(text) for text in (source, target, kind, data)]
    _checked(_libc.mount(texts[0], texts[1], texts[2], flags, texts[3]), "mount %s at %s" % (source, target))


def unmount(target: str) -> None:
    """Unmount now; processes that still use the mount keep it."""
    _checked(_libc.umount2(os.fsencode(target), MNT_DETACH), "unmount %s" % target)


def make_read_only(target: str, *, devices: bool = False) -> None:
    """Make a mount and those below it read-only, without set-uid programs, and without `devices` (Linux 5.12)."""
    flags = MS_RDONLY | MS_NOSUID | (0 if devices else MS_NODEV)
    attributes = ctypes.create_string_buffer(struct.pack("=QQQQ", flags, 0, 0, 0), 32)
    path = ctypes.c_char_p(os.fsencode(target))
    _call("mount_setattr %s" % target, MOUNT_SETATTR, AT_FDCWD, path, AT_RECURSIVE, attributes, 32)


def pivot_root(folder: str) -> None:
    """Make the mount at `folder` the root, and unmount the old one."""
    os.chdir(folder)
    here = ctypes.c_char_p(b".")
    _call("pivot_root", PIVOT_ROOT, here, here)
    unmount(".")
    os.chdir("/")


def forbid_capabilities(keep: int = -1) -> None:
    """Prevent any program that is started later from getting a capability but `keep`; this process keeps its own."""
    for capability in range(LAST_CAP + 1):
        try:
            if capability != keep:
                prctl(PR_CAPBSET_DROP, capability)
        except OSError as error:
            if error.errno == errno.EINVAL:
                break
            raise
    prctl(PR_CAP_AMBIENT, 4)


def drop_capabilities() -> None:
    """Give up all capabilities."""
    _call("capset", CAPSET, *_no_capabilities)


def warm_up() -> None:
    """Load the parts of ctypes that system calls need, before the forks."""
    try:
        _call("none", -1, ctypes.c_char_p(b""), 0)
    except OSError:
        pass
    drop = ctypes.create_string_buffer(24)
    ctypes.addressof(drop)


def close_from(first: int) -> None:
    """Close every descriptor from `first` on."""
    _call("close_range", CLOSE_RANGE, first, ctypes.c_uint(0xFFFFFFFF), 0)


def filter_of(program: bytes) -> tuple[Any, Any]:
    """Return a seccomp filter (an array of sock_filter) as the kernel expects it, and the code it points to."""
    code = ctypes.create_string_buffer(program, len(program))
    return ctypes.create_string_buffer(struct.pack("=H6xQ", len(program) // 8, ctypes.addressof(code)), 16), code


def install_filter(made: tuple[Any, Any]) -> None:
    """Install a filter of `filter_of` for this thread and its children; needs no_new_privs."""
    _call("seccomp", SECCOMP, 1, 0, made[0])


def landlock_version() -> int:
    """Return the version of Landlock's interface, 0 if there is none."""
    try:
        return _call("landlock", LANDLOCK_CREATE_RULESET, None, 0, 1)
    except OSError:
        return 0


def landlock_rules(rules: Iterable[tuple[str, int]]) -> int:
    """Return a descriptor of a rule set of (path, access); what no rule allows is forbidden, TCP too."""
    version = landlock_version()
    handled = (1 << 13) - 1
    for since, access in ((2, 1 << 13), (3, TRUNCATE), (5, IOCTL_DEV)):
        handled |= access if version >= since else 0
    attributes = struct.pack("=QQQ", handled, 3 if version >= 4 else 0, 3 if version >= 6 else 0)
    size = 24 if version >= 6 else 16 if version >= 4 else 8
    ruleset = _call("landlock", LANDLOCK_CREATE_RULESET, ctypes.create_string_buffer(attributes, 24), size, 0)
    for path, access in rules:
        fd = os.open(path, os.O_PATH | os.O_CLOEXEC)
        rule = ctypes.create_string_buffer(struct.pack("=Qi", access & handled, fd), 12)
        _call("landlock rule", LANDLOCK_ADD_RULE, ruleset, 1, rule, 0)
        os.close(fd)
    return ruleset


def landlock_restrict(ruleset: int) -> None:
    """Put this thread and its children under a rule set; needs no_new_privs."""
    _call("landlock_restrict_self", LANDLOCK_RESTRICT_SELF, ruleset, 0)


def give_back() -> None:
    """Return freed memory to the kernel, so that a fork doesn't copy it."""
    _libc.malloc_trim(0)


def hide_command_line(shown: bytes) -> None:
    """Replace what /proc shows as our command line, for our children too, if /proc is there."""
    try:
        with open("/proc/self/stat", "rb") as file:
            start, end = map(int, file.read().rpartition(b")")[2].split()[45:47])
    except (OSError, ValueError):
        return
    if 0 < start < end:
        ctypes.memmove(start, shown[: end - start].ljust(end - start, b"\0"), end - start)


def limit_threads(stack_size: int) -> None:
    """Set the default stack size of threads, which glibc would take from our stack limit, and use a single heap.

    A separate heap for each thread would take 64 MiB of a test's address space.
    """
    _libc.mallopt(M_ARENA_MAX, 1)
    attributes = ctypes.create_string_buffer(64)
    _libc.pthread_attr_init(attributes)
    _libc.pthread_attr_setstacksize(attributes, ctypes.c_size_t(stack_size))
    _libc.pthread_setattr_default_np(attributes)
