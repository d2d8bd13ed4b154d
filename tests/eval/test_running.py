"""Judging a split: in order, in bounded numbers, and able to go on."""

import asyncio
import dataclasses
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from alpha_codium.eval.prepare import human_solutions, prepare_for_evaluation
from alpha_codium.eval.results import CandidateResult
from alpha_codium.eval.running import run_evaluation
from alpha_codium.judge import Judge
from alpha_codium.judge.executors import IN_FLIGHT_PER_WORKER, LocalPool
from alpha_codium.problem import CheckerSpec, ExecutionSpec
from alpha_codium.runs import Journal
from alpha_codium.verdict import Execution, Judgement, Status, TestResult, Verdict
from tests.eval.splits import BROKEN, LOST, RIGHT, WRONG, Arithmetic, labelled, problem
from tests.eval.test_prepare import row


async def judged(rows: list[dict], names: str, sandbox: Arithmetic, path: Path | None = None) -> dict[str, list[str]]:
    tasks = prepare_for_evaluation(rows, [problem(name) for name in names])
    if path is None:
        results = await run_evaluation(tasks, Judge(sandbox))
    else:
        with Journal(path) as journal:
            results = await run_evaluation(tasks, Judge(sandbox), journal=journal)
    return {result.name: [candidate.verdict.value for candidate in result.candidates] for result in results}


async def test_results_stand_in_the_splits_order() -> None:
    rows = [row(name, RIGHT, WRONG) for name in "dbca"]
    results = await judged(rows, "abcd", Arithmetic())
    assert list(results) == list("abcd")
    assert results["c"] == ["accepted", "wrong_answer"]


async def test_what_the_journal_holds_is_not_judged_again(tmp_path: Path) -> None:
    rows = [row("a", RIGHT, WRONG), row("b", BROKEN, "")]
    first, second = Arithmetic(), Arithmetic()
    results = await judged(rows, "ab", first, tmp_path / "journal.jsonl")
    assert await judged(rows, "ab", second, tmp_path / "journal.jsonl") == results
    assert (len(first.runs), len(second.runs)) == (3, 0)


async def test_programs_with_the_same_text_are_run_once_and_each_counts() -> None:
    sandbox = Arithmetic()
    rows = [row("a", RIGHT, WRONG, RIGHT, RIGHT + " ", WRONG), row("b", RIGHT)]
    results = await judged(rows, "ab", sandbox)
    assert results["a"] == ["accepted", "wrong_answer", "accepted", "accepted", "wrong_answer"]
    assert sorted(sandbox.runs) == sorted([RIGHT, WRONG, RIGHT + " ", RIGHT])


async def test_a_shared_verdict_is_each_candidates_own_result(tmp_path: Path) -> None:
    human = labelled("a")
    human = dataclasses.replace(human, incorrect_solutions=human.incorrect_solutions + human.solutions)
    with Journal(tmp_path / "journal.jsonl") as journal:
        tasks = human_solutions([human], "both", "private_tests")
        (result,) = await run_evaluation(tasks, Judge(Arithmetic()), journal=journal)
    assert [(c.group, c.index, c.verdict.value) for c in result.candidates] == [
        ("correct", 0, "accepted"),
        ("correct", 1, "wrong_answer"),
        ("incorrect", 0, "compilation_error"),
        ("incorrect", 1, "wrong_answer"),
        ("incorrect", 2, "accepted"),
        ("incorrect", 3, "wrong_answer"),
    ]
    assert len((tmp_path / "journal.jsonl").read_text().splitlines()) == 6


async def test_a_verdict_in_the_journal_is_shared_too_and_each_gets_a_line_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    whole = await judged([row("a", RIGHT, WRONG, RIGHT)], "a", Arithmetic(), path)
    lines = path.read_text().splitlines(keepends=True)
    for kept in range(len(lines)):
        path.write_text("".join(lines[:kept]))
        again = Arithmetic()
        assert await judged([row("a", RIGHT, WRONG, RIGHT)], "a", again, path) == whole
        assert sorted(path.read_text().splitlines()) == sorted(line.strip() for line in lines)
        assert len(again.runs) <= 2 - (kept > 0)


async def test_samples_without_a_program_share_nothing_with_those_that_were_lost(tmp_path: Path) -> None:
    errors = ["model: no code", "provider: HTTP 500", "internal: ours", "model: refused"]
    rows = [row("a", "", "", "", "", sample_errors=errors)]
    for _ in range(2):
        results = await judged(rows, "a", Arithmetic(), tmp_path / "journal.jsonl")
        assert results["a"] == ["compilation_error", "internal_error", "internal_error", "compilation_error"]
    tasks = prepare_for_evaluation(rows, [problem("a")])
    (result,) = await run_evaluation(tasks, Judge(Arithmetic()))
    assert [candidate.error for candidate in result.candidates] == errors


def test_a_verdict_from_the_programs_own_process_says_so() -> None:
    tests = (TestResult(Verdict.ACCEPTED, Execution(Status.FINISHED), trust) for trust in ("outside", "in_process"))
    shown = CandidateResult.of(0, "generated", Judgement(Verdict.ACCEPTED, tuple(tests), 2)).to_json()
    assert [test.get("trust") for test in shown["tests"]] == [None, "in_process"]


async def test_only_what_got_no_verdict_is_judged_again(tmp_path: Path) -> None:
    rows = [row("a", RIGHT, LOST), row("b", WRONG)]
    results = await judged(rows, "ab", Arithmetic(), tmp_path / "journal.jsonl")
    assert results["a"] == ["accepted", "internal_error"]
    again = Arithmetic(lose=False)
    assert (await judged(rows, "ab", again, tmp_path / "journal.jsonl"))["a"] == ["accepted", "accepted"]
    assert again.runs == [LOST]


async def test_a_program_that_changed_is_judged_again(tmp_path: Path) -> None:
    await judged([row("a", WRONG)], "a", Arithmetic(), tmp_path / "journal.jsonl")
    changed = await judged([row("a", RIGHT)], "a", Arithmetic(), tmp_path / "journal.jsonl")
    assert changed == {"a": ["accepted"]}


async def test_a_sample_that_the_provider_lost_is_never_run() -> None:
    sandbox = Arithmetic()
    rows = [row("a", "", sample_errors=["provider: HTTP 500"])]
    assert await judged(rows, "a", sandbox) == {"a": ["internal_error"]}
    assert sandbox.runs == []


@pytest.mark.parametrize(
    "given",
    [
        {"checker": CheckerSpec("tokns")},
        {"execution": ExecutionSpec("cal")},
        {"input_file": "/etc/in.txt"},
        {"output_file": "../out.txt"},
    ],
    ids=str,
)
async def test_a_problem_that_can_not_be_judged_gets_no_verdict_and_the_others_go_on(given) -> None:
    problems = [problem("a"), problem("b", **given)]
    tasks = prepare_for_evaluation([row("a", RIGHT), row("b", RIGHT, RIGHT)], problems)
    first, second = await run_evaluation(tasks, Judge(Arithmetic()))
    assert [c.verdict for c in first.candidates] == [Verdict.ACCEPTED]
    assert [c.verdict for c in second.candidates] == [Verdict.INTERNAL_ERROR] * 2
    assert all("'b'" in c.error for c in second.candidates)


async def test_only_so_many_programs_are_judged_at_a_time_as_keep_the_workers_busy() -> None:
    class Counting(Arithmetic):
        now = most = 0

        async def report(self, program, inputs, limits):
            Counting.now += 1
            Counting.most = max(Counting.most, Counting.now)
            await asyncio.sleep(0)
            report = await super().report(program, inputs, limits)
            Counting.now -= 1
            return report

    tasks = prepare_for_evaluation([row("a", *(f"{RIGHT}  # {i}" for i in range(50)))], [problem("a")])
    judge = Judge(Counting())
    await run_evaluation(tasks, judge, LocalPool(judge.sandbox, 3))
    assert Counting.most == 3 * IN_FLIGHT_PER_WORKER


async def test_a_fault_in_one_program_ends_those_beside_it_before_it_is_raised() -> None:
    class Failing(Arithmetic):
        async def report(self, program, inputs, limits):
            if program == BROKEN:
                raise RuntimeError("ours")
            await asyncio.Event().wait()

    tasks = prepare_for_evaluation([row("a", RIGHT, BROKEN, WRONG)], [problem("a")])
    with pytest.raises(RuntimeError, match="ours"):
        await run_evaluation(tasks, Judge(Failing()))
    assert len(asyncio.all_tasks()) == 1


async def test_a_large_split_is_drawn_as_room_appears() -> None:
    drawn: list[int] = []
    finished: list[str] = []

    def tasks():
        for number, task in enumerate(prepare_for_evaluation([row(n, RIGHT) for n in names], split)):
            drawn.append(number - len(finished))
            yield task

    names = [f"p{i}" for i in range(100)]
    split = [problem(name) for name in names]
    judge = Judge(Arithmetic())
    await run_evaluation(tasks(), judge, LocalPool(judge.sandbox, 2), on_result=lambda name, _: finished.append(name))
    assert len(finished) == 100
    assert max(drawn) <= IN_FLIGHT_PER_WORKER * 2 + 2


@given(
    st.builds(
        CandidateResult,
        index=st.integers(0),
        group=st.sampled_from(["generated", "correct", "incorrect"]),
        verdict=st.sampled_from(Verdict),
        tests_passed=st.integers(0),
        tests_total=st.integers(0),
        tests=st.lists(st.fixed_dictionaries({"verdict": st.sampled_from([str(v) for v in Verdict])})).map(tuple),
        error=st.text(),
    )
)
def test_a_result_is_read_back_as_it_was_written(result: CandidateResult) -> None:
    assert CandidateResult.from_json(result.to_json()) == result


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.lists(st.sampled_from([RIGHT, WRONG, BROKEN, "", LOST]), max_size=3), min_size=1, max_size=5),
    st.integers(0, 400),
)
def test_a_journal_cut_anywhere_gives_the_same_results_when_gone_on_with(
    tmp_path_factory: pytest.TempPathFactory, programs: list[list[str]], cut: int
) -> None:
    path = tmp_path_factory.mktemp("cut") / "journal.jsonl"
    rows = [row(f"{i}", *codes) for i, codes in enumerate(programs)]
    names = "".join(f"{i}" for i in range(len(rows)))
    whole = asyncio.run(judged(rows, names, Arithmetic(), path))
    path.write_bytes(path.read_bytes()[: -cut or None])
    assert asyncio.run(judged(rows, names, Arithmetic(), path)) == whole
