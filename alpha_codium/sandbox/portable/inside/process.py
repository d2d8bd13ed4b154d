"""A plain process of a program, from its start to the end of all its descendants.

1. fork, new session, rlimits, exec: none of our code runs in the child after that.
2. Input is a file, as on contest judges: programs that ask for its size (`os.read(0, os.fstat(0).st_size)`) would get
   0 for a pipe. Output above its limit ends the program; of stderr only the end is kept.
3. The end is noticed without reaping, so that the process id stays taken; the remaining processes are killed, and only
   then are all of them reaped, with their resource usage.
4. A program that can't be executed is itself to blame if it was compiled and the smallest executable can be executed
   (`known_good`): it ends with a status and a message of its own. Other errors are those of the sandbox.
"""

from __future__ import annotations

import ctypes
import fcntl
import os
import resource
import select
import signal

from alpha_codium.sandbox.engine.inside import known_good, wire

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from alpha_codium.sandbox.portable.inside.rooms import Rooms

STDERR_KEPT = 64 * 1024
CHUNK = 1 << 16
START_FAILED = 127
# The descriptor to which a child writes why it can't start the program, after that of the link of a pair.
TROUBLE = wire.LINK + 1
PR_SET_PDEATHSIG = 1
LIBC = ctypes.CDLL(None)
# Signals that are ignored by us or by Python; exec would inherit that.
SIGNALS = (signal.SIGINT, signal.SIGPIPE, signal.SIGXFSZ)
# Milliseconds between two looks at a process whose end no descriptor shows.
LOOK = 5


class Process:
    """A process that runs `command` in the folder of `rooms`."""

    def __init__(
        self,
        rooms: Rooms,
        command: list[str],
        environment: Mapping[str, str],
        rlimits: Mapping[str, int],
        *,
        compiled: bool = False,
    ) -> None:
        self.rooms, self.command, self.rlimits, self.compiled = rooms, command, rlimits, compiled
        self.environment = {**rooms.environment, **environment}
        self.pid = 0
        self.stdout, self.stderr = bytearray(), bytearray()
        # Our ends of its stdout and stderr, those that are open.
        self.open: dict[int, bytearray] = {}
        self.status, self.cpu_seconds, self.peak, self.count = 0, 0.0, 0, 0

    def start(self, data: bytes, link: int) -> None:
        """Start it with `data` as its stdin and `link`, if that isn't -1, as its descriptor 3; raises OSError."""
        (output, stdout), (errors, stderr), (trouble, told) = os.pipe(), os.pipe(), os.pipe()
        self.open = {output: self.stdout, errors: self.stderr}
        stdin = input_file(self.rooms.folder, data)
        self.rooms.score(first=True)
        self.pid = os.fork()
        if self.pid == 0:
            try:
                self.become((stdin, stdout, stderr), link, told)
            except BaseException as error:
                os.write(TROUBLE, f"{self.command[0]}: can't be started: {error}".encode()[:CHUNK])
            finally:
                os._exit(START_FAILED)
        self.rooms.score(first=False)
        for fd in (stdin, stdout, stderr, told):
            os.close(fd)
        # Empty if exec closed the other end.
        said = os.read(trouble, CHUNK).decode()
        os.close(trouble)
        for fd in self.open:
            os.set_blocking(fd, False)
        if said:
            self.end(0)
            raise OSError(said)

    def become(self, streams: tuple[int, int, int], link: int, trouble: int) -> None:
        """In the child: set up streams, session, folder and limits, and exec the program."""
        # Above the descriptors that are assigned next.
        wanted = (*streams, trouble if link < 0 else link, trouble)
        *given, trouble = (fcntl.fcntl(fd, fcntl.F_DUPFD, 64) for fd in wanted)
        for number, fd in enumerate(given):
            os.dup2(fd, number)
        os.dup2(trouble, TROUBLE, inheritable=False)
        if link < 0:
            os.close(wire.LINK)
        os.closerange(TROUBLE + 1, 1024)
        os.setsid()
        os.chdir(self.rooms.folder)
        for name, value in self.rlimits.items():
            if name != "RLIMIT_NPROC" or self.rooms.limits_processes:
                limit_to(getattr(resource, name), value)
        for number in SIGNALS:
            signal.signal(number, signal.SIG_DFL)
        LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        try:
            os.execvpe(self.command[0], self.command, self.environment)  # noqa: S606 - no shell is wanted
        except OSError as error:
            if not (self.compiled and known_good.starts()):
                raise
            os.write(2, (known_good.WHY % error.strerror).encode() + b"\n")
            os._exit(known_good.REFUSED)

    def watch(self, others: Callable[[], Mapping[int, int]], act: Callable[[set[int]], bool], most: int) -> None:
        """Read what it writes until it ends, has written more than `most`, or `act` returns False.

        `act` is called with the descriptors of `others`, events by descriptor, that are ready.
        """
        ended = exit_descriptor(self.pid)
        try:
            while len(self.stdout) <= most and not has_ended(self.pid):
                poll = select.poll()
                for fd in (*self.open, *([] if ended is None else [ended])):
                    poll.register(fd, select.POLLIN)
                for fd, events in others().items():
                    poll.register(fd, events)
                ready = {fd for fd, _ in poll.poll(LOOK if ended is None else None)}
                for fd in ready.intersection(self.open):
                    if not self.read(fd):
                        del self.open[fd]
                        os.close(fd)
                if not act(ready):
                    return
        finally:
            if ended is not None:
                os.close(ended)

    def read(self, fd: int) -> bool:
        """Read one chunk; return False if there is nothing to read."""
        try:
            chunk = os.read(fd, CHUNK)
        except BlockingIOError:
            return False
        text = self.open[fd]
        text += chunk
        if text is self.stderr:
            del text[:-STDERR_KEPT]
        return bool(chunk)

    def end(self, most: int) -> None:
        """Kill it and its descendants, note what they used, and read the rest of what they wrote, as `watch` does.

        These are all processes of our own pid namespace, or, without one, the process's session.
        """
        try:
            if os.getpid() == 1:
                os.kill(-1, signal.SIGKILL)
            elif self.pid > 1:
                os.killpg(self.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        _, self.status, usage = os.wait4(self.pid, 0)
        usages = [usage]
        while os.getpid() == 1:
            try:
                usages.append(os.wait4(-1, 0)[2])
            except ChildProcessError:
                break
        # And there may be some that the program itself waited for.
        self.count = len(usages) + 1
        self.cpu_seconds = sum(each.ru_utime + each.ru_stime for each in usages)
        self.peak = max(each.ru_maxrss for each in usages)
        for fd in self.open:
            while len(self.stdout) <= most and self.read(fd):
                pass
            os.close(fd)
        self.open = {}


def input_file(folder: str, data: bytes) -> int:
    """Return a nameless, read-only file with `data`, like one after `<` in a shell."""
    path = folder + "/stdin"
    while os.path.lexists(path):
        path += "_"
    with open(path, "wb") as file:
        file.write(data)
    fd = os.open(path, os.O_RDONLY)
    os.unlink(path)
    return fd


def limit_to(kind: int, value: int) -> None:
    """Set one rlimit, at most to our own hard limit."""
    most = resource.getrlimit(kind)[1]
    soft = value if most == resource.RLIM_INFINITY else most if value == resource.RLIM_INFINITY else min(value, most)
    # The soft CPU limit sends SIGXCPU, which shows why a program ended; the hard limit sends SIGKILL.
    if kind == resource.RLIMIT_CPU and soft == most > 1:
        soft -= 1
    hard = soft + 1 if kind == resource.RLIMIT_CPU and soft != most else soft
    resource.setrlimit(kind, (soft, hard))


def exit_descriptor(pid: int) -> int | None:
    """Return a descriptor that is readable when a process has ended; None in gVisor of 2022."""
    try:
        return os.pidfd_open(pid)
    except OSError:
        return None


def has_ended(pid: int) -> bool:
    """Whether the process has ended; it isn't reaped."""
    return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
