"""The jail of one worker: new namespaces, and a root that contains only the interpreter.

1. As root, it first makes the new file system, then takes an unused user id; as an ordinary user, it first makes a user
   namespace, since it may mount only there. Both end up as a user without rights outside the jail.
2. The root is a tmpfs with the interpreter's folders bound into it, read-only. A program can write only in one small
   tmpfs, which holds its own folder and the usual ones for temporary files.
3. The zygote is process 1 of the jail's pid namespace. It keeps its capabilities, which are limited to the jail, to
   make a new pid namespace for each candidate.
"""

from __future__ import annotations

import _socket
import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Config = dict[str, Any]

from alpha_codium.sandbox.engine.inside import kernel as k
from alpha_codium.sandbox.engine.inside import wire

STAGE = "/tmp"
PROGRAM_FOLDER = "/program"
SCRATCH_FOLDERS = (wire.FOLDER, wire.SCRATCH + "/tmp", wire.SCRATCH + "/shm")
DEVICES = ("null", "zero", "full", "random", "urandom")
NAMESPACES = (
    k.CLONE_NEWUSER | k.CLONE_NEWNS | k.CLONE_NEWPID | k.CLONE_NEWNET | k.CLONE_NEWIPC | k.CLONE_NEWUTS
    | k.CLONE_NEWCGROUP
)  # fmt: skip
# If the interpreter is in one of these, it is mounted there, else it is a link.
SHARED = {"/tmp": wire.SCRATCH + "/tmp", "/dev/shm": wire.SCRATCH + "/shm"}
LINKS = {
    **SHARED,
    "/dev/fd": "/proc/self/fd",
    "/dev/stdin": "/proc/self/fd/0",
    "/dev/stdout": "/proc/self/fd/1",
    "/dev/stderr": "/proc/self/fd/2",
}


def enter(config: Config) -> None:
    """Enter a jail: the caller returns as its process 1."""
    # It stays the same file whatever is mounted over its name.
    own_proc = os.open("/proc/self", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    if config["uid"]:
        k.unshare(k.CLONE_NEWNS)
        make_root(config)
        become(config["uid"])
        new_namespaces(own_proc)
    else:
        new_namespaces(own_proc)
        make_root(config)
    os.close(own_proc)
    become_first_process()
    furnish(config)
    _socket.sethostname("sandbox")
    k.forbid_capabilities()
    config["landlock"] = landlock_ruleset(config)


def become(uid: int) -> None:
    """Change to a user id irrevocably."""
    os.setgroups([])
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)


def new_namespaces(own_proc: int) -> None:
    """Enter a new user namespace in which we are user 1000, and the other namespaces."""
    uid, gid = os.geteuid(), os.getegid()
    # Else the files below belong to root after a change of user.
    k.prctl(k.PR_SET_DUMPABLE, 1)
    k.unshare(NAMESPACES)
    map_user(own_proc, uid, gid)


def map_user(own_proc: int, uid: int, gid: int) -> None:
    """Map user 1000 of our new user namespace to `uid` and `gid` outside."""
    for name, text in (("setgroups", "deny"), ("uid_map", "1000 %d 1" % uid), ("gid_map", "1000 %d 1" % gid)):
        fd = os.open(name, os.O_WRONLY, dir_fd=own_proc)
        os.write(fd, text.encode())
        os.close(fd)


def make_root(config: Config) -> None:
    """Make the new root and change to it; the old one is unmounted."""
    k.mount("none", "/", None, k.MS_REC | k.MS_PRIVATE)
    sources = [(path, os.open(path, os.O_PATH | os.O_CLOEXEC)) for path in config["read_only"]]
    devices = [("/dev/" + name, os.open("/dev/" + name, os.O_PATH | os.O_CLOEXEC)) for name in DEVICES]
    proc = os.open("/proc", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    k.mount("tmpfs", STAGE, "tmpfs", k.MS_NOSUID | k.MS_NODEV, "size=1m,nr_inodes=4k,mode=755")
    for path, fd in sources:
        bind(fd, STAGE + path)
        k.make_read_only(STAGE + path)
    for path in config["hidden"]:
        k.mount("tmpfs", STAGE + path, "tmpfs", k.MS_RDONLY | k.MS_NOSUID | k.MS_NODEV, "size=4k")
    for path, fd in devices:
        bind(fd, STAGE + path)
        # Their times are those of the host's files. Writing to a device needs no writable mount.
        k.make_read_only(STAGE + path, devices=True)
    # A new one can be mounted only if an old one is visible.
    bind(proc, STAGE + "/proc")
    for folder in (wire.SCRATCH, PROGRAM_FOLDER, "/var"):
        os.makedirs(STAGE + folder, exist_ok=True)
    for link, target in list(LINKS.items()) + config["links"]:
        os.makedirs(os.path.dirname(STAGE + link), exist_ok=True)
        if not os.path.lexists(STAGE + link):
            os.symlink(target, STAGE + link)
    for _, fd in sources + devices + [("", proc)]:
        os.close(fd)
    k.pivot_root(STAGE)
    k.mount("none", "/", None, k.MS_REMOUNT | k.MS_BIND | k.MS_RDONLY | k.MS_NOSUID | k.MS_NODEV)
    # As another user we couldn't list them.
    config["needed"] = {folder: os.listdir(folder) for folder in SHARED if not os.path.islink(folder)}


def bind(fd: int, target: str) -> None:
    """Bind the open file or folder `fd` to `target`."""
    source = "/proc/self/fd/%d" % fd
    if os.path.isdir(source):
        os.makedirs(target, exist_ok=True)
        hide_names(os.path.dirname(target))
    else:
        os.makedirs(os.path.dirname(target), exist_ok=True)
        os.close(os.open(target, os.O_CREAT | os.O_WRONLY, 0o644))
    k.mount(source, target, None, k.MS_BIND | k.MS_REC)


def hide_names(folder: str) -> None:
    """Make the folders on the way to a bind unreadable, so that they don't show what the host has there."""
    while folder != STAGE:
        os.chmod(folder, 0o311)
        folder = os.path.dirname(folder)


def become_first_process() -> None:
    """Fork process 1 of the new pid namespace; the parent, outside of it, only waits for it."""
    host = os.getppid()
    pid = os.fork()
    # When the host dies, the kernel kills the parent, then process 1, and with it everything in the jail.
    k.prctl(k.PR_SET_PDEATHSIG, 9)
    if pid:
        k.close_from(3)
        # The host may have died before the call above.
        if os.getppid() == host:
            os.waitpid(pid, 0)
        os._exit(0)


def furnish(config: Config) -> None:
    """Mount what belongs to this pid namespace: /proc, if that is allowed, and the folders of the program."""
    try:
        flags = k.MS_NOSUID | k.MS_NODEV | k.MS_NOEXEC
        k.mount("proc", "/proc", "proc", flags, "hidepid=2,subset=pid")
        config["proc"] = True
    except OSError:
        # Docker's masked /proc forbids it: then an empty folder covers the host's.
        k.mount("tmpfs", "/proc", "tmpfs", k.MS_RDONLY | k.MS_NOSUID | k.MS_NODEV, "size=4k")
        config["proc"] = False
    k.mount("tmpfs", PROGRAM_FOLDER, "tmpfs", k.MS_NOSUID | k.MS_NODEV | k.MS_NOEXEC, "size=64m,mode=755")
    config["spawns"] = config["proc"]
    config["program_folder"] = os.open(PROGRAM_FOLDER, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    config["program_path"] = PROGRAM_FOLDER
    k.mount(PROGRAM_FOLDER, PROGRAM_FOLDER, None, k.MS_BIND)
    k.make_read_only(PROGRAM_FOLDER)
    config["needed"] = {folder: open_all(folder, names) for folder, names in config["needed"].items()}
    mount_scratch(config)
    config["own_pids"] = os.pidfd_open(os.getpid())
    # A user namespace of our own counts no other processes.
    config["others"] = 0


def open_all(folder: str, names: list[str]) -> list[tuple[str, int]]:
    """Return the paths of these entries, with a descriptor of each, for when another mount covers them."""
    paths = [folder + "/" + name for name in names]
    return [(path, os.open(path, os.O_PATH | os.O_CLOEXEC)) for path in paths]


def fork_runner(config: Config) -> int:
    """Fork process 1 of a new pid namespace below ours."""
    k.setns(config["own_pids"], k.CLONE_NEWPID)
    k.unshare(k.CLONE_NEWPID)
    return os.fork()


def cover(path: str) -> None:
    """Have this process see its program at `path`, too."""
    k.unshare(k.CLONE_NEWNS)
    k.mount(PROGRAM_FOLDER + "/" + wire.PROGRAM, path, None, k.MS_BIND)
    k.make_read_only(path)


def await_end(pid: int) -> int:
    """Wait until a runner, and with it all in its namespace, has ended; return its wait status."""
    return os.waitpid(pid, 0)[1]


def mount_scratch(config: Config) -> None:
    """Mount an empty scratch folder, with a link to the program."""
    flags = k.MS_NOSUID | k.MS_NODEV | k.MS_NOEXEC | k.MS_NOATIME
    k.mount("tmpfs", wire.SCRATCH, "tmpfs", flags, "size=%d,nr_inodes=16k,mode=700" % config["scratch_bytes"])
    for folder in SCRATCH_FOLDERS:
        os.mkdir(folder, 0o700)
    os.symlink(PROGRAM_FOLDER + "/" + wire.PROGRAM, wire.FOLDER + "/" + wire.PROGRAM)
    for shared, entries in config["needed"].items():
        k.mount(SHARED[shared], shared, None, k.MS_BIND)
        for path, source in entries:
            os.mkdir(path)
            k.mount("/proc/self/fd/%d" % source, path, None, k.MS_BIND | k.MS_REC)
    for folder in (wire.SCRATCH, *SCRATCH_FOLDERS):
        # Any change of the folder sets another time, even if the clock is coarse.
        os.utime(folder, ns=(0, 0))


def renew_scratch(config: Config) -> None:
    """Unmount the scratch folder, whatever is in it, and mount a new one."""
    for shared in config["needed"]:
        k.unmount(shared)
    k.unmount(wire.SCRATCH)
    mount_scratch(config)


def watched(_config: Config) -> list[str]:
    """Return the paths whose metadata shows whether the scratch folders were changed."""
    return [wire.SCRATCH, *SCRATCH_FOLDERS, wire.FOLDER + "/" + wire.PROGRAM]


def landlock_ruleset(config: Config) -> int | None:
    """Make the rules of every candidate: read everything, write in the scratch folder only; None without Landlock.

    Only tools may be executed: what is handed over as an open file needs no rule.
    """
    if not k.landlock_version():
        return None
    read = k.READ | k.EXECUTE if config["tools"] else k.READ
    return k.landlock_rules([("/", read), *((folder, k.CHANGE) for folder in SCRATCH_FOLDERS), *device_rules()])


def device_rules() -> list[tuple[str, int]]:
    """Return the rules for the devices."""
    return [("/dev/" + name, k.READ_FILE | k.WRITE_FILE) for name in DEVICES]
