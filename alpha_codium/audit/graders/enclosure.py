"""Start a grader where it can do no harm: its own namespaces, no network, and no file that it could change.

All is read-only but folders in memory that cover the shared ones. What the grader needs of these stays visible.
`start_enclosed` runs in the namespaces, then becomes the grader's process.
"""

import functools
import json
import os
import subprocess
import sys
from collections.abc import Sequence

from alpha_codium.sandbox.engine.inside import kernel as k
from alpha_codium.sandbox.portable.inside.private import give_programs_no_rights, leave_few_devices, tops_below
from alpha_codium.sandbox.portable.isolation import namespaces_command

SHARED = ("/tmp", "/var/tmp", "/dev/shm", "/run")  # noqa: S108 - the host's are covered
HOME, FOLDER = "/tmp/home", "/tmp/case"  # noqa: S108 - in memory
START = "import sys; from alpha_codium.audit.graders.enclosure import start_enclosed; start_enclosed(*sys.argv[1:])"


def enclosing_command(needed: Sequence[str]) -> list[str]:
    """Return the command that starts another one enclosed, with the `needed` paths visible; empty if there is none."""
    command = _trial()
    return [*command, json.dumps(kept_of(needed))] if command else []


@functools.cache
def _trial() -> list[str]:
    prefix = namespaces_command()
    command = [*prefix, sys.executable, "-P", "-c", START]
    if not prefix:
        return []
    done = subprocess.run([*command, "[]", "true"], capture_output=True, check=False, timeout=60)
    return command if done.returncode == 0 else []


def kept_of(needed: Sequence[str]) -> list[str]:
    """Return the entries of shared folders in which the `needed` paths are."""
    paths = [way for path in needed for way in (os.path.abspath(path), os.path.realpath(path))]
    return sorted({top for folder in SHARED for top in tops_below(folder, paths)})


def start_enclosed(kept: str, *command: str) -> None:
    """Make everything read-only, cover the shared folders, and become `command`; raises OSError."""
    k.mount("none", "/", None, k.MS_REC | k.MS_PRIVATE)
    sources = [(path, os.open(path, os.O_PATH | os.O_CLOEXEC)) for path in json.loads(kept) if os.path.exists(path)]
    leave_few_devices()
    k.make_read_only("/", devices=True)
    for folder in filter(os.path.isdir, SHARED):
        k.mount("tmpfs", folder, "tmpfs", k.MS_NOSUID | k.MS_NODEV, "size=512m,nr_inodes=64k,mode=1777")
    for path, source in sources:
        if os.path.isdir("/proc/self/fd/%d" % source):
            os.makedirs(path, exist_ok=True)
        else:
            os.close(os.open(path, os.O_CREAT | os.O_WRONLY))
        k.mount("/proc/self/fd/%d" % source, path, None, k.MS_BIND | k.MS_REC)
    os.makedirs(HOME)
    os.makedirs(FOLDER)
    os.chdir(FOLDER)
    give_programs_no_rights()
    os.execvp(command[0], command)
