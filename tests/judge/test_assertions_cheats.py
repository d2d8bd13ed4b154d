"""Objects of a program's own decide nothing."""

import asyncio
from collections.abc import Callable

import pytest

from alpha_codium.judge.assertions import AssertionResult, AssertionsKind
from alpha_codium.limits import Limits
from alpha_codium.problem import ExecutionSpec
from alpha_codium.program import as_program
from alpha_codium.sandbox import Sandbox
from alpha_codium.verdict import OUTSIDE, Verdict
from tests.judge.asserting import judged_in_batch

BAD = (Verdict.ACCEPTED, Verdict.INTERNAL_ERROR)
YES = """
class P:
    def __init__(self, *_): pass
    def __eq__(self, other): return True
    __ne__ = __lt__ = __gt__ = __le__ = __ge__ = __contains__ = __eq__
    def __hash__(self): return 0
    def __getitem__(self, key): return self
    def __iter__(self): return iter([self])
    def __getattr__(self, name):
        if name.startswith("__"): raise AttributeError(name)
        return lambda *_: self
    def __add__(self, other): return self
    __sub__ = __rsub__ = __radd__ = __mul__ = __add__
"""
ONE_FOR_ALL = "one = P()\nP.__new__ = staticmethod(lambda *_: one)\ndef f(x): return one"
# A test that names the class, and what of the program it compares with a value.
CASES = [
    ("def area(p): return p", "assert area(P(1)) == 12"),
    ("area = P", "assert area(P(1)) == 12"),
    ("def area(p): return [p]", "assert area(P(1)) == [12]"),
    ("def area(p): return [p]", "assert area(P(1))[0] == 12"),
    ("def area(p): return P()", "assert area(P(1)) == 12"),
    ("", "assert P(1).area() == 12"),
    ("", "s = P(); s.push(3); assert s.pop() == 3"),
    ("", "assert P(1)[0] == 3"),
    ("", "assert list(P(1)) == [3]"),
    ("def f(g, x): return g(x)", "assert f(lambda v: v == 12, P(1)) is True"),
    ("def f(g, x): return g(x)", "assert f(lambda v: v + 1, P(1)) == 13"),
    ("def f(x): return P()", "assert abs(f(3) - 0.5) < 1e-6"),
    ("def f(x): return P()", "assert f(3) in (1, 2)"),
    ("def f(x): return P()", "assert 3 in f(3)"),
    ("def f(x): return P()", "import math\nassert math.isclose(f(3), 2.0)"),
    ("def f(x): return P()", "assert {f(3)} == {4}"),
    ("def f(x): return P()", "assert sorted(f(3)) == [4]"),
    ("def f(x): return P()", "import unittest\nunittest.TestCase().assertEqual(f(3), 4)"),
    ("def f(x): return {1: P()}", "assert f(3) == {1: 4}"),
    (ONE_FOR_ALL, "x = f(3); p = P(1); assert isinstance(p, P); assert x == 12"),
    ("", "assert P(3) == 4"),
    ("", "assert P(3) + 1 == 5"),
    ("def Find_Max(xs): return P()", "assert Find_Max([3]) == 3"),
    ("Find_Max = P", "assert Find_Max([3]) == 3\nassert Find_Max([3]).upper() == 3"),
    ("class I(int, P): pass\ndef f(x): return I(0)", "assert f(3) == 4 and P() is not None"),
    ("class L(list, P): pass\ndef f(x): return L()", "assert f(3) == [4] and P() is not None"),
    (
        "class E(Exception, P): pass\ndef f(x): raise E()",
        "try:\n    f(3)\nexcept Exception as e:\n    assert e.args == (4,)",
    ),
]


def kind_in(sandbox: Sandbox) -> AssertionsKind:
    return AssertionsKind(sandbox, Limits(cpu_seconds=2.0), ExecutionSpec("assertions"))


async def those(
    sandbox: Sandbox, cases: list[tuple[str, str]], bad: Callable[[AssertionResult], bool]
) -> list[tuple[str, str, str | None]]:
    """Return the cases with a bad result, each with the text of the exception that ended it."""
    results = await asyncio.gather(*(kind_in(sandbox).judge(as_program(case[0]), case[1]) for case in cases))
    return [(*case, result.failure) for case, result in zip(cases, results, strict=True) if bad(result)]


def passes_or_decides(result: AssertionResult) -> bool:
    """Whether a case is accepted, or judged in the program's process."""
    return result.verdict in BAD or result.trust != OUTSIDE


def passes_outside(result: AssertionResult) -> bool:
    """Whether a case is accepted, unless that is marked as the program's decision."""
    return result.verdict is Verdict.INTERNAL_ERROR or (result.verdict, result.trust) == (Verdict.ACCEPTED, OUTSIDE)


@pytest.mark.thorough
async def test_a_class_that_the_assertions_name_does_not_decide_comparisons_with_a_value(both: Sandbox) -> None:
    assert await those(both, [(f"{YES}\n{program}", test) for program, test in CASES], passes_or_decides) == []


DRIVER = """
import sys
frame = sys._getframe()
while "OPERATIONS" not in frame.f_globals:
    frame = frame.f_back
driver = frame.f_globals
"""
MORE_NAMES = """
right = driver["found_in"]
driver["found_in"] = lambda namespace, names: {**right(namespace, names), **MORE}
"""
CLAIMED_INT = """
class X: numerator = denominator = 0
driver["OPERATIONS"]["class"] = lambda value: int
def f(x): return X()
"""
ROOT_OF_EACH_TERM = """
class Root:
    def __init__(self, xs): self.xs, self.place = xs, 0
    def __float__(self):
        self.place += 1
        return -self.xs[0] / self.xs[1] if self.place == 2 else 0.0
def f(xs): return Root(xs)
"""
POLYNOMIAL = """
import math
xs = [1.0, 2.0, 3.0]
x = f(xs)
assert abs(sum(c * math.pow(x, i) for i, c in enumerate(xs))) < 1e-6
"""
MORE_ABS = f"{DRIVER}{MORE_NAMES}MORE = {{'abs': lambda x: 0.0}}\ndef f(x): return 0.0"
MORE_SORTED = f"{DRIVER}{MORE_NAMES}MORE = {{'sorted': lambda x: [4]}}\ndef f(x): return 0"
MORE_MATH = f"{DRIVER}{MORE_NAMES}MORE = {{'math': sys}}\nsys.isclose = lambda *_: True\ndef f(x): return 0"
ANSWERS_TO_SETS = """
class X:
    def symmetric_difference(self, other): return set()
    difference = symmetric_difference
    def intersection(self, other): return other
def f(x): return X()
"""
WITHOUT_OWN_EQ = [
    (MORE_ABS, "assert abs(f(3) - 0.5) < 1e-6"),
    (MORE_SORTED, "assert sorted(f(3)) == sorted([4])"),
    (MORE_MATH, "assert math.isclose(f(3), 4)"),
    (DRIVER + CLAIMED_INT, "from decimal import Decimal\nassert Decimal(4) == f(3)"),
    (ROOT_OF_EACH_TERM, POLYNOMIAL),
    ("def f(x): raise StopIteration", "for one, other in zip(map(f, [1, 2]), [3, 4]):\n    assert one == other"),
    ("def f(x): raise StopIteration", "assert all(map(f, [1, 2]))"),
    (ANSWERS_TO_SETS, "assert f(3).symmetric_difference({4}) == set()"),
    (ANSWERS_TO_SETS, "assert f(3).difference({4}) == set()"),
    (ANSWERS_TO_SETS, "assert f(3).intersection({4}) == {4}"),
    (f"{YES}\ndef f(x): return P()", "assert f(3) == None"),
    (f"{YES}\ndef f(x): return P()", "x = f(3)\nassert x != x"),
    ("class L(list):\n    def __contains__(self, x): return x == 4\ndef f(x): return L()", "assert 4 in f(3)"),
    ("class L(list):\n    def __contains__(self, x): return False\ndef f(x): return L([4])", "assert 4 not in f(3)"),
    ("ValueError = Exception\ndef f(x): return 0", "try:\n    assert f(3) == 4\nexcept ValueError: pass"),
    ("class ValueError(AssertionError): pass\ndef f(x): 0", "try:\n    assert f(3) == 4\nexcept ValueError: pass"),
    ("class np:\n    allclose = staticmethod(lambda *_: True)\ndef f(x): return 0", "assert np.allclose(f(3), 4)"),
]


@pytest.mark.thorough
async def test_a_program_does_not_decide_in_a_batch_either(both: Sandbox) -> None:
    results = await judged_in_batch(kind_in(both), list(WITHOUT_OWN_EQ))
    passed = [case for case, result in zip(WITHOUT_OWN_EQ, results, strict=True) if result.verdict in BAD]
    assert passed == []


# An object that says that it is compared by its content, which is another one each time.
CHANGING = """
class X: pass
contents = iter(CONTENTS)
right_describe = driver["describe"]
driver["describe"] = lambda value, lent=False: KIND if type(value) is X else right_describe(value, lent)
driver["OPERATIONS"]["content"] = lambda value: next(contents)
def f(x): return X()
"""
SUMS = "class L({base}):\n    def _sum(self, *_): return {value}\n    __add__ = __radd__ = __iadd__ = __mul__ = __sub__ = __xor__ = _sum\ndef f(x): return L()"  # noqa: E501
SUMMED = [
    (SUMS.format(base="list", value="[4]"), "assert f(3) + [1] == [4]"),
    (SUMS.format(base="list", value="[4]"), "assert [1] + f(3) == [4]"),
    (SUMS.format(base="list", value="L([4])"), "x = f(3)\nx += [1]\nassert x == [4]"),
    (SUMS.format(base="int", value="4"), "assert f(3) + 1 == 4 and f(3) - 1 == 4"),
    (SUMS.format(base="int", value="L(0)"), "assert abs(f(3) - 4) < 1e-6"),
    (SUMS.format(base="set", value="set()"), "assert f(3) ^ {4} == set()"),
    (SUMS.format(base="set", value="set()"), "assert not f(3) - {4} and len(f(3)) == 1"),
]


@pytest.mark.thorough
async def test_arithmetic_with_a_value_is_that_of_builtin_values(both: Sandbox) -> None:
    assert await those(both, SUMMED, passes_or_decides) == []


KINDS = ["'compared', 'collections', 'UserString'", "'compared', 'builtins', 'dict_keys'", "'container', 'list', 'L'"]
POLYNOMIAL_OF_OPERATORS = "x = f(1)\nassert abs(sum(c * x**i for i, c in enumerate([1.0, 2.0, 3.0]))) < 1e-6"
CHANGES = [
    *(
        (f"CONTENTS, KIND = [1.0, -0.5, 0.0], ({kind}){DRIVER}{CHANGING}", test)
        for kind in KINDS
        for test in (POLYNOMIAL, POLYNOMIAL_OF_OPERATORS, "assert f(1) == -0.25")
    ),
    (
        f"CONTENTS, KIND = [{{1: 1}}, {{2: 2}}, {{3: 3}}], ({KINDS[1]}){DRIVER}{CHANGING}",
        "x = f(1)\nassert x == {1} and x == {2} and x == {3}",
    ),
]


@pytest.mark.thorough
async def test_an_object_that_is_compared_by_its_content_has_one_at_a_time(both: Sandbox) -> None:
    assert await those(both, CHANGES, passes_or_decides) == []


# Methods of an object that end a `map` of the assertions silently, each with a test that uses it.
SILENT = {
    "getitem": ("self, i", "all(map(lambda t: f(t)[0] == t, [1, 2]))"),
    "len": ("self", "all(map(lambda t: len(f(t)) == t, [1, 2]))"),
    "abs": ("self", "all(map(lambda t: abs(f(t)) == t, [1, 2]))"),
    "float": ("self", "all(map(lambda t: float(f(t)) == t, [1, 2]))"),
    "int": ("self", "all(map(lambda t: int(f(t)) == t, [1, 2]))"),
    "str": ("self", "all(map(lambda t: str(f(t)) == t, [1, 2]))"),
    "repr": ("self", "all(map(lambda t: repr(f(t)) == t, [1, 2]))"),
    "format": ("self, s", "all(map(lambda t: f'{f(t)}' == t, [1, 2]))"),
    "bool": ("self", "all(map(lambda t: bool(f(t)) is (t == 1), [1, 2]))"),
    "iter": ("self", "all(map(lambda t: list(f(t)) == [t], [1, 2]))"),
    "reversed": ("self", "all(map(lambda t: list(reversed(f(t))) == [t], [1, 2]))"),
    "contains": ("self, x", "all(map(lambda t: t in f(t), [1, 2]))"),
    "hash": ("self", "all(map(lambda t: {f(t): 1} == {t: 1}, [1, 2]))"),
    "sub": ("self, o", "all(map(lambda t: f(t) - f(t) == t, [1, 2]))"),
    "neg": ("self", "all(map(lambda t: -f(t) == t, [1, 2]))"),
    "round": ("self", "all(map(lambda t: round(f(t)) == t, [1, 2]))"),
    "trunc": (
        "self",
        "__import__('math').trunc(1) and all(map(lambda t: __import__('math').trunc(f(t)) == t, [1, 2]))",
    ),
    "index": ("self", "all(map(lambda t: [1, 2, 3][f(t)] == t, [1, 2]))"),
    "call": ("self", "all(map(lambda t: f(t)() == t, [1, 2]))"),
    "enter": ("self", "all(map(lambda t: __import__('contextlib').ExitStack().enter_context(f(t)) == t, [1, 2]))"),
    "copy": ("self", "all(map(lambda t: __import__('copy').copy(f(t)) == t, [1, 2]))"),
    "deepcopy": ("self, memo", "all(map(lambda t: __import__('copy').deepcopy(f(t)) == t, [1, 2]))"),
    "getattr": ("self, name", "all(map(lambda t: f(t).x == t, [1, 2]))"),
    "setitem": ("self, k, v", "all(map(lambda t: f(t).__setitem__(1, 2) == t, [1, 2]))"),
    "eq": ("self, o", "all(map(lambda t: f(t) == t, [1, 2]))"),
    "lt": ("self, o", "all(map(lambda t: f(t) < t, [1, 2]))"),
}
STOPPING = (
    "class X:\n    def __exit__(self, *_): pass\n    def __{name}__({arguments}): raise {error}\ndef f(x): return X()"
)
PROPERTY = "class X:\n    @property\n    def x(self): raise StopIteration\ndef f(x): return X()"
OWN_STOP = "class E(StopIteration): pass\nclass X:\n    def __len__(self): raise E()\ndef f(x): return X()"
BY_LENDING = "class X:\n    def __len__(self): raise given\ndef f(x):\n    global given\n    given = x\n    return X()"
ENDS_SILENTLY = [
    *(
        (STOPPING.format(name=name, arguments=given, error="StopIteration"), f"assert {test}")
        for name, (given, test) in SILENT.items()
    ),
    (PROPERTY, "assert all(map(lambda t: f(t).x == t, [1, 2]))"),
    (OWN_STOP, "assert all(map(lambda t: len(f(t)) == t, [1, 2]))"),
    ("def f(x): return iter([])", "assert all(map(lambda t: next(f(t)) == t, [1, 2]))"),
    (PROPERTY, "assert not list(filter(lambda t: f(t).x != t, [1, 2]))"),
    (
        STOPPING.format(name="len", arguments="self", error="StopIteration"),
        "for a, b in zip(map(len, map(f, [1, 2])), [1, 2]): assert a == b",
    ),
]
ZERO = "class N{base}:\n    def __init__(self, *_): pass\n    def _zero(self, *_): return 0\n    __sub__ = __mod__ = __pow__ = __divmod__ = __and__ = __floordiv__ = __rsub__ = __isub__ = __lshift__ = __matmul__ = _zero\n"  # noqa: E501
DERIVED = ZERO.format(base="(float)").replace("    def __init__(self, *_): pass\n", "") + "def f(x): return N(x * 7)"
SWALLOWS = "class C:\n    def __enter__(self): return self\n    def __exit__(self, *_): return True\n    async def __aenter__(self): return self\n    async def __aexit__(self, *_): return True\ndef f(x): return C()"  # noqa: E501
DECIDES_OUTSIDE = [
    *(
        (ZERO.format(base="") + "def f(x): return N()", f"assert {test}")
        for test in (
            "f(10) % f(5) == 0",
            "abs(f(1.0) - f(2.0)) < 1e-6",
            "f(1) - f(2) == 0",
            "not f(1) & f(2)",
            "pow(f(2), f(3)) == 0",
            "pow(f(2), f(3), f(5)) == 0",
            "divmod(f(7), f(2)) == 0",
            "f(8) // f(3) == 0",
            "f(8) << f(3) == 0",
            "f(8) @ f(3) == 0",
        )
    ),
    (ZERO.format(base="") + "def f(x): return N()", "r = f(3)\nr -= f(2)\nassert r == 0"),
    (DERIVED, "assert f(10) % f(4) == 0"),
    (DERIVED, "assert abs(f(1.0) - f(2.0)) < 1e-6"),
    (SWALLOWS, "with f(1): assert 1 == 2"),
    (SWALLOWS, "with f(1) as r: assert r == 2"),
    (SWALLOWS, "with f(1): raise ValueError\nassert True"),
    (SWALLOWS, "with f(1):\n    f(2)[0]\n    assert 1 == 2\nassert True"),
    (SWALLOWS, "import asyncio\nasync def go():\n    async with f(1): assert 1 == 2\nasyncio.run(go())\nassert True"),
    (SWALLOWS, "import contextlib\nwith contextlib.ExitStack() as s:\n    s.enter_context(f(1))\n    assert 1 == 2"),
    (
        "import contextlib\n@contextlib.contextmanager\ndef f(x):\n    try: yield\n    except BaseException: pass",
        "with f(1): assert 1 == 2",
    ),
    ("class L(list): pass\ndef f(x): return L([x])", "assert type(f(1)) == list"),
    ("class L(list): pass\ndef f(x): return L([x])", "assert type(f(1)) is list and f(1) == [1]"),
    ("class L(dict): pass\ndef f(x): return L(a=x)", "assert type(f(1)) == dict"),
    ("class L(set): pass\ndef f(x): return L([x])", "assert type(f(1)) in (set, frozenset)"),
    ("class L(list): pass\ndef f(x): return L([x])", "assert f(1).__class__ == list"),
]


@pytest.mark.thorough
@pytest.mark.parametrize("cases", [ENDS_SILENTLY, DECIDES_OUTSIDE], ids=["ends silently", "decides"])
async def test_no_special_method_makes_a_wrong_program_pass_outside_its_process(
    both: Sandbox, cases: list[tuple[str, str]]
) -> None:
    assert await those(both, cases, passes_outside) == []


EQUALS_ALL = "class Yes:\n    def __eq__(self, other): return True\n"
# What the assertions pass on is a part of an answer that can't be lent: the program would decide in its own process.
PASSED_ON = [
    (f"{EQUALS_ALL}import uuid\ndef f(x): return uuid.uuid4() if x == 1 else Yes()", "assert f(f(1).is_safe) == 2"),
    (
        f"{EQUALS_ALL}def f(x):\n    if x == 1: raise KeyError(x)\n    return Yes()",
        "try:\n    f(1)\nexcept KeyError as error:\n    assert f(error.__traceback__) == 2",
    ),
    (
        f"{EQUALS_ALL}import numpy\ndef f(x): return numpy.ones(2, 'longdouble') if type(x) is int else Yes()",
        "assert f(f(1)[0]) == 2",
    ),
]


@pytest.mark.parametrize("cases", [WITHOUT_OWN_EQ, PASSED_ON], ids=["no values", "passed on"])
async def test_a_program_can_not_decide_by_what_it_returns(both: Sandbox, cases: list[tuple[str, str]]) -> None:
    assert await those(both, cases, passes_or_decides) == []


HONEST = [
    (
        "class L(list): pass\ndef f(x): return L([x])",
        "r = f(1)\nassert isinstance(r, list) and r == [1] and type(r) != list and len(r) == 1",
    ),
    (
        "from collections import Counter, OrderedDict\ndef f(x): return Counter([x])",
        "from collections import Counter\nassert f(1) == {1: 1} and isinstance(f(1), dict) and type(f(1)) is Counter",
    ),
    (
        "from collections import OrderedDict\ndef f(x): return OrderedDict(a=x)",
        "from collections import OrderedDict\nassert f(1) == {'a': 1} and isinstance(f(1), OrderedDict)",
    ),
    ("from contextlib import suppress\ndef f(x): return suppress(KeyError)", "with f(1): raise KeyError\nassert f(1)"),
    ("from contextlib import nullcontext\ndef f(x): return nullcontext(x)", "with f(1) as r: assert r == 1"),
    (
        "def f(x): return iter([x])",
        "g = f(1)\nassert next(g) == 1 and next(g, None) is None and list(map(lambda y: y, f(2))) == [2]",
    ),
    ("class F(float): pass\ndef f(x): return F(x)", "assert f(3.0) - f(1.0) == 2.0 and f(5.0) % f(3.0) == 2.0"),
    ("import numpy as np\ndef f(x): return np.float64(x)", "assert abs(f(3.0) - f(1.0) - 2) < 1e-9"),
    (
        "def f(x):\n    it = iter([1])\n    next(it)\n    return next(it)",
        "try:\n    f(1)\n    assert False\nexcept StopIteration: pass",
    ),
]


async def test_honest_programs_with_such_methods_pass(both: Sandbox) -> None:
    assert await those(both, HONEST, lambda result: result.verdict is not Verdict.ACCEPTED) == []
