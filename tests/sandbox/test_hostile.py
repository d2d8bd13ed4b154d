"""Hostile programs against the jail: those of the shared folder, and those of the conformance suite.

All run through one pool, with an honest program before, among and after them, once as root and once as an ordinary
user, in a world of their own that `hostile_driver` prepares and looks over in the end.
"""

import functools
import json
import os
import shutil
import subprocess
import sys
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from alpha_codium.sandbox.conformance.hostile import (
    ATTACKERS,
    ENDS,
    STATUSES,
    Attacker,
    Expected,
    attack_plan,
    check,
)
from tests.sandbox.hostile_programs import BURNERS, KNOWN_OUTPUTS, attackers, names, path_of
from tests.support import ROOT

HERE = Path(__file__).parent
DRIVER = HERE / "hostile_driver.py"
# What the package's sandbox imports beside the standard library.
DEPENDENCIES = ("loguru",)
USERS = {"root": "", "nobody": "65534"}
WORLD = ("unshare", "--net", "--ipc", "--pid", "--fork", "--kill-child", "--mount-proc")
WORKERS = 5
LIMITS = {"cpu_seconds": 0.6, "wall_seconds": 2.5, "memory_bytes": 2**28, "output_bytes": 2**20}


# The jail of an ordinary user is another one. A program that runs twice may reach the one after it, too.
RUNS = [
    pytest.param(("root", 1), id="root", marks=pytest.mark.slow),
    pytest.param(("nobody", 1), id="nobody"),
    pytest.param(("root", 2), id="root-twice", marks=pytest.mark.slow),
    pytest.param(("nobody", 2), id="nobody-twice", marks=pytest.mark.slow),
]


@pytest.fixture(scope="module", params=RUNS)
def world(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """All that came of running the programs as that user: see `hostile_driver`."""
    programs = attackers()
    stage = tmp_path_factory.mktemp("world")
    user, tests = request.param
    found = run_world(user, programs, stage, "local", tests=tests, isolation=True)
    return found | {"attackers": {attacker.name: attacker for attacker in programs}}


def run_world(
    user: str,
    programs: list[Attacker],
    stage: Path,
    backend: str,
    limits: dict[str, float] = LIMITS,
    honest_limits: dict[str, float] | None = None,
    honest_seconds: float = 0.01,
    tests: int = 2,
    **options: Any,
) -> dict[str, Any]:
    """What the driver says of those programs in that backend, as that user; skips the test where it can't be had."""
    plan = attack_plan(
        programs,
        backend=backend,
        options={"workers": WORKERS} | options,
        limits=limits,
        honest_limits=honest_limits or {"wall_seconds": 20},
        honest_seconds=honest_seconds,
        concurrency=WORKERS,
        tests=tests,
    ) | {"class": {"local": "LocalSandbox", "portable": "PortableSandbox"}[backend]}
    for program, attacker in zip(plan["programs"], programs, strict=True):
        program["expected"] = KNOWN_OUTPUTS.get(program["name"][:2], "")
        program["limits"] = limits_of(attacker)
    (stage / "plan.json").write_text(json.dumps(plan))
    copy_drivers(stage)
    copy_package(stage / "code")
    stage.chmod(0o755)
    command = [*as_root(), *WORLD, "--", python_for(user), "-s", str(DRIVER), "world", str(stage), USERS[user]]
    done = subprocess.run(command, capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0, done.stderr[-5000:]
    found = json.loads(done.stdout)
    assert found["host"] is not None and found["status"] == 0, done.stderr[-5000:]
    return found["host"] | {"left": found["left"], "log": done.stderr}


def limits_of(attacker: Attacker) -> dict[str, float]:
    """The limits of that program that differ from the plan's: one that must end by itself has the time for it."""
    if "time_limit_exceeded" not in attacker.expected.statuses:
        return {"cpu_seconds": 10, "wall_seconds": 30}
    return {"cpu_seconds": 0.2} if attacker.name in BURNERS else {}


def copy_drivers(stage: Path, *more: Path) -> None:
    """The scripts that run in the world: this suite's, and others."""
    for script in (DRIVER, HERE / "hostile_world.py", *more):
        shutil.copy(script, stage)


def copy_package(folder: Path) -> None:
    """The package and what it needs, readable by everyone: a checkout below /root is not."""
    shutil.copytree(ROOT / "alpha_codium", folder / "alpha_codium", ignore=shutil.ignore_patterns("__pycache__"))
    for name in DEPENDENCIES:
        (found,) = import_module(name).__path__
        shutil.copytree(found, folder / name, ignore=shutil.ignore_patterns("__pycache__"))


def as_root() -> tuple[str, ...]:
    """What stands before a command that needs a root user's rights over a world of its own."""
    return () if os.geteuid() == 0 else ("unshare", "--user", "--map-root-user", "--")


@functools.cache
def python_for(user: str) -> str:
    """A python that this user can read; skips the test where there is none."""
    if USERS[user] and os.geteuid() != 0:
        pytest.skip("only root can become another user")
    # `setpriv` starts what it is given with root's rights to read still; what `env` starts has none.
    become = ("setpriv", f"--reuid={USERS[user]}", f"--regid={USERS[user]}", "--clear-groups", "env")
    check = "import sys; sys.exit(sys.version_info < (3, 11))"
    for python in (os.path.realpath(sys.executable), "/usr/bin/python3", "/usr/local/bin/python3"):
        command = [*(become if USERS[user] else ()), python, "-c", check]
        if subprocess.run(command, capture_output=True, check=False).returncode == 0:
            return python
    pytest.skip(f"no Python 3.11 or later that user {USERS[user]} can run: apt-get install python3")


@pytest.mark.thorough
@pytest.mark.parametrize("name", names())
def test_a_hostile_program_ends_as_its_first_line_says(world: dict[str, Any], name: str) -> None:
    path_of(name)
    result = world["programs"][name]
    if "refused" in result:
        pytest.skip(result["refused"])
    check(world["attackers"][name], result)


@pytest.mark.thorough
@pytest.mark.parametrize("when", ["before", "during", "after"])
def test_an_honest_program_is_answered_right_on_the_same_pool(world: dict[str, Any], when: str) -> None:
    assert world["probes"][when]
    assert [wrong for wrong in world["probes"][when] if wrong] == []


@pytest.mark.thorough
@pytest.mark.parametrize("kind", ["processes", "mounts", "files", "canary", "segments", "cgroups"])
def test_nothing_is_left_behind(world: dict[str, Any], kind: str) -> None:
    assert world["left"][kind] == []


@pytest.mark.thorough
def test_the_host_keeps_no_descriptor_no_child_and_no_process_for_an_idle_pool(world: dict[str, Any]) -> None:
    assert (world["descriptors"], world["children"], world["grown"]) == ([], [], [])


@pytest.mark.thorough
def test_an_honest_program_beside_crowds_that_burn_is_not_too_slow(tmp_path: Path) -> None:
    """The CPU time of a test is limited for all its processes together: they can't take that of their neighbours."""
    crowd = Attacker.read(ATTACKERS / "crowd_of_burners.py")
    crowds = [replace(crowd, name=f"crowd {number}") for number in range(2)]
    limits = {"cpu_seconds": 0.75}
    found = run_world("root", crowds, tmp_path, "local", limits, limits, 0.25, tests=1, isolation=True, workers=3)
    assert {end["status"] for one in found["programs"].values() for end in one["executions"]} <= STATUSES["TLE"]
    assert [wrong for wrong in found["probes"]["during"] if wrong] == []


HARMLESS = """# expect: finishes
import os, subprocess, sys
print("ran", flush=True)
open("/tmp/left", "w").close()
subprocess.Popen([sys.executable, "-c", "input()"], start_new_session=True, stdin=subprocess.PIPE).stdin = None
"""


@pytest.mark.thorough
def test_this_harness_sees_what_a_backend_lets_through(tmp_path: Path) -> None:
    litter = Attacker("litter", HARMLESS, Expected.of(HARMLESS))
    found = run_world("root", [litter], tmp_path, "portable", isolation=False)
    assert found["programs"]["litter"]["executions"][0]["stdout"] == "ran\n"
    assert found["left"]["files"] == ["/tmp/left"]
    assert found["probes"]["after"] != [""] * 4, "the probe finds the file"


@pytest.mark.parametrize(
    ("line", "statuses", "blocked"),
    [
        ("TLE/RE; process count bounded", {"time_limit_exceeded", "runtime_error", "sandbox_violation"}, False),
        ("TLE by wall clock (uses no CPU)", {"time_limit_exceeded"}, False),
        ("CE: undecodable source", {"compilation_error"}, False),
        ("finishes; no zombies accumulate", {"finished"}, False),
        ("blocked or TLE; hidden CPU", {"finished", "time_limit_exceeded"}, True),
        ("blocked or killed: io_uring", ENDS, True),
        ("harness survives", ENDS, False),
    ],
)
def test_a_first_line_says_what_may_come_of_a_program(line: str, statuses: set[str], blocked: bool) -> None:
    assert Expected.of(f"# -*- coding: rot13 -*-\n# expect: {line}\n") == Expected(frozenset(statuses), blocked)


def test_there_are_more_than_twenty_attackers_of_our_own() -> None:
    assert len(list(ATTACKERS.glob("*.py"))) > 20
