"""A world of processes, mounts, network and shared memory that hostile programs run in, and what is left in it.

It is prepared and looked over by its pid 1: see `hostile_driver`, beside which this lies. Standard library only.
"""

import fcntl
import os
import re
import socket
import struct
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

CANARY = Path("/tmp/gencode-canary/secret.txt")
CANARY_TEXT = "CANARY: no program may read or change this\n"
STAGE = Path("/mnt")  # where pid 1 puts the folder that `test_hostile` made
PRIVATE = ("/tmp", "/var/tmp", "/dev/shm")
HOME = "/srv"  # where gencode keeps compiled programs
CGROUPS = Path("/sys/fs/cgroup")


def prepare_world(stage: Path) -> None:
    """Private folders for temporary files, the canary in one of them, and `stage` where it can be found."""
    for folder in host_mounts():
        try:
            run_mount("-o", "remount,bind,ro", folder)
        except subprocess.CalledProcessError:
            if folder in host_mounts():  # otherwise a container of another test has ended, and its mount with it
                raise
    run_mount("--bind", str(stage), str(STAGE))
    run_mount("-o", "remount,bind,ro", str(STAGE))
    for folder in (*PRIVATE, HOME):
        run_mount("-t", "tmpfs", "-o", "mode=1777", "tmpfs", folder)
    CANARY.parent.mkdir()
    CANARY.write_text(CANARY_TEXT)
    # Readable by everyone, as any host file may be; a jail keeps it out of sight all the same.
    CANARY.parent.chmod(0o755)
    bring_up_loopback()


def host_mounts() -> list[str]:
    """Where the host's file systems are, but for /proc, which is this world's, and control groups."""
    folders = [line.split()[4] for line in Path("/proc/self/mountinfo").read_text().splitlines()]
    return [folder for folder in dict.fromkeys(folders) if not folder.startswith(("/proc", str(CGROUPS)))]


def run_mount(*arguments: str) -> None:
    subprocess.run(["mount", "-n", *arguments], check=True)


def bring_up_loopback() -> None:
    """Give the world a loopback network, so that a program which reaches it is seen to."""
    set_flags, up = 0x8914, 1
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, set_flags, struct.pack("16sH14x", b"lo", up))


def reap_until(pid: int) -> int:
    """Reap everything until `pid` has ended, as an init does; its wait status."""
    while True:
        ended, status = os.wait()
        if ended == pid:
            return status


def until_same(before: dict[str, list[str]], seconds: float = 5) -> dict[str, list[str]]:
    """What there is that wasn't before, of each kind; what only needs a moment to go is given it."""
    end = time.monotonic() + seconds
    while True:
        reap_what_has_ended()
        left = {kind: sorted(set(found) - set(before[kind])) for kind, found in census().items()}
        if not any(left.values()) or time.monotonic() > end:
            return left
        time.sleep(0.05)


def reap_what_has_ended() -> None:
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        return


def census() -> dict[str, list[str]]:
    """All that a sandbox could leave behind in this world, by kind, as text that shows what it is."""
    return {
        "processes": [f"{pid} {state} {name}" for pid, state, name in processes() if pid != 1],
        "mounts": Path("/proc/self/mountinfo").read_text().splitlines(),
        "files": [str(path) for folder in PRIVATE for path in Path(folder).rglob("*")],
        "canary": [CANARY.read_text() if CANARY.exists() else "gone"],
        "segments": [line for kind in ("shm", "sem", "msg") for line in segments(kind)],
        "cgroups": [str(path) for path in groups_of_sandboxes() if path.parent in own_groups() and is_stale(path)],
    }


def own_groups() -> set[Path]:
    """The folders of our own control groups, in which our sandboxes make theirs.

    In other folders are those of other sessions. One whose engine was killed is stale until it is removed.
    """
    paths = [line.split(":", 2)[2] for line in Path("/proc/self/cgroup").read_text().splitlines()]
    return {Path(f"{hierarchy}{path}") for hierarchy in (CGROUPS, *CGROUPS.iterdir()) for path in paths}


def groups_of_sandboxes() -> Iterator[Path]:
    """Ours and others': theirs come and go while we look, which `Path.glob` doesn't bear."""
    for folder, names, _ in os.walk(CGROUPS):
        yield from (Path(folder, name) for name in names if re.match(r"gencode-[0-9]", name))


def processes() -> Iterator[tuple[int, str, str]]:
    """Number, state and name of every process of this world, zombies too."""
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                head, _, tail = (entry / "stat").read_text().rpartition(")")
            except OSError:
                continue
            yield int(entry.name), tail.split()[0], head.partition("(")[2]


def segments(kind: str) -> list[str]:
    """The lines about System V shared memory, semaphores or message queues of this world."""
    try:
        return Path(f"/proc/sysvipc/{kind}").read_text().splitlines()[1:]
    except OSError:
        return []


def is_stale(group: Path) -> bool:
    """Whether nobody holds the lock of a control group: that of another engine on this machine is held."""
    try:
        descriptor = os.open(group, os.O_RDONLY | os.O_DIRECTORY)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    finally:
        os.close(descriptor)
    return True
