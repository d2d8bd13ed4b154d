"""The text of a comparison: 80 columns, no number without what it is worth, and nothing that drives a terminal."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alpha_codium.comparison.references import PUBLISHED
from alpha_codium.comparison.report import Comparison, report_of
from alpha_codium.comparison.tables import plain, shortened, table, text_of, wrapped
from alpha_codium.eval.known import JudgeError
from tests.comparison.comparing_runs import FAIL, LOST, PASS, after, record_of, verdicts_on, write_run

WHAT = {"dataset": "d", "split": "test", "fingerprint": "f", "n_problems": 12, "test_types": ["private_tests"]}
NAMES = tuple("abcdefghijkl")
BAD_NAME = "evil\x1b]52;c;aGk=\x07\u202ename"


def report(root: Path, *runs: tuple[str, dict], ks: tuple[int, ...] = (1, 5), **more: Any) -> Comparison:
    records = [record_of(write_run(root, name, made, **more)) for name, made in runs]
    error = JudgeError("local", reason="the problems carry no python3 solutions")
    return report_of(records, list(runs[0][1]), verdicts_on(*records), error, ks, WHAT)


def made(solved: int, samples: int = 1) -> dict:
    return {name: [PASS if i < solved else FAIL] * samples for i, name in enumerate(NAMES)}


def row_of(text: str, start: str) -> list[str]:
    """The words of the one line that begins so."""
    (line,) = [line for line in text.splitlines() if line.startswith(start)]
    return line.split()


def test_two_runs_side_by_side(tmp_path: Path) -> None:
    text = text_of(report(tmp_path, ("old", made(3)), ("new", made(11))))
    assert "A  old: f, by openai/m, n = 1\nB  new: f, by openai/m, n = 1\n" in text
    assert "A  pass@1  0.2500  0.0889 to 0.5323          3 of 12" in text
    assert "pass@5" not in text.replace("n/a: no run has enough samples for pass@5", "")
    assert row_of(text, "B - A")[:9] == ["B", "-", "A", "pass@1", "+0.6667", "+0.4167", "to", "+0.9167", "0.0078"]
    assert row_of(text, "B - A")[9:11] == ["8", "0"]
    said = "- new is better than old at pass@1: +0.6667, 95 % interval +0.4167 to +0.9167, p = 0.0078 by McNemar"
    assert said in text.replace("\n  ", " ")
    assert "n/a: the run's transcripts don't record the program after each stage" in text
    assert "12 problems only: " in text


def test_an_unknown_price_and_nothing_solved_are_said_as_such(tmp_path: Path) -> None:
    text = text_of(report(tmp_path, ("old", made(0)), ("new", made(0)), cost=None))
    assert row_of(text, "A    2.0") == ["A", "2.0", "40", "unknown"]
    assert row_of(text, "A    n/a") == ["A", "n/a", "n/a", "n/a"]


def test_what_a_solved_problem_took_has_an_interval_for_each_sum_that_is_known(tmp_path: Path) -> None:
    known, unknown = report(tmp_path, ("r", made(11))), report(tmp_path, ("s", made(11)), cost=None)
    assert "A  2.2 [2.0, 2.7]  44 [40, 53]  0.5455 [0.5000, 0.6667]" in text_of(known)
    assert "A  2.2 [2.0, 2.7]  44 [40, 53]  unknown" in text_of(unknown)
    assert "A  2.0 [n/a]  40 [n/a]  0.5000 [n/a]" in text_of(report(tmp_path, ("t", made(12))))


def test_a_small_price_is_told_from_none_and_no_price_has_no_spread(tmp_path: Path) -> None:
    cheap, free = report(tmp_path, ("r", made(1)), cost=1.3e-5), report(tmp_path, ("s", made(1)), cost=0.0)
    assert row_of(text_of(cheap), "A    2.0")[-1] == "0.000013"
    assert row_of(text_of(cheap), "A  24.0")[-2:] == ["[0.000052,", "unbounded]"]
    assert row_of(text_of(free), "A  24.0")[-3:] == ["0.0000", "[0.0000,", "0.0000]"]


def test_an_unfinished_run_has_bounds_in_place_of_a_score(tmp_path: Path) -> None:
    text = text_of(report(tmp_path, ("old", made(3)), ("new", made(3) | {"a": [LOST]})))
    assert "B  pass@1  unfinished  between 0.1667 and 0.2500" in text
    assert "B     12        11           1" in text
    said = "- not compared at pass@1: new and old: new: 1 program got no verdict; the difference lies between"
    assert said in text.replace("\n  ", " ")


def test_a_k_that_one_run_has_the_samples_for_is_shown_and_why_the_other_has_not(tmp_path: Path) -> None:
    text = text_of(report(tmp_path, ("old", made(3)), ("new", made(3, samples=5))))
    assert "A  pass@5     n/a" in text and "B  pass@5  0.2500" in text
    assert "n/a: A pass@5: 12 of 12 problems have samples, but fewer than 5 (least 1)" in text
    said = "- not compared at pass@5: new and old: old: 12 of 12 problems have samples, but fewer than 5"
    assert said in text.replace("\n  ", " ")


def test_a_run_without_a_finished_sample_is_not_said_to_lack_transcripts(tmp_path: Path) -> None:
    text = text_of(report(tmp_path, ("old", {name: [LOST] for name in NAMES})))
    assert "n/a: no sample is finished" in text and "transcripts" not in text


def test_stages_show_what_they_gained_and_lost(tmp_path: Path) -> None:
    events = {(name, 0): [after("plan", ""), after("write", FAIL), after("fix", PASS)] for name in NAMES[:3]}
    text = text_of(report(tmp_path, ("r", made(3)), events=events))
    assert "no program yet after plan\n" in text
    assert row_of(text, "fix") == ["fix", "0", "0", "0", "3", "0", "0", "+1.000", "[n/a]"]
    assert "no transcript of the stages: 9 of 12 finished samples" in text
    assert "Only one run: nothing to compare it with." in text


def test_published_numbers_stand_apart_and_only_where_they_are_asked_for(tmp_path: Path) -> None:
    plain_report = report(tmp_path, ("r", made(3)))
    assert "Published" not in text_of(plain_report) and "references" not in plain_report.to_json()
    shown = Comparison(**{**vars(plain_report), "references": PUBLISHED})
    text = text_of(shown)
    before, _, published = text.partition("Published, not measured here: Ridnik et al. 2024, arXiv 2401.08500")
    assert "GPT-4" not in before and "GPT-4" in published and "arXiv 2411.04329" in published
    assert shown.to_json()["references"] == list(PUBLISHED)
    assert all(len(line) <= 80 for line in text.splitlines())


def test_large_numbers_move_columns_into_a_table_below(tmp_path: Path) -> None:
    events = {(name, 0): [after("possible_solutions", FAIL), after("fix_public_tests", PASS)] for name in NAMES}
    large = {"llm_calls": 10**6, "prompt_tokens": 10**9, "cost": 1.3e-5}
    text = text_of(report(tmp_path, ("old", made(5)), ("new", made(7)), events=events, **large))
    assert max(map(len, text.splitlines())) <= 80
    costs = text.partition("Per solved problem")[2].partition("Samples")[0].splitlines()
    assert [line.split() for line in costs if "A  " not in line and "B  " not in line][1:] == [
        ["calls"], [], ["tokens", "dollars"], [],
    ]  # fmt: skip
    assert costs[6].startswith("A  2,400,000,024 [") and costs[6].endswith("  0.000031 [0.000017, 0.000078]")


@pytest.mark.parametrize(
    "name", ["x" * 150, "alphacodium-without-generate_ai_tests-without-fix_public_tests", BAD_NAME]
)
def test_no_name_breaks_the_width_or_reaches_the_terminal_raw(tmp_path: Path, name: str) -> None:
    events = {(n, 0): [after(name, FAIL), after(name, FAIL)] for n in NAMES}
    runs = (("a" * 120, made(12)), (name, made(3)))
    text = text_of(report(tmp_path, *runs, events=events, model=name, description={"flow": name}))
    assert all(len(line) <= 80 for line in text.splitlines())
    assert text.replace("\n", "").isprintable()


def test_all_numbers_are_in_json(tmp_path: Path) -> None:
    values = json.loads(json.dumps(report(tmp_path, ("old", made(3)), ("new", made(11))).to_json()))
    assert (values["n_problems"], values["complete"], values["baseline"]) == (12, True, None)
    old, new = values["runs"]
    assert (old["pass_at_k"]["pass@1"], new["solved"]) == (0.25, 11)
    assert old["per_solved"] == {"calls": 8.0, "tokens": 160.0, "dollars": 2.0}
    assert {unit: len(bounds) for unit, bounds in old["per_solved_intervals"].items()} == {
        "calls": 2,
        "tokens": 2,
        "dollars": 2,
    }
    (first, fifth) = values["differences"]
    assert first["only_second"] == list("defghijk") and first["test"] == "McNemar" and first["shown"]
    assert fifth["difference"] is None and "fewer than 5" in fifth["reason"]


# A character is escaped by ten at most: all columns stay in one table.
@given(st.lists(st.lists(st.text(max_size=2), min_size=3, max_size=3), min_size=1, max_size=5))
def test_columns_stand_one_under_the_other(rows: list[list[str]]) -> None:
    header, *body = [["x", *row, "x"] for row in rows]
    lines = table(header, body).split("\n")
    assert len(lines) == len(rows)
    assert len({len(line) for line in lines}) == 1


def test_a_comparison_is_a_table_of_scores_and_differences(tmp_path: Path) -> None:
    compared = report(tmp_path, ("old", made(3)), ("new", made(11)), ks=(1, 2), cost=None)
    old, too_few, new, _, difference, undefined = compared.rows()
    assert [old[name] for name in ("run", "minus", "flow", "models", "problems", "samples", "measure", "value")] == [
        "old", None, "f", "openai/m", 12, 1, "pass@1", 0.25,
    ]  # fmt: skip
    assert [*compared.runs[0].score.intervals["pass@1"]] == [old["low"], old["high"]]
    assert (new["value"], new["solved"], new["calls_per_sample"], new["tokens_per_sample"]) == (11 / 12, 11, 2.0, 40.0)
    assert new["dollars_per_sample"] is None, "a price is unknown"
    assert too_few["value"] is None and "fewer than 2" in too_few["reason"]
    assert (difference["run"], difference["minus"], difference["measure"]) == ("new", "old", "pass@1")
    assert difference["value"] == pytest.approx(2 / 3) and difference["low"] < 2 / 3 < difference["high"]
    assert (difference["p_value"], difference["better"], difference["worse"]) == (0.0078125, 8, 0)
    assert undefined["value"] is None and undefined["reason"]
    assert list(compared.to_pandas().columns) == list(compared.columns) == list(old)


def test_the_row_of_an_unfinished_run_has_the_bounds_of_its_score(tmp_path: Path) -> None:
    compared = report(tmp_path, ("old", made(3)), ("new", made(3) | {"a": [LOST]}), ks=(1,))
    _, new, difference = compared.rows()
    assert (new["value"], new["low"], new["high"]) == (None, 2 / 12, 3 / 12)
    assert (difference["value"], difference["low"], difference["high"]) == (None, pytest.approx(-1 / 12), 0.0)
    compared.to_csv(tmp_path / "t.csv")
    rows = list(csv.DictReader((tmp_path / "t.csv").open(newline="")))
    assert (rows[1]["value"], rows[1]["high"], rows[2]["minus"]) == ("", "0.25", "old")


@given(st.text(), st.integers(3, 40))
def test_texts_are_plain_and_short_enough(text: str, width: int) -> None:
    assert plain(text).isprintable()
    assert len(shortened(text, width)) <= width
    assert all(len(line) <= 80 for line in wrapped(text * 30).split("\n"))


def test_runs_with_the_same_programs_are_told(tmp_path: Path) -> None:
    compared = report(tmp_path, ("old", made(3)), ("new", made(3)), ("other", made(4)))
    same = [note for note in compared.notes if "same program" in note]
    assert same == ["old and new have the same program for each sample, so there is nothing to compare"]


def test_the_method_of_each_interval_and_the_reason_for_none_are_told(tmp_path: Path) -> None:
    compared = report(tmp_path, ("old", made(3)), ("new", made(0, 2)), ks=(1,))
    assert "Scores, with 95 % intervals (wilson, bootstrap over problems)" in text_of(compared)
    old, new, difference = compared.rows()
    assert (old["method"], difference["method"], difference["test"]) == (
        "wilson",
        difference["method"],
        "paired bootstrap",
    )
    assert "bootstrap" in difference["method"]
    assert new["method"] is None and new["reason"].startswith("all problems have the same value")
