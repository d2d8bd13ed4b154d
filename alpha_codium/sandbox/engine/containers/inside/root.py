"""A root file system for an agent that runs in the same gVisor as gencode.

1. The root is a tmpfs into which the interpreter's folders are bound, so that programs see nothing else of the
   container. gVisor of 2022 has neither `pivot_root` nor read-only binds, and all processes see all mounts. So the
   agent changes to a root in a folder that the host made; only root could leave it or write to its files, and programs
   don't run as root.
2. Without SYS_ADMIN, which engines don't give by default, nothing can be mounted: the files of the interpreter are
   linked into the folder. There is no /proc and no /dev then, and the space for files isn't limited.
"""

from __future__ import annotations

import errno
import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from alpha_codium.sandbox.engine.inside.jail import Config

from alpha_codium.sandbox.engine.inside import kernel as k
from alpha_codium.sandbox.engine.inside import wire

WRITABLE = {wire.SCRATCH: "755", "/tmp": "1777", "/dev/shm": "1777"}
FLAGS = k.MS_NOSUID | k.MS_NODEV


def enter(config: Config) -> None:
    """Make the root and change to it; raises OSError."""
    stage = config["own_root"]
    try:
        k.unshare(k.CLONE_NEWNS)
        k.mount("tmpfs", stage, "tmpfs", FLAGS, "size=4m,mode=755")
    except OSError as error:
        if error.errno != errno.EPERM:
            raise
        link_root(config, stage)
    else:
        mount_root(config, stage)
    for link, target in config["links"]:
        if not os.path.lexists(stage + link):
            os.symlink(target, stage + link)
    os.chroot(stage)
    os.chdir("/")


def mount_root(config: Config, stage: str) -> None:
    """Mount what programs may see below `stage`."""
    for path in [*config["read_only"], "/dev"]:
        make_place(stage + path, os.path.isdir(path))
        k.mount(path, stage + path, None, k.MS_BIND)
    for path in config["hidden"]:
        k.mount("tmpfs", stage + path, "tmpfs", FLAGS | k.MS_RDONLY, "size=4k")
    for path, mode in WRITABLE.items():
        make_place(stage + path, True)
        k.mount("tmpfs", stage + path, "tmpfs", FLAGS, "size=%d,mode=%s" % (config["scratch_bytes"], mode))
    make_place(stage + "/proc", True)
    k.mount("proc", stage + "/proc", "proc", FLAGS | k.MS_NOEXEC)


def make_place(path: str, is_folder: bool) -> None:
    """Make an empty folder or file to mount something on."""
    os.makedirs(path if is_folder else os.path.dirname(path), exist_ok=True)
    if not is_folder:
        os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o644))


def link_root(config: Config, stage: str) -> None:
    """Link the files that programs may read into `stage`."""
    os.chmod(stage, 0o755)
    for path in config["read_only"]:
        os.makedirs(stage + os.path.dirname(path), exist_ok=True)
        link_tree(path, stage + path, config["hidden"])
    for path, mode in WRITABLE.items():
        os.makedirs(stage + path, exist_ok=True)
        os.chmod(stage + path, int(mode, 8))


def link_tree(source: str, target: str, hidden: list[str]) -> None:
    """Make `target` a copy of a file, folder or symbolic link, with hard links to its files where that is possible."""
    if os.path.islink(source):
        os.symlink(os.readlink(source), target)
    elif not os.path.isdir(source):
        try:
            os.link(source, target)
        except OSError:
            with open(source, "rb") as reading, open(target, "wb") as writing:
                writing.write(reading.read())
            os.chmod(target, 0o755)
    elif source not in hidden:
        os.mkdir(target, 0o755)
        for name in os.listdir(source):
            link_tree(source + "/" + name, target + "/" + name, hidden)
