"""Controls: tests with another expected value."""

import ast

import pytest

from alpha_codium.repository.controls import Control, controls_in, files_in, snippet

FILE = "tests/test_a.py"
SOURCE = """\
import unittest


class ATest(unittest.TestCase):
    def test_all(self):
        value, wanted = 1, [2]
        self.assertEqual(value, "a" "b", "not equal")
        self.assertEqual(3.5, value)
        self.assertEqual(wanted, [])
        self.assertEqual(value, wanted)
        self.assertIs(value, None)
        with self.assertRaisesMessage(ValueError, "bad"):
            self.assertNumQueries(2)
        self.assertNotEqual(value, 7)
        self.assertAlmostEqual(value, 7)
        self.assertTrue(value)
        self.assertIn(value, [7])


def test_function():
    assert f(1) == {"a": True}
    assert f(2)
"""


def message(line: int) -> str:
    return f'  File "django/a.py", line 3, in f\n  File "{FILE}", line {line}, in test_all\nAssertionError: a'


def changes(text: str) -> list[tuple[int, str, str]]:
    return [(rank, each.old, each.new) for rank, each in controls_in("t", text, FILE, SOURCE)]


def test_the_expected_value_of_equalities_is_changed_and_nothing_else() -> None:
    found = changes(message(7))
    assert [(old, new) for rank, old, new in found if rank == 0] == [
        ('"a" "b"', "'abx'"),
        ("3.5", "4.5"),
        ("[]", "([]) + ([])"),
        ("wanted", "(wanted) + (wanted)"),
        ("None", "0"),
        ('"bad"', "'badx'"),
        ("2", "3"),
    ]
    assert (1, "wanted", "(wanted, 0)") in found


def test_assertions_above_the_line_are_left_out_and_pytest_has_frames_of_its_own() -> None:
    assert {old for _, old, _ in changes(message(11))} == {"None", '"bad"', "2"}
    assert changes(f"{FILE}:21: AssertionError") == [(0, "True", "False"), (1, '{"a": True}', '({"a": True}, 0)')]
    assert changes("no frames") == [] and files_in(message(7)) == ["django/a.py", FILE]


@pytest.mark.parametrize("changed", [False, True])
def test_a_snippet_has_the_function_alone_at_its_line(changed: bool) -> None:
    for rank, control in controls_in("t", message(7), FILE, SOURCE):
        text = snippet(SOURCE, control, changed=changed)
        (kind,) = ast.parse(text).body
        assert isinstance(kind, ast.ClassDef) and (kind.name, kind.body[0].lineno) == ("ATest", 5)
        lines, whole = text.splitlines(), SOURCE.splitlines()
        assert (lines[4:] == whole[4 : len(lines)]) != changed or rank == 2


def test_a_control_of_another_file_is_refused() -> None:
    control = Control("t", FILE, "ATest.test_all", SOURCE.index("3.5"), "3.6", "4.5")
    with pytest.raises(ValueError, match=r"tests/test_a.py has no '3.6' in ATest.test_all"):
        snippet(SOURCE, control, changed=True)
