"""A helper process that runs other programs under limits, one at a time. Standard library only; run as a script.

It is small and started by exec, so that the peak memory of a program doesn't include that of gencode. Jobs are read
from stdin and results written to stdout, each a line of JSON with the lengths of the bytes that follow it.

1. fork, new session, rlimits, exec: none of our code runs in the child after that.
2. Input is a file, as on contest judges: programs that ask for its size (`os.read(0, os.fstat(0).st_size)`) would get
   0 for a pipe. Output above its limit ends the program; of stderr only the end is kept.
3. The end is noticed without reaping, so that the process id stays taken; the remaining processes are killed, and only
   then are all of them reaped, with their resource usage.
4. A job with `files` gets private folders, see `engine/inside/private`; else its folder was made by gencode.
5. A program that can't be executed is itself to blame if its file may be executed and the smallest executable can be
   (`engine/inside/known_good`): it ends with a status and a message of its own. Other errors are those of a start.
6. No job is sent while another one runs, so if stdin becomes readable then, gencode has ended: the spawner ends, too,
   and with it the program.
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
from typing import Any, BinaryIO

STDERR_KEPT = 64 * 1024
CHUNK = 1 << 16
START_FAILED = 127
HOST = 0
# The descriptor of the channel of a pair, if there is one.
CHANNEL = 3
# The descriptor to which a child writes why it can't start the program.
TROUBLE = 4
PR_SET_PDEATHSIG = 1
LIBC = ctypes.CDLL(None)
# Signals that are ignored by us or by Python; exec would inherit that.
SIGNALS = (signal.SIGINT, signal.SIGPIPE, signal.SIGXFSZ)
INSIDE = __file__.rpartition("/portable/")[0] + "/engine/inside"
# The scores by which the kernel chooses what to kill if a control group runs out of memory.
KILLED_LAST, KILLED_FIRST = b"0", b"1000"


def module_inside(name: str) -> Any:
    """Return a module of the engine, which isn't a package for this script."""
    sys.path.insert(0, INSIDE)
    try:
        return __import__(name)
    finally:
        sys.path.pop(0)


# At once: its file may be hidden later.
KNOWN_GOOD = module_inside("known_good")


class Rooms:
    """The private folders of programs, made for the first job that has `files`."""

    def __init__(self) -> None:
        # The `PrivateFolders` of the module `engine/inside/private`.
        self.folders: Any = None
        self.scores = -1
        self.limits_processes = False

    def enter(self, job: dict) -> None:
        """Make the private folders of a job, and its files in them; raises OSError."""
        self.folders = self.folders or self.prepare(job)
        self.folders.renew(job["folder"], job["stdin_bytes"])
        self.folders.write(job["folder"], job["files"])

    def score(self, value: bytes) -> None:
        """Set the score of this process and those that it starts."""
        if self.scores >= 0:
            os.write(self.scores, value)

    def prepare(self, job: dict) -> Any:
        """Prepare for private folders, before everything becomes read-only, and return them."""
        private = module_inside("private")
        # Its file may be hidden later.
        __import__("socket")
        self.limits_processes = counts_only_ours()
        self.scores = private.open_score(job["folder"])
        folders = private.PrivateFolders(job["interpreter"], job["shown"])
        private.give_programs_no_rights()
        return folders


def counts_only_ours() -> bool:
    """Whether the kernel counts our user's processes in this namespace only (Linux 5.14), so that we can limit them."""
    before = resource.getrlimit(resource.RLIMIT_NPROC)
    resource.setrlimit(resource.RLIMIT_NPROC, (4, before[1]))
    try:
        pid = os.fork()
    except BlockingIOError:
        return False
    finally:
        resource.setrlimit(resource.RLIMIT_NPROC, before)
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)
    return True


ROOMS = Rooms()


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
    """Return the open file that the host sent with the job."""
    import socket

    with socket.socket(fileno=os.dup(int(sys.argv[1]))) as passing:
        return socket.recv_fds(passing, 1, 1)[1][0]


def run(job: dict, stdin: bytes, channel: "int | None") -> tuple[dict, bytes, bytes]:
    """Run one program to its end; return how it ended, its stdout and its stderr."""
    started = time.monotonic()
    if "files" in job:
        ROOMS.enter(job)
    pid, stdout, stderr, start_error = start(job, stdin, channel)
    streams = Streams(stdout, stderr, job["output_bytes"])
    wall_exceeded = streams.read_all(pid, started + job["wall_seconds"])
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
    """Return a nameless, read-only file with `data`, like one after `<` in a shell."""
    with tempfile.NamedTemporaryFile(dir=folder) as file:
        file.write(data)
        file.flush()
        return open(file.name, "rb")  # noqa: PTH123 - pathlib would be one module more in each helper


def start(job: dict, stdin: bytes, channel: "int | None") -> tuple[int, int, int, str]:
    """Fork and exec the program; return its pid, our ends of its stdout and stderr, and why it didn't start."""
    with input_file(job["folder"], stdin) as file:
        (our_stdout, stdout), (our_stderr, stderr), (our_trouble, trouble) = os.pipe(), os.pipe(), os.pipe()
        ROOMS.score(KILLED_FIRST)
        pid = os.fork()
        if pid == 0:
            try:
                become(job, (file.fileno(), stdout, stderr), channel, trouble)
            except BaseException as error:  # noqa: BLE001 - this process must never continue as a spawner
                os.write(TROUBLE, f"can't be started: {error}".encode()[:CHUNK])
            finally:
                os._exit(START_FAILED)
    ROOMS.score(KILLED_LAST)
    for fd in (stdout, stderr, trouble, *(() if channel is None else (channel,))):
        os.close(fd)
    # Empty if exec closed the other end.
    start_error = os.read(our_trouble, CHUNK).decode()
    os.close(our_trouble)
    return pid, our_stdout, our_stderr, start_error


def become(job: dict, streams: "tuple[int, int, int]", channel: "int | None", trouble: int) -> None:
    """In the child: set up streams, session, folder and limits, and exec the program."""
    # Above the descriptors that are assigned next.
    *given, trouble = (fcntl.fcntl(fd, fcntl.F_DUPFD, 64) for fd in (*streams, channel or trouble, trouble))
    for number, fd in enumerate(given):
        os.dup2(fd, number)
    os.dup2(trouble, TROUBLE, inheritable=False)
    if channel is None:
        os.close(CHANNEL)
    os.closerange(TROUBLE + 1, 1024)
    os.setsid()
    os.chdir(job["folder"])
    for name, value in job["rlimits"].items():
        limit_to(getattr(resource, name), value)
    for number in SIGNALS:
        signal.signal(number, signal.SIG_DFL)
    if ROOMS.limits_processes:
        limit_to(resource.RLIMIT_NPROC, job["processes"])
    die_with_parent()
    try:
        os.execvpe(job["command"][0], job["command"], job["environment"])  # noqa: S606 (no shell is what we want)
    except OSError as error:
        if not (job["own"] and os.access(job["command"][0], os.X_OK) and KNOWN_GOOD.starts()):
            raise
        os.write(2, (KNOWN_GOOD.WHY % error.strerror).encode() + b"\n")
        os._exit(KNOWN_GOOD.REFUSED)


def limit_to(kind: int, value: int) -> None:
    """Set one rlimit, at most to our own hard limit."""
    most = resource.getrlimit(kind)[1]
    soft = value if most == resource.RLIM_INFINITY else most if value == resource.RLIM_INFINITY else min(value, most)
    # The soft CPU limit sends SIGXCPU, which shows why a program ended; the hard limit sends SIGKILL.
    if kind == resource.RLIMIT_CPU and soft == most > 1:
        soft -= 1
    hard = soft + 1 if kind == resource.RLIMIT_CPU and soft != most else soft
    resource.setrlimit(kind, (soft, hard))


def die_with_parent() -> None:
    """Have the kernel kill this process when the spawner ends (Linux only)."""
    if sys.platform == "linux":
        LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def kill_all(pid: int) -> None:
    """Kill the program, which isn't reaped yet, and its processes.

    These are all processes of our own pid namespace, or, without one, the program's session.
    """
    try:
        if os.getpid() == 1:
            os.kill(-1, signal.SIGKILL)
        elif pid > 1:
            os.killpg(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def reap_all(pid: int) -> tuple[int, float, int]:
    """Reap what was killed; return the program's status, the CPU seconds of all, and the largest peak in KiB."""
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

    def read_all(self, pid: int, deadline: float) -> bool:
        """Read until the program ends, its output exceeds the limit, or time is up; return whether time was up."""
        exit_fd = exit_descriptor(pid)
        try:
            while not has_ended(pid) and len(self.stdout) <= self.output_limit:
                left = deadline - time.monotonic()
                if left <= 0:
                    return True
                ends = () if exit_fd is None else (exit_fd,)
                readable, _, _ = select.select([HOST, *self.open, *ends], [], [], left if ends else 0.005)
                if HOST in readable:
                    raise SystemExit("gencode is gone")
                for fd in self.open.intersection(readable):
                    if not self.read(fd):
                        self.close(fd)
        finally:
            if exit_fd is not None:
                os.close(exit_fd)
        return False

    def drain(self) -> None:
        """Read what is left in the pipes of the ended program, and close them."""
        for fd in (self.output, self.errors):
            while fd in self.open and len(self.stdout) <= self.output_limit and self.read(fd):
                pass
        for fd in tuple(self.open):
            self.close(fd)

    def read(self, fd: int) -> bool:
        """Read one chunk; return False if there is nothing to read."""
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
        """Close one end."""
        self.open.remove(fd)
        os.close(fd)


def exit_descriptor(pid: int) -> "int | None":
    """Return a descriptor that is readable when a process has ended; None on macOS and in gVisor of 2022."""
    try:
        return os.pidfd_open(pid)
    except (AttributeError, OSError):
        return None


def has_ended(pid: int) -> bool:
    """Whether the program has ended; it isn't reaped."""
    return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


if __name__ == "__main__":
    # With Python's own handler, a program could end the spawner.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    serve(sys.stdin.buffer, sys.stdout.buffer)
