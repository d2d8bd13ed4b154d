"""Hostile programs, and what must come of them.

1. A program's first line says what must come of it: `# expect: TLE/RE; why`. `TLE`, `RE`, `MLE`, `OLE` and `CE` are
   the statuses that may be, `finishes` one more, `blocked` that it prints so or is killed. Other words say that the
   harness must survive. `ESCAPED` is never printed, and no test is ever passed.
2. Each program proves that it ran: its first output is `ran`, which a program that doesn't say so is made to say by a
   statement put into its first line. A file with `# made by: EXPRESSION` is the program that this makes.
3. An honest program runs before, among and after them: it is answered right, and finds nothing that they left.

Needs the package and the standard library only, so that it runs with any python.
"""

import asyncio
import os
import platform
import re
import secrets
import sys
import tempfile
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from alpha_codium.limits import Limits
from alpha_codium.sandbox import Sandbox
from alpha_codium.verdict import Execution

ATTACKERS = Path(__file__).parent / "attackers"
STATUSES = {
    "TLE": {"time_limit_exceeded"},
    "MLE": {"memory_limit_exceeded"},
    "OLE": {"output_limit_exceeded"},
    "CE": {"compilation_error"},
    # What the jail kills a program for is an error of that program.
    "RE": {"runtime_error", "sandbox_violation"},
    "finishes": {"finished"},
    "fine": {"finished"},
}
ENDS = {*STATUSES["RE"], *STATUSES["TLE"], *STATUSES["MLE"], *STATUSES["OLE"], *STATUSES["CE"], "finished"}
PROOF = "import os as _os; _os.write(1, b'ran\\n'); del _os  # "
# What a hostile program takes longer than has hung the engine.
HUNG_SECONDS = 60
# Reads its input, needs a little of everything, CPU time as asked, and says what it finds lying about.
HONEST = """
import os, sys, time, heapq, collections
while time.process_time() < HONEST_SECONDS:
    pass
numbers = [int(word) for word in sys.stdin.readline().split()]
heapq.heapify(numbers)
folders = [folder for folder in (".", "/tmp", "/dev/shm") if os.path.isdir(folder)]
found = [folder for folder in folders if set(os.listdir(folder)) - {"program.py"}]
for name in ("planted_by_attacker", "sitecustomize", "usercustomize"):
    try:
        found.append(getattr(__import__(name), "evil", ""))
    except ImportError:
        pass
with open("own", "w") as own:
    own.write("x" * 100_000)
print(sum(heapq.nsmallest(3, numbers)), len(numbers), len(input()), [trace for trace in found if trace])
"""
# Does nothing but what its input names, to a process and a file that are there for it.
TRIAL = """
import os
if input() == "process":
    os.kill({number}, 9)
else:
    open({canary!r}, "w").close()
"""


@dataclass(frozen=True)
class Expected:
    """What may come of a program: its statuses, and whether a program that finishes must say that it was blocked."""

    statuses: frozenset[str]
    blocked: bool = False

    @classmethod
    def of(cls, source: str) -> "Expected":
        """What the line `# expect: ...` says; see the module."""
        said = re.search(r"^# expect: *(.+)", source, re.MULTILINE)
        assert said, "the first line must say what to expect"
        head = re.split(r"[;:(]", said[1])[0]
        words = set(re.findall(r"\w+", head))
        blocked = "blocked" in words
        named = {status for word in words & set(STATUSES) for status in STATUSES[word]}
        must_say = blocked and "finished" not in named
        return cls(frozenset(named | {"finished"} if named and blocked else named or ENDS), must_say)


@dataclass(frozen=True)
class Attacker:
    """A hostile program: the text that is run, and what must come of it."""

    name: str
    source: str
    expected: Expected
    proves: bool = True
    # Whether its own late output, which is part of its own test and of no other, may say ESCAPED.
    writes_late: bool = False

    @classmethod
    def read(cls, path: Path, make_it_prove: bool = False) -> "Attacker":
        """The program in that file; `make_it_prove` puts a statement before it that prints `ran`."""
        text = path.read_text()
        expected = Expected.of(text)
        if made := re.search(r"^# made by: (.+)", text, re.MULTILINE):
            return cls(path.name, eval(made[1]), expected, proves=False)  # noqa: S307 - a file of ours
        if make_it_prove and "coding:" not in text:
            text = PROOF + text
        return cls(path.name, text, expected)


def speaks_this_machine(path: Path) -> bool:
    """Whether a program has none of the numbers of another machine in it."""
    return platform.machine() == "x86_64" or "# machine: x86_64" not in path.read_text()


def attackers_of_the_suite() -> list[Attacker]:
    """The programs that come with the suite and are written for this machine."""
    return [Attacker.read(path) for path in sorted(ATTACKERS.glob("*.py")) if speaks_this_machine(path)]


def check(attacker: Attacker, result: Mapping[str, Any], may_be_late: bool = False) -> None:
    """Raise AssertionError where another thing came of a program than may; `result` is that of `outcome`.

    With `may_be_late` it may also reach a time limit, before it has proved anything.
    """
    assert not result["hung"], "the sandbox hung"
    assert not result["passed"], "a hostile program passed"
    assert not result["leaks"], "it printed what it can't know"
    late = {"time_limit_exceeded"} if may_be_late else set()
    for end in result["executions"] or [result["compilation"]]:
        assert end["status"] in attacker.expected.statuses | late, end
        assert "ESCAPED" not in end["stdout"] or attacker.writes_late, end
        if attacker.expected.blocked and end["status"] == "finished":
            assert "blocked" in end["stdout"], end
        if result["executions"] and attacker.proves and end["status"] not in late:
            assert end["stdout"].startswith("ran\n"), end


def attack_plan(attackers: Iterable[Attacker], **more: Any) -> dict[str, Any]:
    """How to run these programs, as JSON: how many times each, as many at a time, and by which limits."""
    programs = [{"name": each.name, "source": each.source} for each in attackers]
    return {
        "programs": programs,
        "tests": 2,
        "concurrency": 2,
        "limits": {},
        "honest_limits": {"wall_seconds": 20},
        "honest_seconds": 0.05,
        **more,
    }


async def within_reach(sandbox: Sandbox) -> list[str]:
    """What a program that does no harm reaches of this machine; where that is anything, no hostile one may be run."""
    found = []
    with tempfile.NamedTemporaryFile("w+", dir="/tmp", prefix="gencode-trial-") as canary:
        canary.write("whole")
        canary.flush()
        os.fchmod(canary.fileno(), 0o666)
        bystander = await asyncio.create_subprocess_exec(
            sys.executable, "-c", "import sys; sys.stdin.read()", stdin=asyncio.subprocess.PIPE
        )
        await sandbox.run(TRIAL.format(number=bystander.pid, canary=canary.name), ["file", "process"])
        if os.fstat(canary.fileno()).st_size != len("whole"):
            found.append("change files")
        await bystander.communicate(b"")
        if bystander.returncode != 0:
            found.append("end processes")
    return found


async def attack(sandbox: Sandbox, plan: dict[str, Any]) -> dict[str, Any]:
    """The outcome of each program; as many at a time as the plan says."""
    turns = asyncio.Semaphore(plan["concurrency"])

    async def one(program: dict[str, Any]) -> dict[str, Any]:
        async with turns:
            return await outcome(sandbox, program, plan)

    found = await asyncio.gather(*map(one, plan["programs"]))
    return {program["name"]: result for program, result in zip(plan["programs"], found, strict=True)}


async def outcome(sandbox: Sandbox, program: dict[str, Any], plan: dict[str, Any]) -> dict[str, Any]:
    """What the sandbox says of one program, and whether any of its tests would pass, judged out here."""
    inputs = [f"HOSTILE_INPUT_{secrets.token_hex(8)}\n" for _ in range(plan["tests"])]
    expected = program.get("expected") or f"EXPECTED_OUTPUT_{secrets.token_hex(8)}"
    start = time.monotonic()
    run = sandbox.run(program["source"], inputs, limits=Limits(**plan["limits"]))
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


def plain(execution: Execution) -> dict[str, Any]:
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


async def several(sandbox: Sandbox, plan: dict[str, Any]) -> list[str]:
    """Some probes at a time."""
    return list(await asyncio.gather(*(probe(sandbox, plan) for _ in range(4))))


async def probe(sandbox: Sandbox, plan: dict[str, Any]) -> str:
    """Nothing where the honest program is answered right on two inputs, else what came instead."""
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


async def probe_until(other: "asyncio.Task[Any]", sandbox: Sandbox, plan: dict[str, Any]) -> list[str]:
    """Probe after probe until `other` is done."""
    found = []
    while not other.done():
        found.append(await probe(sandbox, plan))
        await asyncio.sleep(0.1)
    return found
