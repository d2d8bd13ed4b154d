"""What a program sees of the assertions when it is asked for more than calls: it decides nothing by that."""

# ruff: noqa: E501

import pytest

from alpha_codium.judge.assertions import AssertionsKind
from alpha_codium.limits import Limits
from alpha_codium.problem import ExecutionSpec
from alpha_codium.program import as_program
from alpha_codium.sandbox import Sandbox
from alpha_codium.verdict import OUTSIDE, Verdict

REMEMBERS = """
class P{base}:
    def __contains__(self, x): P.x = x; return True
    def __iter__(self): return iter([P.x])
def f(x): return P({given})
"""
ANSWERS_ALL = """
class X:
    def __getattr__(self, name):
        if name[:2] == "__": raise AttributeError(name)
        return lambda *_: True
    def __eq__(self, other): return True
class Solution:
    def f(self, x): return X()
"""
# name -> program, test
PASSED_BEFORE = {
    "cleanup of a class": (
        "def f(x): return x // x",
        "import unittest\nclass TestF(unittest.TestCase):\n    @classmethod\n    def setUpClass(cls): cls.addClassCleanup(f, 0)\n    def test(self): self.assertEqual(f(2), 1)",
    ),
    "item": (REMEMBERS.format(base="", given=""), "assert 4 in f(3)"),
    "item in a text": (REMEMBERS.format(base="(str)", given="'no'"), "assert 'abc' in f(3)"),
    "item in a list": (REMEMBERS.format(base="(list)", given="[1]"), "assert 4 in f(3)"),
    "items": (REMEMBERS.format(base="", given=""), "r = f(3)\nassert all(each in r for each in [3, 4])"),
    "item is changed": (
        "class P:\n    def __contains__(s, x): x.clear(); return True\n    def __iter__(s): return iter([[]])\ndef f(x): return P()",
        "assert [4] in f(3)",
    ),
    "failure is caught": (
        "class AssertionError(ValueError): pass\ndef f(x): return 0",
        "try:\n    f(-1)\n    raise AssertionError('should have raised')\nexcept ValueError:\n    pass",
    ),
    "error of the test is caught": (
        "class ValueError(KeyError): pass\ndef f(x): return 0",
        "def check(x):\n    if f(x) != 4: raise ValueError(x)\ntry:\n    check(3)\nexcept KeyError: pass",
    ),
    "failure ends a map": (
        "class RuntimeError(StopIteration): pass\ndef f(x): return 0",
        "def check(x, y):\n    if f(x) != y: raise RuntimeError('no')\n    return True\nassert all(map(check, [1, 2], [2, 3]))",
    ),
    "method of a result": (ANSWERS_ALL, "assert Solution().f(3).startswith('ab')"),
    "another method of a result": (ANSWERS_ALL, "assert Solution().f(3).issubset({1, 2})"),
    "result of a method": (ANSWERS_ALL, "assert Solution().f(3) == 4"),
    "operand": (
        "class L(set):\n    def __sub__(s, o): L.o = o; return set()\nL.o = ()\ndef f(x): return L() if not L.o else set(L.o)",
        "assert not f(3) - {4}\nassert not {4} - f(3)",
    ),
    "difference": (
        "class L(set):\n    def __sub__(s, o): return set()\ndef f(x): return L()",
        "assert not f(3) - {4} and len(f(3)) == 1",
    ),
    "operand is changed": (
        "class L(list):\n    def __add__(s, o): r = [*s, *o]; o[:] = r; return r\ndef f(x): return L([5])",
        "e = [4]\nassert f(3) + e == e",
    ),
    "operand is the content later": (
        "class L(list):\n    def __add__(s, o): L.o = o; return L([5, *o])\n    def __len__(s): s[:] = L.o; return 1\ndef f(x): return L([5])",
        "x = f(3) + [4]\nassert len(x) == 1 and x == [4]",
    ),
    "deque for a list": (
        "from collections import deque\nclass Q(deque): pass\ndef f(x): return Q([4])",
        "assert f(3) == [4]",
    ),
    "order of a derived dict": (
        "from collections import OrderedDict as D\nclass O(D): pass\ndef f(): return O([('b', 2), ('a', 1)])",
        "from collections import OrderedDict\nassert f() == OrderedDict([('a', 1), ('b', 2)])",
    ),
    "eval is lent": (
        "def f(run, text):\n    run('expected.clear()', {})\n    return []",
        "expected = [4]\nassert f(eval, '[4]') == expected",
    ),
    "format is lent": ("def f(form, g): return form('{0.__globals__}', g)", "assert 'expected' not in f(str.format, lambda: 1)"),
    "argument is kept and returned": (
        "class S:\n    def put(s, xs): s.xs = xs; return xs\n    def total(s): return len(s.xs)",
        "s, xs = S(), []\ns.put(xs)\nxs.append(2)\nassert s.total() == 0",
    ),
    "argument is kept twice": (
        "class S:\n    def put(s, x, y): s.x, s.y = x, y\n    def bump(s): s.x.append(1)",
        "s, g = S(), [0]\ns.put(g, g)\ns.bump()\nassert g == [0]",
    ),
    "list in a deque": ("def f(q): q[0].append(2)", "from collections import deque\nq = deque([[1]])\nf(q)\nassert q[0] == [1]"),
    "list that is entered": (
        "class S:\n    def __init__(s): s.xs = []\n    def __enter__(s): return s.xs\n    def __exit__(s, *_): pass\n    def size(s): return len(s.xs)",
        "s = S()\nwith s as xs: xs.append(1)\nassert s.size() == 0",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("program", "test"), PASSED_BEFORE.values(), ids=PASSED_BEFORE)
async def test_a_wrong_program_does_not_pass_outside(sandbox: Sandbox, program: str, test: str) -> None:
    result = await AssertionsKind(sandbox, Limits(), ExecutionSpec("assertions")).judge(as_program(program), test)
    assert (result.verdict, result.trust) != (Verdict.ACCEPTED, OUTSIDE)
    assert result.verdict is not Verdict.INTERNAL_ERROR


RIGHT = {
    "operators of a derived list": (
        "class L(list): pass\ndef f(x): return L([x])",
        "x = f(3)\nassert x + [4] == [3, 4] and [2] + x == [2, 3] and x * 2 == [3, 3]\nx += [4]\nassert x == [3, 4]",
    ),
    "fixtures of one name": (
        "def f(x): return x",
        "import pytest\n@pytest.fixture(scope='module')\ndef v(): return 1\nclass TestA:\n    @pytest.fixture(scope='module')\n    def v(self): return 2\n    def test_a(self, v): assert f(v) == 2\ndef test_b(v): assert f(v) == 1",
    ),
    "item": ("class P:\n    def __iter__(s): return iter([4, 5])\n    def __contains__(s, x): return x in (4, 5)\ndef f(x): return P()", "assert 4 in f(3) and 6 not in f(3)"),
    "list in a list": ("class P(list): pass\ndef f(x): return P([[4]])", "assert [4] in f(3)"),
    "derived deque": ("from collections import deque\nclass Q(deque): pass\ndef f(x): return Q([4])", "from collections import deque\nassert f(3) == deque([4]) and f(3) != [4] and list(f(3)) == [4]"),
    "derived ordered dict": ("from collections import OrderedDict\nclass O(OrderedDict): pass\ndef f(): return O([('b', 2), ('a', 1)])", "assert f() == {'a': 1, 'b': 2} and list(f()) == ['b', 'a']"),
    "own exception named as Python's": ("class TimeoutError(Exception): pass\ndef f(x): raise TimeoutError(x)", "try:\n    f(3)\n    assert False\nexcept TimeoutError as e:\n    assert e.args == (3,)"),
    "argument is kept and returned": ("class S:\n    def put(s, xs): s.xs = xs; return xs\n    def total(s): return len(s.xs)", "s, xs = S(), []\nassert s.put(xs) is xs\nxs.append(2)\nassert s.total() == 1"),
}  # fmt: skip


@pytest.mark.parametrize(("program", "test"), RIGHT.values(), ids=RIGHT)
async def test_a_right_program_passes(sandbox: Sandbox, program: str, test: str) -> None:
    result = await AssertionsKind(sandbox, Limits(), ExecutionSpec("assertions")).judge(as_program(program), test)
    assert (result.verdict, result.trust) == (Verdict.ACCEPTED, OUTSIDE), result
