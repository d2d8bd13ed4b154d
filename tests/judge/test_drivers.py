"""Drivers stand alone: one text each, for every supported Python."""

import subprocess
import sys

import pytest

from alpha_codium.judge.codec import encode
from alpha_codium.judge.drivers import driver
from tests.judge.pythons import OTHER_PYTHONS

NAMES = ["asserting", "call", "serving", "together"]


@pytest.mark.parametrize("python", [sys.executable, *OTHER_PYTHONS])
@pytest.mark.parametrize("name", NAMES)
def test_a_driver_is_one_text_that_each_supported_python_runs(name: str, python: str) -> None:
    assert "alpha_codium" not in driver(name)
    done = subprocess.run(
        [python, "-I", "-S", "-W", "error", "-"], input=driver(name), capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


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
