"""Programs that are judged in batches can't find the requests that come later."""

import pytest

from alpha_codium.judge.assertions import AssertionsKind
from alpha_codium.judge.plain_programs import is_plain
from alpha_codium.limits import Limits
from alpha_codium.problem import ExecutionSpec
from alpha_codium.sandbox import Sandbox
from alpha_codium.verdict import Verdict
from tests.judge.asserting import judged_in_batch
from tests.judge.python_oddities import ODDITIES

# Finds the argument of the call of `decode` that comes later, and returns it as the answer of `encode`.
LOOKING_AHEAD = """
import sys
def encode(text):
    frame = sys._getframe()
    while frame is not None:
        if "requests" in frame.f_locals:
            later = [frame.f_globals["decode"](each) for each in frame.f_locals["requests"]]
            return next(arguments[1] for _, _, arguments, *_ in later if arguments[0] == "decode")
        frame = frame.f_back
    return "nothing"
def decode(text):
    return "abc"
"""
TEST = 'assert encode("abc") == "xyz"\nassert decode("xyz") == "abc"\n'
HONEST = 'def encode(text): return {"abc": "xyz"}[text]\ndef decode(text): return {"xyz": "abc"}[text]\n'


@pytest.mark.thorough
async def test_a_program_in_a_batch_does_not_see_calls_that_come_later(both: Sandbox) -> None:
    kind = AssertionsKind(both, Limits(cpu_seconds=2.0), ExecutionSpec("assertions"))
    jobs = [(program, TEST) for program in (LOOKING_AHEAD, HONEST, LOOKING_AHEAD, HONEST)]
    results = await judged_in_batch(kind, jobs)
    assert [result.verdict is Verdict.ACCEPTED for result in results] == [False, True, False, True]


ESCAPES = [
    "import sys\nsys._getframe()",
    "import sys as s\ns._getframe()",
    "from sys import _getframe",
    "import sys\nx = sys",
    "import math, gc",
    "import inspect",
    "from typing import sys",
    "import typing\ntyping.sys._getframe()",
    "import random\nrandom._os",
    "import statistics\nstatistics.sys",
    "from collections import *",
    "from . import x",
    "def g(): yield\ng().gi_frame",
    "try: 1 / 0\nexcept Exception as e: e.__traceback__.tb_frame",
    "class C:\n    def __exit__(self, a, b, tb): tb.tb_frame.f_back",
    "getattr(1, 'x')",
    "x = [getattr][0]",
    "eval('1')",
    "open(0).read()",
    "input()",
    "__import__('sys')",
    "__builtins__",
    "'{0.gi_frame}'.format(1)",
    "'{0[x].y}'.format(1)",
    "form = '{0' + '.gi_frame}'\nform.format(1)",
    "str.format('{0.gi_frame}', 1)",
    "''.join(['{0.gi', '_frame}']).format(1)",
    "f = str.format",
    "import string\nstring.Formatter()",
    "import operator\noperator.attrgetter('gi_frame')",
    "import fractions\nfractions.operator",
    "match 1:\n    case object(gi_frame=x): pass",
    "import functools\nfunctools.update_wrapper(1, 2, assigned=('gi_frame',))",
    "import functools\nfunctools.wraps(2, assigned=('gi_frame',))",
    "import functools\nfunctools.singledispatch",
    "import typing\ntyping.get_type_hints",
    "async def f(): pass",
    "import numpy",
    "import os",
    "import ctypes",
    "x = 1 #" + "x" * 70_000,
    "def f(): pass\nf.__globals__",
    "type(1).__subclasses__()",
    "import threading",
]
PLAIN = [
    "import math\ndef f(x): return math.sqrt(x)",
    "import sys\nsys.setrecursionlimit(10**6)\ndef f(x): return sys.maxsize",
    "from typing import List, Optional\nfrom collections import Counter\ndef f(x: List[int]): return Counter(x)",
    "import re\ndef f(s): return re.compile('a').findall(s)",
    "def f(numbers, array): return sum(numbers) + len(array)",
    "def f(x): return '{:.2f} {}'.format(x, 1)",
    "class S:\n    def __init__(self): self.x = 1\n    def __eq__(self, o): return self.x == o.x",
    "for _ in range(3): pass\nif __name__ == '__main__': pass",
    "def broken(",
]


@pytest.mark.parametrize("program", ESCAPES)
def test_a_program_that_could_look_around_is_not_plain(program: str) -> None:
    assert not is_plain(program)


@pytest.mark.parametrize("program", PLAIN)
def test_ordinary_programs_are_plain(program: str) -> None:
    assert is_plain(program)


def test_no_attribute_of_an_allowed_module_is_a_module_that_is_not_allowed() -> None:
    import importlib
    from types import ModuleType

    from alpha_codium.judge.plain_programs import MODULES

    reached = {
        f"{name}.{attribute}"
        for name in MODULES
        for attribute, value in vars(importlib.import_module(name)).items()
        if isinstance(value, ModuleType)
        and value.__name__ not in MODULES
        and is_plain(f"import {name}\n{name}.{attribute}")
    }
    assert reached <= {"collections.abc"}


def test_oddities_with_frames_are_not_plain() -> None:
    assert not any(is_plain("\n".join(case)) for case in ODDITIES.values() if "_getframe" in "".join(case))
