"""What a run's folder says, and which runs can be compared."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alpha_codium.comparison.fitting import notes_on, refuse_twins, refuse_unlike
from alpha_codium.comparison.records import RunRecord, Step, steps_of
from alpha_codium.errors import UserError
from alpha_codium.runs import RunFolder
from alpha_codium.runs.events import LONGEST_TEXT, Event, StepResult
from alpha_codium.solution import BudgetEnd, BudgetLimit, BudgetOwner
from tests.comparison.comparing_runs import FAIL, LOST, PASS, after, record_of, write_run


def test_a_run_says_its_flow_with_what_was_left_out_and_the_models_that_answered(tmp_path: Path) -> None:
    description = {"flow": "alphacodium", "without": ["reflect", "choose_best"]}
    record = record_of(write_run(tmp_path, "r", {"a": [PASS]}, description=description, model="openai/b, openai/a"))
    assert record.flow == "alphacodium without reflect without choose_best"
    assert record.models == ("openai/a", "openai/b")


def test_a_sample_that_was_tried_again_counts_once_as_it_ended(tmp_path: Path) -> None:
    folder = write_run(tmp_path, "r", {"a": [LOST]})
    with folder.journal as journal:
        journal.append({**json.loads(folder.journal.path.read_text()), "program": PASS, "error": None})
    assert [c.program for c in record_of(folder).candidates.values()] == [PASS]


def test_a_run_of_another_command_is_refused(tmp_path: Path) -> None:
    folder = write_run(tmp_path, "r", {}, description={"command": "eval_gen_solutions"})
    with pytest.raises(UserError, match="run 'r' was made by eval_gen_solutions"):
        record_of(folder)


def test_a_broken_journal_is_the_users_to_mend(tmp_path: Path) -> None:
    folder = write_run(tmp_path, "r", {"a": [PASS]})
    folder.journal.path.write_text('{"half\n{}\n')
    with pytest.raises(UserError, match="line 1, was changed"):
        record_of(folder)


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"candidate": {"task_name": "a"}}', "null"])
def test_a_transcript_that_says_nothing_leaves_the_run_without_it(tmp_path: Path, text: str) -> None:
    folder = write_run(tmp_path, "r", {"a": [PASS]}, events={("a", 0): [after("x", PASS)]})
    assert record_of(folder).steps == {("a", 0): (Step("x", PASS),)}
    (folder.path / "transcripts/a/0.json").write_text(text)
    assert record_of(folder).steps == {}


def test_a_transcript_of_an_earlier_version_is_refused_in_a_line_that_says_what_to_do(tmp_path: Path) -> None:
    folder = write_run(tmp_path, "r", {"a": [PASS]}, events={("a", 0): [after("x", PASS)]})
    path = folder.path / "transcripts/a/0.json"
    values = json.loads(path.read_text())
    del values["format"]
    path.write_text(json.dumps(values | {"events": [{"stage": "after", "kind": "x", "program": PASS}]}))
    with pytest.raises(
        UserError, match=f"{path} was written by another version of gencode .*move {path.parent.parent} elsewhere"
    ):
        record_of(folder)


def test_a_transcript_of_an_earlier_try_is_passed_over(tmp_path: Path) -> None:
    folder = write_run(tmp_path, "r", {"a": [PASS]}, events={("a", 0): [after("x", PASS)]})
    with folder.journal as journal:
        journal.append({**json.loads(folder.journal.path.read_text()), "program": FAIL})
    assert record_of(folder).steps == {}


def ended(owner: BudgetOwner, calls: int) -> BudgetEnd:
    return BudgetEnd(owner, BudgetLimit.CALLS, calls)


def test_stages_of_one_kind_are_told_apart() -> None:
    events = [after("write", ""), StepResult("call"), after("fix", FAIL), after("fix", FAIL)]
    assert [s.stage for s in steps_of(events, FAIL)] == ["write", "fix", "fix (2)"]
    assert steps_of([], PASS) == ()


@pytest.mark.thorough
@given(st.text(min_size=1, max_size=300), st.sampled_from([1, LONGEST_TEXT]), st.booleans())
def test_a_program_that_the_transcript_cut_is_known_only_where_it_is_the_last(
    text: str, times: int, last: bool
) -> None:
    program = text * times + "#"
    event = after("write", program)
    (step, *_) = steps_of([event], program if last else "another")
    assert step.program == (program if event.program == program or last else None)


def runs(root: Path, **second: object) -> list:
    folders = [write_run(root, "one", {"a": [PASS]}), write_run(root, "two", {"a": [FAIL]}, description=second)]
    return [record_of(folder) for folder in folders]


@pytest.mark.parametrize(
    ("second", "said"),
    [
        ({"fingerprint": "e" * 64}, r"'one' is of d\[test\] .* run 'two' of d\[test\] \(fingerprint eeeeeeeeeeee\)"),
        ({"sample_rate": 0.5}, r"'one' is of the whole split, run 'two' of a part of it \(sample_rate 0.5, seed 0\)"),
    ],
)
def test_runs_of_other_problems_are_refused_in_a_line_that_names_both(tmp_path: Path, second: dict, said: str) -> None:
    with pytest.raises(UserError, match=said):
        refuse_unlike(runs(tmp_path, **second))


def test_the_same_problems_under_another_name_can_be_compared(tmp_path: Path) -> None:
    refuse_unlike(runs(tmp_path, dataset_name="/elsewhere/d", split_name="train"))


def test_a_run_is_not_compared_with_itself(tmp_path: Path) -> None:
    one = write_run(tmp_path, "one", {"a": [PASS]})
    with pytest.raises(UserError, match="run 'one' is given twice"):
        refuse_twins([one, RunFolder(tmp_path / "one" / ".." / "one")])


def test_other_models_and_settings_are_told_but_not_what_only_decides_how_fast(tmp_path: Path) -> None:
    def settings(**config: object) -> dict:
        return {"settings": {"config": {"model": "openai/m"} | config}}

    alike = runs(tmp_path / "a", **settings(concurrency=9, api_base="http://x"))
    assert notes_on(alike) == []
    first = record_of(write_run(tmp_path / "b", "one", {"a": [PASS]}, description=settings(temperature=0.2)))
    second = record_of(
        write_run(tmp_path / "b", "two", {"a": [PASS]}, model="openai/n", description=settings(temperature=0.9))
    )
    notes = notes_on([first, second])
    assert notes[0].startswith("the runs were made by different models (one: openai/m; two: openai/n)")
    assert notes[1:] == ["the runs differ in config.temperature (one: 0.2; two: 0.9)"]


def test_a_flow_that_was_changed_between_two_runs_is_told(tmp_path: Path) -> None:
    def made(name: str, flow: str, fingerprint: str) -> RunRecord:
        description = {"flow": flow, "flow_fingerprint": fingerprint}
        return record_of(write_run(tmp_path, name, {"a": [PASS]}, description=description))

    old, same, new, other = made("old", "f", "1"), made("same", "f", "1"), made("new", "f", "2"), made("x", "g", "2")
    assert notes_on([old, same, other]) == []
    said = "flow f was changed between old, new: its prompts or stages aren't the same"
    assert notes_on([old, new, other]) == [said]


def test_samples_that_a_budget_ended_are_told_with_its_setting(tmp_path: Path) -> None:
    events: dict[tuple[str, int], list[Event]] = {
        ("a", 0): [after("write", PASS), ended(BudgetOwner.RUN, 40)],
        ("a", 1): [after("write", PASS), ended(BudgetOwner.RUN, 40)],
        ("b", 0): [after("write", PASS), ended(BudgetOwner.SAMPLE, 3)],
        ("b", 1): [after("write", PASS)],
    }
    made = {"a": [PASS, PASS], "b": [PASS, PASS]}
    record = record_of(
        write_run(tmp_path, "r", made, events=events, description={"settings": {"budget": {"run_calls": 40}}})
    )
    whole = record_of(write_run(tmp_path, "whole", made, description={"settings": {"budget": {"run_calls": 0}}}))
    assert notes_on([record, whole]) == [
        "2 finished samples of r were ended by budget.run_calls (40 calls): each counts with the program that it had",
        "1 finished sample of r was ended by solve.max_calls (3 calls): each counts with the program that it had",
    ]
