"""Requests of which a budget lets only a part be answered: what came is used, and a replay gets the same part."""

import asyncio
from dataclasses import replace

import pytest

from alpha_codium.gen.loop import SampleJob, generate
from alpha_codium.gen.replaying import replay_samples
from alpha_codium.llm.errors import ContentFiltered
from alpha_codium.runs import RunFolder
from tests.flows.scripted_flow import settings_of
from tests.gen.asking import FakeModel, echo_problem, solver_of
from tests.gen.running import ECHO

MANY = {"resample.answers_per_request": 5}
# Long enough for answers that come at once.
SECONDS = 1.5


class OneAtATime(FakeModel):
    """Gives one answer a request, and to the requests of these numbers none."""

    def __init__(self, reply=lambda _number: ECHO, hangs=()):
        super().__init__(reply)
        self.hangs = hangs

    def supports_n(self, _model=""):
        return False

    async def ask(self, request):
        number = len(self.requests) + 1
        answer = await super().ask(request)
        if number in self.hangs:
            await asyncio.Event().wait()
        return answer


def solve(model, settings, flow="resample"):
    return asyncio.run(solver_of(model, flow, settings_of(settings)).solve(echo_problem("a"), 0))[0]


@pytest.fixture
def run(tmp_path):
    """Generates, or goes on generating, two samples one after the other; the candidates, and what a replay says."""

    def generated(model, settings, flow="resample"):
        there = (tmp_path / "r").exists()
        folder = RunFolder.reopen(tmp_path, "r") if there else RunFolder.create(tmp_path, "r", {})
        solver, job = solver_of(model, flow, settings_of(settings)), SampleJob([echo_problem("a")], 2, 1)
        with folder:
            candidates = asyncio.run(generate(job, solver, folder))
        return candidates, asyncio.run(replay_samples(job, replace(solver, ledger=None), folder))

    return generated


def assert_the_same(replayed, compared=2):
    assert (replayed.missing, replayed.differing, replayed.compared) == ([], [], compared)


@pytest.mark.parametrize("kind", [FakeModel, OneAtATime])
def test_an_unreadable_answer_without_budget_for_a_retry_leaves_the_others_usable(kind):
    model = kind(lambda number: "I can't." if number == 1 else ECHO)
    candidate = solve(model, MANY | {"solve.max_calls": 5})
    assert (candidate.program, candidate.llm_calls) == ("print(input())\n", 5)


@pytest.mark.thorough
def test_answers_that_came_before_the_time_ended_are_used():
    candidate = solve(OneAtATime(hangs={2}), MANY | {"solve.max_seconds": SECONDS})
    assert (candidate.program, candidate.llm_calls) == ("print(input())\n", 4)


@pytest.mark.parametrize("flow", ["resample", "select"])
def test_a_refused_answer_among_several_leaves_the_others_usable(flow):
    model = OneAtATime(lambda number: ContentFiltered("no") if number == 2 else ECHO)
    candidate = solve(model, MANY | {"select.candidates": 5}, flow)
    assert (candidate.program, candidate.error) == ("print(input())\n", None)


def test_each_of_all_attempts_has_a_seed_of_its_own():
    model = OneAtATime(lambda _number: "I can't.")
    solve(model, MANY | {"resample.max_attempts": 12, "config.seed": 3, "solve.max_format_retries": 0})
    assert len(model.requests) == len({request.seed for request in model.requests}) == 12


@pytest.mark.parametrize("kind", [FakeModel, OneAtATime])
def test_a_sample_that_was_granted_a_part_of_its_answers_is_replayed(run, kind):
    candidates, replayed = run(kind(), MANY | {"budget.run_calls": 7})
    assert [candidate.llm_calls for candidate in candidates] == [5, 2]
    assert_the_same(replayed)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("flow", "hangs"),
    [("resample", {2}), ("resample", {1, 2, 3, 4, 5}), ("resample", {7}), ("select", {1, 3}), ("select", {5, 6})],
)
def test_a_sample_is_replayed_whichever_answers_came_before_its_time_ended(run, flow, hangs):
    """The first answers hold no program and are asked for again; each program is another than all others."""
    model = OneAtATime(lambda n: f"```python\nprint(input())  # {n}\n```" if n > 3 else f"no {n}", hangs)
    settings = MANY | {"select.candidates": 5, "solve.max_seconds": SECONDS}
    candidates, replayed = run(model, settings, flow)
    assert len(model.requests) == sum(candidate.llm_calls for candidate in candidates) + len(hangs)
    assert_the_same(replayed)


def test_partial_answers_from_before_a_resume_are_not_replayed(run):
    silent = OneAtATime(lambda number: f"no {number}")
    first, _ = run(silent, MANY | {"budget.run_calls": 3})
    assert not any(candidate.is_final for candidate in first)
    candidates, replayed = run(OneAtATime(), MANY)
    assert [candidate.llm_calls for candidate in candidates] == [8, 5]
    assert_the_same(replayed)


def test_a_sample_that_a_resumed_run_did_not_reach_lacks_no_answer(run):
    """It had some in an earlier part of the run."""
    silent = OneAtATime(lambda number: f"no {number}")
    first, replayed = run(silent, MANY | {"budget.run_calls": 3})
    assert_the_same(replayed, compared=1)
    assert [candidate.llm_calls for candidate in first] == [3, 0]
    second, replayed = run(silent, MANY | {"budget.run_seconds": 1e-9})
    assert_the_same(replayed, compared=0)
    assert [each.reason for each in replayed.never_begun] == ["the run's budget of 1e-09 seconds was spent"] * 2
    assert replayed.candidates == second
