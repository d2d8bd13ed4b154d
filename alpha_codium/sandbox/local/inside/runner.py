"""The runner of one candidate: it compiles the program and forks a process for each test.

1. It has no rights: no capabilities, no new privileges, Landlock, seccomp. Tests inherit all of it.
2. Process 1 of its pid namespace: no signal from inside can end it, all that a test started can be killed at once,
   and what lost its parent becomes its child, so that its CPU time counts.
3. The nonce of an answer comes in the same stream, behind the request, and stays unread until all processes of the
   test are dead. None of them can have seen it, so none could have answered in our place.
"""

from __future__ import annotations

import _signal as signal  # pyrefly: ignore[missing-import] - the C module: `signal` loads enum
import _socket
import gc
import os
import resource
import sys
import time

from alpha_codium.sandbox.local.inside import jail, program, wire, zygote
from alpha_codium.sandbox.local.inside import kernel as k

# Ends the test that runs; only the host sends it, or a program that wants its own end.
END_TEST = signal.SIGUSR1
WALL = 0x40000000  # __WALL of linux/wait.h: children without SIGCHLD too


def serve(candidate: jail.Config, fds: list[int], config: jail.Config) -> program.Task:
    """Compile, then fork a test whenever the host asks; comes back in a test's process, with what to run."""
    source_fd, driver_fd, host_fd, errors_fd = fds
    source, driver = read_all(source_fd), read_all(driver_fd)
    write_program(config["program_folder"], source)
    os.dup2(errors_fd, 2)
    host_fd = keep_only(host_fd, config["landlock"])
    host = _socket.socket(fileno=host_fd)
    os.chdir(wire.FOLDER)
    limit(candidate)
    harden(candidate, config["landlock"])
    task = program.compile_all(source, driver)
    if task is None:
        host.send(wire.NOT_COMPILED)
        os._exit(0)
    task.warnings = read_all(2)
    gc.freeze()
    task.make_ready()
    resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    signal.signal(END_TEST, end_test)
    host.send(wire.COMPILED)
    memory_bytes = candidate["memory_bytes"] + config["own_bytes"]
    if not serve_tests(host, candidate["cpu_seconds"], memory_bytes, task.warnings):
        os._exit(0)
    if candidate["test_filter"]:
        k.install_filter(candidate["test_filter"])
    return task


def serve_tests(host: _socket.socket, cpu_seconds: int, memory_bytes: int, warnings: bytes) -> bool:
    """Fork a test for each message of the host: True in a test's process, False at the end."""
    pristine = jail.scratch_state()
    while True:
        message, fds = zygote.receive(host, 1)
        if message != wire.TEST:
            return False
        start = time.monotonic()
        pid = os.fork()
        if pid == 0:
            # Its number may be the link's now, which must not be closed with it.
            host.detach()
            become_test(fds, cpu_seconds, memory_bytes)
            if warnings:
                os.write(2, warnings)
            return True
        for fd in fds:
            os.close(fd)
        status, cpu, peak, processes = reap_all(pid)
        wall_seconds = time.monotonic() - start
        touched = jail.scratch_state() != pristine
        host.send(wire.RESULT.pack(host.recv(wire.NONCE_BYTES), status, cpu, wall_seconds, peak, processes, touched))


def read_all(fd: int) -> bytes:
    """The whole of a file in memory."""
    return os.pread(fd, os.fstat(fd).st_size, 0)


def write_program(folder: int, source: bytes) -> None:
    """Put the program where tracebacks and `inspect` look for it."""
    fd = os.open(wire.PROGRAM, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o444, dir_fd=folder)
    view = memoryview(source)
    while view:
        view = view[os.write(fd, view) :]
    os.close(fd)


def keep_only(host_fd: int, ruleset: int | None) -> int:
    """Close all descriptors but the host's socket, which becomes 3, and the rule set, which becomes 4."""
    high = os.dup(host_fd) if host_fd < 5 else host_fd
    if ruleset is not None:
        kept = os.dup(ruleset)
        os.dup2(high, 3, inheritable=False)
        os.dup2(kept, 4, inheritable=False)
        k.close_from(5)
    else:
        os.dup2(high, 3, inheritable=False)
        k.close_from(4)
    return 3


def limit(candidate: jail.Config) -> None:
    """The limits that all tests share, hard; those of the compilation, soft."""
    for name, value in candidate["rlimits"].items():
        resource.setrlimit(getattr(resource, name), (value, value))
    for name, value in candidate["compile_rlimits"].items():
        resource.setrlimit(getattr(resource, name), (value, resource.RLIM_INFINITY))


def harden(candidate: jail.Config, ruleset: int | None) -> None:
    """Give up everything, for good, in the order in which it can be given up."""
    k.drop_capabilities()
    k.prctl(k.PR_SET_NO_NEW_PRIVS, 1)
    k.prctl(k.PR_SET_DUMPABLE, 0)
    if ruleset is not None:
        k.landlock_restrict(4)
        os.close(4)
    k.install_filter(candidate["filter"])


def end_test(_number: int, _frame: object) -> None:
    """The host's clock says that it is time: kill every process of the test."""
    if os.getpid() != 1:
        raise SystemError("only process 1 of a pid namespace of its own may kill all")
    try:
        os.kill(-1, signal.SIGKILL)
    except ProcessLookupError:
        pass


def reap_all(pid: int) -> tuple[int, float, int, int]:
    """Wait until the test's first process ends, end what it left, and wait for that too.

    Gives its wait status, and of all together the CPU seconds, the largest peak (KiB), the number of processes.
    """
    status, cpu_seconds, peak, processes, options = 0, 0.0, 0, 0, WALL
    while True:
        try:
            ended, how, usage = os.wait4(-1, options)
        except ChildProcessError:
            return status, cpu_seconds, peak, processes
        if not ended:
            end_test(0, None)
            options = WALL
            continue
        if ended == pid:
            # Another one may get its number now.
            pid, status, options = -1, how, WALL | os.WNOHANG
        processes += 1
        cpu_seconds += usage.ru_utime + usage.ru_stime
        peak = max(peak, usage.ru_maxrss)


def become_test(fds: list[int], cpu_seconds: int, memory_bytes: int) -> None:
    """In the new process: its streams and nothing else open, its own limits, a session of its own."""
    for target, fd in enumerate(fds):
        os.dup2(fd, target)
    # Ours are below 64: nothing else was open when the program was compiled.
    os.closerange(len(fds), 64)
    os.setsid()
    signal.signal(END_TEST, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    resource.setrlimit(resource.RLIMIT_CPU, (cpu_seconds, cpu_seconds))
    resource.setrlimit(resource.RLIMIT_AS, (memory_bytes, memory_bytes))
    reseed()


def reseed() -> None:
    """Python seeds `random` anew in each process; numpy's generator would give every test the same numbers."""
    numpy_random = sys.modules.get("numpy.random")
    if numpy_random is not None:
        numpy_random.seed()
