"""What a model is shown of a file."""

from hypothesis import given
from hypothesis import strategies as st

from alpha_codium.repository.running.context import CUT, Shown, around_gap, before_method, trimmed, with_bug
from alpha_codium.repository.tasks import RepositoryTask
from tests.repository.shop import SOURCE, task_of_shop

NET = task_of_shop("Sale.net", ())
GROSS = task_of_shop("Price.gross", ())


def test_the_file_is_shown_without_the_method_and_its_decorators() -> None:
    text = around_gap(GROSS, Shown())
    assert "def gross" not in text and "@property" not in text
    assert "def free" in text and "class Sale" in text and text.startswith("import functools")


def test_a_class_is_shown_alone() -> None:
    text = around_gap(GROSS, Shown("class"))
    assert text.startswith("class Price:") and "class Sale" not in text and "def free" in text and "gross" not in text
    assert around_gap(task_of_shop("Sale.net", ()), Shown("class")).endswith("self.percent = percent\n\n")


def test_a_completion_sees_only_what_is_before_the_method() -> None:
    assert before_method(GROSS, Shown()) == SOURCE[: SOURCE.index("    def gross")]
    assert before_method(NET, Shown("class")).startswith("class Sale(Price):")


def test_a_file_with_a_bug_is_shown_with_it() -> None:
    buggy = RepositoryTask.from_json(NET.to_json() | {"buggy_text": SOURCE.replace("// 100", "* 100")})
    assert with_bug(buggy, Shown()) == buggy.buggy_text
    assert with_bug(buggy, Shown("class")).endswith("self.percent * 100\n")


def test_what_is_too_long_is_cut_to_lines_around_the_method() -> None:
    before, after = [f"{number}\n" for number in range(10)], [f"{number}\n" for number in range(20, 30)]
    assert trimmed(before, after, 1000) == "".join(before + after)
    assert trimmed(before, after, 12) == f"{CUT}7\n8\n9\n20\n21\n{CUT}"
    assert trimmed(before, (), 6) == f"{CUT}7\n8\n9\n"
    assert trimmed(("0\n",), after, 8) == f"0\n20\n21\n{CUT}"


LINES = st.lists(st.text(alphabet="ab", max_size=9).map(lambda text: text + "\n"), max_size=12)


@given(LINES, LINES, st.integers(min_value=1, max_value=120))
def test_no_more_than_the_limit_is_shown_and_no_line_without_those_that_are_nearer(before, after, most: int) -> None:
    text = trimmed(before, after, most).removeprefix(CUT).removesuffix(CUT)
    assert len(text) <= most
    assert "".join(before + after).find(text) >= 0
    if sum(map(len, before + after)) <= most:
        assert text == "".join(before + after)
