"""Probes of a backend's isolation: small programs that try to reach objects on the host.

1. Each program prints `yes` if it succeeded, and `no` if it didn't.
2. The objects are made for this purpose: a listener on loopback, a file and a folder that anyone may use, a process.
"""

import contextlib
import json
import socket
import subprocess
import sys
import tempfile
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from alpha_codium.paths import bait_folder
from alpha_codium.sandbox import Sandbox
from alpha_codium.verdict import Status

REACH = "import json, os, socket, sys\nbait = json.loads(input())\n"
TRY = """\
try:
    print("yes" if attempt() else "no")
except Exception:
    print("no")
"""
NETWORK = """\
def attempt():
    return socket.create_connection(("127.0.0.1", bait["port"]), 2)
"""
READING = """\
def attempt():
    return open(bait["folder"] + "/canary").read() == bait["marker"]
"""
WRITING = """\
def attempt():
    return open(bait["folder"] + "/written", "w")
"""
PROCESSES = """\
def attempt():
    for each in os.listdir("/proc"):
        try:
            if each.isdigit() and bait["marker"].encode() in open("/proc/" + each + "/cmdline", "rb").read():
                return True
        except OSError:
            pass
"""
LEAVING = """\
def attempt():
    found = False
    for folder in (".", "/tmp", "/dev/shm"):
        try:
            found = found or os.path.exists(folder + "/" + bait["marker"])
            open(folder + "/" + bait["marker"], "w")
        except OSError:
            pass
    return found
"""
# Name of a probe -> the program, and how often it runs; the last run counts.
PROBES: Mapping[str, tuple[str, int]] = {
    "the host's network": (NETWORK, 1),
    "reads the host's files": (READING, 1),
    "writes the host's files": (WRITING, 1),
    "sees other processes": (PROCESSES, 1),
    "leaves files for the next test": (LEAVING, 2),
}


@dataclass(frozen=True, slots=True)
class Bait:
    """The objects to reach: a port, a folder with a `canary`, a process with `marker` in its arguments."""

    port: int
    folder: str
    marker: str

    @property
    def was_taken(self) -> bool:
        """Whether a program has written in the folder."""
        return Path(self.folder, "written").exists()

    def forget(self) -> None:
        """Restore the folder."""
        Path(self.folder, "written").unlink(missing_ok=True)


@contextlib.contextmanager
def lay_bait() -> Iterator[Bait]:
    """Open a port, make a folder that anyone may use and start a process; remove them afterwards."""
    marker = f"gencode-{uuid.uuid4().hex}"
    with contextlib.ExitStack() as stack:
        listener = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="gencode-bait-", dir=bait_folder())))
        (folder / "canary").write_text(marker)
        folder.chmod(0o777)
        command = [sys.executable, "-c", "import sys; sys.stdin.read()", marker]
        process = stack.enter_context(subprocess.Popen(command, stdin=subprocess.PIPE))
        assert process.stdin is not None
        stack.callback(process.stdin.close)
        yield Bait(listener.getsockname()[1], str(folder), marker)


async def probe(sandbox: Sandbox, bait: Bait) -> dict[str, bool | None]:
    """What a program can do in an open sandbox, by the names of `PROBES`; None where it couldn't be tried."""
    asked = json.dumps({"port": bait.port, "folder": bait.folder, "marker": bait.marker})
    bait.forget()
    found: dict[str, bool | None] = {}
    for name, (program, times) in PROBES.items():
        report = await sandbox.run(REACH + program + TRY, [asked] * times)
        last = report.executions[-1] if report.executions else report.compilation
        said = last.stdout.strip()
        found[name] = said == "yes" if said in ("yes", "no") and last.status is Status.FINISHED else None
        if last.status is Status.SANDBOX_VIOLATION:
            found[name] = False
    # A file system of its own may have a folder of that name.
    if found["writes the host's files"] and not bait.was_taken:
        found["writes the host's files"] = False
    return found
