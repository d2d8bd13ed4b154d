"""The zygote, a warm interpreter in the jail that forks a runner for each candidate. It never runs untrusted code.

A candidate's runner is process 1 of a new pid namespace, so everything that a program starts dies with the runner. The
host checks the scratch folder after each candidate, and has it renewed if it was changed. Without namespaces, `walls`
is used instead of `jail`.

Drivers are trusted: their definitions are executed here once, for all tests. Their last statement, which depends on
the candidate, doesn't run here.
"""

from __future__ import annotations

import _signal as signal  # pyrefly: ignore[missing-import] - the C module: `signal` loads enum
import _socket
import _thread
import gc
import marshal
import os
import resource
import struct
import sys

from alpha_codium.sandbox.engine.inside import huge_pages, jail, program, wire
from alpha_codium.sandbox.engine.inside import kernel as k

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

SCM_RIGHTS = 1
CONTROL_BYTES = 256
# The address space of a bare interpreter, which is added to a test's memory limit.
BARE_BYTES = 24 << 20
THREAD_STACK = 8 << 20
MOST_DRIVERS = 16
# The beginning of the last statement of a driver that consists of definitions and one statement.
MARK = b'\nif "program" in globals():'
DRIVERS: dict[bytes, program.Driver] = {}
FILTERS: dict[bytes, tuple[Any, Any]] = {}


def serve(control_fd: int, depth: int) -> tuple[jail.Config, list[int], program.Driver | None, jail.Config]:
    """Serve the host until it ends; return in a runner's process, with the arguments of `runner.make_ready`."""
    control = _socket.socket(fileno=control_fd)
    config = marshal.loads(control.recv(wire.MESSAGE_BYTES))
    place = place_of(config)
    settle(config, depth, place.enter)
    say_ready(control, config)
    while True:
        message, fds = receive(control)
        if not message:
            os._exit(0)
        if message == wire.RENEW:
            renew(config)
            say_ready(control, config)
            continue
        request = marshal.loads(message)
        know_filter(request["filter"])
        driver = driver_of(wire.read_all(fds[1]), config["folder"])
        started = place.fork_runner(config)
        if started == 0:
            control.detach()
            return request, fds, driver, config
        reap_runner(control, started, fds, place.await_end)


def place_of(config: jail.Config) -> Any:
    """Return the module for the configured kind of jail, and store it in `config`."""
    config["place"] = jail
    if config["walls"]:
        from alpha_codium.sandbox.engine.inside import walls

        config["place"] = walls
    return config["place"]


def settle(config: jail.Config, depth: int, enter: Callable[[jail.Config], None]) -> None:
    """Enter the jail, with all that candidates have in common in memory; `depth` is how deep we can recurse."""
    prepare(config)
    allow_recursion(config["depth"] - depth)
    enter(config)
    k.prctl(k.PR_SET_DUMPABLE, 0)
    k.warm_up()
    if config["warm_up"]:
        warm_up(config)
    gc.collect()
    k.give_back()
    gc.freeze()


def prepare(config: jail.Config) -> None:
    """Prepare what needs the host's file system or rights."""
    huge_pages.hold_code()
    # A program could end us by a SIGINT.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    k.hide_command_line(b"python3\0program.py\0")
    k.limit_threads(THREAD_STACK)
    make_room_for_stacks()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    sys.path[:] = config["path"]
    for name, value in config["attributes"].items():
        setattr(sys, name, value)
    for name in ("PWD", "LD_BIND_NOW"):
        os.environ.pop(name, None)
    # Once, since each process that reads them copies many pages.
    config["variables"] = dict(os.environ)
    make_builtins()
    for name in config["preload"]:
        try:
            __import__(name)
        except ImportError:
            pass
    for name in [name for name in sys.modules if name.startswith("alpha_codium")]:
        del sys.modules[name]
    measure(config)


def measure(config: jail.Config) -> None:
    """Note the address space that tests inherit, which doesn't count as theirs."""
    with open("/proc/self/statm", "rb") as file:
        used = int(file.read().split()[0]) * resource.getpagesize()
    config["own_bytes"] = max(0, used - BARE_BYTES)


def warm_up(config: jail.Config) -> None:
    """Execute the workspace's script in the folder of programs."""
    os.chdir(config["folder"])
    try:
        exec(compile(config["warm_up"], "<warm-up>", "exec", 0, True), {"__name__": "warm_up"})
    except BaseException as error:
        raise ImportError("%s: %s: %s" % (wire.WARM_UP_FAILED, type(error).__name__, error)) from error
    os.chdir("/")
    measure(config)


def allow_recursion(lost: int) -> None:
    """Raise the recursion limit by the levels that our own frames take, without showing it."""
    get, set_ = sys.getrecursionlimit, sys.setrecursionlimit

    def getrecursionlimit() -> int:
        """Return the current value of the recursion limit."""
        return get() - lost

    def setrecursionlimit(limit: int, /) -> None:
        """Set the maximum depth of the Python interpreter stack to n."""
        set_(min(limit + lost, 0x7FFFFFFF) if type(limit) is int and limit > 0 else limit)

    if lost > 0:
        set_(get() + lost)
        sys.getrecursionlimit, sys.setrecursionlimit = getrecursionlimit, setrecursionlimit


def make_room_for_stacks() -> None:
    """Have `threading.stack_size` add the stack of one thread to the limit of the address space, where that may rise.

    Many programs ask for a gigabyte, of which they use little.
    """
    set_, get, limit = _thread.stack_size, resource.getrlimit, resource.setrlimit

    def stack_size(size: int = 0, /) -> int:
        """Return the thread stack size used when creating new threads, and set that of later ones."""
        before = set_(size)
        soft, hard = get(resource.RLIMIT_AS)
        room = max(size, THREAD_STACK) - max(before, THREAD_STACK)
        if hard != resource.RLIM_INFINITY and 0 < soft + room <= hard and room > 0:
            limit(resource.RLIMIT_AS, (soft + room, hard))
        return before

    _thread.stack_size = stack_size
    if "threading" in sys.modules:
        setattr(sys.modules["threading"], "stack_size", stack_size)  # noqa: B010 - for the type checker


def make_builtins() -> None:
    """Add the builtins that `site` adds, without its cost."""
    import _sitebuiltins as site
    import builtins

    builtins.quit = site.Quitter("quit", "Ctrl-D (i.e. EOF)")
    builtins.exit = site.Quitter("exit", "Ctrl-D (i.e. EOF)")
    builtins.copyright = site._Printer("copyright", sys.copyright)
    builtins.credits = site._Printer("credits", "See www.python.org for more information.")
    builtins.license = site._Printer("license", "See https://www.python.org/psf/license/")
    builtins.help = site._Helper()


def reap_runner(control: _socket.socket, pid: int, fds: list[int], await_end: Callable[[int], int]) -> None:
    """Send the host a pidfd of the runner, and wait until it and everything that it started has ended."""
    for fd in fds:
        os.close(fd)
    pidfd = os.pidfd_open(pid)
    try:
        control.sendmsg([wire.STARTED], [(_socket.SOL_SOCKET, SCM_RIGHTS, pidfd.to_bytes(4, "little"))])
        os.close(pidfd)
        control.send(wire.ENDED + wire.WAIT_STATUS.pack(await_end(pid)))
    except ConnectionError:
        # The host has ended; the runner ends with us.
        os._exit(0)


def say_ready(control: _socket.socket, config: jail.Config) -> None:
    """Send the host descriptors (O_PATH, without rights) that show whether the scratch folder is unchanged."""
    fds = [os.open(path, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC) for path in config["place"].watched(config)]
    facts = bytes([config["landlock"] is not None, config["proc"], len(fds)])
    control.sendmsg([wire.READY + facts], [(_socket.SOL_SOCKET, SCM_RIGHTS, struct.pack("%di" % len(fds), *fds))])
    for fd in fds:
        os.close(fd)


def driver_of(source: bytes, folder: str) -> program.Driver | None:
    """Return a prepared driver, from a cache for all candidates; None if there is no driver."""
    if not source:
        return None
    if source not in DRIVERS:
        if len(DRIVERS) >= MOST_DRIVERS:
            DRIVERS.clear()
        DRIVERS[source] = prepared(source, folder + "/" + wire.DRIVER)
    return DRIVERS[source]


def prepared(source: bytes, file: str) -> program.Driver:
    """Execute the definitions of a driver, but not its last statement if that begins with `MARK`: tests run it."""
    definitions, mark, rest = source.rpartition(MARK)
    if mark:
        known = set(sys.modules)
        names: dict[str, Any] = {"__name__": "__main__"}
        try:
            exec(compile(definitions, file, "exec", 0, True), names)
            # With the right line numbers, for tracebacks.
            last = compile(b"\n" * definitions.count(b"\n") + mark + rest, file, "exec", 0, True)
            return program.Driver(names, last)
        except BaseException:
            # A test's process will raise it again, and report it.
            pass
        finally:
            # A program that imports these modules gets fresh ones.
            for name in set(sys.modules) - known:
                del sys.modules[name]
    return program.Driver({}, compile(source, file, "exec", 0, True))


def know_filter(instructions: bytes) -> None:
    """Prepare a runner's filter before the fork; there are few different ones."""
    if instructions not in FILTERS:
        FILTERS[instructions] = k.filter_of(instructions)


def renew(config: jail.Config) -> None:
    """Make a new scratch folder, and the Landlock rules for it."""
    config["place"].renew_scratch(config)
    if config["landlock"] is not None:
        os.close(config["landlock"])
    config["landlock"] = config["place"].landlock_ruleset(config)


def receive(control: _socket.socket, most: int = wire.MESSAGE_BYTES) -> tuple[bytes, list[int]]:
    """Receive one message and the descriptors that came with it."""
    message, ancillary, _, _ = control.recvmsg(most, CONTROL_BYTES, _socket.MSG_CMSG_CLOEXEC)
    # The host sends no other ancillary data, and all descriptors at once.
    return message, memoryview(ancillary[0][2]).cast("i").tolist() if ancillary else []
