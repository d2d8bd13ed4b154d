"""The zygote: a warm interpreter in the jail, from which each candidate gets a runner. It never runs code of others.

A candidate's runner is process 1 of a new pid namespace: whatever a program starts is in there with it, and dies with
it. The host watches the scratch folder, and has it made anew where a candidate left it other than it was. Where there
are no namespaces, `walls` stands in for `jail`.

Drivers are ours: what they define is made here, once, and a test's process finds it. Nothing of theirs runs here that
a candidate has a part in.
"""

from __future__ import annotations

import _signal as signal  # pyrefly: ignore[missing-import] - the C module: `signal` loads enum
import _socket
import gc
import marshal
import os
import resource
import struct
import sys

from alpha_codium.sandbox.engine.inside import jail, program, wire
from alpha_codium.sandbox.engine.inside import kernel as k

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

SCM_RIGHTS = 1
CONTROL_BYTES = 256
# What a bare interpreter takes of its address space; a limit of memory is a limit of what comes on top.
BARE_BYTES = 24 << 20
THREAD_STACK = 8 << 20
MOST_DRIVERS = 16
# What a driver ends with that only defines things before.
MARK = b'\nif "program" in globals():'
DRIVERS: dict[bytes, program.Driver] = {}
FILTERS: dict[bytes, tuple[Any, Any]] = {}


def serve(control_fd: int, depth: int) -> tuple[jail.Config, list[int], program.Driver | None, jail.Config]:
    """Serve the host until it goes; comes back in a runner's process, with what `runner.make_ready` needs."""
    control = _socket.socket(fileno=control_fd)
    config = marshal.loads(control.recv(wire.MESSAGE_BYTES))
    place = place_of(config)
    prepare(config)
    allow_recursion(config["depth"] - depth)
    place.enter(config)
    k.prctl(k.PR_SET_DUMPABLE, 0)
    config["landlock"] = place.landlock_ruleset(config)
    k.warm_up()
    gc.collect()
    k.give_back()
    gc.freeze()
    say_ready(control, config)
    while True:
        message, fds = receive(control)
        if not message:
            os._exit(0)
        if message == wire.RENEW:
            renew(config)
            say_ready(control, config)
            continue
        candidate = marshal.loads(message)
        know_filter(candidate["filter"])
        driver = driver_of(wire.read_all(fds[1]), config["folder"])
        started = place.fork_runner(config)
        if started == 0:
            control.detach()
            return candidate, fds, driver, config
        reap_runner(control, started, fds, place.await_end)


def place_of(config: jail.Config) -> Any:
    """The module that makes the kind of jail that is asked for; a runner finds it in `config`."""
    config["place"] = jail
    if config["walls"]:
        from alpha_codium.sandbox.engine.inside import walls

        config["place"] = walls
    return config["place"]


def prepare(config: jail.Config) -> None:
    """What is the same for all candidates and needs the host's file system, or its rights."""
    # A program could end us by it.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    k.set_thread_stack(THREAD_STACK)
    k.few_arenas()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    sys.path[:] = config["path"]
    for name, value in config["attributes"].items():
        setattr(sys, name, value)
    for name in ("PWD", "LD_BIND_NOW"):
        os.environ.pop(name, None)
    make_builtins()
    for name in config["preload"]:
        try:
            __import__(name)
        except ImportError:
            pass
    for name in [name for name in sys.modules if name.startswith("alpha_codium")]:
        del sys.modules[name]
    with open("/proc/self/statm", "rb") as file:
        used = int(file.read().split()[0]) * resource.getpagesize()
    config["own_bytes"] = max(0, used - BARE_BYTES)


def allow_recursion(lost: int) -> None:
    """Give back the levels of recursion that are ours, and don't show it."""
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


def make_builtins() -> None:
    """What `site` would add, without what it costs."""
    import _sitebuiltins as site
    import builtins

    builtins.quit = site.Quitter("quit", "Ctrl-D (i.e. EOF)")
    builtins.exit = site.Quitter("exit", "Ctrl-D (i.e. EOF)")
    builtins.copyright = site._Printer("copyright", sys.copyright)
    builtins.credits = site._Printer("credits", "See www.python.org for more information.")
    builtins.license = site._Printer("license", "See https://www.python.org/psf/license/")
    builtins.help = site._Helper()


def reap_runner(control: _socket.socket, pid: int, fds: list[int], await_end: Callable[[int], int]) -> None:
    """Hand the host a grip on the runner, and wait for its end, which is the end of all that it started."""
    for fd in fds:
        os.close(fd)
    grip = os.pidfd_open(pid)
    try:
        control.sendmsg([wire.STARTED], [(_socket.SOL_SOCKET, SCM_RIGHTS, grip.to_bytes(4, "little"))])
        os.close(grip)
        control.send(wire.ENDED + wire.WAIT_STATUS.pack(await_end(pid)))
    except ConnectionError:
        # The host has gone; with us goes the runner.
        os._exit(0)


def say_ready(control: _socket.socket, config: jail.Config) -> None:
    """Hand the host grips on what shows whether the scratch folder is as it was made: paths only, not rights."""
    grips = [os.open(path, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC) for path in config["place"].watched(config)]
    facts = bytes([config["landlock"] is not None, config["proc"], len(grips)])
    control.sendmsg([wire.READY + facts], [(_socket.SOL_SOCKET, SCM_RIGHTS, struct.pack("%di" % len(grips), *grips))])
    for grip in grips:
        os.close(grip)


def driver_of(source: bytes, folder: str) -> program.Driver | None:
    """A driver made ready, once for all candidates: there are few, and they are ours. None where there is none."""
    if not source:
        return None
    if source not in DRIVERS:
        if len(DRIVERS) >= MOST_DRIVERS:
            DRIVERS.clear()
        DRIVERS[source] = prepared(source, folder + "/" + wire.DRIVER)
    return DRIVERS[source]


def prepared(source: bytes, file: str) -> program.Driver:
    """A driver whose definitions are made, and whose last statement is left to do, where it begins with `MARK`."""
    definitions, mark, rest = source.rpartition(MARK)
    if mark:
        known = set(sys.modules)
        names: dict[str, Any] = {"__name__": "__main__"}
        try:
            exec(compile(definitions, file, "exec", 0, True), names)
            # At its own lines, for tracebacks.
            last = compile(b"\n" * definitions.count(b"\n") + mark + rest, file, "exec", 0, True)
            return program.Driver(names, last)
        except BaseException:
            # A test's process comes to it again, and there it can be told.
            pass
        finally:
            # A program that imports them gets its own.
            for name in set(sys.modules) - known:
                del sys.modules[name]
    return program.Driver({}, compile(source, file, "exec", 0, True))


def know_filter(instructions: bytes) -> None:
    """Have a runner's filter made; the limits choose among few."""
    if instructions not in FILTERS:
        FILTERS[instructions] = k.filter_of(instructions)


def renew(config: jail.Config) -> None:
    """A new scratch folder, and the rules that know it."""
    config["place"].renew_scratch(config)
    if config["landlock"] is not None:
        os.close(config["landlock"])
    config["landlock"] = config["place"].landlock_ruleset(config)


def receive(control: _socket.socket, most: int = wire.MESSAGE_BYTES) -> tuple[bytes, list[int]]:
    """One message and the descriptors that came with it."""
    message, ancillary, _, _ = control.recvmsg(most, CONTROL_BYTES)
    # The host sends nothing else, and these all at once.
    return message, memoryview(ancillary[0][2]).cast("i").tolist() if ancillary else []
