"""What is kept of a program's run."""

import asyncio
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alpha_codium.audit.datasets.alternatives import alternatives_for
from alpha_codium.audit.datasets.observation import KEPT_OUTPUT, Observation, Output, Wider, observe
from alpha_codium.audit.datasets.running import Observations, Observing
from alpha_codium.eval.prepare import EvaluationTask
from alpha_codium.judge import Judge, Rules
from alpha_codium.judge.executors import LocalPool
from alpha_codium.problem import Problem, TestCase
from alpha_codium.program import as_program
from alpha_codium.runs import Journal
from alpha_codium.verdict import KEPT, Execution, Judgement, Status, TestResult, Verdict
from tests.eval.splits import RIGHT, WRONG, Arithmetic, labelled

VERDICTS = st.sampled_from([v for v in Verdict if v is not Verdict.NO_TESTS])
OBSERVATIONS = st.integers(0, 4).flatmap(
    lambda n: st.builds(
        Observation,
        verdicts=st.lists(VERDICTS, min_size=n, max_size=n).map(tuple),
        cpu_seconds=st.lists(st.floats(0, 100), min_size=n, max_size=n).map(tuple),
        max_rss_bytes=st.lists(st.integers(0, 2**40), min_size=n, max_size=n).map(tuple),
        accepted_by=st.dictionaries(st.text(max_size=5), st.text("01?", min_size=n, max_size=n), max_size=3),
        outputs=st.dictionaries(st.integers(0, 9), st.text().map(Output.of), max_size=3),
        wider=st.dictionaries(st.integers(0, 9), st.builds(Wider, VERDICTS, st.floats(0, 9)), max_size=3),
        message=st.text(),
    )
)


@pytest.mark.thorough
@given(OBSERVATIONS)
def test_an_observation_is_read_back_as_it_was_written(seen: Observation) -> None:
    assert Observation.from_json(json.loads(json.dumps(seen.to_json()))) == seen


def test_outputs_longer_than_what_is_kept_are_accepted_by_no_checker_for_sure() -> None:
    test, output = TestCase("", "x"), "x" * KEPT
    judgement = Judgement(
        Verdict.ACCEPTED, (TestResult(Verdict.ACCEPTED, Execution(Status.FINISHED, stdout=output)),), 1
    )
    seen = observe([test], judgement, alternatives_for(Problem("p")), keep_outputs=True)
    assert set(seen.accepted_by.values()) == {"?"}
    assert seen.accepting(0) is None


def test_only_the_beginning_of_a_rejected_output_is_kept_and_a_hash_of_the_whole() -> None:
    one, other = Output.of("a " * KEPT_OUTPUT), Output.of("a " * KEPT_OUTPUT + "b")
    assert (one.text, one.whole) == (other.text, False)
    assert one.digest != other.digest
    assert Output.of("1 2\n").digest == Output.of(" 1\n2").digest


async def observed(source: str, problem: Problem, journal: Journal) -> Judgement:
    judge, program = Judge(Arithmetic(), Rules()), as_program(source)
    task = EvaluationTask(problem, problem.private_tests, ())
    judgement = await judge.for_problem(problem).judge(program, task.tests)
    return await Observing(judge, LocalPool(judge.sandbox), journal)(task, program, judgement)


def test_observations_are_on_the_disk_before_the_verdict_and_the_last_one_counts(tmp_path: Path) -> None:
    problem = labelled("a")
    with Journal(tmp_path / "o.jsonl") as journal:
        verdicts = [asyncio.run(observed(p, problem, journal)).verdict for p in (RIGHT, WRONG, RIGHT)]
    assert verdicts == ["accepted", "wrong_answer", "accepted"]
    with (tmp_path / "o.jsonl").open("ab") as torn:
        torn.write(b'{"problem": "a", "prog')
    found = Observations(Journal(tmp_path / "o.jsonl"))
    right, wrong = found.get("a", as_program(RIGHT)), found.get("a", as_program(WRONG))
    assert right is not None and right.verdicts == (Verdict.ACCEPTED,) * 2
    assert wrong is not None and wrong.verdicts == (Verdict.WRONG_ANSWER,) * 2, "no test is left out"
    assert [output.text for output in wrong.outputs.values()] == ["0\n", "0\n"]
    assert found.get("a", as_program("print(1)")) is None and found.get("b", as_program(RIGHT)) is None


def test_what_a_known_incorrect_program_printed_is_not_kept(tmp_path: Path) -> None:
    problem = Problem("a", private_tests=(TestCase("1\n", "2\n"),))
    with Journal(tmp_path / "o.jsonl") as journal:
        asyncio.run(observed(WRONG, problem, journal))
    seen = Observations(Journal(tmp_path / "o.jsonl")).get("a", as_program(WRONG))
    assert seen is not None and seen.outputs == {}
    assert seen.accepting(0) is None
