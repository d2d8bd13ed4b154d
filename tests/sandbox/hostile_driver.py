"""Runs hostile programs through a sandbox, in a world that dies with it. Started by `test_hostile`, never by hand.

1. `unshare` gives a world of its own processes, mounts, network and shared memory; this script is its pid 1. It makes
   the host's files read-only, puts empty folders over /tmp, /var/tmp and /dev/shm, and a canary into /tmp.
2. Pid 1 starts this script once more as the user under test: the host. The host opens the sandbox, runs an honest
   probe, then all programs with the probe among them, then the probe again, and closes the sandbox.
3. Pid 1 reaps what it inherits, and when the host has ended looks for what is left: processes, mounts, files,
   cgroups, segments of shared memory. What was found goes to stdout as JSON.

A fault of the sandbox can so do no harm to the machine: whatever it lets out ends with pid 1. Needs the standard
library and the package only, for it runs with any python that the user under test can read.
"""

import asyncio
import gc
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
from hostile_world import (  # pyrefly: ignore[missing-import] - lies beside this script
    HOME,
    STAGE,
    census,
    prepare_world,
    processes,
    reap_until,
    until_same,
)

# ---- pid 1


def init(user: str) -> None:
    """Be pid 1 of the world: prepare it, run the host as `user` (`uid`, or nothing for ours), look at what is left."""
    assert os.getpid() == 1
    prepare_world(Path(sys.argv[2]))
    before = census()
    command = [sys.executable, "-s", "-P", str(STAGE / "hostile_driver.py"), "host"]
    if user:
        command = ["setpriv", "--reuid", user, "--regid", user, "--clear-groups", *command]
    environment = {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": str(STAGE / "code"),
        "PYTHONDONTWRITEBYTECODE": "1",
        "GENCODE_HOME": HOME,
    }
    with os.fdopen(os.memfd_create("result"), "rb") as result:
        host = subprocess.Popen(command, stdout=result, env=environment, cwd="/")
        status = reap_until(host.pid)
        left = until_same(before)
        result.seek(0)
        print(json.dumps({"host": json.loads(result.read() or b"null"), "status": status, "left": left}))


# ---- the host

# Programs that sleep; what runs them stays in the pool.
SLEEP = {
    "c": "#include <unistd.h>\nint main(void) { sleep(1); return 0; }",
    "java": "class Main { public static void main(String[] a) throws Exception { Thread.sleep(1000); } }",
    "javascript": "setTimeout(() => {}, 1000)",
}


async def host(plan: dict[str, Any]) -> dict[str, Any]:
    """Run the programs of `plan` through the sandbox that it names, the honest probe before, among and after them."""
    from alpha_codium.program import Program
    from alpha_codium.sandbox import open_sandbox
    from alpha_codium.sandbox.conformance.hostile import attack, probe_until, several

    before = open_descriptors()
    async with open_sandbox(plan["backend"], **plan["options"]) as sandbox:
        assert type(sandbox).__name__ == plan["class"], "hostile programs run in the jail and nowhere else"
        # Together, so that every worker is there, and every compiler's.
        await asyncio.gather(*(sandbox.run("import time; time.sleep(0.5)", [""]) for _ in range(sandbox.workers)))
        for language in SLEEP.keys() & {program["language"] for program in plan["programs"]}:
            sources = [f"{SLEEP[language]} // {number}" for number in range(sandbox.workers)]
            await asyncio.gather(*(sandbox.run(Program.from_source(language, source), [""]) for source in sources))
        probes = {"before": await several(sandbox, plan)}
        idle = len(list(processes()))
        attacks = asyncio.create_task(attack(sandbox, plan))
        probes["during"] = await probe_until(attacks, sandbox, plan)
        probes["after"] = await several(sandbox, plan)
        grown = await until_idle(idle)
    return {
        "programs": attacks.result(),
        "probes": probes,
        "grown": grown,
        "descriptors": sorted(open_descriptors() - before),
        "children": children(),
    }


async def until_idle(before: int) -> list[str]:
    """What runs, where that is more than when the pool was idle before; given a moment to go."""
    for _ in range(100):
        now = list(processes())
        if len(now) <= before:
            return []
        await asyncio.sleep(0.05)
    return [f"{before} processes have become {len(now)}", *(f"{pid} {state} {name}" for pid, state, name in now)]


def open_descriptors() -> set[str]:
    """What this process holds open, as text."""
    gc.collect()
    found = set()
    for entry in Path("/proc/self/fd").iterdir():
        try:
            found.add(f"{entry.name} {entry.readlink()}")
        except OSError:
            continue
    return found


def children() -> list[str]:
    """The children of this process that are still there, dead or alive."""
    try:
        ended = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return []
    return [f"child {ended.si_pid if ended else '(living)'}"]


if __name__ == "__main__":
    if sys.argv[1] == "host":
        print(json.dumps(asyncio.run(host(json.loads((STAGE / "plan.json").read_text())))))
    else:
        init(sys.argv[3] if len(sys.argv) > 3 else "")
