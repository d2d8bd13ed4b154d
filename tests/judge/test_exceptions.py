"""Exceptions of a program reach its tests as in Python: with class, attributes, text, and those that led to them."""

import json
import statistics
import subprocess
import sys
import zipfile
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alpha_codium.judge.drivers.exceptions import NOT_FOUND, attributes_of, exception_of, known_class, place_of
from alpha_codium.sandbox import Sandbox
from alpha_codium.verdict import Verdict
from tests.judge.asserting import judged

# Prints where each exception class of the standard library is, of the modules that can be imported here.
CLASSES = """
import builtins, contextlib, importlib, io, pkgutil, sys, warnings
warnings.simplefilter("ignore")
NOT_IMPORTED = {"antigravity", "this", "idlelib", "test", "turtledemo", "lib2to3", "tkinter", "turtle", "__main__"}
def load(name):
    with contextlib.suppress(Exception), contextlib.redirect_stdout(io.StringIO()):
        return importlib.import_module(name)
for top in sorted(sys.stdlib_module_names - NOT_IMPORTED):
    for each in pkgutil.walk_packages(getattr(load(top), "__path__", []), f"{top}."):
        if "test" not in each.name and "idle" not in each.name and not each.name.endswith("__main__"):
            load(each.name)
def below(cls):
    for each in type.__subclasses__(cls):
        yield each
        yield from below(each)
found = {(each.__module__, each.__qualname__) for each in below(Exception)}
found = {each for each in found if each[0] != "builtins"}
print(sorted(each for each in found if each[0].split(".")[0] in sys.stdlib_module_names))
"""
FINDING = """
import importlib
def find(module, path):
    found = importlib.import_module(module)
    for name in path.split("."):
        found = getattr(found, name)
    return found
"""
RAISING = f"{FINDING}\ndef f(*place):\n    raise find(*place).__new__(find(*place))\n"
CATCHING = """
bad = []
for place in PLACES:
    try:
        cls = find(*place)
    except (ImportError, AttributeError):
        continue
    if not isinstance(cls, type):  # `dbm.error` is a tuple
        continue
    try:
        f(*place)
    except Exception as error:
        if type(error) is not cls:
            bad.append(place)
assert len(bad) < 10, bad
assert {module.split(".")[0] for module, _ in bad} <= NOT_FOUND, bad
"""


@pytest.mark.thorough
async def test_each_exception_of_the_standard_library_is_raised_with_its_class(sandbox: Sandbox) -> None:
    done = subprocess.run([sys.executable, "-c", CLASSES], capture_output=True, text=True, check=True)
    places = done.stdout.strip().splitlines()[-1]
    assert len(eval(places)) > 200
    test = f"{FINDING}\nPLACES = {places}\nNOT_FOUND = {NOT_FOUND}\n{CATCHING}"
    judgement = await judged(sandbox, RAISING, test, "f", cpu_seconds=10.0)
    assert (judgement.verdict, judgement.trust) == (Verdict.ACCEPTED, "outside"), judgement.tests


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3) | st.binary(max_size=3),
    lambda inner: st.lists(inner, max_size=2) | st.tuples(inner),
    max_leaves=4,
)
ERRORS = st.one_of(
    st.builds(lambda cls, given: cls(*given), st.sampled_from([ValueError, KeyError, OSError]), st.lists(VALUES)),
    st.builds(OSError, st.integers(1, 40), st.text(), st.text(min_size=1)),
    st.builds(UnicodeDecodeError, st.text(), st.binary(), st.integers(0, 5), st.integers(0, 5), st.text()),
    st.builds(UnicodeEncodeError, st.text(), st.text(), st.integers(0, 5), st.integers(0, 5), st.text()),
    st.builds(json.JSONDecodeError, st.text(), st.text(min_size=5), st.integers(0, 5)),
    st.builds(subprocess.CalledProcessError, st.integers(), st.lists(st.text()), st.binary()),
    st.builds(ImportError, st.text(), name=st.text(min_size=1), path=st.text(min_size=1)),
    st.builds(statistics.StatisticsError, VALUES),
    st.builds(zipfile.BadZipFile),
)


@given(ERRORS, st.dictionaries(st.sampled_from(["code", "pos", "reason", "note"]), VALUES, max_size=2))
def test_an_exception_is_made_again_with_what_it_says(error: BaseException, more: dict[str, Any]) -> None:
    vars(error).update(more)
    made = exception_of(type(error), error.args, str(error), attributes_of(error))
    assert (type(made), made.args, str(made), vars(made)) == (type(error), error.args, str(error), vars(error))


def test_a_class_is_found_under_the_name_that_its_module_has_for_it() -> None:
    import signal

    assert place_of(signal.ItimerError) == ("signal", "ItimerError")  # type: ignore[attr-defined]
    assert known_class((), "signal", "ItimerError") is signal.ItimerError  # type: ignore[attr-defined]


class Equal(Exception):
    """An exception that decides what it is equal to."""

    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = Exception.__hash__


@pytest.mark.parametrize(
    ("module", "path"),
    [
        ("unittest.case", "SkipTest"),
        ("unittest", "SkipTest"),
        ("pytest", "skip.Exception"),
        ("__main__", "Abandoned"),
        ("os", "path"),
        ("json", "JSONDecoder"),
        ("json", "decoder.JSONDecodeError.x"),
        ("no_module", "Error"),
        (__name__, "Equal"),
        ("asyncio.__main__", "Error"),
    ],
)
def test_what_could_decide_about_a_test_is_not_found(module: str, path: str) -> None:
    assert known_class(("asyncio", "no_module"), module, path) is None
    assert "asyncio.__main__" not in sys.modules


DRIVER = """
import sys
frame = sys._getframe()
while "OPERATIONS" not in frame.f_globals:
    frame = frame.f_back
frame.f_globals["place_of"] = lambda cls: PLACE
class E(Exception): pass
def f(x): raise E("x")
"""
UNITTEST = """
import unittest
class T(unittest.TestCase):
    def test(self):
        self.assertEqual(f(1), 2)
assert unittest.TextTestRunner().run(unittest.defaultTestLoader.loadTestsFromTestCase(T)).wasSuccessful()
"""
SKIPPING = {
    "the class": "import unittest\ndef f(x): raise unittest.SkipTest('x')",
    "a derived class": "import unittest\nclass S(KeyError, unittest.SkipTest): pass\ndef f(x): raise S('x')",
    "a class of that name": "class SkipTest(Exception): __module__ = 'unittest.case'\ndef f(x): raise SkipTest('x')",
    "a false place": f"PLACE = 'unittest.case', 'SkipTest'{DRIVER}",
    "a place of another module": f"PLACE = 'unittest', 'case.SkipTest'{DRIVER}",
    "no class": f"PLACE = 'os', 'environ'{DRIVER}",
    "no text": f"PLACE = 1, 2{DRIVER}",
}


@pytest.mark.parametrize("how", SKIPPING)
async def test_a_program_can_not_skip_a_test(sandbox: Sandbox, how: str) -> None:
    judgement = await judged(sandbox, SKIPPING[how], UNITTEST, "f")
    assert judgement.verdict in (Verdict.WRONG_ANSWER, Verdict.RUNTIME_ERROR)
    assert judgement.trust == "outside"


CHAINED = {
    "a long chain": (
        "def f(n):\n    if n == 0: raise ValueError\n"
        "    try: f(n - 1)\n    except Exception as e: raise KeyError(n) from e",
        "try: f(1)\nexcept KeyError as e: assert type(e.__cause__) is ValueError and e.__suppress_context__\n"
        "try: f(100)\nexcept KeyError as e: assert e.args == (100,)\nelse: assert False",
    ),
    "in a circle": (
        "def f(n):\n    e, other = ValueError(3), KeyError(4)\n    e.other, other.e, e.me = other, e, e\n    raise e",
        "try: f(1)\nexcept ValueError as e: assert e.other.args == (4,) and e.other.e.args == (3,)\nelse: assert False",
    ),
    "too deep to cross": (
        "def f(n):\n    e, deep = ValueError(3), []\n    for _ in range(500): deep = [deep]\n"
        "    e.deep = deep\n    raise e",
        "try: f(1)\nexcept ValueError as e: assert e.args == (3,)\nelse: assert False",
    ),
}


@pytest.mark.parametrize("case", CHAINED)
async def test_whatever_an_exception_refers_to_it_is_raised(sandbox: Sandbox, case: str) -> None:
    program, test = CHAINED[case]
    judgement = await judged(sandbox, program, test, "f")
    assert (judgement.verdict, judgement.trust) == (Verdict.ACCEPTED, "outside"), judgement.tests
