"""A script that runs a program with access to some files only: `confine.py HOW WRITABLE READABLE PROGRAM ...`.

WRITABLE is a folder, READABLE paths with colons between them, of which some may not exist; all are absolute. /dev/null
is always there. HOW is

- `view`: in a new root that holds those files only. Needs the right to mount.
- `landlock`: other files can't be opened, but the program can find out whether they exist. Needs Linux 5.13.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from alpha_codium.sandbox.engine.inside import kernel as k
else:
    # A script can import modules from its own folder.
    import kernel as k

NULL = "/dev/null"
STAGE = "/tmp"
SMALL = "size=1m,nr_inodes=4k,mode=755"


def confine(how: str, writable: str, readable: str, *command: str) -> None:
    """Confine this process and exec `command`; raises OSError if the machine doesn't support `how`."""
    paths = [path for path in readable.split(":") if os.path.exists(path)]
    {"view": enter_view, "landlock": enter_landlock}[how](writable, paths)
    os.execv(command[0], command)  # noqa: S606 (no shell is what we want)


def enter_view(writable: str, readable: list[str]) -> None:
    """Make a root that holds those paths, and change to it."""
    here = os.getcwd()
    k.unshare(k.CLONE_NEWNS)
    k.mount("none", "/", None, k.MS_REC | k.MS_PRIVATE)
    # Opened first, since the new root covers /tmp, and some of them may be in there.
    sources = [(path, os.open(path, os.O_PATH | os.O_CLOEXEC)) for path in (*readable, writable, NULL)]
    k.mount("tmpfs", STAGE, "tmpfs", k.MS_NOSUID | k.MS_NODEV, SMALL)
    for path, source in sources:
        show(source, STAGE + path, read_only=path in readable)
    k.pivot_root(STAGE)
    k.mount("none", "/", None, k.MS_REMOUNT | k.MS_BIND | k.MS_RDONLY | k.MS_NOSUID | k.MS_NODEV)
    os.chdir(here)
    k.forbid_capabilities()


def show(source: int, target: str, *, read_only: bool) -> None:
    """Bind an open file or folder to a path of the new root."""
    name = "/proc/self/fd/%d" % source
    os.makedirs(target if os.path.isdir(name) else os.path.dirname(target), exist_ok=True)
    if not os.path.isdir(name):
        os.close(os.open(target, os.O_CREAT | os.O_WRONLY))
    k.mount(name, target, None, k.MS_BIND | k.MS_REC)
    if read_only:
        k.make_read_only(target)


def enter_landlock(writable: str, readable: list[str]) -> None:
    """Forbid opening any other paths."""
    rules = [(path, k.READ | k.EXECUTE if os.path.isdir(path) else k.READ_FILE) for path in readable]
    ruleset = k.landlock_rules([*rules, (writable, k.CHANGE), (NULL, k.READ_FILE | k.WRITE_FILE)])
    k.prctl(k.PR_SET_NO_NEW_PRIVS, 1)
    k.landlock_restrict(ruleset)
    os.close(ruleset)


if __name__ == "__main__":
    confine(*sys.argv[1:])
