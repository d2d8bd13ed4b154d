"""The hostile programs of the local backend's suite against gVisor; see `conformance.hostile` for what they say.

All of them through one pool, with an honest program after them. Limits are wider: system calls and forks are dear.
"""

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from alpha_codium.sandbox.conformance.hostile import (
    Attacker,
    Expected,
    attack,
    attack_plan,
    check,
    several,
)
from alpha_codium.sandbox.gvisor.backend import GvisorSandbox
from tests.sandbox.gvisor.environment import installed
from tests.sandbox.hostile_programs import attackers, names, path_of

pytestmark = pytest.mark.slow

LIMITS = {"cpu_seconds": 1.5, "wall_seconds": 6, "memory_bytes": 2**28, "output_bytes": 2**20}
# They say what they burned by gVisor's clock, which counts waiting for a processor; the host counts what they used.
BY_ITS_CLOCK = {"hidden_cpu_double_fork.py", "hidden_cpu_ignored_children.py", "many_short_burners.py"}
# The sandbox goes with the sum of their memory, and their output with it.
LOSE_ALL = {"08_memory_hog_many_procs.py"}


def as_here(attacker: Attacker) -> Attacker:
    """A program with what may come of it in gVisor."""
    blocked = attacker.expected.blocked and attacker.name not in BY_ITS_CLOCK
    proves = attacker.proves and attacker.name not in LOSE_ALL
    return replace(attacker, expected=Expected(attacker.expected.statuses, blocked), proves=proves)


@pytest.fixture(scope="module")
def world() -> dict[str, Any]:
    """What came of every program, by name, and of the honest one."""
    return asyncio.run(run_all(attack_plan(attackers(), limits=LIMITS), installed()))


async def run_all(plan: dict[str, Any], options: dict[str, Any]) -> dict[str, Any]:
    async with GvisorSandbox(workers=2, **options) as sandbox:
        return {"programs": await attack(sandbox, plan), "probes": await several(sandbox, plan)}


@pytest.mark.timeout(1200)
@pytest.mark.parametrize("name", names())
def test_a_hostile_program_ends_as_its_first_line_says(world: dict[str, Any], name: str) -> None:
    path_of(name)
    (attacker,) = (as_here(each) for each in attackers() if each.name == name)
    result = world["programs"][name]
    if "refused" in result:
        pytest.skip(result["refused"])
    check(attacker, result, may_be_late=True)


def test_an_honest_program_is_answered_right_after_them_all(world: dict[str, Any]) -> None:
    assert [wrong for wrong in world["probes"] if wrong] == []
