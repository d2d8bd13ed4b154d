"""No answer is paid for a program that attacks the judge instead of solving the problem."""

import json
import os
import secrets
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from alpha_codium.sandbox.conformance.hostile import ATTACKERS, Attacker, speaks_this_machine
from tests.judge.test_assertions_cheats import CASES, WITHOUT_OWN_EQ, YES
from tests.rewards.cheats import CHEATS
from tests.support import ROOT, shared_path

WORLD = ("unshare", "--net", "--ipc", "--pid", "--fork", "--kill-child", "--mount-proc")
DRIVER = Path(__file__).parent / "hostile_reward_driver.py"
HONEST = "import sys\nprint(sys.stdin.read()[::-1].strip())"


def hostile_sources() -> list[str]:
    """The programs of the shared folder, those of the conformance suite, and the cheats of this folder."""
    shared = [path.read_text() for path in sorted(shared_path("hostile").glob("*.py"))]
    ours = [Attacker.read(path).source for path in sorted(ATTACKERS.glob("*.py")) if speaks_this_machine(path)]
    assert len(shared) > 30 and len(ours) > 50
    return [*shared, *ours, *CHEATS.values()]


def rewards_of(rows: list[tuple[str, Any]], *schemes: str) -> dict[str, list[float | None]]:
    """What each answer gets under each scheme, in a world of its own; skips the test where there is none."""
    if shutil.which("unshare") is None or os.geteuid() != 0:
        pytest.skip("attackers run in namespaces of their own, which takes root and unshare")
    done = subprocess.run(
        [*WORLD, sys.executable, str(DRIVER), *schemes], input=json.dumps(rows),
        capture_output=True, text=True, check=False, cwd=ROOT, timeout=1200,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.thorough
@pytest.mark.timeout(1300)
def test_no_hostile_program_is_paid_and_honest_ones_among_them_are() -> None:
    words = [secrets.token_hex(8) for _ in range(2)]
    tests = [[word, word[::-1]] for word in words]
    sources = [HONEST, *hostile_sources(), HONEST]
    # Who isn't paid for a single test isn't paid for all of them either.
    given = rewards_of([(f"```python\n{source}\n```", tests) for source in sources], "share")["share"]
    assert (given[0], given[-1]) == (1.0, 1.0)
    assert [source[:80] for source, reward in zip(sources[1:-1], given[1:-1], strict=True) if reward] == []


@pytest.mark.thorough
@pytest.mark.timeout(600)
def test_no_object_that_equals_everything_is_paid_by_assertions() -> None:
    cases = [(f"{YES}\n{program}", test) for program, test in CASES] + WITHOUT_OWN_EQ
    honest = ("def add(a, b):\n    return a + b", "assert add(1, 2) == 3")
    rows = [(f"```python\n{program}\n```", [test]) for program, test in [honest, *cases, honest]]
    given = rewards_of(rows, "all")["all"]
    assert (given[0], given[-1]) == (1.0, 1.0)
    assert [case for case, reward in zip(cases, given[1:-1], strict=True) if reward] == []
