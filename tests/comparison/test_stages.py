"""Which stage turned a failing program into a passing one."""

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from alpha_codium.comparison.records import Step
from alpha_codium.comparison.stages import effects_of, passages_of, stages_of
from tests.comparison.comparing_runs import FAIL, PASS, after, record_of, verdicts_on, write_run


def outcomes(*programs: str | None) -> list[str]:
    passes = [None if p is None or "unsure" in p else "right" in p for p in programs]
    steps = [Step(str(i), program) for i, program in enumerate(programs)]
    return [passage.outcome for passage in passages_of("a", steps, passes)]


@pytest.mark.parametrize(
    ("programs", "said"),
    [
        (["", PASS], ["no_program", "first_passes"]),
        (["", "", FAIL, PASS], ["no_program", "no_program", "first_fails", "gained"]),
        ([PASS, FAIL, FAIL + " "], ["first_passes", "lost", "unchanged"]),
        ([PASS, ""], ["first_passes", "lost"]),
        ([FAIL, "", PASS], ["first_fails", "unchanged", "first_passes"]),
        ([FAIL, None, PASS], ["first_fails", "unknown", "unknown"]),
        (["unsure", PASS], ["unknown", "unknown"]),
    ],
)
def test_a_stage_is_told_by_what_was_before_and_what_is_after(programs: list, said: list[str]) -> None:
    assert outcomes(*programs) == said


def test_a_runs_stages_are_told_in_the_order_of_its_flow_with_what_each_adds(tmp_path: Path) -> None:
    stages = ("plan", "write", "fix")
    ways = {"a": ("", FAIL, PASS), "b": ("", PASS, PASS), "c": ("", PASS, FAIL), "d": ("", FAIL, FAIL)}
    events = {(n, 0): [after(s, p) for s, p in zip(stages, way, strict=True)] for n, way in ways.items()}
    record = record_of(write_run(tmp_path, "r", {n: [way[-1]] for n, way in ways.items()}, events=events))
    plan, write, fix = stages_of(record, list(ways), verdicts_on(record))
    assert (plan.stage, write.stage, fix.stage) == stages
    assert Counter(plan.counts) == Counter(no_program=4)
    assert Counter(write.counts) == Counter(first_passes=2, first_fails=2)
    assert Counter(fix.counts) == Counter(gained=1, unchanged=2, lost=1)
    assert (plan.change, write.change, fix.change) == (0, 0.5, 0)
    assert plan.interval.bounds is None and write.interval.bounds is not None


def test_a_run_without_transcripts_has_no_stages(tmp_path: Path) -> None:
    record = record_of(write_run(tmp_path, "r", {"a": [PASS]}))
    assert stages_of(record, ["a"], verdicts_on(record)) == []


SAMPLES = st.lists(
    st.tuples(st.sampled_from("abc"), st.lists(st.sampled_from(["", PASS, FAIL]), min_size=1, max_size=5)), min_size=1
)


@pytest.mark.thorough
@settings(max_examples=25, deadline=None)
@given(SAMPLES)
def test_what_stages_gain_and_lose_adds_up_to_what_passes_at_the_end(samples: list[tuple[str, list[str]]]) -> None:
    passages, count = [], dict.fromkeys(sorted({name for name, _ in samples}), 0)
    for name, programs in samples:
        count[name] += 1
        steps = [Step(str(i), program) for i, program in enumerate(programs)]
        passages += passages_of(name, steps, ["right" in program for program in programs])
    effects = effects_of(passages, count)
    net = sum(e.counts["first_passes"] + e.counts["gained"] - e.counts["lost"] for e in effects)
    assert net == sum("right" in programs[-1] for _, programs in samples)
    assert sum(e.samples for e in effects) == sum(len(programs) for _, programs in samples)
    assert not any(e.counts["unknown"] for e in effects)
    by_problem = {
        name: sum("right" in p[-1] for n, p in samples if n == name) / number for name, number in count.items()
    }
    assert sum(e.change for e in effects) == pytest.approx(sum(by_problem.values()) / len(by_problem))
