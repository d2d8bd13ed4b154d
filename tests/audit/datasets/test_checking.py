"""Which checker fits the known programs, and what the tests let pass."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alpha_codium.audit.datasets.alternatives import alternatives_for
from alpha_codium.audit.datasets.findings import Reason
from alpha_codium.checkers import make_checker
from alpha_codium.problem import CheckerSpec, Problem
from alpha_codium.verdict import Verdict
from tests.audit.datasets.cases import assessed, reasons


def test_the_checker_in_force_is_kept_where_it_fits() -> None:
    found = assessed(["1"], {"a": ["1"]}, {"x": ["2"]}, checker=CheckerSpec("unordered_lines"))
    assert found.suggested_checker == CheckerSpec("unordered_lines")
    assert found.checker_evidence["in_force"] == {
        "correct_accepted": 1, "correct_total": 1, "incorrect_rejected": 1, "incorrect_total": 1,
    }  # fmt: skip


def test_the_strictest_tolerance_that_accepts_all_known_correct_programs_is_suggested() -> None:
    for said, tolerance in (("0.33333333331", 1e-9), ("0.3333337", 1e-6), ("0.33337", 1e-4)):
        found = assessed(["0.3333333333"], {"a": [said], "b": ["0.3333333333"]}, {"x": ["0.5"]})
        assert found.suggested_checker == CheckerSpec("float", {"abs": tolerance, "rel": tolerance})
        assert found.checker_evidence["suggested"]["correct_accepted"] == 2


def test_no_checker_is_suggested_that_lets_a_known_incorrect_program_pass() -> None:
    found = assessed(["1\n2"], {"a": ["2\n1"]}, {"x": ["2\n1\n"], "y": ["2\n1"]})
    assert found.suggested_checker is None
    assert "no checker of ours fits" in next(f.text for f in found.findings if f.reason == "strict_checker")


def test_no_checker_is_tried_where_an_interactor_decides() -> None:
    assert alternatives_for(Problem("p", checker=CheckerSpec("program")))
    assert alternatives_for(Problem("p", checker=CheckerSpec("interactor"))) == ()


@pytest.mark.parametrize(
    ("statement", "fits"),
    [
        ("Print them in any order.", True),
        ("Output them IN ANY ORDER.", True),
        (f"Print the numbers that were found{' and still are of some use' * 5} in any order.", True),
        ("Print any of them.", False),
    ],
)
def test_any_order_of_lines_is_suggested_only_where_the_statement_says_so(statement: str, fits: bool) -> None:
    found = assessed(["1\n2"], {"a": ["2\n1"]}, {"x": ["1\n3"]}, statement=statement)
    assert found.suggested_checker == (CheckerSpec("unordered_lines") if fits else None)
    assert found.has(Reason.STRICT_CHECKER)


def test_a_wrong_test_is_left_out_of_what_a_checker_must_fit() -> None:
    found = assessed(["7", "0.5"], {"a": ["3", "0.50"], "b": ["3", "0.5"]}, {"x": ["3", "0.1"]})
    assert found.is_valid_test["private_tests"] == [False, True]
    assert found.suggested_checker is not None and found.suggested_checker.name == "float"


def test_a_known_incorrect_program_that_only_a_wrong_test_rejects_is_not_caught() -> None:
    found = assessed(["7", "1"], {"a": ["3", "1"], "b": ["3", "1"]}, {"x": ["3", "1"], "y": ["3", "2"]})
    assert found.undetected_incorrect == 1
    assert found.counts.incorrect_rejected == 2


def test_known_incorrect_programs_that_pass_show_weak_tests() -> None:
    found = assessed(["1"], {"a": ["1"]}, {"x": ["1"], "y": ["2"], "z": ["1"]})
    assert reasons(found) == ["weak_tests"]
    assert (found.is_valid_problem, found.undetected_incorrect) == (False, 2)
    assert [entry["solution"] for entry in found.findings[0].evidence] == [0, 2]
    assert found.findings[0].text == "2 of 3 known-incorrect programs accepted on 1 test"


def test_one_rejected_solution_among_accepted_ones_is_worth_knowing_and_no_fault() -> None:
    found = assessed(["1", "2"], {"a": ["1", "2"], "b": ["1", Verdict.RUNTIME_ERROR]})
    (finding,) = found.findings
    assert (finding.reason, finding.fault, found.is_valid_problem) == ("rejected_solution", False, True)
    assert finding.text == "1 of 2 known-correct programs rejected (1 runtime error)"


def test_where_no_known_correct_program_is_accepted_the_problem_is_invalid() -> None:
    found = assessed(["1"], {"a": [Verdict.RUNTIME_ERROR]})
    assert (reasons(found), found.is_valid_problem) == (["rejected_solution"], False)


def test_a_problem_without_tests_is_invalid() -> None:
    found = assessed([], {})
    assert (reasons(found), found.is_valid_problem) == (["no_tests"], False)


def test_every_alternative_is_a_checker_that_can_be_made() -> None:
    found = alternatives_for(Problem("p"))
    assert [make_checker(alternative.spec)("", "1", "1") for alternative in found] == [True] * len(found)
    assert len({alternative.key for alternative in found}) == len(found) >= 6


@pytest.mark.thorough
@given(
    st.lists(st.lists(st.sampled_from(["1", "1.0", "one", "ONE", "2\n1", "1\n2"]), min_size=2, max_size=2), max_size=4),
    st.lists(st.lists(st.sampled_from(["1", "1.0", "one", "2"]), min_size=2, max_size=2), max_size=3),
)
def test_a_suggested_checker_fits_as_it_claims(correct: list[list[str]], incorrect: list[list[str]]) -> None:
    expected = ["1", "one"]
    found = assessed(
        expected, {f"c{i}": said for i, said in enumerate(correct)}, {f"x{i}": s for i, s in enumerate(incorrect)}
    )
    if found.suggested_checker is None:
        return
    check, force = make_checker(found.suggested_checker), make_checker(CheckerSpec("tokens"))
    left = [p for p, valid in enumerate(found.is_valid_test["private_tests"]) if valid is not False]
    assert all(check("", expected[p], said[p]) for said in correct for p in left)

    def rejected(by) -> int:
        return sum(not all(by("", expected[p], said[p]) for p in left) for said in incorrect)

    assert rejected(check) >= rejected(force)
