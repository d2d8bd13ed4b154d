"""Hostile programs, and checks of their outcomes.

1. A program's first line has the outcomes that are allowed: `# expect: TLE/RE; why`, in C, Java and JavaScript
   `// expect: ...`. `TLE`,
   `RE`, `MLE`, `OLE`, `CE` and `finishes` are statuses; `blocked` means that the program prints `blocked` or is
   killed. With any other words, the sandbox only has to survive. A program must never print `ESCAPED`, nor pass a
   test.
2. Each program proves that it ran by printing `ran` first; for a program that doesn't, a statement is inserted in its
   first line. In a file with `# made by: EXPRESSION`, the program is the value of the expression.
3. An honest program runs before, among and after them; it must get the right results, and find nothing left by them.

Needs only this package and the standard library, so that it runs with any python.
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

from alpha_codium.errors import SandboxError
from alpha_codium.limits import Limits
from alpha_codium.paths import bait_folder
from alpha_codium.program import Program
from alpha_codium.sandbox import Sandbox
from alpha_codium.verdict import Execution

ATTACKERS = Path(__file__).parent / "attackers"
LANGUAGES = {".py": "python3", ".c": "c", ".java": "java", ".js": "javascript"}
STATUSES = {
    "TLE": {"time_limit_exceeded"},
    "MLE": {"memory_limit_exceeded"},
    "OLE": {"output_limit_exceeded"},
    "CE": {"compilation_error"},
    # A program that the jail killed for a violation counts as failed.
    "RE": {"runtime_error", "sandbox_violation"},
    "finishes": {"finished"},
    "fine": {"finished"},
}
ENDS = {*STATUSES["RE"], *STATUSES["TLE"], *STATUSES["MLE"], *STATUSES["OLE"], *STATUSES["CE"], "finished"}
PROOF = "import os as _os; _os.write(1, b'ran\\n'); del _os  # "
# Seconds after which a hostile program is considered to have hung the engine.
HUNG_SECONDS = 60
# The honest program: it uses a little of everything, and CPU time as its input says, and reports leftovers.
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
# A harmless trial: it tries to reach the process and the files that its input names.
TRIAL = """
import os
what = input()
if what == "process":
    os.kill({number}, 9)
elif what == "reading":
    print(open({private!r}).read())
else:
    open({canary!r}, "w").close()
"""


@dataclass(frozen=True)
class Expected:
    """The allowed outcomes of a program: statuses, and whether it must print `blocked` if it finishes."""

    statuses: frozenset[str]
    blocked: bool = False

    @classmethod
    def of(cls, source: str) -> "Expected":
        """Parse the line `# expect: ...`; see the module."""
        said = re.search(r"^(?:#|//) expect: *(.+)", source, re.MULTILINE)
        assert said, "the first line must say what to expect"
        head = re.split(r"[;:(]", said[1])[0]
        words = set(re.findall(r"\w+", head))
        blocked = "blocked" in words
        named = {status for word in words & set(STATUSES) for status in STATUSES[word]}
        must_say = blocked and "finished" not in named
        return cls(frozenset(named | {"finished"} if named and blocked else named or ENDS), must_say)


@dataclass(frozen=True)
class Attacker:
    """A hostile program: its source and its allowed outcomes."""

    name: str
    source: str
    expected: Expected
    proves: bool = True
    # Whether it may print ESCAPED late, in its own test.
    writes_late: bool = False
    language: str = "python3"

    @classmethod
    def read(cls, path: Path, make_it_prove: bool = False) -> "Attacker":
        """Read the program in a file; `make_it_prove` inserts a statement that prints `ran`."""
        text = path.read_text()
        expected = Expected.of(text)
        if made := re.search(r"^# made by: (.+)", text, re.MULTILINE):
            return cls(path.name, eval(made[1]), expected, proves=False)  # noqa: S307 - our own file
        if make_it_prove and "coding:" not in text:
            text = PROOF + text
        return cls(path.name, text, expected, language=LANGUAGES[path.suffix])


def attacker_paths() -> list[Path]:
    """Return the files of the suite's programs that are written for this machine."""
    found = [path for path in ATTACKERS.iterdir() if path.suffix in LANGUAGES]
    return sorted(path for path in found if speaks_this_machine(path))


def speaks_this_machine(path: Path) -> bool:
    """Whether a program is written for this machine, or for any."""
    return platform.machine() == "x86_64" or "# machine: x86_64" not in path.read_text()


def check(attacker: Attacker, result: Mapping[str, Any], may_be_late: bool = False) -> None:
    """Raise AssertionError unless a program's `result`, from `outcome`, is allowed.

    With `may_be_late` it may also reach a time limit, even before it printed `ran`.
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
    """Return how to run these programs, as JSON: the number of runs, of programs at a time, and the limits."""
    programs = [{"name": each.name, "source": each.source, "language": each.language} for each in attackers]
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
    """Return what a harmless program can reach on this machine. Run hostile programs only if that is nothing."""
    found = []
    with (
        tempfile.NamedTemporaryFile("w+", dir="/tmp", prefix="gencode-trial-") as canary,
        tempfile.NamedTemporaryFile("w+", dir=bait_folder(), prefix="gencode-trial-") as private,
    ):
        for file in (canary, private):
            file.write("whole")
            file.flush()
        os.fchmod(canary.fileno(), 0o666)
        bystander = await asyncio.create_subprocess_exec(
            sys.executable, "-c", "import sys; sys.stdin.read()", stdin=asyncio.subprocess.PIPE
        )
        trial = TRIAL.format(number=bystander.pid, canary=canary.name, private=private.name)
        report = await sandbox.run(trial, ["file", "process", "reading"])
        if any("whole" in execution.stdout for execution in report.executions):
            found.append("read files")
        if os.fstat(canary.fileno()).st_size != len("whole"):
            found.append("change files")
        await bystander.communicate(b"")
        if bystander.returncode != 0:
            found.append("end processes")
    return found


async def attack(sandbox: Sandbox, plan: dict[str, Any]) -> dict[str, Any]:
    """Run each program, as many at a time as the plan says, and return the outcomes."""
    turns = asyncio.Semaphore(plan["concurrency"])

    async def one(program: dict[str, Any]) -> dict[str, Any]:
        async with turns:
            return await outcome(sandbox, program, plan)

    found = await asyncio.gather(*map(one, plan["programs"]))
    return {program["name"]: result for program, result in zip(plan["programs"], found, strict=True)}


async def outcome(sandbox: Sandbox, program: dict[str, Any], plan: dict[str, Any]) -> dict[str, Any]:
    """Return the sandbox's results for one program, and whether any test would pass, judged outside the sandbox."""
    inputs = [f"HOSTILE_INPUT_{secrets.token_hex(8)}\n" for _ in range(plan["tests"])]
    expected = program.get("expected") or f"EXPECTED_OUTPUT_{secrets.token_hex(8)}"
    start = time.monotonic()
    limits = Limits(**plan["limits"] | program.get("limits", {}))
    run = sandbox.run(Program.from_source(program["language"], program["source"]), inputs, limits=limits)
    try:
        report = await asyncio.wait_for(run, HUNG_SECONDS)
    except TimeoutError:
        return {"hung": True}
    except SandboxError as error:
        # This backend doesn't run the language, or the machine lacks its compiler.
        return {"refused": str(error)}
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
    """Return an execution for JSON, with long output cut."""
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
    """Run several probes concurrently."""
    return list(await asyncio.gather(*(probe(sandbox, plan) for _ in range(4))))


async def probe(sandbox: Sandbox, plan: dict[str, Any]) -> str:
    """Run the honest program on two inputs; return an empty string if the results are right, else the results."""
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
    """Run probes until `other` is done."""
    found = []
    while not other.done():
        found.append(await probe(sandbox, plan))
        await asyncio.sleep(0.1)
    return found
