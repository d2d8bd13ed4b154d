"""Tests with hostile programs, and honest ones among them; see `hostile` for the expected outcomes.

They run only if the backend claims to isolate programs and a harmless trial confirms it. Still, test a new backend in
a virtual machine or in separate namespaces.
"""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from alpha_codium.sandbox import Sandbox
from alpha_codium.sandbox.conformance.backend import Backend
from alpha_codium.sandbox.conformance.hostile import (
    Attacker,
    attack,
    attack_plan,
    attacker_paths,
    check,
    probe_until,
    several,
    within_reach,
)
from alpha_codium.sandbox.conformance.processes import descendants
from alpha_codium.sandbox.conformance.running import until

LIMITS = {"cpu_seconds": 1.5, "wall_seconds": 6, "memory_bytes": 2**28, "output_bytes": 2**20}
HERE = attacker_paths()
# A secret that some of them look for.
CANARY = Path("/tmp/gencode-canary/secret.txt")

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.thorough, pytest.mark.timeout(3600)]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def attacked(request: pytest.FixtureRequest, jail: Backend, jailed: Sandbox) -> AsyncIterator[dict[str, Any]]:
    """The outcomes of the selected programs, by name, and of the honest ones."""
    if reached := await within_reach(jailed):
        pytest.skip(f"hostile programs are not run: one that does no harm can {' and '.join(reached)} of this machine")
    callspecs = (getattr(item, "callspec", None) for item in request.session.items)
    asked = {callspec.params.get("path") for callspec in callspecs if callspec}
    programs = [Attacker.read(path) for path in HERE if path in asked]
    plan = attack_plan(programs, limits=LIMITS, concurrency=jail.workers)
    before = await several(jailed, plan)
    idle = set(descendants())
    CANARY.parent.mkdir(exist_ok=True)
    CANARY.write_text("CANARY")
    try:
        attacks = asyncio.create_task(attack(jailed, plan))
        probes = {"before": before, "during": await probe_until(attacks, jailed, plan)}
        probes["after"] = await several(jailed, plan)
        yield {"programs": attacks.result(), "probes": probes, "idle": idle, "canary": CANARY.read_text()}
    finally:
        CANARY.unlink(missing_ok=True)
        CANARY.parent.rmdir()


@pytest.mark.parametrize("path", HERE, ids=lambda path: path.name)
async def test_a_hostile_program_ends_as_its_first_line_says(attacked: dict[str, Any], path: Path) -> None:
    result = attacked["programs"][path.name]
    if "refused" in result:
        pytest.skip(result["refused"])
    check(Attacker.read(path), result, may_be_late=True)


@pytest.mark.parametrize("when", ["before", "during", "after"])
async def test_an_honest_program_is_answered_right_among_hostile_ones(attacked: dict[str, Any], when: str) -> None:
    assert attacked["probes"][when]
    assert [wrong for wrong in attacked["probes"][when] if wrong] == []


async def test_hostile_programs_leave_no_process_and_no_change(attacked: dict[str, Any]) -> None:
    assert attacked["canary"] == "CANARY"
    async with asyncio.timeout(60):
        await until(lambda: len(descendants()) <= len(attacked["idle"]))
