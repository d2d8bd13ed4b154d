"""The choice of a part of a split's problems."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alpha_codium.data.load import load_problems
from alpha_codium.data.subset import Subset
from alpha_codium.errors import DatasetError
from tests.data.records import record, write_jsonl

NAMES = [f"HumanEval/{n}" for n in range(40)]


@given(
    st.floats(0.01, 1), st.integers(-5, 5), st.none() | st.integers(1, 50), st.lists(st.text(max_size=9), max_size=3)
)
def test_a_record_gives_the_same_subset_again(rate, seed, limit, names):
    subset = Subset.of({"sample_rate": rate, "seed": seed, "limit": limit, "names": names})
    text = subset.as_text()
    assert Subset.of(json.loads(text) if text else {}) == subset
    assert (text == "") == subset.is_whole


@given(st.floats(0.2, 1), st.integers(0, 9), st.integers(1, 50))
def test_a_limit_takes_the_first_of_what_the_rate_chose(rate, seed, limit):
    chosen = Subset(rate, seed).positions(NAMES)
    assert Subset(rate, seed, limit).positions(NAMES) == chosen[:limit]


def test_problems_are_chosen_by_name_by_number_and_several_in_one_text(tmp_path):
    names = [*NAMES, "Hello, World"]
    problems = load_problems(write_jsonl(tmp_path / "p.jsonl", [record(name) for name in names]))
    chosen = Subset(names=("HumanEval/3, 11", "Hello, World")).choose(problems)
    assert chosen.names == ("HumanEval/3", "HumanEval/11", "Hello, World")
    assert chosen.fingerprint == problems.fingerprint


@pytest.mark.parametrize(
    ("subset", "said"),
    [
        ({"sample_rate": 0.0001}, "sample_rate 0.0001, seed 0 chose none of 40 problems: use a higher `sample_rate`"),
        ({"names": ("HumanEval/3,HumanEvil/4",)}, "there is no problem 'HumanEvil/4' in the split .did you mean"),
        ({"limit": 0}, "a limit of problems must be above 0, not 0"),
        ({"names": (" , ",)}, "no problem is named: `names` is empty"),
        ({"sample_rate": 1.5}, "a sample rate must be above 0"),
    ],
)
def test_a_choice_of_nothing_is_an_error_that_says_why(tmp_path, subset, said):
    problems = load_problems(write_jsonl(tmp_path / "p.jsonl", [record(name) for name in NAMES]))
    with pytest.raises(DatasetError, match=said):
        Subset(**subset).choose(problems)
