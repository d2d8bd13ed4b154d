"""Drivers stand alone: one text each, for every supported Python."""

import ast
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from alpha_codium.judge.codec import encode
from alpha_codium.judge.cpp_checkers import cpp_side
from alpha_codium.judge.drivers import driver
from alpha_codium.judge.packing import pack
from alpha_codium.languages import language_named
from tests.judge.checkers import CPP_FILES, DIVISOR, needs_compiler
from tests.judge.pythons import OTHER_PYTHONS

NAMES = ["answering", "asserting", "call", "checking", "filing", "in_process", "recording", "replaying", "serving"]


@pytest.mark.parametrize("python", [sys.executable, *OTHER_PYTHONS])
@pytest.mark.parametrize("name", NAMES)
def test_a_driver_is_one_text_that_each_supported_python_runs(name: str, python: str) -> None:
    assert "alpha_codium" not in driver(name)
    done = subprocess.run(
        [python, "-I", "-S", "-W", "error", "-"], input=driver(name), capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def names_defined_in(text: str) -> Iterator[str]:
    for node in ast.parse(text).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Assign):
            yield from (target.id for target in node.targets if isinstance(target, ast.Name))


@pytest.mark.parametrize("name", NAMES)
def test_no_module_of_a_driver_replaces_a_name_of_another(name: str) -> None:
    names = list(names_defined_in(driver(name)))
    assert len(names) == len(set(names))


@pytest.mark.parametrize("python", [sys.executable, *OTHER_PYTHONS])
def test_a_call_is_the_same_on_each_supported_python(python: str) -> None:
    code = "def f(x):\n    print('hello')\n    return (x, {1: 2.5})"
    source = f"program = compile({code!r}, 'program.py', 'exec')\n{driver('call')}"
    done = subprocess.run(
        [python, "-I", "-S", "-c", source],
        input=f'{encode(("f", ""))}\n[[true, "é"]]',
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.stdout, done.stderr) == ("TLt;sc3a9;)Di1;d0x1.4000000000000p+1;))", "hello\n")


def checked(python: str, program: str, output: str, folder: Path) -> subprocess.CompletedProcess[bytes]:
    source = f"program = compile({program!r}, 'program.py', 'exec')\n{driver('checking')}"
    (folder / "run.py").write_text(source)
    packed = pack(["icpc", "", "10\n", "2\n", output]).encode()
    return subprocess.run(
        [python, "-I", "-S", folder / "run.py"], input=packed, capture_output=True, cwd=folder, check=False
    )


@pytest.mark.parametrize("python", [sys.executable, *OTHER_PYTHONS])
def test_a_python_checker_ends_as_it_says_on_each_supported_python(python: str, tmp_path: Path) -> None:
    assert checked(python, DIVISOR, "5\n", tmp_path).returncode == 42
    assert checked(python, DIVISOR, "3\n", tmp_path).returncode == 43
    done = checked(python, "1 / 0", "5\n", tmp_path)
    assert (done.returncode, done.stderr.splitlines()[-1]) == (-6, b"ZeroDivisionError: division by zero")


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checker in C++ linked with its driver, as the sandbox does it."""
    folder, side = tmp_path_factory.mktemp("compiled"), cpp_side(CPP_FILES)
    build = language_named("cpp").driven(side.program, side.driver)
    assert build is not None
    for path, text in build.files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    subprocess.run(build.command, cwd=folder, check=True)
    return folder / build.artifact


def run_compiled(program: Path, packed: bytes, folder: Path) -> subprocess.CompletedProcess[bytes]:
    (stdin := folder / "stdin").write_bytes(packed)
    (here := folder / "here").mkdir()
    with stdin.open("rb") as file:
        return subprocess.run([program], stdin=file, capture_output=True, cwd=here, check=False)


@needs_compiler
@pytest.mark.parametrize(
    ("output", "status"),
    [("5\n", 42), ("3\n", 43), ("assert", -signal.SIGABRT), ("crash", -signal.SIGSEGV)],
)
def test_a_checker_in_cpp_ends_as_it_says(output: str, status: int, tmp_path: Path, compiled: Path) -> None:
    done = run_compiled(compiled, pack(["icpc", "", "10\n", "2\n", output]).encode(), tmp_path)
    assert done.returncode == status, done.stderr
    assert (b"taken down" in done.stderr) == (status > 0)
    assert (tmp_path / "here" / "feedback" / "judgemessage.txt").exists()


@needs_compiler
@pytest.mark.parametrize(
    "packed",
    [
        b"",
        b"4 0 3 2 2",
        b"4 0 3 2\nicpc10\n2\n",
        b"4 0 3 2 1\nicpc10\n2\n5\n",
        b"4 0 3 2 3\nicpc10\n2\n5\n",
        b"4 0 3 2 -1\nicpc10\n2\n",
        b"4 0 3 2 2 0\nicpc10\n2\n5\n",
    ],
)
def test_an_input_that_the_driver_in_cpp_can_not_read_is_never_a_verdict(
    packed: bytes, tmp_path: Path, compiled: Path
) -> None:
    assert run_compiled(compiled, packed, tmp_path).returncode == -signal.SIGABRT
