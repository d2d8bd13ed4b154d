"""The filter under the kernel: what really becomes of a process that makes a call."""

import ctypes
import errno
import fcntl
import os
import platform
import resource
import signal
import socket
import struct
import termios
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from alpha_codium.sandbox.engine.policy import FICLONE
from alpha_codium.sandbox.engine.seccomp import build_filter
from alpha_codium.sandbox.engine.syscalls import MACHINES, numbers_of

# What follows installs filters.

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
SECCOMP_CALL = {"x86_64": 317, "aarch64": 277}
PR_SET_NO_NEW_PRIVS = 38
NUMBERS = numbers_of(platform.machine()) if platform.machine() in MACHINES else {}

needs_seccomp = pytest.mark.skipif(
    not Path("/proc/sys/kernel/seccomp").exists() or not NUMBERS, reason="this kernel has no seccomp filters"
)


def install(program: bytes) -> None:
    code = ctypes.create_string_buffer(program, len(program))
    header = ctypes.create_string_buffer(struct.pack("=H6xQ", len(program) // 8, ctypes.addressof(code)), 16)
    assert libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
    assert libc.syscall(SECCOMP_CALL[platform.machine()], 1, 0, header) == 0, ctypes.get_errno()


def under_filter(action: Callable[[], object], processes: bool = True) -> str:
    """What comes of an action under the filter: "ok", an errno's name, or "killed"; in a forked child."""
    program = build_filter(platform.machine(), processes=processes)
    receiver, sender = os.pipe()
    child = os.fork()
    if not child:
        answer = b"failed"
        try:
            install(program)
            action()
            answer = b"ok"
        except OSError as error:
            answer = errno.errorcode[error.errno or 0].encode()
        finally:
            os.write(sender, answer)
            os._exit(0)
    os.close(sender)
    with os.fdopen(receiver, "rb") as answers:
        said = answers.read().decode()
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        assert os.WTERMSIG(status) == signal.SIGSYS
        return "killed"
    return said


def call(name_or_number: str | int, *arguments: int) -> Callable[[], None]:
    """A raw call, as an action that raises OSError."""
    number = NUMBERS.get(name_or_number, 0) if isinstance(name_or_number, str) else name_or_number

    def action() -> None:
        values = [ctypes.c_long(argument) for argument in arguments]
        if libc.syscall(ctypes.c_long(number), *values) < 0:
            raise OSError(ctypes.get_errno(), "")

    return action


def fork_and_wait() -> None:
    child = os.fork()
    if not child:
        os._exit(0)
    os.waitpid(child, 0)


def run_a_thread() -> None:
    try:
        thread = threading.Thread(target=os.getpid)
        thread.start()
        thread.join()
    except RuntimeError as error:
        raise OSError(errno.EAGAIN, "") from error


def pass_a_message() -> None:
    with_left, with_right = socket.socketpair()
    with_left.sendall(b"x")
    assert with_right.recv(1) == b"x"
    with_left.shutdown(socket.SHUT_WR)


def raise_a_limit_of_the_parent() -> None:
    resource.prlimit(os.getppid(), resource.RLIMIT_CORE, (0, 0))


OUTCOMES = [
    (os.getpid, "ok"),
    (fork_and_wait, "ok"),
    (run_a_thread, "ok"),
    (pass_a_message, "ok"),
    (lambda: resource.getrlimit(resource.RLIMIT_AS), "ok"),
    (lambda: Path("/").stat(), "ok"),
    (lambda: os.kill(os.getpid(), 0), "ok"),
    (lambda: fcntl.fcntl(0, fcntl.F_GETFL), "ok"),
    (lambda: fcntl.fcntl(0, fcntl.F_SETOWN, os.getpid()), "EPERM"),
    (lambda: fcntl.fcntl(0, 1031, 4096), "EPERM"),
    (lambda: fcntl.ioctl(0, termios.TIOCSTI, b"x"), "ENOTTY"),
    (lambda: fcntl.ioctl(0, FICLONE, 1), errno.errorcode[errno.EOPNOTSUPP]),
    (lambda: os.execv("/bin/true", ["true"]), "EACCES"),
    (socket.socket, "EACCES"),
    (lambda: socket.socket(socket.AF_UNIX), "EACCES"),
    (lambda: socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM), "EACCES"),
    (lambda: os.memfd_create("x"), "ok"),
    (lambda: os.nice(0), "ok"),
    (lambda: os.setpriority(os.PRIO_PROCESS, 0, 5), "ok"),
    (lambda: os.setpriority(os.PRIO_PROCESS, 0, -5), "EACCES"),
    (lambda: os.setpriority(os.PRIO_PGRP, 0, 5), "EPERM"),
    (lambda: os.sched_setaffinity(0, os.sched_getaffinity(0)), "ok"),
    (lambda: os.sched_setaffinity(1, {0}), "EPERM"),
    (lambda: os.fsync(0), "ok"),
    (lambda: os.posix_fadvise(0, 0, 0, os.POSIX_FADV_DONTNEED), "ok"),
    (lambda: os.preadv(0, [bytearray(1)], 0, os.RWF_NOWAIT), errno.errorcode[errno.EOPNOTSUPP]),
    (lambda: os.preadv(os.open("/dev/zero", os.O_RDONLY), [bytearray(1)], 0), "ok"),
    (lambda: os.setuid(1), "EPERM"),
    (lambda: os.mkfifo("/tmp/gencode-never"), "EPERM"),
    (raise_a_limit_of_the_parent, "EPERM"),
    (call("prctl", 4, 1), "EPERM"),
    (call("clone3"), "ENOSYS"),
    (call(451), "ENOSYS"),
    (call("clone", 0x8000 | signal.SIGCHLD), "EPERM"),
    (call("personality", 0xFFFFFFFF), "ok"),
    (call("personality", 0x0040000), "EPERM"),
    (call("clone", 0x10000000 | signal.SIGCHLD), "killed"),
    (call("unshare", 0x10000000), "killed"),
    (call("mount"), "killed"),
    (call("ptrace"), "killed"),
    (call("io_uring_setup", 8), "killed"),
    (call("keyctl", 0, -3, 1), "killed"),
]


@needs_seccomp
@pytest.mark.parametrize(("action", "outcome"), OUTCOMES, ids=range(len(OUTCOMES)))
def test_the_kernel_decides_as_the_policy_says(action, outcome):
    assert under_filter(action) == outcome


@needs_seccomp
def test_without_processes_the_kernel_starts_threads_and_no_forks():
    assert under_filter(run_a_thread, processes=False) == "ok"
    assert under_filter(fork_and_wait, processes=False) == "EAGAIN"


@needs_seccomp
@pytest.mark.skipif(platform.machine() != "x86_64", reason="x32 is of x86-64")
def test_the_kernel_ends_a_process_that_makes_an_x32_call():
    assert under_filter(call(0x40000000 | 39)) == "killed"
