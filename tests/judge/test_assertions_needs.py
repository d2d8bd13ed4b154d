"""What is read from assertions: which names are classes, what has to share a process, what can be recorded."""

import pytest

from alpha_codium.errors import Unjudgeable
from alpha_codium.judge.assertion_needs import Needs, needs_of
from alpha_codium.judge.assertion_rewriting import with_messages_apart
from alpha_codium.problem import ExecutionSpec


def needs(code: str) -> Needs:
    return needs_of(code, ExecutionSpec("assertions"))


@pytest.mark.parametrize(
    ("code", "classes"),
    [
        ("assert Find_Max([1]) == 1", ()),
        ("assert Sum(60) + 1 == 11", ()),
        ("assert Convert('a b').split() == ['a', 'b']", ()),
        ("x = Split([1]); x.append(2); assert x == [1, 2]", ()),
        ("s = Stack(); s.push(1); assert s.pop() == 1", ("Stack",)),
        ("a = A(); b = a; b.go(); assert a == 1", ("A",)),
        ("assert P(1).x == 1", ("P",)),
        ("assert Color.RED == f()", ("Color",)),
        ("assert isinstance(f(), A)", ("A",)),
        ("assert issubclass(f(), (A, int))", ("A",)),
        ("try:\n    f()\nexcept (E, ValueError):\n    pass", ("E",)),
        ("assert Vec(1) * 3 == Vec(3)", ("Vec",)),
        ("v = Vec(1)\nv *= 2\nassert v == Vec(2)", ("Vec",)),
        (
            "class T(TestCase):\n    def setUp(self): self.v = Vec(1)\n"
            "    def test(self): self.assertEqual(self.v * 2, Vec(2))",
            ("Vec",),
        ),
        ("assert 3 in Interval(1, 5)", ("Interval",)),
        ("a, b = Vec(1), Vec(2)\nassert a + b == Vec(3)", ("Vec",)),
        ("with A() as a:\n    assert a.on", ("A",)),
        ("assert Find(3) == find(3) and Sum(1) == 1", ()),
        ("assert make(1) == make(1)", ()),
    ],
)
def test_a_name_is_a_class_where_it_is_used_as_one(code: str, classes: tuple[str, ...]) -> None:
    assert needs(code).classes == classes


@pytest.mark.parametrize(
    ("code", "in_process"),
    [
        ("import sys, io\nsys.stdin = io.StringIO()\nassert f()", True),
        ("import builtins\nbuiltins.input = lambda: 1\nassert f()", True),
        ("from unittest.mock import patch\nwith patch('a'): f()", True),
        ("class B(A): pass\nassert B()", True),
        ("class B: pass\nassert f(B())", False),
        ("import sys, io\nsys.stdout = io.StringIO()\nf()", False),
    ],
)
def test_code_that_replaces_what_the_program_uses_shares_its_process(code: str, in_process: bool) -> None:
    assert needs(code).in_process is in_process


@pytest.mark.parametrize(
    ("code", "recordable"),
    [
        ("assert f(1) == 2", True),
        ("import random, math\nassert f(random.random()) < math.pi", True),
        ("assert eval('f(1)') == 2", False),
        ("import os\nassert f(os.getcwd())", False),
        ("s = Stack(); s.push(1); assert s", False),
        ("import time\nassert f(time.time())", False),
        ("assert f.__doc__ and f(1)", False),
        ("assert np.allclose(f(1), 2)", False),
        ("if __name__ == '__main__':\n    assert f(1)", True),
    ],
)
def test_code_that_sees_more_than_values_is_not_recorded(code: str, recordable: bool) -> None:
    assert needs(code).recordable is recordable


def test_modules_that_a_test_leaves_to_the_program_to_import_are_not_the_programs() -> None:
    found = needs("assert math.isclose(f(1), 2) and np.allclose(g(1), 2)")
    assert (found.names, found.modules) == (("f", "g"), ("math", "np"))
    assert needs("assert np(1) == f(2)").names == ("f", "np")


def test_names_that_are_looked_up_are_found_in_strings() -> None:
    assert needs("assert eval('f(x) + g(1)') == len('abc')").names == ("abc", "f", "g", "x")


@pytest.mark.parametrize(
    "code",
    ["def helper():\n    assert f()", "class T:\n    def test(self):\n        assert f()", "import f", "x: int = 1"],
)
def test_assertions_that_never_run_do_not_count(code: str) -> None:
    with pytest.raises(Unjudgeable, match="asserts nothing"):
        needs(code)


def test_only_messages_with_calls_become_functions() -> None:
    assert with_messages_apart("assert f(1), 'a'\nassert f(2), g(2)") == (
        "assert f(1), 'a'\nassert f(2), _message_of_(lambda: g(2))"
    )
