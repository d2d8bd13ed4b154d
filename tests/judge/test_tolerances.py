"""Which errors statements allow, in the words and the mangled powers of real ones."""

import json
import re
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alpha_codium.judge.tolerances import tolerance_in
from tests.support import shared_path

MINUS = ["-", "\u2212", "\u2013", " - ", " \u2212 "]


@pytest.mark.parametrize(
    ("said", "tolerance"),
    [
        ("considered correct if its absolute or relative error does not exceed 10^{-6}.", (1e-6, 1e-6)),
        ("the absolute or relative error doesn't exceed 10 - 4. \n\nExamples", (1e-4, 1e-4)),
        ("valid if its absolute or relative inaccuracy does not exceed 10 - 6.", (1e-6, 1e-6)),
        ("Relative or absolute error should not be greater than 10 - 9.", (1e-9, 1e-9)),
        ("valid if it differs from the correct one by at most 10 - 9.", (1e-9, 0.0)),
        ("should have an absolute error of at most $10^{-6}$.", (1e-6, 0.0)),
        ("accurate to an absolute error of at most\n10^-6.", (1e-6, 0.0)),
        ("All numbers should be correct up to $10^{-6}$ relative or absolute precision.", (1e-6, 1e-6)),
        ("an absolute error of 10^-3 or a relative error of at most 1e-6.", (1e-3, 1e-6)),
        ("a relative error of 1e-6 or an absolute error of 1e-9 will do.", (1e-9, 1e-6)),
        ("with a relative error of at most 1.0e-8.", (0.0, 1e-8)),
        ("The output may contain an error of at most 0.00001.", (1e-5, 1e-5)),
        ("an error of 10<sup>-8</sup> or less is allowed.", (1e-8, 1e-8)),
        ("with precision of at least 10^(-6)", (1e-6, 1e-6)),
        ("Your answer must be accurate to within 10**-9!", (1e-9, 1e-9)),
        ("Errors less than 5*10^{-7} are accepted.", (5e-7, 5e-7)),
        ("an error of at most 2.5 \u00d7 10^-4 is allowed.", (2.5e-4, 2.5e-4)),
        ("an error below $5 \\cdot 10^{-7}$.", (5e-7, 5e-7)),
        ("an error of at most 10\u207b\u00b9\u00b2.", (1e-12, 1e-12)),
        ("an error of at most $10^{\\,-6}$.", (1e-6, 1e-6)),
        ("a relative error of at most $\\frac{1}{10^6}$.", (0.0, 1e-6)),
        ("an absolute error of at most 1/10^{5}.", (1e-5, 0.0)),
        ("an absolute error of at most 0.1.", (0.1, 0.0)),
        ("with an error of at most 0.01.", (1e-2, 1e-2)),
        ("Answers within 10^-5 of the actual answer will be accepted.", (1e-5, 0.0)),
        ("Answers within 10-5 of the actual value will be accepted as correct.", (1e-5, 0.0)),
        ("Answers within <code>10<sup>-5</sup></code> of the actual answer will be accepted.", (1e-5, 0.0)),
        ("It is accepted if your output is within 1e-6 of the jury's.", (1e-6, 0.0)),
        ("The difference between your answer and the correct one must be less than 1e-6.", (1e-6, 0.0)),
        ("Your output may deviate by at most 10^-4.", (1e-4, 0.0)),
        ("It may be off by at most 1e-6.", (1e-6, 0.0)),
        ("It should be within a relative error of 10&minus;6.", (0.0, 1e-6)),
        ("correct if $\\frac{|a - b|}{\\max{(1, |b|)}} \\le 10^{-6}$.", (1e-6, 1e-6)),
        ("correct if |a-b|/max(1,|b|) <= 1e-6.", (1e-6, 1e-6)),
    ],
)
def test_the_tolerance_is_read_from_the_words(said: str, tolerance: tuple[float, float]) -> None:
    assert tolerance_in(said) == tolerance
    assert tolerance_in(f"Given n.\n\nOutput\n\nPrint x. Your answer: {said}") == tolerance


@pytest.mark.parametrize(
    "said",
    [
        "",
        "Print the answer.",
        "The absolute value of all coordinates does not exceed 10^9.",
        "The same even if any pole is moved up to 10^-7 meters.",
        "Print it with precision of 6 digits.",
        "An error costs 10 - 16 points",
        "There are 10 - 1000000 errors.",
        "The error is at most 10^-6^2.",
        "Their relative order differs from 1-10 to 10-12-1.",
        "It differs by at most 0.5.",
        "Input\n\nThe first line has real numbers, each given with precision 0.01.\n\nOutput\n\nPrint the perimeter.",
        "Its sensors have an accuracy of 0.001.\n\nOutput\n\nPrint the distance.",
        "Input\n\nThe input has coordinates with an absolute error of 0.001.\n\nOutput\n\nPrint the area.",
        "The coordinates are accurate to 0.1 m. Print the exact area.",
        "The coordinates are accurate to 0.001 m. Print the exact area.",
        "Output\n\nPrint k. It is guaranteed that the ratio differs from an integer by at least 0.001.",
        "Output\n\nPrint k. It differs from an integer by no less than $10^{-3}$.",
        "Each sensor has an error probability of 0.05. Print the number.",
        "Output\n\nPrint the number. The error rate of a sensor is 0.001.",
        "Output\n\nPrint yes. The error of a sensor is 0.1.",
        "Output\n\nPrint whether a point is within 0.001 of the line.",
        "Output\n\nPrint the largest difference. It is at least 0.001.",
        "Output\n\nThe answer is the number of points within 0.01 of the circle.",
    ],
)
def test_other_numbers_are_not_tolerances(said: str) -> None:
    assert tolerance_in(said) is None


def test_a_sentence_before_the_output_section_counts_if_it_is_about_the_output() -> None:
    for said in ("Print it with a precision of 1e-6", "An absolute or relative error of 1e-6 is allowed"):
        assert tolerance_in(f"{said}.\n\nInput\n\nn\n\nOutput\n\nPrint x.\n") == (1e-6, 1e-6)


def test_the_output_section_comes_before_the_input_section() -> None:
    text = "Input\n\nReals with an error of 1e-2.\n\nOutput\n\nPrint x. An error of 1e-6 is allowed.\n"
    assert tolerance_in(text) == (1e-6, 1e-6)


@given(st.integers(1, 15), st.sampled_from(MINUS), st.sampled_from(["10{}", "10^{{{}}}", "$10^{{{}}}$", "10^({})"]))
def test_every_spelling_of_a_power_is_the_same_number(power: int, minus: str, spelling: str) -> None:
    number = spelling.format(f"{minus}{power}")
    assert tolerance_in(f"The absolute or relative error must be at most {number}.\n") == (float(f"1e-{power}"),) * 2


@given(st.text())
def test_any_text_is_a_statement(text: str) -> None:
    found = tolerance_in("error " + text)
    assert found is None or max(found) <= 0.1


def test_every_real_statement_that_names_a_tolerance_is_read_and_no_other() -> None:
    found, meant = set(), set()
    for line in shared_path("data/codecontests_train.jsonl").open():
        record = json.loads(line)
        if tolerance_in(record["description"]) is not None:
            found.add(record["name"])
        if re.search(
            r"(error|inaccuracy) (does not|doesn't|should not)|differs from the correct", record["description"]
        ):
            meant.add(record["name"])
    assert found == meant
    assert len(found) == 10


BOTH_6, ABSOLUTE_8 = (1e-6, 1e-6), (1e-8, 0.0)
REAL = {
    "apps": {BOTH_6: 3, (1e-5, 1e-5): 1, (1e-6, 0.0): 1},
    "codecontests_sandboxfusion20": {(1e-4, 1e-4): 1},
    "codecontests_test": {},
    "codecontests_train": {BOTH_6: 7, (1e-4, 1e-4): 1, (1e-9, 0.0): 1, (1e-9, 1e-9): 1},
    "icpc_known_verdict": {ABSOLUTE_8: 2, (1e-6, 0.0): 1},
    "humaneval": {},
    "mbpp": {},
}


@pytest.mark.parametrize("name", REAL)
def test_the_tolerances_of_real_statements_are_known_by_count(name: str) -> None:
    records = map(json.loads, shared_path(f"data/{name}.jsonl").open())
    said = [
        next(record[key] for key in ("description", "question", "prompt", "text") if key in record)
        for record in records
    ]
    assert said
    assert Counter(found for text in said if (found := tolerance_in(text))) == REAL[name]


def test_the_tolerances_of_icpc_packages_are_those_of_their_statements() -> None:
    for line in shared_path("data/icpc_known_verdict.jsonl").open():
        record = json.loads(line)
        flags, found = record["checker"]["flags"].split(), tolerance_in(record["description"])
        if found is not None:
            assert flags[0] == "float_absolute_tolerance"
            # Some packages allow a rounding more than they say.
            assert found == (pytest.approx(float(flags[1]), rel=2e-3), 0.0)
