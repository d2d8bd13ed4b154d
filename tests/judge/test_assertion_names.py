"""What code with assertions needs, read from the code alone."""

import pytest

from alpha_codium.errors import Unjudgeable
from alpha_codium.judge.assertion_needs import Needs, needs_of
from alpha_codium.problem import ExecutionSpec


def needs(code: str, entry_point: str = "f", setup_code: str = "") -> Needs:
    return needs_of(code, ExecutionSpec("assertions", entry_point, code, setup_code))


CHECK = "def check(candidate):\n    assert candidate(1) == 2\n"


def test_a_check_is_called_with_the_entry_point_unless_the_code_calls_it_itself() -> None:
    assert needs(CHECK) == Needs(("f",), calls_check=True)
    assert needs(f"{CHECK}\ndef test_check():\n    check(f)\ntest_check()") == Needs(("f",))
    assert needs("assert f(1) == 2") == Needs(("f",))


def test_names_that_the_code_does_not_define_are_the_programs() -> None:
    code = "import math\nx = 1\ndef helper(a):\n    b = a\n    return [c for c in b] + g(x)\n"
    code += "assert f(helper(2)) == math.pi"
    assert needs(code).names == ("f", "g")


def test_helpers_come_from_the_setup_code_if_it_defines_them() -> None:
    setup = "def poly(xs, x): return 0\ndef f(): '''to be done'''\n"
    assert needs("assert poly(f([1]), 2) == 0", setup_code=setup) == Needs(("f",), setup_code=setup)
    assert needs("assert poly(f([1]), 2) == 0") == Needs(("f", "poly"))
    assert needs("assert f(1)", setup_code=setup).setup_code == ""


def test_names_used_as_standard_modules_are_modules() -> None:
    found = needs("assert f((1,)) == sys.getsizeof((1,))")
    # Whether the program has imported it isn't known without the program.
    assert (found.names, found.modules, found.recordable) == (("f",), ("sys",), False)
    assert needs("assert f(copy(1)) == copy.copy").names == ("copy", "f")
    assert needs("assert copy(1)", "copy") == Needs(("copy",))


def test_a_builtin_comes_from_the_program_only_as_the_entry_point_or_the_only_name() -> None:
    assert needs("assert abs(f(1)) == len('a')") == Needs(("f",))
    assert needs("assert abs(sum(1, 2)) == 3", "sum") == Needs(("sum",))
    assert needs("assert sum(10, 15) == 6", "") == Needs(("sum",), recordable=False), "it may be Python's"
    assert needs("assert set(f(1)) == {1}", "") == Needs(("f",))


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("assert f(", "isn't Python"),
        ("METADATA = {}", "asserts nothing"),
        ("# assert f(1) == 1", "asserts nothing"),
        ("\0", "isn't Python"),
    ],
)
def test_code_that_can_not_fail_is_an_error(code: str, said: str) -> None:
    with pytest.raises(Unjudgeable, match=said):
        needs(code)


def test_a_check_without_an_entry_point_is_an_error() -> None:
    with pytest.raises(Unjudgeable, match="no entry point"):
        needs(CHECK, entry_point="")
