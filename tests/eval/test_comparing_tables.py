"""The text of a comparison: 100 columns, no number without what it is worth, and nothing that drives a terminal."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alpha_codium.eval.comparing.formats import WIDTH, plain, shortened, table, wrapped
from alpha_codium.eval.comparing.references import PUBLISHED
from alpha_codium.eval.comparing.report import Comparison, report_of
from alpha_codium.eval.comparing.tables import text_of
from alpha_codium.eval.known import JudgeError
from tests.eval.comparing_runs import FAIL, LOST, PASS, after, record_of, verdicts_on, write_run

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
    assert "12 problems are few" in text


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
    assert "- not compared at pass@1: new and old: new: 1 program got no verdict; the difference lies between" in text


def test_a_k_that_one_run_has_the_samples_for_is_shown_and_why_the_other_has_not(tmp_path: Path) -> None:
    text = text_of(report(tmp_path, ("old", made(3)), ("new", made(3, samples=5))))
    assert "A  pass@5     n/a" in text and "B  pass@5  0.2500" in text
    assert "n/a: A pass@5: 12 of 12 problems have fewer than 5 samples (least 1)" in text
    assert "- not compared at pass@5: new and old: old: 12 of 12 problems have fewer than 5 samples" in text


def test_a_run_without_a_finished_sample_is_not_said_to_lack_transcripts(tmp_path: Path) -> None:
    text = text_of(report(tmp_path, ("old", {name: [LOST] for name in NAMES})))
    assert "n/a: no sample is finished" in text and "transcripts" not in text


def test_stages_show_what_they_gained_and_lost(tmp_path: Path) -> None:
    events = {(name, 0): [after("plan", ""), after("write", FAIL), after("fix", PASS)] for name in NAMES[:3]}
    text = text_of(report(tmp_path, ("r", made(3)), events=events))
    assert "no program yet after plan\n" in text
    assert row_of(text, "fix") == ["fix", "0", "0", "0", "3", "0", "0", "+1.000", "[n/a]"]
    assert "9 of 12 finished samples have no transcript of their stages" in text
    assert "Only one run: nothing to compare it with." in text


def test_published_numbers_stand_apart_and_only_where_they_are_asked_for(tmp_path: Path) -> None:
    plain_report = report(tmp_path, ("r", made(3)))
    assert "Published" not in text_of(plain_report) and "references" not in plain_report.to_json()
    shown = Comparison(**{**vars(plain_report), "references": PUBLISHED})
    text = text_of(shown)
    before, _, published = text.partition("Published, not measured here: Ridnik et al. 2024, arXiv 2401.08500")
    assert "GPT-4" not in before and "GPT-4" in published and "arXiv 2411.04329" in published
    assert shown.to_json()["references"] == list(PUBLISHED)
    assert all(len(line) <= WIDTH for line in text.splitlines())


@pytest.mark.parametrize(
    "name", ["x" * 150, "alphacodium-without-generate_ai_tests-without-fix_public_tests", BAD_NAME]
)
def test_no_name_breaks_the_width_or_reaches_the_terminal_raw(tmp_path: Path, name: str) -> None:
    events = {(n, 0): [after(name, FAIL), after(name, FAIL)] for n in NAMES}
    runs = (("a" * 120, made(12)), (name, made(3)))
    text = text_of(report(tmp_path, *runs, events=events, model=name, description={"flow": name}))
    assert all(len(line) <= WIDTH for line in text.splitlines())
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
    assert fifth["difference"] is None and "fewer than 5 samples" in fifth["reason"]


@given(st.lists(st.lists(st.text(max_size=9), min_size=3, max_size=3), min_size=1, max_size=5))
def test_columns_stand_one_under_the_other(rows: list[list[str]]) -> None:
    header, *body = [["x", *row, "x"] for row in rows]
    lines = table(header, body).split("\n")
    assert len(lines) == len(rows)
    assert len({len(line) for line in lines}) == 1


@given(st.text(), st.integers(3, 40))
def test_texts_are_plain_and_short_enough(text: str, width: int) -> None:
    assert plain(text).isprintable()
    assert len(shortened(text, width)) <= width
    assert all(len(line) <= WIDTH for line in wrapped(text * 30).split("\n"))
