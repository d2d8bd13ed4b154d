"""Private folders for the programs of an agent, in its own mount namespace.

1. Everything that is mounted becomes read-only, once. Of the devices only `DEVICES` are left; these can be written to.
2. Each program gets an empty file system in memory at its own folders and at each of `SHARED`, which cover the host's.
   What its interpreter needs of these folders stays visible.
3. A program has no capability but to read every file, so it can't undo this. A namespace that it makes for itself
   can't either: the kernel locks mounts that come from a namespace with more rights.
"""

from __future__ import annotations

import os
import stat

from alpha_codium.sandbox.engine.inside import kernel as k

# /run contains the sockets of services such as docker.
SHARED = ("/tmp", "/dev/shm", "/run")
DEVICES = ("null", "zero", "full", "random", "urandom", "fd", "stdin", "stdout", "stderr")
BYTES = 64 << 20
# Root can start an interpreter in a folder that only another user can read.
CAP_DAC_READ_SEARCH = 2


class PrivateFolders:
    """The private folders of one program after the other, each started with `interpreter`."""

    def __init__(self, interpreter: str) -> None:
        """Make everything read-only; raises OSError."""
        k.mount("none", "/", None, k.MS_REC | k.MS_PRIVATE)
        self.shared = [folder for folder in SHARED if os.path.isdir(folder)]
        needed = {top for folder in self.shared for top in tops_below(folder, files_of(interpreter))}
        self.needed = [(path, os.open(path, os.O_PATH | os.O_CLOEXEC)) for path in sorted(needed)]
        self.mounted: list[str] = []
        leave_few_devices()
        k.make_read_only("/", devices=True)

    def renew(self, own: tuple[str, ...], more_bytes: int) -> None:
        """Unmount the folders of the last program, and mount empty ones; raises OSError.

        `more_bytes` are added to the size of the program's `own`.
        """
        while self.mounted:
            k.unmount(self.mounted.pop())
        for shared in self.shared:
            self._mount(shared, BYTES, "1777")
        for path, source in self.needed:
            os.makedirs(path, exist_ok=True)
            k.mount("/proc/self/fd/%d" % source, path, None, k.MS_BIND | k.MS_REC)
        for folder in own:
            os.makedirs(folder, exist_ok=True)
            self._mount(folder, BYTES + more_bytes, "700")

    def _mount(self, folder: str, size: int, mode: str) -> None:
        k.mount("tmpfs", folder, "tmpfs", k.MS_NOSUID | k.MS_NODEV, "size=%d,nr_inodes=16k,mode=%s" % (size, mode))
        self.mounted.append(folder)


def open_score(folder: str) -> int:
    """Return a descriptor to write this process's oom_score_adj, which stays writable; `folder` is any empty one."""
    k.mount("proc", folder, "proc", k.MS_NOSUID | k.MS_NODEV | k.MS_NOEXEC)
    score = os.open(folder + "/self/oom_score_adj", os.O_WRONLY | os.O_CLOEXEC)
    k.unmount(folder)
    return score


def leave_few_devices() -> None:
    """Cover /dev, where root could open disks, by a folder with `DEVICES` only."""
    sources = [("/dev/" + name, os.open("/dev/" + name, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC)) for name in DEVICES]
    k.mount("tmpfs", "/dev", "tmpfs", k.MS_NOSUID, "size=64k,mode=755")
    os.mkdir("/dev/shm")
    for path, source in sources:
        if stat.S_ISLNK(os.fstat(source).st_mode):
            os.symlink(os.readlink("", dir_fd=source), path)
        else:
            os.close(os.open(path, os.O_CREAT | os.O_WRONLY))
            k.mount("/proc/self/fd/%d" % source, path, None, k.MS_BIND)
        os.close(source)


def give_programs_no_rights() -> None:
    """Prevent programs that are started later from getting a capability, but for the one to read every file."""
    k.forbid_capabilities(keep=CAP_DAC_READ_SEARCH)


def files_of(interpreter: str) -> list[str]:
    """Return the paths on the way to an interpreter: each symbolic link, and where the last one leads."""
    paths = [os.path.abspath(interpreter)]
    while os.path.islink(paths[-1]) and len(paths) < 40:
        paths.append(os.path.join(os.path.dirname(paths[-1]), os.readlink(paths[-1])))
    return [way for path in paths for way in (path, os.path.realpath(os.path.dirname(path)), os.path.realpath(path))]


def tops_below(folder: str, paths: list[str]) -> set[str]:
    """Return the entries of `folder` in which some of these paths are."""
    inside = [path[len(folder) + 1 :] for path in map(os.path.normpath, paths) if path.startswith(folder + "/")]
    return {folder + "/" + path.split("/")[0] for path in inside}
