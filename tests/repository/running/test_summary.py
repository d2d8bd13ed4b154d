"""The summary of a run."""

from alpha_codium.repository.harness import RepositoryTestResult
from alpha_codium.repository.running.measures import Measures
from alpha_codium.repository.running.summary import summarized
from alpha_codium.repository.running.turns import ItemRun, Turn, TurnStatus
from alpha_codium.solution import ErrorKind, SampleError
from alpha_codium.statistics import wilson_interval

TESTS = (RepositoryTestResult("a", "passed"), RepositoryTestResult("b", "failed"), RepositoryTestResult("c", "skipped"))
OK = Turn(TurnStatus.OK, "", tests=TESTS[:1], measures=Measures(chrf=1.0))
FAILED = Turn(TurnStatus.FAILED, "", tests=TESTS, measures=Measures(chrf=0.5))
NOT_RUN = Turn(TurnStatus.NOT_RUN, "")


def item(idx: int, *turns: Turn, replica: int = 0, error: SampleError | None = None) -> ItemRun:
    return ItemRun(idx, str(idx), replica, "a.py", "f", turns, error, llm_calls=len(turns), cost=0.5)


def test_pass_rates_are_cumulative_and_have_intervals() -> None:
    items = [item(0, OK), item(1, FAILED, OK), item(2, FAILED, FAILED, FAILED), item(3, NOT_RUN, NOT_RUN, OK)]
    summary = summarized(items, "completion", "x", 3)
    assert [turn["pass_rate"].value for turn in summary.turns] == [0.25, 0.5, 0.75]
    assert [turn["tests_passed"].value for turn in summary.turns] == [0.5, 0.625, 0.875]
    assert [turn["chrf"].value for turn in summary.turns] == [0.5, 0.625, 0.875]
    rate = summary.turns[0]["pass_rate"]
    assert (rate.low, rate.high) == wilson_interval(1, 4).bounds
    assert summary.turns[0]["chrf"].method == "bootstrap over problems"
    assert summary.statuses == {"OK": 3, "FAILED": 1} and summary.complete
    assert (summary.llm_calls, summary.cost) == (9, 2.0)


def test_a_task_with_replicas_counts_once() -> None:
    items = [item(0, OK), item(0, FAILED, replica=1), item(1, FAILED), item(1, FAILED, replica=1)]
    summary = summarized(items, "completion", "x", 1)
    assert (summary.tasks, summary.replicas, summary.items) == (2, 2, 4)
    assert summary.turns[0]["pass_rate"].value == 0.25
    assert summary.turns[0]["pass_rate"].method == "bootstrap over problems"


def test_items_without_a_verdict_are_counted_apart() -> None:
    fault = SampleError(ErrorKind.PROVIDER, "gone")
    summary = summarized([item(0, OK), item(1, FAILED, error=fault)], "completion", "x", 2)
    assert summary.turns[0]["pass_rate"].value == 1.0
    assert summary.faults == {"provider: gone": 1} and not summary.complete
    lines = list(summary.lines())
    assert lines[-1] == "without a verdict: 1 item: provider: gone"
    assert lines[4].startswith("| 1 | 1.000 [0.207, 1.000] |")
    assert summary.to_json()["turns"][1]["turn"] == 2


def test_a_run_in_which_nothing_was_judged_has_a_summary() -> None:
    summary = summarized([item(0, error=SampleError(ErrorKind.INTERNAL, "x"))], "completion", "x", 2)
    assert summary.turns == () and not summary.complete and list(summary.lines())
