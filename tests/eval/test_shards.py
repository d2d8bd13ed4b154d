"""The cut of an evaluation into parts, and which part the task of an array job is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alpha_codium.errors import UserError
from alpha_codium.eval.prepare import prepare_for_evaluation
from alpha_codium.eval.shards import Shard
from alpha_codium.problem import Problem, TestCase


def slurm(number: int, first: int, last: int, count: int) -> dict[str, str]:
    """The environment of a task of an array."""
    values = {"ID": number, "MIN": first, "MAX": last, "COUNT": count}
    return {f"SLURM_ARRAY_TASK_{name}": str(value) for name, value in values.items()}


SLURM = slurm(3, 0, 7, 8)


@given(
    st.dictionaries(st.text(max_size=5), st.lists(st.text(max_size=8), max_size=6), max_size=6),
    st.integers(1, 7),
)
def test_every_program_is_in_one_part_and_the_same_ones_are_together(programs: dict[str, list[str]], n: int) -> None:
    problems = [Problem(name, private_tests=(TestCase("", ""),)) for name in programs]
    rows = [{"task_name": name, "solution_candidates": found} for name, found in programs.items()]
    tasks = list(prepare_for_evaluation(rows, problems))
    parts = [list(Shard(number, n).tasks(tasks)) for number in range(1, n + 1)]
    assert all([task.name for task in part] == list(programs) for part in parts)
    for place, task in enumerate(tasks):
        found = [entry for part in parts for entry in part[place].entries]
        assert sorted(found, key=lambda entry: entry.index) == list(task.entries)
        homes = [{entry.program for entry in part[place].entries} for part in parts]
        assert sum(map(len, homes)) == len({entry.program for entry in task.entries})


@pytest.mark.parametrize(
    ("text", "environment", "shard"),
    [
        ("2/8", {}, "2/8"),
        ("1/1", SLURM, "1/1"),
        ("auto", SLURM, "4/8"),
        ("auto/9", SLURM, "4/9"),
        ("auto/8", {"JOB_COMPLETION_INDEX": "0"}, "1/8"),
        ("auto/8", {"SLURM_ARRAY_TASK_ID": "7"}, "8/8"),
    ],
)
def test_the_part_is_given_or_that_of_the_task(text: str, environment: dict[str, str], shard: str) -> None:
    found = Shard.of(text, environment)
    assert (str(found), found.whole_name(found.run_name("big"))) == (shard, "big")


@pytest.mark.parametrize(
    ("text", "environment", "message"),
    [
        ("", {}, "a shard is I/N"),
        ("2", {}, "a shard is I/N"),
        ("0/8", {}, "is part 0/8"),
        ("9/8", {}, "is part 9/8"),
        ("-1/8", {}, "a shard is I/N"),
        ("auto/x", SLURM, "a shard is I/N"),
        ("auto/3", SLURM, "is part 4/3"),
        ("auto", {}, "neither SLURM_ARRAY_TASK_ID nor JOB_COMPLETION_INDEX is set"),
        ("auto", {"JOB_COMPLETION_INDEX": "1"}, "else give auto/N"),
        # Parts that are repeated, an array that begins with 1, and one with a gap.
        ("auto", slurm(3, 3, 3, 1), "auto/N"),
        ("auto", slurm(0, 0, 0, 1), "auto/N"),
        ("auto", slurm(3, 1, 8, 8), "from 0"),
        ("auto", slurm(3, 0, 9, 8), "auto/N"),
    ],
)  # fmt: skip
def test_what_is_no_part_is_refused(text: str, environment: dict[str, str], message: str) -> None:
    with pytest.raises(UserError) as caught:
        Shard.of(text, environment)
    assert message in str(caught.value)
