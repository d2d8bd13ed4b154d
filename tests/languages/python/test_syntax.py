"""Syntax trees of foreign code."""

import ast
import gc
import re
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import alpha_codium
from alpha_codium.judge.assertion_needs import needs_of
from alpha_codium.languages.python.beginnings import parsed
from alpha_codium.languages.python.programs import ProgramReader
from alpha_codium.languages.python.syntax import parse
from alpha_codium.problem import ExecutionSpec

CODE = "\n".join(f"def f{i}(a):\n    return [a, {{a: [a, (a, {i})]}}]" for i in range(50)) + "\nassert f1(1)\n"
THREADS, ROUNDS = 4, 150


class RunsPythonWhenCollected:
    """Garbage in a cycle: its finalizer lets other threads run while the parser builds a tree."""

    def __init__(self) -> None:
        self.cycle = self

    def __del__(self) -> None:
        for _ in range(50):
            pass


@pytest.fixture
def busy_interpreter() -> Iterator[None]:
    """Threads switch and garbage is collected as often as possible."""
    interval, threshold = sys.getswitchinterval(), gc.get_threshold()
    sys.setswitchinterval(1e-6)
    gc.set_threshold(50)
    yield
    sys.setswitchinterval(interval)
    gc.set_threshold(*threshold)


READERS: dict[str, Callable[[str], object]] = {
    "parse": parse,
    "beginnings of functions": parsed,
    "programs in answers": lambda code: ProgramReader().kind_of(code),
    "assertions": lambda code: needs_of(f"{code}# {id(object())}", ExecutionSpec("assertions", "f1")),
}


@pytest.mark.thorough
@pytest.mark.parametrize("reader", READERS)
def test_code_may_be_parsed_in_several_threads_at_once(reader: str, busy_interpreter: None) -> None:
    raised = []

    def work() -> None:
        for _ in range(ROUNDS):
            RunsPythonWhenCollected()
            try:
                READERS[reader](CODE)
            except BaseException as error:
                raised.append(error)
                return

    threads = [threading.Thread(target=work) for _ in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not raised


def test_warnings_about_the_code_are_ignored() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert isinstance(parse("x = '\\d'"), ast.Module)


def test_nothing_else_in_the_package_parses_python() -> None:
    """Drivers and what runs inside of a sandbox have one thread only."""
    package = Path(alpha_codium.__file__).parent
    own = package / "languages" / "python" / "syntax.py"
    files = [path for path in package.rglob("*.py") if path != own and not {"inside", "drivers"} & {*path.parts}]
    assert [path for path in files if re.search(r"\bast\.parse\(", path.read_text())] == []
