"""The runner of one candidate, which compiles the program and forks a process for each test.

1. It has no rights: no capabilities, no new privileges, Landlock, seccomp. Tests inherit these restrictions.
2. It is process 1 of its pid namespace: no signal from inside can end it, everything that a test started can be killed
   at once, and orphans become its children, so that their CPU time counts. (Without namespaces, see `walls`.)
3. The nonce for an answer follows the request in the same stream, and stays unread until all processes of the test
   are dead. None of them can have read it, so none can have forged the answer.
"""

from __future__ import annotations

import _signal as signal  # pyrefly: ignore[missing-import] - the C module: `signal` loads enum
import _socket
import gc
import os
import resource
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

from alpha_codium.sandbox.engine.inside import jail, program, trees, turns, wire, zygote
from alpha_codium.sandbox.engine.inside import kernel as k
from alpha_codium.sandbox.engine.inside.native import NativeProgram

# The signal that ends the current test, sent by the host. A program can only end itself with it.
END_TEST = signal.SIGUSR1
# The descriptors of the host's socket, and of the Landlock rules while they are open.
HOST, RULES = 3, 4
# All descriptors that a test must close are below this: the runner has few.
MOST_FILES = 64
WALL = 0x40000000  # __WALL of linux/wait.h: children without SIGCHLD too
LONGEST_PAUSE = 0.02


class TestForker:
    """Forks a process for each test of one program.

    It is made before the forks, and small: each page that a test's process writes to has to be copied.
    """

    # If not 0: seconds until a test's remaining processes are killed again, with growing pauses, until none is left.
    pause = 0.0

    def __init__(self, host: _socket.socket, request: jail.Config, warnings: bytes, config: jail.Config) -> None:
        self.host, self.warnings, self.config = host, warnings, config
        self.reseeds = False
        self.native: NativeProgram | None = None
        # At the hard limit the kernel sends SIGKILL, which doesn't show why the program ended.
        self.cpu_limit = (request["cpu_seconds"], request["cpu_seconds"] + 1)
        self.filter = request["test_filter"]
        self.by_turns = request["by_turns"]
        self.most_bytes = request["rlimits"]["RLIMIT_FSIZE"]
        # The process of the current test, from its start to its end.
        self.running = 0
        # Whether the program is started without a fork.
        self.spawns = False

    def serve(self) -> None:
        """Fork a test for each message of the host; return in the test's process."""
        while True:
            message, fds = zygote.receive(self.host, 1)
            if message != wire.TEST:
                os._exit(0)
            start = time.monotonic()
            exchange = turns.Turns(fds, self.most_bytes) if self.by_turns else None
            pid = self.start(fds if exchange is None else exchange.given)
            if pid == 0:
                return self.become_test(fds if exchange is None else exchange.given)
            if exchange is None:
                os.closerange(fds[0], fds[-1] + 1)
            else:
                self.running = pid
                if not exchange.carry(pid):
                    self.end_test(0, None)
            status, cpu, peak, processes = self.reap(pid)
            if self.native is not None:
                self.native.require_executed()
            wall = time.monotonic() - start
            nonce = self.host.recv(wire.NONCE_BYTES)
            self.host.send(wire.RESULT.pack(nonce, status, cpu, wall, peak, processes))

    def start(self, fds: list[int]) -> int:
        """Start a test's process with these streams; return its process id, 0 in that process if it was forked."""
        if self.native is not None:
            if self.spawns:
                try:
                    return self.native.spawn(fds, self.cpu_limit[0])
                except OSError:
                    # The process that is forked in its place fails in the same way, and says why on its stderr.
                    pass
            self.native.prepare_fork()
        return os.fork()

    def become_test(self, fds: list[int]) -> None:
        """In the new process: close everything but its streams, and set its own limits and session."""
        # First, since a filter may refuse it.
        os.setsid()
        if self.filter:
            self.enclose()
        # Its descriptor number may now belong to the link, and must not be closed.
        self.host.detach()
        for target, fd in enumerate(fds):
            os.dup2(fd, target)
        os.closerange(len(fds), MOST_FILES)
        signal.signal(END_TEST, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        resource.setrlimit(resource.RLIMIT_CPU, self.cpu_limit)
        if self.reseeds:
            # Python seeds `random` in each process; numpy's would give every test the same numbers.
            sys.modules["numpy.random"].seed()
        if self.warnings:
            os.write(2, self.warnings)
        if self.native is not None:
            self.native.execute()

    def enclose(self) -> None:
        """In the new process: install the filter of a test."""
        k.install_filter(k.filter_of(self.filter))

    def reap(self, pid: int) -> tuple[int, float, int, int]:
        """Wait until the test's first process ends, then kill and reap all others.

        Return its wait status, and the total CPU seconds, largest peak (KiB) and number of all processes.
        """
        status, cpu_seconds, peak, processes, options, pause = 0, 0.0, 0, 0, WALL, self.pause
        while True:
            try:
                ended, how, usage = os.wait4(-1, options)
            except ChildProcessError:
                return status, cpu_seconds, peak, processes
            if not ended:
                kill_all()
                if pause:
                    time.sleep(pause)
                    pause = min(2 * pause, LONGEST_PAUSE)
                else:
                    options = WALL
                continue
            if ended == pid:
                # From here on its process id may be reused.
                pid, status, options = -1, how, WALL | os.WNOHANG
            processes += 1
            cpu_seconds += usage.ru_utime + usage.ru_stime
            peak = max(peak, usage.ru_maxrss)

    def end_test(self, _number: int, _frame: object) -> None:
        """Kill every process of the test: the host's signal that its time is up."""
        kill_all()


def make_ready(
    request: jail.Config, fds: list[int], driver: program.Driver | None, config: jail.Config
) -> tuple[program.PreparedProgram, TestForker]:
    """Become the runner of a candidate: give up all rights and compile its program; ends the process if it can't."""
    try:
        source_fd, _, host_fd, errors_fd = fds
        os.dup2(errors_fd, 2)
        native = lay_out(request, source_fd, config)
        source = b"" if native else wire.read_all(source_fd)
        if request.get("covers"):
            config["place"].cover(request["covers"])
        keep_only(host_fd, config["landlock"], native.image if native is not None else -1)
        host = _socket.socket(fileno=HOST)
        os.chdir(config["folder"])
        limit(request, config["others"], config["own_bytes"])
        harden(request, config)
        # If this process dies from here on, it may be the program's fault.
        host.send(wire.COMPILING)
        if native is not None:
            serve_native(config.get("forker", TestForker)(host, request, b"", config), native)
        prepared = program.compile_all(source, driver, config["folder"])
        if prepared is None:
            host.send(wire.NOT_COMPILED)
            os._exit(0)
        forker = config.get("forker", TestForker)(host, request, wire.read_all(2), config)
        memory = request["memory_bytes"] + config["own_bytes"]
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory + request["stack_bytes"]))
        signal.signal(END_TEST, forker.end_test)
        forker.reseeds = prepared.uses_random and "numpy.random" in sys.modules
        gc.freeze()
        prepared.make_ready()
        host.send(wire.COMPILED)
        return prepared, forker
    except BaseException as error:
        sys.excepthook(type(error), error, error.__traceback__)
        # Exit first: if the socket closed before, the host would kill this process and blame something else.
        os._exit(1)


def lay_out(request: jail.Config, source: int, config: jail.Config) -> NativeProgram | None:
    """Put the files of a program in place of those of the program before; return it if it isn't a Python program."""
    for name in os.listdir(config["program_folder"]):
        if name != wire.PROGRAM:
            trees.discard(name, config["program_folder"])
    if request.get("native"):
        return NativeProgram(request["native"], source, config, MOST_FILES)
    # For tracebacks and `inspect`.
    trees.write(wire.PROGRAM, wire.read_all(source), config["program_folder"])
    return None


def serve_native(forker: TestForker, native: NativeProgram) -> NoReturn:
    """Serve the tests of a program that was compiled elsewhere."""
    forker.native = native
    # Tests without a filter of their own are limited by a control group, which a compiler may lack.
    forks = forker.filter or native.memory or native.writable
    forker.spawns = not forks and forker.config.get("spawns", False)
    if forker.spawns:
        native.inherit_limits()
    signal.signal(END_TEST, forker.end_test)
    gc.freeze()
    forker.host.send(wire.COMPILED)
    forker.serve()
    raise SystemError("a test's process wasn't replaced by its program")


def keep_only(host_fd: int, ruleset: int | None, image: int) -> None:
    """Close all descriptors but the host's socket (`HOST`), the rule set (`RULES`), and an `image`, unless it is -1."""
    first, high = RULES, os.dup(host_fd) if host_fd <= RULES else host_fd
    kept = -1 if ruleset is None else os.dup(ruleset)
    os.dup2(high, HOST, inheritable=False)
    if kept >= 0:
        os.dup2(kept, RULES, inheritable=False)
        first += 1
    if image >= 0:
        os.closerange(first, image)
    k.close_from(first if image < 0 else image + 1)


def limit(request: jail.Config, others: int, own: int) -> None:
    """Set the limits of tests (hard) and of compiling (soft). `others` is the number of our user's other tasks."""
    _, most = resource.getrlimit(resource.RLIMIT_NPROC)
    tasks = request["rlimits"]["RLIMIT_NPROC"] + others
    request["rlimits"]["RLIMIT_NPROC"] = tasks if most == resource.RLIM_INFINITY else min(tasks, most)
    for name, value in request["rlimits"].items():
        resource.setrlimit(getattr(resource, name), (value, value))
    resource.setrlimit(resource.RLIMIT_AS, (request["compile_bytes"] + own, resource.RLIM_INFINITY))


def harden(request: jail.Config, config: jail.Config) -> None:
    """Give up all rights irrevocably, in the only order that is possible."""
    k.drop_capabilities()
    k.prctl(k.PR_SET_NO_NEW_PRIVS, 1)
    k.prctl(k.PR_SET_DUMPABLE, 0)
    if config["landlock"] is not None:
        k.landlock_restrict(RULES)
        if not config["walls"]:
            os.close(RULES)
    k.install_filter(zygote.FILTERS[request["filter"]])


def kill_all() -> None:
    """Kill every process of the test."""
    if os.getpid() != 1:
        raise SystemError("only process 1 of a pid namespace of its own may kill all")
    try:
        os.kill(-1, signal.SIGKILL)
    except ProcessLookupError:
        pass
