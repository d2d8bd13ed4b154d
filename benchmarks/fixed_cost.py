"""What a candidate costs before its first test, beside the least that any design with a process for each would pay.

    python -m benchmarks.fixed_cost [ROUNDS]

1. `engine`: candidates of workload b without tests: compiled in their runners, in namespaces of their own, all rights
   given up. The CPU time of the host and of all other processes counts, their start doesn't.
2. `floor`: an interpreter that has the same modules forks, compiles the same programs in the child, and exits: no
   isolation, no limits, no messages.

Both are measured in each round, in processes of their own.
"""

import asyncio
import resource
import subprocess
import sys
from statistics import median

from alpha_codium.sandbox import open_sandbox
from alpha_codium.sandbox.engine.pool import WARM
from benchmarks.sandbox.workloads import WORKLOADS

PROGRAM = WORKLOADS["b"].program
CANDIDATES, STARTING = 400, 20
FLOOR = """
import gc, os, sys
for name in {modules!r}:
    __import__(name)
gc.freeze()
for number in range(int(sys.argv[1])):
    pid = os.fork()
    if not pid:
        compile({program!r} + "# %d" % number, "program.py", "exec", 0, True)
        os._exit(0)
    os.waitpid(pid, 0)
"""


async def run_candidates(count: int) -> None:
    """Run candidates without tests, one after the other."""
    async with open_sandbox("local", workers=1) as sandbox:
        for number in range(count):
            await sandbox.run(f"{PROGRAM}# {number}", [])


def cpu_seconds(*command: str) -> float:
    """Run a command with this interpreter; return the CPU time of all of its processes."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *command], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def each(*command: str) -> float:
    """Return the CPU milliseconds for each candidate of a command that takes their number."""
    many, few = (cpu_seconds(*command, str(count)) for count in (CANDIDATES + STARTING, STARTING))
    return (many - few) / CANDIDATES * 1000


def measure(rounds: int) -> None:
    """Print the median of each figure, and of their ratio, which is taken within a round."""
    floor = ("-S", "-s", "-c", FLOOR.format(modules=WARM, program=PROGRAM))
    pairs = [(each("-m", "benchmarks.fixed_cost", "run"), each(*floor)) for _ in range(rounds)]
    engines, floors, ratios = zip(*((ours, least, least / ours) for ours, least in pairs), strict=True)
    print(f"engine {median(engines):.2f} ms, floor {median(floors):.2f} ms: {median(ratios):.2f}", end=" ")
    print(f"({min(ratios):.2f}-{max(ratios):.2f}) of it")


if __name__ == "__main__":
    if sys.argv[1:2] == ["run"]:
        asyncio.run(run_candidates(int(sys.argv[2])))
    else:
        measure(int(sys.argv[1]) if sys.argv[1:] else 5)
