"""The conformance suite as a user runs it, on backends that are no part of the package."""

import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from alpha_codium.sandbox.conformance import differences
from alpha_codium.sandbox.portable.isolation import namespaces_command
from tests.sandbox import faulty_backends
from tests.support import ROOT

SUITE = "alpha_codium.sandbox.conformance"
# The class of a backend -> what must catch its fault.
FAULTS = {
    "WrongOrder": "test_executions_stand_in_the_order_of_the_inputs",
    "LosesOutput": "test_a_large_input_and_a_large_output_pass_whole",
    "WrongStatus": "test_too_much_cpu_time_is_a_time_limit",
    "StartsEarly": "test_an_input_is_run_only_when_its_execution_is_asked_for",
    "SharesFolder": "test_one_program_leaves_nothing_to_the_next",
    "GoesOnAfterFailure": "test_nothing_runs_after_a_failure_if_the_job_says_so",
    "ForgetsTheDriver": "test_a_driver_runs_in_the_programs_place_and_finds_it_compiled",
    "ForgetsLimits": "test_too_much_output_is_an_output_limit_and_the_first_of_it_is_kept",
    "SaysNothingOfItself": "test_a_sandbox_says_what_its_verdicts_depend_on",
    "OneAfterTheOther": "test_jobs_run_beside_each_other",
    "SpoilsText": "test_text_of_any_language_passes_and_what_is_no_text_is_replaced",
}
TWO_PROGRAMS = "test_two_programs_talk_over_the_channel"
# Programs in other languages are run on our own backends, in tests/sandbox/test_languages.py.
SOME_LANGUAGES = "not test_languages or cpp or java"
# What runs of the suite in the wheel.
SAMPLE = " or ".join([*FAULTS.values(), TWO_PROGRAMS, "cpp", "timers.py", "stop_everyone.py", "honest"])
WHOLE = f"not test_hostile and ({SOME_LANGUAGES}) or timers.py or stop_everyone.py or honest"
# No option of ours, and no plugin but those that the extra `conformance` brings.
ENVIRONMENT = {key: value for key, value in os.environ.items() if not key.startswith(("PYTEST", "GENCODE"))}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of installed packages that has the backends, with their entry points."""
    folder = tmp_path_factory.mktemp("site")
    shutil.copy(faulty_backends.__file__, folder)
    metadata = folder / "user_backends-1.0.dist-info"
    metadata.mkdir()
    names = ["Faithful", "WithoutWalls", *FAULTS]
    points = "\n".join(f"{name} = faulty_backends:{name}" for name in names)
    (metadata / "entry_points.txt").write_text(f"[alpha_codium.sandboxes]\n{points}\n")
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: user_backends\nVersion: 1.0\n")
    return folder


def run_suite(site: Path, *arguments: str, suite: str = SUITE) -> subprocess.CompletedProcess[str]:
    """Run the command that the docs show, outside of the repository."""
    # `-p` is what the entry point does where the package was installed before it had one.
    command = [sys.executable, "-m", "pytest", "-p", SUITE, "-p", "no:cacheprovider", "-rA", "--tb=short", "--pyargs"]
    return subprocess.run(
        [*command, suite, *arguments],
        capture_output=True, text=True, check=False, timeout=280, cwd=site, env=ENVIRONMENT | {"PYTHONPATH": str(site)},
    )  # fmt: skip


def outcomes(done: subprocess.CompletedProcess[str], outcome: str) -> set[str]:
    """The names of the tests with that outcome, without parameters."""
    return set(re.findall(rf"^{outcome} \S+::(\w+)", done.stdout, re.MULTILINE))


def need_namespaces() -> None:
    if not namespaces_command():
        pytest.skip("this machine gives no namespaces: run as root or allow user namespaces")


@pytest.mark.thorough
def test_a_users_own_backend_passes_what_it_promises_and_says_what_it_leaves_out(site: Path) -> None:
    need_namespaces()
    done = run_suite(site, "--backend", "Faithful", "-k", f"not test_hostile and ({SAMPLE})", "--workers", "3")
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr
    assert {*FAULTS.values()} <= outcomes(done, "PASSED")
    assert "Faithful can't run two programs with a channel between them" in done.stdout


@pytest.mark.thorough
def test_hostile_programs_never_run_where_nothing_is_isolated(site: Path) -> None:
    done = run_suite(site, "--backend", "WithoutWalls", "-k", "test_hostile or test_isolation")
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr
    assert outcomes(done, "PASSED") == set()
    assert "WithoutWalls isolates nothing: its identity names no layer of isolation" in done.stdout


@pytest.mark.thorough
@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_caught_by_the_test_that_is_named_for_it(site: Path, name: str) -> None:
    need_namespaces()
    done = run_suite(site, "--backend", name, "-k", FAULTS[name])
    assert done.returncode == pytest.ExitCode.TESTS_FAILED, done.stdout[-5000:] + done.stderr
    assert FAULTS[name] in outcomes(done, "FAILED"), done.stdout


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ((), "--backend NAME is needed"),
        (("--backend", "Faithfull"), r"there is no sandbox 'Faithfull' \(did you mean 'Faithful'\?\)"),
        (("--backend", "local", "--backend-option", "isolation"), "--backend-option isolation: KEY=VALUE is needed"),
        (
            ("--backend", "local", "--backend-option", "wrokers=3"),
            "local can't be opened with these options: .*wrokers",
        ),
    ],
)
def test_a_wrong_command_line_is_refused_in_one_line(site: Path, arguments: tuple[str, ...], told: str) -> None:
    done = run_suite(site, *arguments)
    assert done.returncode == pytest.ExitCode.USAGE_ERROR
    (line,) = done.stderr.strip().splitlines()
    assert re.search(told, line)


def test_without_its_extra_the_suite_says_what_to_install(site: Path, tmp_path: Path) -> None:
    hide = "import sys\nsys.modules['pytest_asyncio'] = sys.modules['pytest_timeout'] = None\n"
    (tmp_path / "sitecustomize.py").write_text(hide)
    command = [sys.executable, "-m", "pytest", "-p", SUITE, "--pyargs", SUITE, "--backend", "local"]
    env = ENVIRONMENT | {"PYTHONPATH": str(tmp_path), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path, env=env)
    assert done.returncode == pytest.ExitCode.USAGE_ERROR
    packages = "pytest-asyncio and pytest-timeout: pip install pytest-asyncio pytest-timeout"
    assert done.stderr.strip() == f"ERROR: the conformance suite needs {packages}"


@pytest.mark.thorough
def test_another_run_of_pytest_knows_nothing_of_the_suite(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text("def pytest_addoption(parser): parser.addoption('--backend')\n")
    (tmp_path / "test_own.py").write_text(
        "import sys\ndef test_own(): assert 'alpha_codium.sandbox.conformance.plugin' not in sys.modules\n"
    )
    command = [sys.executable, "-m", "pytest", "-p", SUITE, "--backend", "mine"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path, env=ENVIRONMENT)
    assert done.returncode == 0, done.stdout


@pytest.fixture(scope="module")
def unpacked_wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package as users install it, in a folder of its own."""
    source, folder = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("wheel")
    for name in ("alpha_codium", "settings", "prompts"):
        shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("setup.py", "pyproject.toml", "README.md", "LICENSE", "requirements-dev.txt"):
        shutil.copy(ROOT / name, source)
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(folder), str(source)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=240)
    if "No matching distribution found for setuptools" in done.stderr:
        pytest.skip("no network: setuptools, which builds the wheel, can't be downloaded")
    assert done.returncode == 0, done.stderr
    (wheel,) = folder.glob("*.whl")
    zipfile.ZipFile(wheel).extractall(folder / "site")
    return folder / "site"


@pytest.mark.thorough
def test_the_wheel_has_the_suite_and_its_hostile_programs(unpacked_wheel: Path) -> None:
    ours, shipped = (folder / SUITE.replace(".", "/") for folder in (ROOT, unpacked_wheel))
    files = {str(path.relative_to(ours)) for path in ours.rglob("*.py")}
    assert {str(path.relative_to(shipped)) for path in shipped.rglob("*.py")} == files


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("chosen", [SAMPLE, WHOLE], ids=["sample", "whole"])
def test_the_suite_of_the_wheel_runs_outside_of_the_repository(
    unpacked_wheel: Path, tmp_path: Path, chosen: str
) -> None:
    need_namespaces()
    command = [sys.executable, "-m", "pytest", "--pyargs", SUITE, "--backend", "local", "-rA", "-k", chosen]
    env = ENVIRONMENT | {"PYTHONPATH": str(unpacked_wheel)}
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path, env=env, timeout=550)
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr
    assert {*FAULTS.values(), TWO_PROGRAMS} <= outcomes(done, "PASSED")
    assert str(ROOT) not in done.stdout


def test_every_known_difference_names_a_test_of_the_suite() -> None:
    folder = Path(differences.__file__).parent
    text = "".join(path.read_text() for path in folder.glob("test_*.py"))
    tests = set(re.findall(r"def (test_\w+)", text))
    for table in (*differences.FAILS.values(), *differences.SKIPPED.values()):
        assert {name.partition("[")[0] for name in table} <= tests
