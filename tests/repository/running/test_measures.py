"""How close answers are to the repository's code."""

import ast

from hypothesis import given
from hypothesis import strategies as st

from alpha_codium.repository.running.measures import Measures, measured, normalised

REFERENCE = '    def add(self, a, b):\n        """Return a sum."""\n        # of both\n        return (a + b)\n'


def test_layout_comments_and_the_docstring_do_not_count() -> None:
    assert normalised(REFERENCE) == "return a + b"
    same = measured("def add(self, a, b):\n  return a+b", REFERENCE, same_method=True)
    assert same == Measures(1.0, 1.0, 1.0, 1.0, 1.0)


def test_lines_that_are_no_method_are_compared_without_indentation_and_blank_lines() -> None:
    assert normalised("        else:\n\n            x = 1  \n") == "else:\n    x = 1"


def test_the_measures_of_a_near_miss() -> None:
    found = measured("def add(self, a, b):\n    return a - b", REFERENCE, same_method=False)
    assert (found.exact_match, found.method_name) == (0.0, 0.0)
    assert found.common_prefix == len("return a ") / len("return a + b")
    assert found.edit_similarity == 1 - 1 / len("return a + b")
    assert 0.5 < found.chrf < 1


@given(st.text(alphabet="ab =\n", max_size=40), st.text(alphabet="ab =\n", max_size=40))
def test_all_measures_are_shares(written: str, reference: str) -> None:
    found = measured(written, reference, same_method=True)
    for value in found.to_json().values():
        assert 0 <= value <= 1 + 1e-9
    if normalised(written) == normalised(reference):
        assert (found.exact_match, found.common_prefix, found.edit_similarity) == (1, 1, 1)


@given(st.integers(0, 5), st.integers(0, 5))
def test_a_method_is_normalised_once(a: int, b: int) -> None:
    text = normalised(f"def f():\n    return ({a}+{b})")
    assert text == ast.unparse(ast.parse(text)) == normalised(text)
