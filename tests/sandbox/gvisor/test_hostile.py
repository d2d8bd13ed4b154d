"""The hostile programs of the local backend's suite against gVisor; see `tests/sandbox/test_hostile` for what they say.

All of them through one pool, with an honest program after them. Limits are wider: system calls and forks are dear.
"""

import asyncio
from typing import Any

import pytest

from alpha_codium.limits import Limits
from alpha_codium.sandbox.gvisor import GvisorSandbox
from alpha_codium.verdict import Report
from tests.sandbox.gvisor.environment import installed
from tests.sandbox.test_hostile import (
    AND_ALSO,
    LATE_WRITERS,
    OWN,
    SHARED,
    Attacker,
    names,
    path_of,
    speaks_this_machine,
)

pytestmark = pytest.mark.slow

LIMITS = Limits(cpu_seconds=1.5, wall_seconds=6, memory_bytes=2**28, output_bytes=2**20)
INPUTS = ["HOSTILE_INPUT_1\n", "HOSTILE_INPUT_2\n"]
PATIENCE = 120.0
TLE = {"time_limit_exceeded"}
# What else may come of a program here, and why.
ALSO_HERE = {
    "53_zombie_army.py": TLE,  # 66 forks of 15 ms and more
    "compile_big_bytes.py": TLE,  # page faults are dear, too
    "clone_exit_signals.py": {"runtime_error", *TLE},  # slow to end, it gets the signals of its own children
}
# They say what they burned by gVisor's clock, which counts waiting for a processor; the host counts what they used.
BY_ITS_CLOCK = {"hidden_cpu_double_fork.py", "hidden_cpu_ignored_children.py", "many_short_burners.py"}
# The sandbox goes with the sum of their memory, and their output with it.
LOSE_ALL = {"08_memory_hog_many_procs.py"}


@pytest.fixture(scope="module")
def world() -> dict[str, Any]:
    """What came of every program, by name, and of an honest one after them all."""
    options = installed()
    paths = [path for path in sorted([*SHARED.glob("*.py"), *OWN.glob("*.py")]) if speaks_this_machine(path)]
    return asyncio.run(run_all([Attacker.read(path) for path in paths], options))


async def run_all(attackers: list[Attacker], options: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    turns = asyncio.Semaphore(2)

    async def run(sandbox: GvisorSandbox, attacker: Attacker) -> None:
        async with turns, asyncio.timeout(PATIENCE):
            found[attacker.name] = attacker, await sandbox.run(attacker.source, INPUTS, limits=LIMITS)

    async with GvisorSandbox(workers=2, **options) as sandbox:
        await asyncio.gather(*(run(sandbox, attacker) for attacker in attackers))
        found["honest"] = await sandbox.run("print(input()[::-1])", ["abc", "de"])
    return found


@pytest.mark.timeout(1200)
@pytest.mark.parametrize("name", names())
def test_a_hostile_program_ends_as_its_first_line_says(world: dict[str, Any], name: str) -> None:
    path_of(name)
    attacker, report = world[name]
    may_be = attacker.expected.statuses | AND_ALSO.get(name[:2], set()) | ALSO_HERE.get(name, set())
    for end in report.executions or [report.compilation]:
        assert end.status in may_be, end
        assert "ESCAPED" not in end.stdout or name in LATE_WRITERS, end
        if attacker.expected.blocked and end.status == "finished":
            assert "blocked" in end.stdout or name[0].isdigit() or name in BY_ITS_CLOCK, end
        if report.executions and attacker.proves and name not in LOSE_ALL and end.status not in TLE:
            assert end.stdout.startswith("ran\n"), end


def test_an_honest_program_is_answered_right_after_them_all(world: dict[str, Any]) -> None:
    report: Report = world["honest"]
    assert [execution.stdout for execution in report.executions] == ["cba\n", "ed\n"]
