import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alpha_codium.data.filters import Filters, in_sample
from alpha_codium.data.schema import stored_record
from alpha_codium.errors import DatasetError
from alpha_codium.problem import LANGUAGE_NAMES
from tests.data.records import RECORDS, record

NAMES = st.lists(st.text(min_size=1), unique=True, max_size=50)
RATES = st.floats(0, 1, exclude_min=True)


@pytest.mark.thorough
@given(NAMES, RATES, st.integers(0, 5))
def test_a_sample_depends_on_name_and_seed_alone(names, rate, seed):
    chosen = {name for name in names if in_sample(name, rate, seed)}
    assert chosen == {name for name in reversed(names) if in_sample(name, rate, seed)}


@given(NAMES, RATES, RATES)
def test_a_smaller_sample_is_part_of_a_larger_one(names, one, other):
    small, large = sorted((one, other))
    assert all(in_sample(name, large, 0) for name in names if in_sample(name, small, 0))


def test_a_sample_has_about_the_share_asked_for_and_seeds_differ():
    names = [f"{number}_A" for number in range(10_000)]
    first, second = ({name for name in names if in_sample(name, 0.1, seed)} for seed in (0, 1))
    assert 900 < len(first) < 1100
    assert len(first & second) < 200


@given(RECORDS, st.lists(st.sampled_from(LANGUAGE_NAMES), min_size=1, unique=True))
def test_only_solutions_in_the_languages_asked_for_stay_and_keep_their_order(raw, languages):
    stored = stored_record(raw)
    kept = Filters(languages=tuple(languages)).keep_solutions(stored)
    for column in ("solutions", "incorrect_solutions"):
        rows = list(zip(*(stored[column][key] for key in ("language_name", "language", "solution")), strict=True))
        kept_rows = list(zip(*(kept[column][key] for key in ("language_name", "language", "solution")), strict=True))
        assert kept_rows == [row for row in rows if row[0] in languages]


@pytest.mark.thorough
@given(RECORDS)
def test_no_filter_keeps_all(raw):
    stored = stored_record(raw)
    assert Filters().keeps_problem(stored)
    assert Filters().keep_solutions(stored) == stored


@pytest.mark.parametrize(
    ("filters", "kept"),
    [
        (Filters(sources=("codeforces",)), True),
        (Filters(sources=("aizu", "atcoder")), False),
        (Filters(difficulties=("A", "B")), True),
        (Filters(difficulties=("easy",)), False),
        (Filters(tags=("MATH", "graphs")), True),
        (Filters(tags=("graphs",)), False),
        (Filters(date_from=datetime.date(2024, 1, 1)), True),
        (Filters(date_to=datetime.date(2024, 1, 1)), True),
        (Filters(date_from=datetime.date(2024, 1, 2)), False),
        (Filters(date_to=datetime.date(2023, 12, 31)), False),
    ],
)
def test_a_problem_is_kept_by_what_is_known_of_it(filters, kept):
    raw = record(source=2, difficulty=8, cf_tags=["math"], contest_date="2024-01-01T10:00:00")
    assert filters.keeps_problem(stored_record(raw, date_columns=["contest_date"])) is kept


def test_an_unknown_language_is_told_the_nearest():
    with pytest.raises(DatasetError, match=r"unknown language 'pyhton3' \(did you mean 'python3'\?\)"):
        Filters(languages=("pyhton3",))


def test_names_of_problems_are_chosen_and_words_may_be_in_upper_case():
    chosen = Filters(names=("b",), languages=("PYTHON3",), sources=("CodeForces",))
    assert (chosen.languages, chosen.sources) == (("python3",), ("codeforces",))
    stored = [stored_record(record(name, source=2)) for name in "abc"]
    assert [each["name"] for each in stored if chosen.keeps_problem(each)] == ["b"]
