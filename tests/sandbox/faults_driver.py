"""One fault, injected into a sandbox at work: `python -m tests.sandbox.faults_driver FAULT`. Prints a line of JSON.

To be run inside `unshare --net --pid --fork --mount-proc`: it kills processes by what they are, not by who made them.

A worker of the local backend is a chain of processes: this one -> the one outside -> the zygote (process 1 of the jail)
-> the runner of a candidate -> a test. Faults are named by the link that they hit.
"""

import asyncio
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from alpha_codium.errors import UserError
from alpha_codium.sandbox import open_sandbox
from tests.sandbox.fault_kinds import FAULTS, TEST, Seen, at_depth, of_sandboxes, only_so_many_descriptors, plain
from tests.sandbox.hostile_world import groups_of_sandboxes
from tests.sandbox.soak_driver import Census, settled, under_an_init

# No fault may take longer: the wall limit twice, and what the sandbox takes to see that something hangs.
PATIENCE = 150.0
HOST = """
import asyncio
from alpha_codium.limits import Limits
from alpha_codium.sandbox import open_sandbox
async def main():
    async with open_sandbox("local", workers=2) as sandbox:
        sleep = "import time\\nprint('x', flush=True)\\ntime.sleep(10000)"
        await asyncio.gather(*(sandbox.run(sleep, [""], limits=Limits(wall_seconds=10000)) for _ in range(2)))
asyncio.run(main())
"""


async def inject(fault: str) -> Seen:
    """Open a sandbox, inject the fault, see whether the next programs are right and what is left."""
    before, start = Census.now(), time.monotonic()
    async with asyncio.timeout(PATIENCE), open_sandbox("local", workers=2) as sandbox:
        seen = await FAULTS[fault](sandbox)
        seen["seconds"] = time.monotonic() - start
        following = await asyncio.gather(*(sandbox.run("print(input()[::-1])", [f"a{i}"]) for i in range(4)))
        seen["next"] = [report.executions[0].stdout if report.compiled else "" for report in following]
    await settled(lambda: not Census.now().beyond(before))
    return seen | {"left": left(before)}


async def kill_the_parent() -> Seen:
    """A whole gencode is killed while its programs sleep."""
    before = Census.now()
    parent = subprocess.Popen([sys.executable, "-c", HOST])
    happened = await settled(lambda: len(at_depth(TEST + 1)) == 2, 30)
    os.kill(parent.pid, signal.SIGKILL)
    parent.wait()
    # What lost its parent is no longer below us, but nobody else is in here.
    gone = await settled(lambda: not survivors())
    seen = {"happened": happened, "gone": gone, "survivors": survivors(), "groups": groups_of(parent.pid)}
    async with open_sandbox("local", workers=2) as sandbox:
        seen["next"] = [(await sandbox.run("print(1)", [""])).executions[0].stdout]
        seen["groups_later"] = groups_of(parent.pid)
    await settled(lambda: not Census.now().beyond(before))
    return seen | {"left": left(before)}


def survivors() -> list[int]:
    """Processes of a sandbox anywhere in this pid namespace."""
    return of_sandboxes()


def groups_of(pid: int) -> list[str]:
    """The cgroups that a process has made."""
    return [str(folder) for folder in groups_of_sandboxes() if folder.name.startswith(f"gencode-{pid}-")]


async def open_with_few_descriptors() -> Seen:
    """The sandbox is opened where hardly a file may be opened: it works, or says why in one line."""
    async with open_sandbox("local", workers=1):
        pass  # so that all modules are imported
    outcomes, before = [], Census.now()
    for free in range(0, 32, 2):
        with only_so_many_descriptors(free):
            try:
                async with asyncio.timeout(PATIENCE), open_sandbox("local", workers=2) as sandbox:
                    outcomes.append(plain(await sandbox.run("print(input())", ["0\n", "b\n"])))
            except (UserError, OSError) as error:
                outcomes.append({"error": str(error), "kind": type(error).__name__})
    await settled(lambda: not Census.now().beyond(before))
    return {"outcomes": outcomes, "left": left(before)}


def left(before: Census) -> Seen:
    """What there is now and wasn't before."""
    more: Seen = dict(Census.now().beyond(before))
    if "descriptors" in more:
        more["open"] = sorted(str(entry.readlink()) for entry in Path("/proc/self/fd").iterdir() if entry.exists())
    return more


OTHERS = {
    "the parent is killed": kill_the_parent,
    "the sandbox is opened with few descriptors": open_with_few_descriptors,
}


def main() -> None:
    """Inject one fault, in a folder for temporary files that nobody else uses."""
    fault = sys.argv[1]
    with tempfile.TemporaryDirectory() as folder:
        tempfile.tempdir = os.environ["TMPDIR"] = folder
        print(json.dumps(asyncio.run(OTHERS[fault]() if fault in OTHERS else inject(fault))))


if __name__ == "__main__":
    under_an_init(main)
