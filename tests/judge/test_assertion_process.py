"""Where the code of a test runs."""

import ast

import pytest

from alpha_codium.judge.assertion_process import Code, is_doubtful, rebound_in

SETUP = "class Node:\n    pass\ndef node(x): return Node()"


@pytest.mark.parametrize(
    ("code", "names"),
    [
        ("f = cached(f)", {"f"}),
        ("f = g = both(f, g)", {"f", "g"}),
        ("total += 1", {"total"}),
        ("total = 0\ntotal += 1", set()),
        ("from a import f\nf = cached(f)", set()),
        ("def f(): pass\nf = cached(f)", set()),
        ("x = [x for x in range(3)]", set()),
        ("x = sorted(y, key=lambda x: -x)", set()),
        ("x = f(1)\nx = g(x)", set()),
        ("def test():\n    f = f(1)", set()),
        ("box.f = cached(box.f)\nbox[0] += 1", set()),
    ],
)
def test_names_that_are_bound_anew_are_found(code: str, names: set[str]) -> None:
    assert rebound_in(ast.parse(code)) == names


@pytest.mark.parametrize(
    ("code", "setup_code", "doubtful"),
    [
        ("assert f(1) == 2", "", False),
        ("import asyncio\nassert asyncio.run(f()) == 2", "", True),
        ("@f\ndef g(): pass\nassert g() == 2", "", True),
        ("@f(3)\ndef g(): pass\nassert g() == 2", "", True),
        ("@own\ndef g(): pass\nassert f(g) == 2", "", False),
        ("try: g()\nexcept f as e: assert e.args == (1,)", "", False),
        ("with pytest.raises(f): g()\nassert f(1).code == 2", "", True),
        ("try: raise f(1)\nexcept ValueError: pass", "", True),
        ("class P: pass\np = P()\nassert f(p) == 'p'", "", True),
        ("class P: pass\nassert f(1) == P().x", "", False),
        ("class T(unittest.TestCase): pass\nload(T)", "", False),
        ("assert f(node(1))", SETUP, True),
        ("assert f(node(1))", "def node(x): return [x]", False),
    ],
)
def test_a_failure_outside_is_doubted_where_it_may_not_be_the_programs_fault(
    code: str, setup_code: str, doubtful: bool
) -> None:
    assert is_doubtful(Code(ast.parse(code)), {"f"}, set(), setup_code) is doubtful
    assert is_doubtful(Code(ast.parse(code)), {"f"}, {"json", "numpy"}, setup_code) is doubtful
    assert is_doubtful(Code(ast.parse(code)), {"f"}, {"pandas"}, setup_code)
