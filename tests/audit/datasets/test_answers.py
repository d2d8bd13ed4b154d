"""What known-correct programs say of expected outputs."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alpha_codium.audit.datasets.wording import LONGEST_QUOTE
from alpha_codium.problem import CheckerSpec
from alpha_codium.verdict import Verdict
from tests.audit.datasets.cases import assessed, reasons

ANY = "If there are several answers, print any of them."


def test_a_test_on_which_two_known_correct_programs_agree_against_the_expected_output_is_wrong() -> None:
    found = assessed(["1", "7"], {"one": ["1", "2"], "two": ["1", " 2\n"]})
    assert reasons(found)[0] == "wrong_test"
    assert found.is_valid_test["private_tests"] == [True, False]
    assert (found.is_valid_problem, found.multiple_answers) == (False, None)
    first, second = found.findings[0].evidence
    assert first == {
        "column": "solutions", "solution": 0, "test_type": "private_tests", "test": 1, "verdict": "wrong_answer",
        "token": 0, "expected": "7", "got": "2",
    }  # fmt: skip
    assert second["solution"] == 1


def test_one_program_shows_nothing() -> None:
    found = assessed(["1", "7"], {"one": ["1", "2"]})
    assert reasons(found) == ["rejected_solution"]
    assert found.is_valid_test["private_tests"] == [True, None]
    assert (found.is_valid_problem, found.multiple_answers) == (False, None)


def test_a_copy_with_other_comments_is_no_second_program() -> None:
    found = assessed(["7"], {"print(2)": ["2"], "# mine\nprint(2)  \n\n": ["2"]})
    assert "wrong_test" not in reasons(found)
    assert found.is_valid_test["private_tests"] == [None]


def test_programs_that_print_nothing_agree_on_nothing() -> None:
    assert "wrong_test" not in reasons(assessed(["7"], {"one": [""], "two": ["\n"]}))


def test_a_minority_shows_no_wrong_test_but_shows_a_second_answer() -> None:
    programs = {"a": ["1"], "b": ["1"], "c": ["2"], "d": ["2"]}
    found = assessed(["1"], programs)
    assert reasons(found) == ["several_answers"]
    assert found.multiple_answers is True
    assert found.findings[0].evidence[0] | {"agree": 2, "differ": 2} == found.findings[0].evidence[0]


def test_programs_that_failed_show_nothing() -> None:
    late, crashed = Verdict.TIME_LIMIT_EXCEEDED, Verdict.RUNTIME_ERROR
    found = assessed(["7"], {"a": ["2"], "b": ["2"], "c": [late], "d": [crashed], "e": [crashed]})
    assert "wrong_test" in reasons(found)
    assert found.findings[0].text == "private_tests[0]: 2 of 2 known-correct programs agree on another output"


def test_where_the_statement_allows_several_answers_agreement_shows_no_wrong_test() -> None:
    found = assessed(["1 2"], {"one": ["2 1"], "two": ["2 1"]}, statement=ANY)
    assert reasons(found)[0] == "several_answers"
    assert found.is_valid_test["private_tests"] == [None]
    assert found.multiple_answers is True
    assert "print any" in found.findings[0].text


def test_where_one_test_shows_several_answers_agreement_on_another_shows_no_wrong_test() -> None:
    found = assessed(["1", "5"], {"one": ["2", "5"], "two": ["2", "6"]})
    assert found.multiple_answers is True
    assert reasons(found) == ["several_answers"]
    assert found.is_valid_test["private_tests"] == [None, True]


def test_wording_alone_shows_nothing() -> None:
    found = assessed(["1 2"], {"one": ["1 2"], "two": ["1 2"]}, statement=ANY)
    assert found.findings == ()
    assert (found.is_valid_problem, found.multiple_answers) == (True, None)


def test_known_correct_programs_that_all_agree_with_the_tests_show_one_answer() -> None:
    found = assessed(["1 2"], {"one": ["1 2"], "two": ["1  2"]})
    assert (found.is_valid_problem, found.multiple_answers, found.findings) == (True, False, ())


def test_a_tolerance_or_case_makes_no_second_answer_and_no_wrong_test() -> None:
    for expected, said in (("0.333333", "0.3333333333"), ("YES", "yes")):
        found = assessed([expected], {"one": [said], "two": [said]})
        assert reasons(found) == ["strict_checker"]
        assert found.multiple_answers is False
        assert found.is_valid_test["private_tests"] == [True]


def test_another_order_of_lines_is_a_second_answer() -> None:
    found = assessed(["1\n2"], {"one": ["2\n1"]}, statement="Print the numbers in any order.")
    assert found.multiple_answers is True
    assert found.suggested_checker == CheckerSpec("unordered_lines")
    assert found.findings[0].evidence[0]["only_the_order"] is True


def test_an_answer_that_only_a_checker_program_accepts_is_a_second_one_and_no_fault() -> None:
    found = assessed(["1 2"], {"one": ["2 1"]}, checker=CheckerSpec("program"), accepts=lambda *_: True)
    assert found.multiple_answers is True
    assert found.is_valid_problem is True
    assert [finding.fault for finding in found.findings] == [False]
    assert found.suggested_checker == CheckerSpec("program")


def test_a_checker_program_that_rejects_what_all_agree_on_shows_a_wrong_test_whatever_the_wording() -> None:
    by_program = CheckerSpec("program")
    found = assessed(["7"], {"one": ["2"], "two": ["2"]}, checker=by_program, accepts=lambda *_: False, statement=ANY)
    assert "wrong_test" in reasons(found)


def test_long_outputs_are_compared_by_what_was_kept_of_them() -> None:
    long = "1 " * 5000
    found = assessed(["1"], {"one": [long], "two": [long + "\n"], "three": [long + "2"]})
    assert "2 of 3 known-correct programs agree" in found.findings[0].text


def test_no_known_correct_program_decides_nothing() -> None:
    found = assessed(["1"], {}, {"x": ["2"]})
    assert (found.is_valid_problem, found.multiple_answers, found.suggested_checker) == (None, None, None)
    assert found.is_valid_test["private_tests"] == [None]
    assert found.undetected_incorrect == 0


@pytest.mark.thorough
@given(
    st.lists(st.booleans(), min_size=1, max_size=6),
    st.integers(2, 4),
    st.sampled_from(["tokens", "exact", "unordered_lines"]),
)
def test_of_tests_with_planted_outputs_just_those_are_found_wrong(
    planted: list[bool], programs: int, checker: str
) -> None:
    right = [f"{number * 11}\n" for number in range(len(planted))]
    expected = [f"{int(output) + 5}\n" if is_wrong else output for output, is_wrong in zip(right, planted, strict=True)]
    found = assessed(expected, {f"p{i}": right for i in range(programs)}, checker=CheckerSpec(checker))
    assert found.is_valid_test["private_tests"] == [not is_wrong for is_wrong in planted]
    assert found.is_valid_problem is not any(planted)


@pytest.mark.parametrize(("outlier", "several"), [("another", True), ("12", False)])
def test_a_planted_second_answer_is_found_and_none_where_there_is_none(outlier: str, several: bool) -> None:
    found = assessed(["12", "3"], {"a": ["12", "3"], "b": ["12", "3"], "c": [outlier, "3"]})
    assert found.multiple_answers is several
    assert found.is_valid_problem is not several


def test_a_long_wording_is_quoted_in_part() -> None:
    statement = f"If there are several answers{' of the kind that we told you of' * 4}, you may happily print any."
    found = assessed(["1"], {"a": ["1"], "b": ["2"]}, statement=statement)
    assert len(found.wording) > LONGEST_QUOTE
    (finding,) = (f for f in found.findings if f.reason == "several_answers")
    assert finding.text.endswith(f"; the statement says {found.wording[:LONGEST_QUOTE]!r}")
