"""Rates with their counts."""

from alpha_codium.audit.datasets.report import Rate, ValidationReport, rates_of
from alpha_codium.audit.datasets.timing import calibration
from tests.audit.datasets.cases import assessed


def test_a_rate_is_said_with_its_counts_or_not_at_all() -> None:
    assert str(Rate("x", 12, 184)) == "12 of 184 (6.5 %)"
    assert str(Rate("x", 0, 0, "none could be run")) == "n/a (none could be run)"
    assert Rate("x", 0, 0, "why").to_json() == {"count": 0, "total": 0, "rate": None, "reason": "why"}


def test_a_split_without_solutions_of_a_kind_has_no_rates_of_it() -> None:
    rates = rates_of([assessed(["1"], {"a": ["1"]}), assessed(["1"], {"a": ["1"], "b": ["2"]})])
    assert str(rates["incorrect_rejected"]) == "n/a (no known-incorrect program could be run)"
    assert rates["undetected_incorrect"].value is None
    assert str(rates["correct_accepted"]) == "2 of 3 (66.7 %)"
    assert str(rates["multiple_answers"]) == "1 of 2 (50.0 %)"
    assert str(rates["wrong_tests"]) == "0 of 1 (0.0 %)"


def test_a_split_without_problems_has_a_report() -> None:
    values = ValidationReport((), calibration([])).to_json()
    assert (values["n_problems"], values["complete"], values["problems"]) == (0, True, [])
    assert values["rates"]["valid_problems"]["rate"] is None


def test_the_report_counts_problems_by_reason() -> None:
    problems = (assessed(["1"], {"a": ["1"]}, {"x": ["1"]}), assessed([], {}))
    values = ValidationReport(problems, calibration([])).to_json()
    assert values["reasons"] == {"no_tests": 1, "weak_tests": 1}
    assert values["machine"]["cores"] >= 1
    assert values["problems"][0]["findings"][0]["evidence"] == [
        {"column": "incorrect_solutions", "solution": 0, "verdict": "accepted", "tests": 1}
    ]


def test_the_report_is_a_table_with_a_row_for_each_problem() -> None:
    report = ValidationReport((assessed(["1"], {"a": ["1"]}, {"x": ["1"]}), assessed([], {})), calibration([]))
    frame = report.to_pandas()
    assert list(frame.columns) == list(report.columns)
    assert list(frame["findings"]) == ["weak_tests", "no_tests"]
    first = report.rows()[0]
    assert (first["name"], first["is_valid_problem"], first["checker"], first["suggested_checker"]) == (
        "p", False, "tokens", "tokens",
    )  # fmt: skip
    assert (first["tests"], first["correct_accepted"], first["incorrect_rejected"], first["unjudged"]) == (1, 1, 0, 0)
