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
import secrets
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
from hostile_world import (  # pyrefly: ignore[missing-import] - lies beside this script
    STAGE,
    census,
    prepare_world,
    processes,
    reap_until,
    until_same,
)

# What a hostile program takes longer than has hung the engine.
HUNG_SECONDS = 60
# Reads its input, needs a little of everything, CPU time as asked, and says what it finds lying about.
HONEST = """
import os, sys, time, heapq, collections
while time.process_time() < HONEST_SECONDS:
    pass
numbers = [int(word) for word in sys.stdin.readline().split()]
heapq.heapify(numbers)
found = [folder for folder in (".", "/tmp", "/dev/shm") if set(os.listdir(folder)) - {"program.py"}]
for name in ("planted_by_attacker", "sitecustomize", "usercustomize"):
    try:
        found.append(getattr(__import__(name), "evil", ""))
    except ImportError:
        pass
with open("own", "w") as own:
    own.write("x" * 100_000)
print(sum(heapq.nsmallest(3, numbers)), len(numbers), len(input()), [trace for trace in found if trace])
"""


# ---- pid 1


def init(user: str) -> None:
    """Be pid 1 of the world: prepare it, run the host as `user` (`uid`, or nothing for ours), look at what is left."""
    assert os.getpid() == 1
    prepare_world(Path(sys.argv[2]))
    before = census()
    command = [sys.executable, "-s", "-P", str(STAGE / "hostile_driver.py"), "host"]
    if user:
        command = ["setpriv", "--reuid", user, "--regid", user, "--clear-groups", *command]
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(STAGE / "code"), "PYTHONDONTWRITEBYTECODE": "1"}
    with os.fdopen(os.memfd_create("result"), "rb") as result:
        host = subprocess.Popen(command, stdout=result, env=environment, cwd="/")
        status = reap_until(host.pid)
        left = until_same(before)
        result.seek(0)
        print(json.dumps({"host": json.loads(result.read() or b"null"), "status": status, "left": left}))


# ---- the host


async def host(plan: dict[str, Any]) -> dict[str, Any]:
    """Run the programs of `plan` through the sandbox that it names, the honest probe before, among and after them."""
    from alpha_codium.sandbox import open_sandbox

    before = open_descriptors()
    async with open_sandbox(plan["backend"], **plan["options"]) as sandbox:
        assert type(sandbox).__name__ == plan["class"], "hostile programs run in the jail and nowhere else"
        # Together, so that every worker is there.
        await asyncio.gather(*(sandbox.run("import time; time.sleep(0.5)", [""]) for _ in range(sandbox.workers)))
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


async def attack(sandbox: Any, plan: dict[str, Any]) -> dict[str, Any]:
    """The outcome of each program; as many at a time as the plan says."""
    turns = asyncio.Semaphore(plan["concurrency"])

    async def one(program: dict[str, Any]) -> dict[str, Any]:
        async with turns:
            return await outcome(sandbox, program, plan["limits"])

    found = await asyncio.gather(*map(one, plan["programs"]))
    return {program["name"]: result for program, result in zip(plan["programs"], found, strict=True)}


async def outcome(sandbox: Any, program: dict[str, Any], limits: dict[str, Any]) -> dict[str, Any]:
    """What the sandbox says of one program, and whether any of its tests would pass, judged out here."""
    from alpha_codium.limits import Limits

    inputs = [f"HOSTILE_INPUT_{secrets.token_hex(8)}\n" for _ in range(program.get("tests", 2))]
    expected = program.get("expected") or f"EXPECTED_OUTPUT_{secrets.token_hex(8)}"
    start = time.monotonic()
    run = sandbox.run(program["source"], inputs, limits=Limits(**limits))
    try:
        report = await asyncio.wait_for(run, HUNG_SECONDS)
    except TimeoutError:
        return {"hung": True}
    return {
        "hung": False,
        "seconds": time.monotonic() - start,
        "compilation": plain(report.compilation),
        "executions": [plain(execution) for execution in report.executions],
        "passed": any(execution.stdout.strip() == expected for execution in report.executions),
        "leaks": any(
            text.strip() in execution.stdout
            for index, execution in enumerate(report.executions)
            for text in (expected, *inputs[:index], *inputs[index + 1 :])
        ),
    }


def plain(execution: Any) -> dict[str, Any]:
    """An execution for JSON, long output cut."""
    return {
        "status": str(execution.status),
        "stdout": execution.stdout[:3000],
        "stderr": execution.stderr[:500] + execution.stderr[500:][-1500:],
        "stdout_length": len(execution.stdout),
        "exit_code": execution.exit_code,
        "signal": execution.signal,
        "cpu_seconds": execution.cpu_seconds,
        "wall_seconds": execution.wall_seconds,
        "max_rss_bytes": execution.max_rss_bytes,
    }


async def several(sandbox: Any, plan: dict[str, Any]) -> list[str]:
    """Some probes at a time."""
    return list(await asyncio.gather(*(probe(sandbox, plan) for _ in range(4))))


async def probe(sandbox: Any, plan: dict[str, Any]) -> str:
    """Nothing where the honest program is answered right on two inputs, else what came instead."""
    from alpha_codium.limits import Limits

    wrong = []
    lines = [secrets.token_hex(secrets.randbelow(50)) for _ in range(2)]
    numbers = [[secrets.randbelow(10**6) for _ in range(4 + secrets.randbelow(50))] for _ in lines]
    inputs = [f"{' '.join(map(str, values))}\n{line}\n" for values, line in zip(numbers, lines, strict=True)]
    program = HONEST.replace("HONEST_SECONDS", str(plan["honest_seconds"]))
    run = sandbox.run(program, inputs, limits=Limits(**plan["honest_limits"]))
    report = await asyncio.wait_for(run, HUNG_SECONDS)
    for values, line, execution in zip(numbers, lines, report.executions, strict=True):
        right = f"{sum(sorted(values)[:3])} {len(values)} {len(line)} []\n"
        if (execution.status, execution.stdout) != ("finished", right):
            wrong.append(f"{plain(execution)} and not {right!r}")
    return "; ".join(wrong)


async def probe_until(other: "asyncio.Task[Any]", sandbox: Any, plan: dict[str, Any]) -> list[str]:
    """Probe after probe until `other` is done."""
    found = []
    while not other.done():
        found.append(await probe(sandbox, plan))
        await asyncio.sleep(0.1)
    return found


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
