"""Verdicts near a limit: marked, counted, and judged again alone."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest

from alpha_codium.app.evaluation import Evaluation
from alpha_codium.app.options.judging import EvaluateOptions
from alpha_codium.config.sections import CodeTesterSection, Settings
from alpha_codium.eval.prepare import prepare_for_evaluation
from alpha_codium.eval.results import CandidateResult
from alpha_codium.eval.running import recheck_near_limit, run_evaluation
from alpha_codium.eval.scoring import Score, score
from alpha_codium.judge import Judge, Rules
from alpha_codium.judge.executors import LocalPool
from alpha_codium.limits import Limits
from alpha_codium.runs import Journal
from alpha_codium.verdict import Execution, Judgement, Report, Status, TestResult, Verdict
from tests.eval.splits import RIGHT, WRONG, Arithmetic, problem
from tests.eval.test_prepare import row

RULES = Rules(cpu_seconds=4.0)
FAST, SLOW, TOO_SLOW, ENDLESS = (f"{RIGHT} # {words}" for words in ("fast", "slow", "too slow", "endless"))
SECONDS = {FAST: 0.1, SLOW: 3.83, TOO_SLOW: 4.3, ENDLESS: 5.2}


class Timed(Arithmetic):
    """A sandbox in which programs take the given CPU seconds; a list has those of successive runs."""

    def __init__(self, **later: list[float]) -> None:
        super().__init__()
        self.later = {program: later.get(name, []) for name, program in (("slow", SLOW), ("too_slow", TOO_SLOW))}
        self.at_once = self.most_at_once = 0

    async def report(self, program: str, inputs: Sequence[str], limits: Limits) -> Report:
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        await asyncio.sleep(0.001)
        report = await super().report(program, inputs, limits)
        later = self.later.get(program)
        seconds = later.pop(0) if later and self.runs.count(program) > 1 else SECONDS.get(program, 0.1)
        self.at_once -= 1
        return Report(report.compilation, tuple(timed(each, seconds) for each in report.executions))


def timed(execution: Execution, seconds: float) -> Execution:
    status = Status.FINISHED if seconds <= 4.0 else Status.TIME_LIMIT_EXCEEDED
    return Execution(status, execution.stdout, cpu_seconds=seconds, wall_seconds=seconds)


PROGRAMS = (FAST, SLOW, TOO_SLOW, ENDLESS, WRONG)


def tasks() -> object:
    return prepare_for_evaluation([row("a", *PROGRAMS)], [problem("a")])


async def scored(sandbox: Timed, path: Path, *, again: bool = False) -> Score:
    judge = Judge(sandbox, RULES)
    with Journal(path) as journal:
        results = await run_evaluation(tasks(), judge, LocalPool(sandbox, 2), journal=journal)
        if again:
            results = await recheck_near_limit(tasks(), results, judge, journal)
    return score(results, [1])


@pytest.mark.parametrize(
    ("used", "near"),
    [
        ((3.1, 1.0, 1), ()),
        ((3.3, 1.0, 1), ("cpu",)),
        ((4.7, 1.0, 1), ("cpu",)),
        ((4.9, 1.0, 1), ()),
        ((1.0, 13.0, 1), ("wall",)),
        ((1.0, 16.0, 900_000_000), ("wall", "memory")),
        ((1.0, 1.0, 1 << 30), ("memory",)),
    ],
)
def test_near_is_within_a_fifth_of_a_limit_on_either_side(
    used: tuple[float, float, int], near: tuple[str, ...]
) -> None:
    assert Limits().near(*used) == near


async def test_programs_whose_verdict_the_load_may_change_are_marked_and_counted(tmp_path: Path) -> None:
    result = await scored(Timed(), tmp_path / "journal.jsonl")
    near = [candidate.near_limit for candidate in result.problems[0].candidates]
    assert near == [False, True, True, False, False]
    assert result.near_limit == {"programs": 2, "rechecked": 0}
    assert result.to_json()["near_limit"] == {"programs": 2, "rechecked": 0}
    assert any(line.startswith("2 verdicts within 20 % of a limit (cpu), which") for line in result.lines())
    assert result.to_json()["problems"][0]["candidates"][1]["tests"][0]["near_limit"] == ["cpu"]


async def test_reused_verdicts_are_counted_too(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    await scored(Timed(), path)
    sandbox = Timed()
    result = await scored(sandbox, path)
    assert (sandbox.runs, result.near_limit) == ([], {"programs": 2, "rechecked": 0})


async def test_they_are_judged_again_one_at_a_time_and_the_median_counts(tmp_path: Path) -> None:
    sandbox = Timed(slow=[4.4, 3.7, 4.5], too_slow=[3.8, 4.1, 3.9])
    result = await scored(sandbox, tmp_path / "journal.jsonl", again=True)
    verdicts = [candidate.verdict for candidate in result.problems[0].candidates]
    exceeded = Verdict.TIME_LIMIT_EXCEEDED
    assert verdicts == [Verdict.ACCEPTED, exceeded, Verdict.ACCEPTED, exceeded, Verdict.WRONG_ANSWER]
    assert result.near_limit == {"programs": 2, "rechecked": 2}
    assert [sandbox.runs.count(program) for program in PROGRAMS] == [1, 4, 4, 1, 1]


async def test_judging_again_is_resumed_without_doing_it_once_more(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    first = await scored(Timed(slow=[4.4, 4.4, 4.5]), path, again=True)
    for again in (True, False):
        sandbox = Timed()
        result = await scored(sandbox, path, again=again)
        assert sandbox.runs == []
        assert result.near_limit == {"programs": 2, "rechecked": 2}
        assert result.verdicts == first.verdicts


async def test_the_setting_judges_them_again_alone(tmp_path: Path) -> None:
    settings = Settings(code_tester=CodeTesterSection(timeout=4.0, recheck_near_limit=True, known_solutions=0))
    sandbox = Timed()
    options = EvaluateOptions([], [], k=[1])
    what = {"command": "x", "dataset": "a"}
    result = await Evaluation(tasks(), what, settings, options, sandbox).run()  # type: ignore[arg-type]
    assert result.near_limit == {"programs": 2, "rechecked": 2}
    assert any("2 of them judged again alone" in line for line in result.lines())
    assert sandbox.runs[-6:] == [SLOW] * 3 + [TOO_SLOW] * 3


def test_a_failed_program_is_near_only_if_all_its_failing_tests_are() -> None:
    late = TestResult(Verdict.TIME_LIMIT_EXCEEDED, timed(Execution(Status.FINISHED), 4.1), near_limit=("cpu",))
    wrong = TestResult(Verdict.WRONG_ANSWER, timed(Execution(Status.FINISHED), 0.1))
    near, far = (CandidateResult.of(0, "", Judgement(late.verdict, (late, other), 2)) for other in (late, wrong))
    assert (near.near_limit, far.near_limit) == (True, False)
