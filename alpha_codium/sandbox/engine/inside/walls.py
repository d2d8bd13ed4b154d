"""The weaker jail, for machines without namespaces: Landlock and seccomp only, and one process per test.

1. Landlock: a program can read the interpreter's folders and its own, and write in its own. The modes, dates and
   attributes of files, which Landlock doesn't cover, can't be changed at all (`BEYOND_LANDLOCK` in `policy`). A
   program can still find out whether a file exists, and how large it is.
2. Without a pid namespace nothing could kill all that a test started, so a test can't start anything. It can signal
   no process but its own, and isn't in the Landlock domain of its runner. A compiler may start processes, but none of
   them can leave its process group, which is killed as a whole.
3. The kernel kills a test, and the first process of a compiler, when its runner ends, a runner when its zygote ends,
   and a zygote when its host ends; no test can undo this. Orphans become children of the zygote, which kills and reaps
   them.
4. The programs' folder is on the host's file system: the size of each file is limited, the number of files isn't.
"""

from __future__ import annotations

import _signal as signal  # pyrefly: ignore[missing-import] - the C module: `signal` loads enum
import os
import resource
import struct

TYPE_CHECKING = False
if TYPE_CHECKING:
    from _socket import socket

from alpha_codium.sandbox.engine.inside import jail, runner, trees, wire
from alpha_codium.sandbox.engine.inside import kernel as k

# The first version that covers truncating files (Linux 6.2).
OLDEST_LANDLOCK = 3
# Threads of programs fail to start when our user's other tasks have increased by this number.
MORE_TASKS = 256


def enter(config: jail.Config) -> None:
    """Become a user without rights, and die with the host; runners set up Landlock and seccomp."""
    version = k.landlock_version()
    if version < OLDEST_LANDLOCK:
        raise OSError("no Landlock" if not version else "Landlock is of version %d only" % version)
    if config["uid"]:
        jail.become(config["uid"])
    k.drop_capabilities()
    die_with(config["host"])
    config["forker"] = WalledTestForker
    k.prctl(k.PR_SET_CHILD_SUBREAPER, 1)
    config["proc"] = os.path.exists("/proc/self/fd")
    folder = config["scratch"] + jail.PROGRAM_FOLDER
    os.mkdir(folder, 0o700)
    config["program_folder"] = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    config["program_path"] = folder
    make_box(config)
    config["landlock"] = landlock_ruleset(config)


def die_with(parent: int) -> None:
    """Ask the kernel to kill us when our parent ends; exit if it has ended."""
    k.prctl(k.PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


def make_box(config: jail.Config) -> None:
    """Make an empty folder for programs, with a link to the program."""
    os.mkdir(config["folder"], 0o700)
    os.symlink(".." + jail.PROGRAM_FOLDER + "/" + wire.PROGRAM, config["folder"] + "/" + wire.PROGRAM)
    # Any change of the folder sets another time, even if the clock is coarse.
    os.utime(config["folder"], ns=(0, 0))


def renew_scratch(config: jail.Config) -> None:
    """Remove the programs' folder, whatever is in it, and make a new one."""
    base = os.open(config["scratch"], os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    trees.remove(wire.BOX, base)
    os.close(base)
    make_box(config)


def watched(config: jail.Config) -> list[str]:
    """Return the paths whose metadata shows whether the programs' folder was changed."""
    return [config["folder"], config["folder"] + "/" + wire.PROGRAM]


def landlock_ruleset(config: jail.Config) -> int:
    """Make the rules of every candidate: read what the interpreter needs, write in the programs' folder."""
    rules = [rule for path in config["read_only"] for rule in readable(path, config["hidden"])]
    if config["tools"]:
        rules = [(path, access | k.EXECUTE) for path, access in rules]
    rules += [(config["scratch"] + jail.PROGRAM_FOLDER, k.READ), (config["folder"], k.CHANGE)]
    return k.landlock_rules([*rules, *jail.device_rules()])


def readable(path: str, hidden: list[str]) -> list[tuple[str, int]]:
    """Return the rules to read a file, or a folder except what is hidden in it, of which only names can be listed."""
    if path in hidden:
        return []
    if not os.path.isdir(path):
        return [(path, k.READ_FILE)]
    if not any(each.startswith(path + "/") for each in hidden):
        return [(path, k.READ)]
    # The target of a link has a rule of its own, or must not be read.
    inner = [entry.path for entry in os.scandir(path) if not entry.is_symlink()]
    return [(path, k.READ_DIR), *(rule for each in inner for rule in readable(each, hidden))]


def fork_runner(config: jail.Config) -> int:
    """Fork a runner, which dies with us."""
    # A user id of our own has no other tasks.
    config["others"] = 0 if config["uid"] else tasks_of_user() + MORE_TASKS
    zygote = os.getpid()
    pid = os.fork()
    if pid == 0:
        die_with(zygote)
    return pid


def tasks_of_user() -> int:
    """Return the number of our user's processes and threads: the lowest limit under which a fork succeeds."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NPROC)
    most = hard if hard != resource.RLIM_INFINITY else 1 << 22
    low, high = 0, 1
    # From below, since refused forks cost least.
    while high < most and not may_fork(high, hard):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if may_fork(middle, hard) else (middle, high)
    resource.setrlimit(resource.RLIMIT_NPROC, (soft, hard))
    return high


def may_fork(limit: int, hard: int) -> bool:
    """Whether a fork succeeds with this limit of our user's tasks."""
    resource.setrlimit(resource.RLIMIT_NPROC, (limit, hard))
    try:
        pid = os.fork()
    except BlockingIOError:
        return False
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)
    return True


def await_end(pid: int) -> int:
    """Wait until a runner has ended, and end its test, which becomes our child; return the runner's wait status."""
    _, status = os.waitpid(pid, 0)
    while True:
        try:
            if os.waitpid(-1, os.WNOHANG)[0] == 0:
                kill_children()
                os.waitpid(-1, 0)
        except ChildProcessError:
            return status


def kill_children() -> None:
    """Kill our children, which aren't reaped yet, with their groups; what they started becomes a child of ours in turn.

    Does nothing without /proc, or with that of another namespace, which has other numbers.
    """
    try:
        with open("/proc/thread-self/children") as file:
            children = [int(child) for child in file.read().split()]
        if os.readlink("/proc/self") != str(os.getpid()):
            return
    except OSError:
        return
    for child in children:
        group = os.getpgid(child)
        if group == os.getpgrp():
            os.kill(child, signal.SIGKILL)
        else:
            os.killpg(group, signal.SIGKILL)


class WalledTestForker(runner.TestForker):
    """The forker for a runner without a pid namespace, which identifies its test by process id."""

    def __init__(self, host: socket, request: jail.Config, warnings: bytes, config: jail.Config) -> None:
        super().__init__(host, request, warnings, config)
        self.runner = os.getpid()

    def enclose(self) -> None:
        """In the new process: die with the runner, enter a nested Landlock domain, and install a filter."""
        die_with(self.runner)
        k.landlock_restrict(runner.RULES)
        self.install_own_filter()

    def install_own_filter(self) -> None:
        """Install the filter of a test, with the number of its process in it."""
        own = struct.pack("=I", os.getpid())
        k.install_filter(k.filter_of(self.filter.replace(struct.pack("=I", wire.OWN_PROCESS), own)))

    def reap(self, pid: int) -> tuple[int, float, int, int]:
        """Wait until the test's only process ends, or the first of a compiler, and kill what it left.

        Its CPU time includes that of processes that it waited for.
        """
        self.running = pid
        os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
        # Until it is reaped, its process id can't be reused; from then on it must not be signalled.
        self.end_test(0, None)
        self.running = 0
        _, status, usage = os.wait4(pid, 0)
        return status, usage.ru_utime + usage.ru_stime, usage.ru_maxrss, 1

    def end_test(self, _number: int, _frame: object) -> None:
        """Kill the test's process and its group, and nothing else: the host's signal that its time is up."""
        if self.running:
            os.kill(self.running, signal.SIGKILL)
            try:
                os.killpg(self.running, signal.SIGKILL)
            except ProcessLookupError:
                # It hasn't made its group yet.
                pass
