"""Judging the programs of several runs: once each, and kept in the runs' folders."""

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from alpha_codium.comparison.judging import (
    JOURNAL,
    SharedJournal,
    Verdicts,
    all_programs,
    basis_of,
    programs_of,
    tasks_of,
)
from alpha_codium.comparison.records import RunRecord
from alpha_codium.errors import UserError
from alpha_codium.eval.running import run_evaluation
from alpha_codium.judge import Judge
from alpha_codium.problem import TestType
from alpha_codium.program import as_program
from alpha_codium.verdict import Identity
from tests.comparison.comparing_runs import LOST as NEVER
from tests.comparison.comparing_runs import after, lines_of, record_of, write_run
from tests.eval.splits import BROKEN, LOST, RIGHT, WRONG, Arithmetic, problem

TYPES = (TestType.PRIVATE,)
HERE = Identity("local", "0.1.0", "CPython 3.11.2", isolation=("namespaces",))
BASIS = basis_of(TYPES, {}, HERE)


def judged(records: list[RunRecord], sandbox: Arithmetic, basis: str = BASIS) -> Verdicts:
    async def judge_all() -> Verdicts:
        programs = all_programs(map(programs_of, records))
        tasks = tasks_of([problem("a"), problem("b")], programs, TYPES)
        with SharedJournal(records, programs, basis) as journal:
            return Verdicts(programs, await run_evaluation(tasks, Judge(sandbox), journal=journal))

    return asyncio.run(judge_all())


@pytest.fixture
def two(tmp_path: Path) -> list[RunRecord]:
    """Two runs that share a program of the problem `a`, which one of them also wrote for `b`."""
    events = {("a", 0): [after("write", BROKEN), after("fix", RIGHT)]}
    first = write_run(tmp_path, "x", {"a": [RIGHT], "b": [RIGHT]}, events=events)
    second = write_run(tmp_path, "y", {"a": [RIGHT], "b": [WRONG]})
    return [record_of(first), record_of(second)]


def test_a_program_of_a_problem_is_judged_once_whichever_runs_and_stages_wrote_it(two: list[RunRecord]) -> None:
    sandbox = Arithmetic()
    verdicts = judged(two, sandbox)
    assert sorted(sandbox.runs) == sorted([RIGHT, RIGHT, BROKEN, WRONG])
    assert [verdicts.passes("a", as_program(p)) for p in (RIGHT, BROKEN)] == [True, False]
    assert [verdicts.passes("b", as_program(p)) for p in (RIGHT, WRONG)] == [True, False]
    assert verdicts.passes("a", as_program(WRONG)) is None, "nobody wrote it for this problem"


def test_comparing_again_or_with_other_runs_judges_nothing(two: list[RunRecord]) -> None:
    judged(two, Arithmetic())
    for records in (two, two[::-1], two[:1], two[1:]):
        again = Arithmetic()
        judged(records, again)
        assert again.runs == []
    assert [len(lines_of(r.path / JOURNAL)) for r in two] == [3, 2]


def test_what_one_run_knows_serves_another_and_is_written_there(two: list[RunRecord]) -> None:
    judged(two[:1], Arithmetic())
    sandbox = Arithmetic()
    judged(two, sandbox)
    assert sandbox.runs == [WRONG]
    again = Arithmetic()
    judged(two[1:], again)
    assert again.runs == []


def test_other_tests_or_settings_judge_anew(two: list[RunRecord]) -> None:
    others = [
        basis_of((TestType.PUBLIC,), {}, HERE),
        basis_of(TYPES, {"delta": 0.1}, HERE),
        basis_of(TYPES, {}, replace(HERE, interpreter="CPython 3.11.7")),
        basis_of(TYPES, {}, replace(HERE, image="sha256:1")),
        basis_of(TYPES, {}, replace(HERE, isolation=())),
        basis_of(TYPES, {}, HERE, {"cpp": {"version": "g++ 12", "time_limit_factor": 1.0}}),
        basis_of(TYPES, {}, HERE, {"cpp": {"version": "g++ 13", "time_limit_factor": 1.0}}),
    ]
    assert basis_of(TYPES, {}, HERE) == basis_of(TYPES, {}, HERE, {}) == BASIS
    assert len({BASIS, *others}) == 8
    judged(two, Arithmetic())
    sandbox = Arithmetic()
    judged(two, sandbox, basis_of(TYPES, {"delta": 0.1}, HERE))
    assert len(sandbox.runs) == 4


def test_what_got_no_verdict_is_not_kept_and_is_judged_again(tmp_path: Path) -> None:
    records = [record_of(write_run(tmp_path, "x", {"a": [LOST]}))]
    assert judged(records, Arithmetic()).passes("a", as_program(LOST)) is None
    assert lines_of(records[0].path / JOURNAL) == []
    assert judged(records, Arithmetic(lose=False)).passes("a", as_program(LOST)) is True


def test_samples_that_were_never_made_and_blank_programs_on_the_way_are_not_judged(tmp_path: Path) -> None:
    events = {("a", 0): [after("plan", ""), after("write", RIGHT)]}
    record = record_of(write_run(tmp_path, "x", {"a": [RIGHT, NEVER]}, events=events))
    assert programs_of(record) == {"a": (as_program(RIGHT),)}


def test_a_program_in_a_language_that_cannot_be_run_is_refused(tmp_path: Path) -> None:
    record = record_of(write_run(tmp_path, "x", {"a": ["null;"]}, language="ada"))
    with pytest.raises(UserError, match="sample 0 of 'a' in run 'x' is in 'ada', a language that can't be run"):
        programs_of(record)


def test_a_journal_that_somebody_broke_is_the_users_to_mend(two: list[RunRecord]) -> None:
    (two[1].path / JOURNAL).write_text("nonsense\n")
    with pytest.raises(UserError, match=r"evaluation.jsonl, line \d+, was changed: .*; delete the line"):
        judged(two, Arithmetic())


@pytest.mark.thorough
@settings(max_examples=20, deadline=None)
@given(
    st.lists(st.lists(st.sampled_from([RIGHT, WRONG, BROKEN, ""]), min_size=1, max_size=3), min_size=2, max_size=3),
    st.integers(0, 600),
)
def test_a_comparison_cut_off_anywhere_goes_on_to_the_same_verdicts(
    tmp_path_factory: pytest.TempPathFactory, runs: list[list[str]], cut: int
) -> None:
    root = tmp_path_factory.mktemp("cut")
    records = [record_of(write_run(root, f"r{i}", {"a": programs})) for i, programs in enumerate(runs)]
    texts = {as_program(text) for programs in runs for text in programs}
    whole = judged(records, Arithmetic())
    path = records[0].path / JOURNAL
    path.write_bytes(path.read_bytes()[: -cut or None])
    (records[-1].path / JOURNAL).unlink()
    sandbox = Arithmetic()
    again = judged(records, sandbox)
    assert {t: again.passes("a", t) for t in texts} == {t: whole.passes("a", t) for t in texts}
    assert len(sandbox.runs) == len(set(sandbox.runs))
