"""Whatever stands in a record with a benchmark's columns, it becomes a problem, or one line that says what is wrong."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alpha_codium.data import benchmarks
from alpha_codium.data.benchmarks import BENCHMARKS, benchmark_of
from alpha_codium.data.schema import problem_from_record, stored_record
from alpha_codium.errors import DatasetError
from alpha_codium.problem import EXECUTION_KINDS
from tests.data.benchmarks.rows import (
    codeforces_row,
    evalplus_row,
    humaneval_row,
    mbpp_row,
    multipl_e_row,
    sanitized_row,
)

ROWS = [humaneval_row(), mbpp_row(), sanitized_row(), multipl_e_row(), evalplus_row(), codeforces_row()]
TEXTS = st.text(max_size=20) | st.sampled_from(["def f(x):\n", "assert f(1) == 2", '"""', "\tx", "def f():\n  pass"])
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=6,
)


@st.composite
def records(draw: st.DrawFn) -> dict:
    """A record of a benchmark with some of its fields replaced or taken away."""
    row = dict(draw(st.sampled_from(ROWS)))
    for field in draw(st.lists(st.sampled_from(sorted(row)), max_size=3)):
        row[field] = draw(ANYTHING)
    for field in draw(st.lists(st.sampled_from(sorted(row)), max_size=1)):
        row.pop(field)
    return row


@pytest.mark.thorough
@given(records())
def test_any_record_is_a_problem_or_one_line(row):
    try:
        problem = problem_from_record(row, "record 7")
    except DatasetError as error:
        assert str(error).startswith("record 7")
        assert "\n" not in str(error)
        return
    assert problem.execution.kind in EXECUTION_KINDS
    assert problem == problem_from_record(stored_record(row))


@pytest.mark.parametrize("row", ROWS, ids=lambda row: str(row.get("name") or row.get("task_id") or row["id"]))
def test_a_record_is_told_by_its_columns_and_stays_what_it_is_once_it_is_stored(row):
    benchmark = benchmark_of(row)
    assert benchmark is not None
    assert benchmark_of(stored_record(row)) is None
    assert json.loads(json.dumps(stored_record(row))) == stored_record(stored_record(row))


def test_every_benchmark_tells_its_own_records_from_those_of_all_others():
    for row in ROWS:
        assert [b.name for b in BENCHMARKS if b.matches(row)].count(benchmark_of(row).name) == 1
    assert {benchmark_of(row).name for row in ROWS} == {"humaneval", "mbpp", "multipl_e", "evalplus", "codeforces"}


@pytest.mark.thorough
@given(st.dictionaries(st.sampled_from(["name", "description", "task_id", "prompt", "text"]), st.text()))
def test_a_record_in_our_schema_is_left_alone(row):
    assert benchmark_of({"name": "1_A", **row}) is None


def test_the_problems_of_a_benchmark_that_has_no_short_name_are_refused_too(monkeypatch):
    monkeypatch.setattr(benchmarks, "ALIASES", {})
    with pytest.raises(DatasetError, match="of x are those of apps, not of `benchmark` mbpp: leave out `benchmark`"):
        benchmarks.refuse_another_benchmark("mbpp", ["apps/1"], "x")
