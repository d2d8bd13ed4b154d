import pytest

from alpha_codium.data.samples.reading import Row
from alpha_codium.data.samples.runs import parse_selections, selected
from alpha_codium.errors import DatasetError


def rows(*pairs, column="run"):
    return [Row(task, ("x",), column="solution", values={"task_id": task, "solution": "x", column: value})
            for task, value in pairs]  # fmt: skip


TWO = rows(("a", "gpt-4/x"), ("b", "gpt-4/x"), ("a", "gpt-3.5/x"), ("b", "gpt-3.5/x"))


@pytest.mark.parametrize("column", ["run", "model", "temperature"])
def test_two_runs_are_never_mixed(column):
    mixed = rows(("a", 0.2), ("a", 0.8), column=column)
    with pytest.raises(DatasetError, match=rf"holds several runs: the column '{column}' has the values 0.2, 0.8; "):
        selected(mixed, {}, "s.jsonl")


def test_samples_of_one_run_and_a_run_over_several_models_by_problem_are_one_run():
    assert len(selected(rows(("a", "m"), ("a", "m"), ("b", "m")), {}, "s")) == 3
    assert len(selected(rows(("a", "large"), ("b", "small"), column="model"), {}, "s")) == 2
    assert len(selected(rows(("a", 0), ("a", 1), column="sample"), {}, "s")) == 2


@pytest.mark.parametrize("wanted", ["gpt-4/x", "gpt-4*", "*4?x", "gpt-4", "4/"])
def test_a_run_is_chosen_in_full_by_a_pattern_or_by_a_part(wanted):
    assert {row.values["run"] for row in selected(TWO, {"run": wanted}, "s")} == {"gpt-4/x"}


@pytest.mark.parametrize(
    ("column", "wanted", "said"),
    [
        ("run", "gpt", "`select` run=gpt fits 2 values: gpt-4/x, gpt-3.5/x"),
        ("run", "llama", "`select` run=llama fits no value: there is gpt-4/x, gpt-3.5/x"),
        ("ran", "gpt", r"has no column 'ran' to select by \(did you mean 'run'\?\)"),
    ],
)
def test_what_fits_no_run_or_several_is_said(column, wanted, said):
    with pytest.raises(DatasetError, match=said):
        selected(TWO, {column: wanted}, "s.jsonl")


def test_a_value_that_is_a_part_of_another_is_chosen_in_full():
    both = rows(("a", "gpt-4"), ("a", "gpt-4-turbo"))
    assert [row.values["run"] for row in selected(both, {"run": "gpt-4"}, "s")] == ["gpt-4"]


def test_selections_read_column_and_value():
    assert parse_selections(["run=a=b", "model=c"]) == {"run": "a=b", "model": "c"}
    for wrong in (["run"], ["=a"], ["run=a", "run=b"]):
        with pytest.raises(DatasetError, match="`select`"):
            parse_selections(wrong)
