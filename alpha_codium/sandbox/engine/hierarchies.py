"""The cgroup hierarchies in which this machine lets us make groups, and their controllers.

1. Version 1 has a hierarchy for each controller, version 2 one for all; /proc shows where they are mounted and which
   group is ours. New groups are made below our own, so that our limits apply to them too.
2. Under version 2 a group with processes of its own can't pass the memory controller on to groups below it. If all of
   its processes are ours, they move to a group `gencode-PID-main` below it.
"""

import errno
import os
import re
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

CONTROLLERS = ("memory", "cpuacct", "pids")
MAIN = re.compile(r"gencode-\d+-main")


@dataclass(frozen=True, slots=True)
class Hierarchy:
    """A mounted hierarchy: its version, its controllers (empty for version 2), and our own group's folder."""

    version: int
    controllers: frozenset[str]
    folder: Path


@dataclass(frozen=True, slots=True)
class Part:
    """A group's folder in the hierarchy that has one of the controllers."""

    version: int
    folder: Path


def hierarchies(mounts: str, groups: str) -> list[Hierarchy]:
    """Return the hierarchies that hold our own group, from the text of /proc/self/mountinfo and /proc/self/cgroup."""
    own = {}
    for line in groups.splitlines():
        _, controllers, path = line.split(":", 2)
        own[frozenset(controllers.split(",")) - {""}] = path
    found: dict[frozenset[str], Hierarchy] = {}
    for line in mounts.splitlines():
        before, _, after = line.partition(" - ")
        kind, _, options = after.split(" ", 2)
        version = {"cgroup": 1, "cgroup2": 2}.get(kind, 0)
        there = {*options.split(",")} if version == 1 else frozenset[str]()
        # A group of version 1 names its controllers, one of version 2 none.
        controllers = max((names for names in own if names <= there), key=len, default=frozenset[str]())
        if not version or bool(controllers) != (version == 1):
            continue
        # Blanks and backslashes are octal escapes in this file.
        fields = (re.sub(r"\\([0-7]{3})", lambda match: chr(int(match[1], 8)), each) for each in before.split(" ")[3:5])
        root, mount_point = fields
        folder = below(own.get(controllers, ""), root, mount_point)
        if folder is not None:
            found.setdefault(controllers, Hierarchy(version, controllers, folder))
    return [entry for entry in found.values() if entry.version == 2 or entry.controllers & {*CONTROLLERS}]


def below(path: str, root: str, mount_point: str) -> Path | None:
    """Return the folder of the group `path` if the group `root` is mounted at `mount_point`; None if it is outside."""
    parts, above = Path(path).parts, Path(root).parts
    if not parts or parts[: len(above)] != above or ".." in parts:
        return None
    return Path(mount_point, *parts[len(above) :])


def own_hierarchies() -> list[Hierarchy]:
    """Return the hierarchies of this machine that hold our own group."""
    try:
        return hierarchies(Path("/proc/self/mountinfo").read_text(), Path("/proc/self/cgroup").read_text())
    except OSError:
        return []


def group_above(hierarchy: Hierarchy) -> Path:
    """Return the folder to make workers' groups in: our own group's, or the one above if we moved (see point 2)."""
    return hierarchy.folder.parent if MAIN.fullmatch(hierarchy.folder.name) else hierarchy.folder


def parents() -> dict[str, Part]:
    """Return for each controller the group to make workers' groups in, if there is one."""
    found: dict[str, Part] = {}
    for hierarchy in own_hierarchies():
        folder = group_above(hierarchy)
        usable = passed_on(folder) if hierarchy.version == 2 else hierarchy.controllers
        for controller in usable & {*CONTROLLERS}:
            # A controller is in one version only, but version 2 counts CPU time without a controller.
            if controller not in found or hierarchy.version == 1:
                found[controller] = Part(hierarchy.version, folder)
    return found


def passed_on(folder: Path) -> frozenset[str]:
    """Return what groups below a group of version 2 can count: CPU time, and the controllers that it passes on."""
    try:
        available = {*(folder / "cgroup.controllers").read_text().split()} & {"memory", "pids"}
        enabled = {*(folder / "cgroup.subtree_control").read_text().split()}
    except OSError:
        return frozenset()
    missing = available - enabled
    if missing:
        try:
            make_room(folder)
            (folder / "cgroup.subtree_control").write_text(" ".join(f"+{name}" for name in sorted(missing)))
        except OSError:
            available &= enabled
    return frozenset({*available, "cpuacct"})


def make_room(folder: Path) -> None:
    """Move our processes out of a group of version 2 that must have none; raises OSError if others are in it."""
    pids = tasks(folder)
    if not pids or not (folder / "cgroup.events").exists():  # the machine's topmost group may have both
        return
    if any(not descends_from_us(pid) for pid in pids):
        raise OSError(errno.EBUSY, "other processes are in our group")
    leaf = folder / f"gencode-{os.getpid()}-main"
    leaf.mkdir(exist_ok=True)
    for pid in pids:
        with suppress(ProcessLookupError):
            (leaf / "cgroup.procs").write_text(str(pid))


def descends_from_us(pid: int) -> bool:
    """Whether a process is this one or a descendant of it."""
    while pid > 1 and pid != os.getpid():
        try:
            pid = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
        except OSError:
            return False
    return pid == os.getpid()


def tasks(folder: Path) -> set[int]:
    """Return the processes in a group, without those outside of this pid namespace."""
    try:
        return {int(line) for line in (folder / "cgroup.procs").read_text().split()} - {0}
    except OSError:
        return set()
