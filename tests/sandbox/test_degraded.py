"""The weaker jail of machines that give no namespaces: what it keeps, and that it is only taken where it must be.

Everything runs once for each state of `degraded_driver`, in a world of its own; the tests look at what came of it.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from alpha_codium.language_table import LANGUAGES
from alpha_codium.sandbox.conformance.hostile import attack_plan
from alpha_codium.sandbox.conformance.test_languages import MODES
from tests.languages.available import require
from tests.sandbox.degraded_cases import CANARY, CASES, attackers
from tests.sandbox.local.test_compile_bombs import TEMPLATES
from tests.sandbox.test_hostile import (
    LIMITS,
    WORLD,
    as_root,
    copy_drivers,
    copy_package,
    limits_of,
    python_for,
)

HERE = Path(__file__).parent
STATES = (
    pytest.param("user", marks=pytest.mark.thorough),
    *(pytest.param(state, marks=pytest.mark.slow) for state in ("root", "mounts")),
)

# What programs in other languages do that are compiled there, and what they print.
MODES_RUN = {"add 40 2": "42\n", "deep": "100000\n", "connect": "refused\n", f"read {CANARY}": "refused\n"}
BUILT_LANGUAGES = ("c", "cpp", "go", "java", "javascript", "kotlin", "pypy3", "python2", "ruby", "typescript")
# By name: language, source, inputs.
BUILT: dict[str, tuple[str, str, list[str]]] = {
    name: (name, (MODES / f"modes{LANGUAGES[name].suffix}").read_text(), list(MODES_RUN))
    for name in (*BUILT_LANGUAGES, "csharp")
} | {
    "the file of users": ("cpp", '#include "/etc/passwd"\nint main() {}', [""]),
    "the canary": ("cpp", f'#include "{CANARY}"\nint main() {{}}', [""]),
}


def run_world(state: str, stage: Path) -> dict[str, Any]:
    """What the driver says of a machine in that state."""
    if os.geteuid() != 0:
        pytest.skip("only root can take away what gives namespaces")
    cases = {
        name: {"program": program, "inputs": inputs, "limits": limits}
        for name, (program, inputs, limits, _, _) in CASES.items()
    }
    plan = attack_plan(
        attackers(),
        backend="local",
        options={"workers": 3},
        limits=LIMITS,
        concurrency=3,
        tests=2 if state == "user" else 1,  # so that a program may reach the one after it
        cases=cases,
    ) | {"class": "LocalSandbox", "built": BUILT, "bomb": ("cpp", TEMPLATES, "cc1plus")}
    for program, attacker in zip(plan["programs"], attackers(), strict=True):
        program["limits"] = limits_of(attacker)
    (stage / "plan.json").write_text(json.dumps(plan))
    driver = HERE / "degraded_driver.py"
    copy_drivers(stage, driver)
    copy_package(stage / "code")
    stage.chmod(0o755)
    command = [*as_root(), *WORLD, "--", python_for("nobody"), "-s", str(driver), "world", str(stage), state]
    done = subprocess.run(command, capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0, done.stderr[-5000:]
    found = json.loads(done.stdout)
    return found | {"log": done.stderr}


@pytest.fixture(scope="module", params=STATES)
def world(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """All that came of it in one state."""
    found = run_world(request.param, tmp_path_factory.mktemp("world"))
    refusal, host, died, left = found["hosts"]
    assert [each["status"] for each in (refusal, host, left)] == [0, 0, 0], found["log"][-5000:]
    return host["said"] | {"refusal": refusal["said"], "died": died, "seen": left["said"], "left": found["left"]}


@pytest.mark.thorough
def test_what_is_taken_is_named_and_a_complete_jail_is_refused_in_one_line(world: dict[str, Any]) -> None:
    assert "\n" not in world["refusal"]["strict"]
    assert "this machine can't isolate untrusted programs" in world["refusal"]["strict"]
    assert world["refusal"]["true"] | {"proc": True} == {
        "namespaces": False,
        "walls": True,
        "seccomp": True,
        "landlock": True,
        "cgroup": False,
        "proc": True,
    }


@pytest.mark.parametrize("name", CASES)
def test_a_program_ends_as_it_should(world: dict[str, Any], name: str) -> None:
    _, _, _, statuses, stdouts = CASES[name]
    executions = world["cases"][name]
    assert [each["status"] for each in executions] == statuses, executions
    assert [each["stdout"] for each in executions] == stdouts, executions


@pytest.mark.parametrize("language", BUILT_LANGUAGES)
def test_a_program_that_is_compiled_ends_as_it_should(world: dict[str, Any], language: str) -> None:
    require(language)
    compilation, *tests = world["built"][language]
    assert compilation["status"] == "finished", compilation
    assert [test["stdout"] for test in tests] == list(MODES_RUN.values()), tests


def test_a_compiler_finds_no_file_but_those_of_its_toolchain(world: dict[str, Any]) -> None:
    require("cpp")
    for name in ("the file of users", "the canary"):
        (compilation,) = world["built"][name]
        assert compilation["status"] == "compilation_error"
        assert "Permission denied" in compilation["stderr"] and "CANARY:" not in compilation["stderr"], compilation


def test_a_language_that_needs_proc_is_refused_in_one_line(world: dict[str, Any]) -> None:
    require("csharp")
    assert re.fullmatch("programs in csharp need /proc, which can't be shown .*", world["built"]["csharp"])


@pytest.mark.parametrize("name", [each.name for each in attackers()])
def test_a_hostile_program_reaches_nothing(world: dict[str, Any], name: str) -> None:
    result = world["programs"][name]
    expected = next(each.expected for each in attackers() if each.name == name)
    assert not (result["hung"] or result["passed"] or result["leaks"])
    for end in result["executions"] or [result["compilation"]]:
        # What it may not start, it may not survive.
        assert end["status"] in expected.statuses | {"runtime_error"}, end
        assert "ESCAPED" not in end["stdout"], end


@pytest.mark.parametrize("when", ["before", "during", "after"])
def test_an_honest_program_is_answered_right_on_the_same_pool(world: dict[str, Any], when: str) -> None:
    assert world["probes"][when]
    assert [wrong for wrong in world["probes"][when] if wrong] == []


@pytest.mark.parametrize("kind", ["processes", "mounts", "files", "canary", "segments", "cgroups"])
def test_nothing_is_left_behind(world: dict[str, Any], kind: str) -> None:
    assert world["left"][kind] == []


def test_the_host_keeps_no_descriptor_no_child_and_no_process_for_an_idle_pool(world: dict[str, Any]) -> None:
    assert (world["descriptors"], world["children"], world["grown"]) == ([], [], [])


@pytest.mark.parametrize("how", ["cancelled", "zygote", "compiler"])
def test_a_test_and_a_compiler_end_with_their_run_and_a_test_with_its_zygote(world: dict[str, Any], how: str) -> None:
    assert world["ends"][how] == []


def test_nothing_outlives_a_killed_host_and_the_next_one_removes_its_folders(world: dict[str, Any]) -> None:
    assert world["died"]["status"] != 0
    assert world["died"]["processes"] == []
    assert world["seen"]["before"] and world["seen"]["after"] == []
    assert world["seen"]["stdout"] == "1\n"


@pytest.mark.thorough
def test_a_machine_without_landlock_too_is_refused_in_one_line(tmp_path: Path) -> None:
    found = run_world("nothing", tmp_path)
    refusal = found["hosts"][0]["said"]["true"]
    assert "without namespaces: OSError: no Landlock" in refusal and "\n" not in refusal


# Every user can read it: without namespaces, a jail's user must reach the interpreter.
PYTHON3 = "/usr/bin/python3"
NO_NAMESPACES = ("setpriv", "--bounding-set=-sys_admin")


@pytest.mark.thorough
def test_without_namespaces_lines_come_by_turns_too(tmp_path: Path) -> None:
    if os.geteuid() or not shutil.which("setpriv") or not Path(PYTHON3).exists():
        pytest.skip(f"it needs root, setpriv and {PYTHON3}")
    pytest_of = (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", str(tmp_path))
    options = ("--pyargs", "alpha_codium.sandbox.conformance.test_turns", "--backend", "local")
    command = (*NO_NAMESPACES, *pytest_of, *options, "--backend-option", f"interpreter={PYTHON3}")
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0 and "5 passed" in done.stdout, done.stdout[-2000:] + done.stderr[-2000:]
