"""Drivers stand alone: one text each, for every supported Python."""

import ast
import base64
import subprocess
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from alpha_codium.judge.building import build
from alpha_codium.judge.codec import encode
from alpha_codium.judge.drivers import driver
from alpha_codium.judge.packing import pack
from tests.judge.checkers import CPP_FILES, DIVISOR, needs_compiler
from tests.judge.pythons import OTHER_PYTHONS

NAMES = ["answering", "asserting", "call", "checking", "filing", "recording", "replaying", "serving", "together"]


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


def checked(python: str, program: str, language: str, output: str, folder: Path) -> subprocess.CompletedProcess[bytes]:
    source = f"program = compile({program!r}, 'program.py', 'exec')\n{driver('checking')}"
    (folder / "run.py").write_text(source)
    packed = pack(["icpc", language, "", "10\n", "2\n", output]).encode()
    return subprocess.run(
        [python, "-I", "-S", folder / "run.py"], input=packed, capture_output=True, cwd=folder, check=False
    )


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A checker in C++, compiled once for all tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GENCODE_HOME", str(tmp_path_factory.mktemp("home")))
        return build(CPP_FILES)


@pytest.mark.thorough
@needs_compiler
@pytest.mark.parametrize("python", [sys.executable, *OTHER_PYTHONS])
def test_a_compiled_checker_takes_each_supported_python_over(python: str, tmp_path: Path, compiled: bytes) -> None:
    program = f'IMAGE = "{base64.b64encode(zlib.compress(compiled)).decode()}"'
    for output, status in (("5\n", 42), ("3\n", 43), ("deep\n", 42), ("assert", -6), ("crash", -11)):
        done = checked(python, program, "image", output, tmp_path)
        assert done.returncode == status, done.stderr
        assert (b"taken down" in done.stderr) == (status > 0)
    assert (tmp_path / "feedback" / "judgemessage.txt").exists()


@pytest.mark.parametrize("python", [sys.executable, *OTHER_PYTHONS])
def test_a_python_checker_ends_as_it_says_on_each_supported_python(python: str, tmp_path: Path) -> None:
    assert checked(python, DIVISOR, "python", "5\n", tmp_path).returncode == 42
    assert checked(python, DIVISOR, "python", "3\n", tmp_path).returncode == 43
    done = checked(python, "1 / 0", "python", "5\n", tmp_path)
    assert (done.returncode, done.stderr.splitlines()[-1]) == (-6, b"ZeroDivisionError: division by zero")


@pytest.mark.parametrize("image", [b"", b"\x7fELF", b"\x7fELF\x02" + bytes(60), b"#!/bin/sh\nexit 42\n"])
def test_an_invalid_image_is_never_a_verdict(image: bytes, tmp_path: Path) -> None:
    program = f'IMAGE = "{base64.b64encode(zlib.compress(image)).decode()}"'
    done = checked(sys.executable, program, "image", "5\n", tmp_path)
    assert done.returncode == -6
    assert b"not a 64-bit position-independent executable" in done.stderr
