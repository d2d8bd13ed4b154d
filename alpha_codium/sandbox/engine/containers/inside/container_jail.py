"""The isolation of a runner from the agent in a container, as far as the container allows it.

1. As root (of gVisor's kernel, without rights on the host), each runner gets a pid namespace, as in the local backend,
   a user other than the agent's, and a /proc of that namespace, in which the runner itself is hidden by a mount: gVisor
   of 2022 lets any process open the files of any other that it sees in /proc.
2. Without root, the agent first makes a user namespace, in which it can make pid namespaces for its runners.
3. If that is forbidden too (by Docker's seccomp profile), a test is a single process, whose filter forbids it to start
   others and to signal any but itself. If the agent is root, its runners are of another user here, too; else all
   processes of the container have the same user, and none can be opened or traced.
4. The root is read-only; writable folders are checked for changes and emptied after each candidate.
"""

from __future__ import annotations

import os
import resource

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from alpha_codium.sandbox.engine.inside.jail import Config

from alpha_codium.sandbox.engine import files
from alpha_codium.sandbox.engine.containers.inside import root
from alpha_codium.sandbox.engine.inside import jail, runner, walls, wire
from alpha_codium.sandbox.engine.inside import kernel as k

# Folders that can be written to in some containers.
PLACES = ("/tmp", "/var/tmp", "/dev/shm", "/dev/mqueue", "/run", "/run/lock")
# The user of the tests if the agent is root in its container.
USER = 1000
MOST_FILES = 1 << 16
MOST_MOUNTS = 4
# The folder in which the agent, if it is root, makes files that programs read.
OWN_FOLDER = wire.SCRATCH + "/agent"
# Devices that gVisor always provides, and that no program needs.
DEVICES = ("/dev/ptmx", "/dev/pts/ptmx", "/dev/tty", "/dev/fuse", "/dev/net/tun")


def enter(config: Config) -> None:
    """Find out how runners can be isolated, and prepare for it; may return in a child process."""
    if config.get("own_root"):
        root.enter(config)
    if not os.path.isdir(wire.SCRATCH):
        raise SystemExit("there is no folder %s to write to" % wire.SCRATCH)
    if not works(k.close_from, 1 << 10):
        # gVisor treats the last number as signed.
        k.close_from = close_from
    config["uid"] = USER if os.geteuid() == 0 else 0
    config["nested"] = works(k.unshare, k.CLONE_NEWPID)
    if not config["nested"] and works(k.unshare, k.CLONE_NEWUSER | k.CLONE_NEWPID):
        config["nested"], config["uid"] = True, 0
        become_first_process(os.geteuid(), os.getegid())
    config["forker"] = NestedTestForker if config["nested"] else FlatTestForker
    config["walls"], config["landlock"], config["others"] = not config["nested"], None, 0
    config["proc"] = os.path.exists("/proc/self/fd")
    config["own_pids"] = own_pids()
    if config["uid"]:
        make_own_folder()
    # With their present entries, which are kept: an interpreter may be mounted below one.
    config["places"] = {path: os.listdir(path) for path in (wire.SCRATCH, *PLACES) if is_writable(path)}
    for path in DEVICES:
        try:
            os.chmod(path, 0)
        except OSError:
            pass
    try:
        k.forbid_capabilities()
    except OSError:
        # gVisor of 2022 has no ambient capabilities; without root there are none to forbid.
        pass
    make_box(config)


def make_own_folder() -> None:
    """Mount a file system for inputs, which may be larger than the space that programs may use."""
    os.mkdir(OWN_FOLDER, 0o700)
    try:
        k.mount("tmpfs", OWN_FOLDER, "tmpfs", root.FLAGS | k.MS_NOEXEC, "mode=700")
    except OSError:
        # Without the right to mount, inputs and programs share the space.
        pass


def works(action: Any, *arguments: int) -> bool:
    """Whether `action` succeeds, tried in a child process."""
    pid = os.fork()
    if pid == 0:
        try:
            action(*arguments)
        except BaseException:
            os._exit(1)
        os._exit(0)
    return os.waitpid(pid, 0)[1] == 0


def close_from(first: int) -> None:
    """Close all descriptors from `first` on."""
    os.closerange(first, MOST_FILES)


def become_first_process(uid: int, gid: int) -> None:
    """Fork process 1 of a new pid namespace, in a new user namespace; the parent, outside, waits for it."""
    own = os.open("/proc/self", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    k.unshare(k.CLONE_NEWUSER | k.CLONE_NEWPID)
    try:
        jail.map_user(own, uid, gid)
    except OSError:
        # gVisor of 2022 doesn't have these files; continue without a mapped user.
        pass
    os.close(own)
    pid = os.fork()
    if pid:
        close_from(0)
        os.waitpid(pid, 0)
        os._exit(0)


def own_pids() -> int | None:
    """Return a pidfd for our own pid namespace; None in gVisor, which doesn't need it."""
    try:
        return os.pidfd_open(os.getpid())
    except OSError:
        return None


def is_writable(path: str) -> bool:
    """Whether programs may be able to write to a folder."""
    return os.path.isdir(path) and not os.path.islink(path) and not os.statvfs(path).f_flag & os.ST_RDONLY


def settable(rlimits: dict[str, int]) -> dict[str, int]:
    """Return the limits that can be set here, none above those of the container."""
    found = {}
    for name, value in rlimits.items():
        what = getattr(resource, name)
        ours = resource.getrlimit(what)
        try:
            resource.setrlimit(what, ours)
        except (OSError, ValueError):
            continue
        found[name] = value if ours[1] == resource.RLIM_INFINITY else min(value, ours[1])
    return found


def fork_runner(config: Config, guard: bytes) -> int:
    """Fork a runner, as isolated as possible; `guard` is a filter that keeps its tests from killing it."""
    agent = os.getpid()
    if config["nested"]:
        if config["own_pids"] is not None:
            k.setns(config["own_pids"], k.CLONE_NEWPID)
        k.unshare(k.CLONE_NEWPID)
    pid = os.fork()
    if pid == 0:
        if config["nested"]:
            isolate(config, guard)
        else:
            if config["uid"]:
                jail.become(config["uid"])
            walls.die_with(agent)
    return pid


def isolate(config: Config, guard: bytes) -> None:
    """In a runner: take a /proc and a user other than the agent's."""
    if config["uid"]:
        k.unshare(k.CLONE_NEWNS)
        flags = k.MS_NOSUID | k.MS_NODEV | k.MS_NOEXEC
        k.mount("proc", "/proc", "proc", flags)
        k.mount("tmpfs", "/proc/1", "tmpfs", flags | k.MS_RDONLY, "size=4k,mode=0")
        jail.become(config["uid"])
    k.prctl(k.PR_SET_NO_NEW_PRIVS, 1)
    k.install_filter(k.filter_of(guard))


def uncover() -> None:
    """Unmount what a runner mounted at /proc: in gVisor of 2022, without mount namespaces, it outlives the runner."""
    for _ in range(MOST_MOUNTS):
        if os.path.lexists("/proc/self/fd"):
            return
        k.unmount("/proc")


def make_box(config: Config) -> None:
    """Make an empty folder that belongs to programs."""
    os.mkdir(wire.FOLDER, 0o700)
    if config["uid"]:
        os.chown(wire.FOLDER, config["uid"], config["uid"])
    config["program_folder"] = os.open(wire.FOLDER, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    config["program_path"] = wire.FOLDER


def input_file(config: Config, chunks: Iterator[bytes]) -> int:
    """Return a read-only descriptor of a file with `chunks`.

    As gVisor's root, this is a file without a name, since a sealed file can't be mapped there.
    """
    if not config["uid"]:
        return files.input_file(b"".join(chunks))
    path = OWN_FOLDER + "/input"
    writing = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o444)
    for chunk in chunks:
        wire.write_all(writing, chunk)
    reading = os.open(path, os.O_RDONLY)
    os.close(writing)
    os.unlink(path)
    return reading


def renew(config: Config) -> None:
    """Remove all that was written, and make a new folder; raises OSError, or RecursionError if folders nest too deep.

    No process that could write is left, so paths can be trusted. If this fails, the host removes the container.
    """
    os.close(config["program_folder"])
    for place, kept in config["places"].items():
        empty(place, kept)
    make_box(config)


def empty(folder: str, kept: list[str]) -> None:
    """Remove all that is in a folder except `kept`."""
    for entry in list(os.scandir(folder)):
        if entry.name in kept:
            continue
        if entry.is_dir(follow_symlinks=False):
            os.chmod(entry.path, 0o700)
            empty(entry.path, [])
            os.rmdir(entry.path)
        else:
            os.unlink(entry.path)


def state(config: Config) -> list[tuple[int, ...]]:
    """Return a fingerprint of the folders, which differs if something was written."""
    found: list[tuple[int, ...]] = []
    for path in (wire.FOLDER, wire.FOLDER + "/" + wire.PROGRAM, *config["places"]):
        try:
            s = os.lstat(path)
        except OSError:
            found.append(())
        else:
            found.append((s.st_ino, s.st_mode, s.st_nlink, s.st_size, s.st_mtime_ns, s.st_ctime_ns))
    return found


class NestedTestForker(runner.TestForker):
    """The forker for a runner with its own pid namespace.

    There, `kill(-1)` may miss a process in gVisor, which signals processes one by one and misses those that are being
    forked (observed: a daemon that survived until the wall limit).
    """

    pause = 0.0005

    def serve(self) -> None:
        """See `runner.TestForker`."""
        forget_errors()
        super().serve()


class FlatTestForker(walls.WalledTestForker):
    """The forker for a runner without namespaces, which identifies its test by process id."""

    def serve(self) -> None:
        """See `runner.TestForker`."""
        forget_errors()
        super().serve()

    def enclose(self) -> None:
        """In the new process: die with the runner, and install the filter of a test."""
        walls.die_with(self.runner)
        self.install_own_filter()


def forget_errors() -> None:
    """Close the file that a runner had for stderr, so that two tests can't communicate by it."""
    # A root without devices has no /dev/null; a folder can't be written to, either.
    exists = os.path.exists(os.devnull)
    nothing = os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC) if exists else os.open("/", os.O_RDONLY | os.O_CLOEXEC)
    os.dup2(nothing, 2)
    os.close(nothing)
