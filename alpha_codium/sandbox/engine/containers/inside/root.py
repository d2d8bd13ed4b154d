"""A root file system for an agent that runs in the same gVisor as gencode.

The root is a tmpfs into which the interpreter's folders are bound, so that programs see nothing else of the container.
gVisor of 2022 has neither `pivot_root` nor read-only binds, and all processes see all mounts. So the agent changes to
a root in a folder that the host made; only root could leave it or write to its files, and programs don't run as root.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Config = dict[str, Any]

from alpha_codium.sandbox.engine.inside import kernel as k
from alpha_codium.sandbox.engine.inside import wire

WRITABLE = {wire.SCRATCH: "755", "/tmp": "1777", "/dev/shm": "1777"}
FLAGS = k.MS_NOSUID | k.MS_NODEV


def enter(config: Config) -> None:
    """Make the root and change to it; raises OSError."""
    stage = config["own_root"]
    k.unshare(k.CLONE_NEWNS)
    k.mount("tmpfs", stage, "tmpfs", FLAGS, "size=4m,mode=755")
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
    for link, target in config["links"]:
        if not os.path.lexists(stage + link):
            os.symlink(target, stage + link)
    os.chroot(stage)
    os.chdir("/")


def make_place(path: str, is_folder: bool) -> None:
    """Make an empty folder or file to mount something on."""
    os.makedirs(path if is_folder else os.path.dirname(path), exist_ok=True)
    if not is_folder:
        os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o644))
