"""A helper process that runs other programs under limits, one at a time. Standard library only; run as a script.

It is small and started by exec, so that what it forks starts clean: a child's peak memory would otherwise hold that
of the whole of gencode. Jobs come on stdin and results go to stdout, each a line of JSON with the lengths of the
bytes that follow it.

1. fork, own session, rlimits, exec: nothing of ours runs in the child after that.
2. Input is a file, as on contest judges: programs that ask for its size (`os.read(0, os.fstat(0).st_size)`) get none
   of it from a pipe. Output above its limit ends the program; of stderr the end is kept and the rest dropped.
3. The end is noticed without reaping (so the number can't be given to another), all that is left is killed, and only
   then is everything reaped, with what it used.
4. No job comes while one is run, so whatever happens on stdin then is its end: gencode is gone, and so are we. What
   runs dies with us.
"""

import ctypes
import fcntl
import json
import os
import resource
import select
import signal
import sys
import tempfile
import time
from typing import BinaryIO

STDERR_KEPT = 64 * 1024
CHUNK = 1 << 16
EXEC_FAILED = 127
HOST = 0
# A program's end of the channel of a pair, if it has one.
CHANNEL = 3
# Where a child that can't become the program says why.
TROUBLE = 4
PR_SET_PDEATHSIG = 1
LIBC = ctypes.CDLL(None)
# We or Python ignore these, and what is ignored stays so across exec.
SIGNALS = (signal.SIGINT, signal.SIGPIPE, signal.SIGXFSZ)


def serve(jobs: BinaryIO, results: BinaryIO) -> None:
    """Run jobs until their stream ends."""
    while line := jobs.readline():
        job = json.loads(line)
        stdin = jobs.read(job["stdin_bytes"])
        channel = receive_channel() if job["channel"] else None
        result, stdout, stderr = run(job, stdin, channel)
        result.update(stdout_bytes=len(stdout), stderr_bytes=len(stderr))
        results.write(json.dumps(result).encode() + b"\n" + stdout + stderr)
        results.flush()


def receive_channel() -> int:
    """The open file that the host passed beside the job."""
    import socket

    with socket.socket(fileno=os.dup(int(sys.argv[1]))) as passing:
        return socket.recv_fds(passing, 1, 1)[1][0]


def run(job: dict, stdin: bytes, channel: "int | None") -> tuple[dict, bytes, bytes]:
    """Run one program to its end; what it used, and what it wrote."""
    started = time.monotonic()
    pid, stdout, stderr, start_error = start(job, stdin, channel)
    streams = Streams(stdout, stderr, job["output_bytes"])
    wall_exceeded = streams.carry(pid, started + job["wall_seconds"])
    kill_all(pid)
    status, cpu_seconds, max_rss = reap_all(pid)
    streams.drain()
    result = {
        "wait_status": status,
        "cpu_seconds": cpu_seconds,
        "wall_seconds": time.monotonic() - started,
        "peak_bytes": max_rss * (1 if sys.platform == "darwin" else 1024),
        "output_exceeded": len(streams.stdout) > job["output_bytes"],
        "wall_exceeded": wall_exceeded,
        "start_error": start_error,
    }
    return result, bytes(streams.stdout[: job["output_bytes"]]), bytes(streams.stderr)


def input_file(folder: str, data: bytes) -> BinaryIO:
    """A file without a name to read `data` from; as after `<` in a shell, whoever has it can't write."""
    with tempfile.NamedTemporaryFile(dir=folder) as file:
        file.write(data)
        file.flush()
        return open(file.name, "rb")  # noqa: PTH123 - pathlib would be one module more in each helper


def start(job: dict, stdin: bytes, channel: "int | None") -> tuple[int, int, int, str]:
    """Fork and exec the program; its number, our ends of its stdout and stderr, and why it didn't start."""
    with input_file(job["folder"], stdin) as file:
        (our_stdout, stdout), (our_stderr, stderr), (trouble, told) = os.pipe(), os.pipe(), os.pipe()
        pid = os.fork()
        if pid == 0:
            try:
                become(job, (file.fileno(), stdout, stderr), channel, told)
            except BaseException as error:  # noqa: BLE001 - whatever it was, this process must not go on as a spawner
                os.write(TROUBLE, f"can't be started: {error}".encode()[:CHUNK])
            finally:
                os._exit(EXEC_FAILED)
    for fd in (stdout, stderr, told, *(() if channel is None else (channel,))):
        os.close(fd)
    # Ends empty when exec closes the other end.
    start_error = os.read(trouble, CHUNK).decode()
    os.close(trouble)
    return pid, our_stdout, our_stderr, start_error


def become(job: dict, streams: "tuple[int, int, int]", channel: "int | None", told: int) -> None:
    """In the child: take the streams, a session, the folder and the limits, and become the program."""
    # Out of the way of the numbers that are given next.
    *given, told = (fcntl.fcntl(fd, fcntl.F_DUPFD, 64) for fd in (*streams, channel or told, told))
    for number, fd in enumerate(given):
        os.dup2(fd, number)
    os.dup2(told, TROUBLE, inheritable=False)
    if channel is None:
        os.close(CHANNEL)
    os.closerange(TROUBLE + 1, 1024)
    os.setsid()
    os.chdir(job["folder"])
    for name, value in job["rlimits"].items():
        limit_to(getattr(resource, name), value)
    for number in SIGNALS:
        signal.signal(number, signal.SIG_DFL)
    die_with_parent()
    os.execve(job["command"][0], job["command"], job["environment"])  # noqa: S606 (no shell is what we want)


def limit_to(kind: int, value: int) -> None:
    """Set one rlimit, or the most that we have ourselves."""
    most = resource.getrlimit(kind)[1]
    soft = value if most == resource.RLIM_INFINITY else most if value == resource.RLIM_INFINITY else min(value, most)
    # At the soft CPU limit SIGXCPU says why a program ended; SIGKILL, at the hard one, doesn't.
    if kind == resource.RLIMIT_CPU and soft == most > 1:
        soft -= 1
    hard = soft + 1 if kind == resource.RLIMIT_CPU and soft != most else soft
    resource.setrlimit(kind, (soft, hard))


def die_with_parent() -> None:
    """Have the kernel kill this process when the spawner ends; elsewhere than on Linux there is no such thing."""
    if sys.platform == "linux":
        LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def kill_all(pid: int) -> None:
    """Kill the program and what it started.

    In a pid namespace of our own that is every process there. Otherwise it is the session that was made for this
    one program, which isn't reaped yet.
    """
    try:
        if os.getpid() == 1:
            os.kill(-1, signal.SIGKILL)
        elif pid > 1:
            os.killpg(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def reap_all(pid: int) -> tuple[int, float, int]:
    """Wait for all that was killed: the program's status, the CPU seconds of all, the largest peak in KiB."""
    _, status, usage = os.wait4(pid, 0)
    usages = [usage]
    while os.getpid() == 1:
        try:
            usages.append(os.wait4(-1, 0)[2])
        except ChildProcessError:
            break
    return status, sum(u.ru_utime + u.ru_stime for u in usages), max(u.ru_maxrss for u in usages)


class Streams:
    """Our ends of a program's stdout and stderr."""

    def __init__(self, output: int, errors: int, output_limit: int) -> None:
        self.output, self.errors, self.output_limit = output, errors, output_limit
        self.stdout, self.stderr = bytearray(), bytearray()
        self.open = {output, errors}
        for fd in self.open:
            os.set_blocking(fd, False)

    def carry(self, pid: int, deadline: float) -> bool:
        """Carry until the program ends, its output exceeds the limit, or time is up; whether time was up."""
        exit_fd = grip_on(pid)
        try:
            while not has_ended(pid) and len(self.stdout) <= self.output_limit:
                left = deadline - time.monotonic()
                if left <= 0:
                    return True
                self.carry_once(exit_fd, left)
        finally:
            if exit_fd is not None:
                os.close(exit_fd)
        return False

    def carry_once(self, exit_fd: "int | None", seconds: float) -> None:
        """Wait until something can be carried, and carry it."""
        readers = [HOST, *self.open] if exit_fd is None else [HOST, *self.open, exit_fd]
        readable, _, _ = select.select(readers, [], [], seconds if exit_fd is not None else 0.005)
        if HOST in readable:
            raise SystemExit("gencode is gone")
        for fd in readable:
            if fd != exit_fd and not self.read(fd):
                self.close(fd)

    def drain(self) -> None:
        """Take what the dead program left in its pipes, and close them."""
        for fd in (self.output, self.errors):
            while fd in self.open and len(self.stdout) <= self.output_limit and self.read(fd):
                pass
        for fd in tuple(self.open):
            self.close(fd)

    def read(self, fd: int) -> bool:
        """Take one chunk; False where there is nothing more to take."""
        try:
            chunk = os.read(fd, CHUNK)
        except BlockingIOError:
            return False
        if fd == self.output:
            self.stdout += chunk
        else:
            self.stderr = (self.stderr + chunk)[-STDERR_KEPT:]
        return bool(chunk)

    def close(self, fd: int) -> None:
        """Close one end, once."""
        if fd in self.open:
            self.open.remove(fd)
            os.close(fd)


def grip_on(pid: int) -> "int | None":
    """A descriptor that shows when a process ends; None where the system has none (macOS, gVisor of 2022)."""
    try:
        return os.pidfd_open(pid)
    except (AttributeError, OSError):
        return None


def has_ended(pid: int) -> bool:
    """Whether the program has ended; it stays unreaped."""
    return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


if __name__ == "__main__":
    # Python's own handler would let a program end us.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    serve(sys.stdin.buffer, sys.stdout.buffer)
