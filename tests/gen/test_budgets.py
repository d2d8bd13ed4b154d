import asyncio
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

from alpha_codium.config import Settings
from alpha_codium.flows import BudgetExhausted
from alpha_codium.gen.budgets import Ledger, Usage
from alpha_codium.gen.loop import SampleJob, finished_samples, generate
from alpha_codium.gen.sample_model import SampleModel
from alpha_codium.llm.errors import ContentFiltered, ProviderUnavailable
from alpha_codium.llm.messages import Answer, ChatRequest, Message
from alpha_codium.runs import RunFolder
from alpha_codium.solution import Candidate, ErrorKind
from tests.flows.scripted_flow import settings_of
from tests.gen.asking import FakeModel, echo_problem, solver_of
from tests.gen.running import write_flow

HELLO = ChatRequest((Message("user", "hello"),), temperature=0.2)


class Slow:
    """A model whose answers come when the test says so; a call that is cancelled is remembered."""

    name = "slow"

    def __init__(self):
        self.asked = 0
        self.cancelled = 0
        self.free = asyncio.Event()
        self.at_work = asyncio.Event()

    async def ask(self, request):
        self.asked += 1
        self.at_work.set()
        try:
            await self.free.wait()
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        return Answer("yes", self.name, prompt_tokens=10, completion_tokens=2, cost=0.25)

    def supports_n(self, _model=""):
        return True

    async def ask_many(self, request, n):
        return [await self.ask(request) for _ in range(n)]


def ledger_of(**values):
    return Ledger(settings_of({name.replace("__", "."): value for name, value in values.items()}))


def asking(ledger, model, problem="p", sample=0):
    """A sample's model, its budget, and what it took, counted in the ledger."""
    budget = ledger.sample(problem)
    asked = SampleModel(model, "m", f"{problem}#{sample}", budget=budget)
    return asked, budget, asked.usage


async def ask_until_spent(ledger, model, problem="p", sample=0):
    """How many calls a sample made until a budget ended it, and which."""
    asked, budget, usage = asking(ledger, model, problem, sample)
    with budget.counting(usage):
        for number in range(1000):
            try:
                await asked.ask(HELLO)
            except BudgetExhausted as spent:
                return number, spent
    raise AssertionError("nothing ended it")


@pytest.mark.parametrize(
    ("limits", "calls", "said"),
    [
        ({"solve__max_calls": 3}, 3, "the sample's budget of 3 calls"),
        ({"solve__max_tokens": 24}, 2, "the sample's budget of 24 tokens"),
        ({"solve__max_tokens": 25}, 3, "the sample's budget of 25 tokens"),
        ({"solve__max_cost": 0.5}, 2, "the sample's budget of 0.5 dollars"),
        ({"budget__problem_calls": 3}, 3, "the problem's budget of 3 calls"),
        ({"budget__problem_tokens": 13}, 2, "the problem's budget of 13 tokens"),
        ({"budget__problem_cost": 0.6}, 3, "the problem's budget of 0.6 dollars"),
        ({"budget__run_calls": 3}, 3, "the run's budget of 3 calls"),
        ({"budget__run_tokens": 13}, 2, "the run's budget of 13 tokens"),
        ({"budget__run_cost": 0.6}, 3, "the run's budget of 0.6 dollars"),
        ({"budget__run_calls": 5, "solve__max_calls": 2}, 2, "the sample's budget of 2 calls"),
    ],
)  # fmt: skip
async def test_calls_are_allowed_until_a_budget_is_used_up(limits, calls, said):
    made, spent = await ask_until_spent(ledger_of(**limits), FakeModel())
    assert (made, spent.end.budget) == (calls, said)


async def test_a_problems_budget_is_shared_by_its_samples_only():
    ledger = ledger_of(budget__problem_calls=3, solve__max_calls=2)
    made = [(await ask_until_spent(ledger, FakeModel(), problem, sample))[0] for problem in "ab" for sample in range(3)]
    assert made == [2, 1, 0, 2, 1, 0]


async def test_a_runs_budget_is_shared_by_all_samples():
    ledger = ledger_of(budget__run_calls=5, solve__max_calls=2)
    made = [(await ask_until_spent(ledger, FakeModel(), problem, 0))[0] for problem in "abcd"]
    assert made == [2, 2, 1, 0]


@examples(deadline=None, max_examples=60)
@given(
    most=st.integers(1, 30),
    wanted=st.lists(st.lists(st.integers(1, 5), max_size=6), min_size=1, max_size=50),
    faults=st.sets(st.integers(1, 100), max_size=20),
)
def test_at_any_concurrency_the_budget_of_calls_is_used_up_and_not_exceeded(most, wanted, faults):
    async def run():
        ledger = ledger_of(budget__run_calls=most)
        model = FakeModel(lambda number: ContentFiltered("no") if number in faults else "yes")
        usages = []

        async def sample(number, sizes):
            asked, budget, usage = asking(ledger, model, f"p{number}")
            usages.append(usage)
            with budget.counting(usage):
                for size in sizes:
                    try:
                        answers = [await asked.ask(HELLO)] if size == 1 else await asked.ask_many(HELLO, size)
                        assert 1 <= len(answers) <= size
                    except ContentFiltered:
                        pass
                    except BudgetExhausted:
                        return

        await asyncio.gather(*(sample(*pair) for pair in enumerate(wanted)))
        return ledger, sum(usage.llm_calls for usage in usages)

    ledger, counted = asyncio.run(run())
    assert counted == ledger.run.usage.llm_calls <= most
    assert ledger.run.in_flight == 0
    if not faults:
        assert counted == min(most, sum(map(sum, wanted)))


async def test_only_as_many_answers_are_asked_for_as_the_budget_allows():
    asked, budget, usage = asking(ledger_of(budget__run_calls=3), FakeModel())
    with budget.counting(usage):
        assert len(await asked.ask_many(HELLO, 2)) == 2
        assert len(await asked.ask_many(HELLO, 5)) == 1
        with pytest.raises(BudgetExhausted, match="the run has made its 3 calls"):
            await asked.ask_many(HELLO, 1)


async def test_a_failed_call_uses_nothing_of_the_budget():
    down = FakeModel(lambda number: ProviderUnavailable("down") if number == 1 else "yes")
    asked, budget, usage = asking(ledger_of(budget__run_calls=1), down)
    with budget.counting(usage):
        with pytest.raises(ProviderUnavailable):
            await asked.ask(HELLO)
        assert (await asked.ask(HELLO)).text == "yes"


@pytest.mark.parametrize("limit", ["solve__max_seconds", "budget__problem_seconds", "budget__run_seconds"])
async def test_a_call_in_flight_is_cancelled_when_the_time_ends(limit):
    model = Slow()
    # Long enough for the call to begin, on a busy machine, too.
    asked, budget, usage = asking(ledger_of(**{limit: 0.5}), model)
    with budget.counting(usage):
        with pytest.raises(BudgetExhausted, match=r"has had its 0\.5 seconds"):
            await asked.ask(HELLO)
        with pytest.raises(BudgetExhausted):
            await asked.ask(HELLO)
    assert (model.asked, model.cancelled) == (1, 1)
    assert all((a.in_flight, a.usage.llm_calls) == (0, 0) for a in budget.accounts)


async def test_a_timeout_of_the_model_is_not_mistaken_for_the_budgets():
    asked, budget, usage = asking(ledger_of(solve__max_seconds=1000), FakeModel(lambda _: TimeoutError("its own")))
    with budget.counting(usage), pytest.raises(TimeoutError, match="its own"):
        await asked.ask(HELLO)
    assert budget.end is None


async def test_the_time_of_a_problem_begins_with_its_first_sample():
    ledger = ledger_of(budget__problem_seconds=1000)
    ledger.count([Candidate("p", 0, "print(1)", "m", "f", llm_calls=2)])
    assert ledger.problems["p"].seconds_left is None
    ledger.sample("p")
    assert ledger.problems["p"].seconds_left is not None


async def test_an_unknown_price_exhausts_a_budget_in_money():
    ledger = ledger_of(budget__run_cost=100.0)
    ledger.count([Candidate("p", 0, "print(1)", "m", "f", llm_calls=2, cost=None)])
    with pytest.raises(BudgetExhausted, match="an unknown amount of its 100 dollars"):
        ledger.sample("p").check()


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9), st.one_of(st.none(), st.floats(0, 9))), max_size=9))
def test_usages_add_up_and_one_unknown_price_makes_the_sum_unknown(parts):
    total = Usage()
    for calls, tokens, cost in parts:
        total.take(Usage(calls, tokens, 2 * tokens, cost=cost))
    assert (total.llm_calls, total.prompt_tokens) == (sum(p[0] for p in parts), sum(p[1] for p in parts))
    assert total.completion_tokens == 2 * total.prompt_tokens
    costs = [cost for *_, cost in parts]
    assert total.cost is None if None in costs else total.cost == pytest.approx(sum(costs))


PROBLEMS = [echo_problem(name) for name in "abcdef"]


def run(folder, model, settings, flow, concurrency=50, samples=2):
    """All candidates of a run with `concurrency` samples in flight, and the ledger."""
    solver = replace(solver_of(model, flow, settings), ledger=(ledger := Ledger(settings)))
    with folder:
        return asyncio.run(generate(SampleJob(PROBLEMS, samples, concurrency), solver, folder)), ledger


@pytest.mark.parametrize("concurrency", [1, 3, 50])
def test_a_run_stays_within_its_budget_of_calls_and_every_sample_has_a_candidate(tmp_path, concurrency):
    flow, model = write_flow(tmp_path / "flow", 3), FakeModel()
    folder = RunFolder.create(tmp_path, "r", {})
    candidates, ledger = run(folder, model, settings_of({"budget.run_calls": 14}), flow, concurrency)
    assert len(model.requests) == sum(c.llm_calls for c in candidates) == 14
    assert [(c.task_name, c.sample_index) for c in candidates] == [(p.name, s) for p in PROBLEMS for s in (0, 1)]
    for candidate in candidates:
        if candidate.llm_calls:
            assert candidate.program == "print(input())\n"
        else:
            said = "internal: the run's budget of 14 calls was spent before this sample"
            assert (str(candidate.error), candidate.program) == (said, "")
    assert ledger.cut_short["the run's budget of 14 calls"] == sum(c.llm_calls < 3 for c in candidates)


def test_resuming_with_a_larger_budget_tries_unbegun_samples_and_counts_earlier_use(tmp_path):
    flow, folder = write_flow(tmp_path / "flow", 3), RunFolder.create(tmp_path, "r", {})
    first, _ = run(folder, FakeModel(), settings_of({"budget.run_calls": 14}), flow, 1)
    finished = {(c.task_name, c.sample_index): c for c in first if c.is_final}
    same = FakeModel()
    again, _ = run(folder, same, settings_of({"budget.run_calls": 14}), flow, 1)
    assert (again, same.requests) == (first, [])
    model = FakeModel()
    candidates, _ = run(folder, model, settings_of({"budget.run_calls": 20}), flow, 1)
    assert len(model.requests) == 6
    assert sum(c.llm_calls for c in candidates) == 20
    kept = finished_samples(folder.journal)
    assert {key: kept[key] for key in finished} == finished


def test_answers_that_the_store_has_count_as_they_did(tmp_path):
    flow, folder = write_flow(tmp_path / "flow", 3), RunFolder.create(tmp_path, "r", {})
    killed = FakeModel(lambda number: "```python\nprint(input())\n```" if number < 3 else KeyboardInterrupt())
    with pytest.raises(KeyboardInterrupt):
        run(folder, killed, Settings(), flow, 1, samples=1)
    model = FakeModel()
    candidates, _ = run(folder, model, settings_of({"budget.run_calls": 4}), flow, 1, samples=1)
    # Two of the four calls were answered before the kill.
    assert len(model.requests) == 2
    assert [c.llm_calls for c in candidates] == [3, 1, 0, 0, 0, 0]


def test_a_sample_without_a_program_by_the_runs_budget_is_no_fault_of_the_model(tmp_path):
    flow, folder = write_flow(tmp_path / "flow", 3), RunFolder.create(tmp_path, "r", {})
    settings = settings_of({"budget.run_calls": 2, "solve.max_format_retries": 1})
    candidates, _ = run(folder, FakeModel(lambda _: "I can't."), settings, flow, 1, samples=1)
    said = "the run's budget of 2 calls was spent before this sample had a program"
    assert (candidates[0].error.kind, candidates[0].error.message) == (ErrorKind.INTERNAL, said)
    own, _ = run(
        RunFolder.create(tmp_path, "s", {}),
        FakeModel(lambda _: "I can't."),
        settings_of({"solve.max_calls": 2, "solve.max_format_retries": 1}),
        flow,
        samples=1,
    )
    assert {c.error.kind for c in own} == {ErrorKind.MODEL}


def test_the_transcript_says_which_budget_ended_a_sample(tmp_path):
    import json

    flow, folder = write_flow(tmp_path / "flow", 3), RunFolder.create(tmp_path, "r", {})
    run(folder, FakeModel(), settings_of({"budget.problem_calls": 2}), flow, 1, samples=1)
    transcripts = [json.loads(path.read_text()) for path in (folder.path / "transcripts").rglob("*.json")]
    assert len(transcripts) == len(PROBLEMS)
    for transcript in transcripts:
        ended = [event for event in transcript["events"] if event["kind"] == "budget_end"]
        end = {"kind": "budget_end", "owner": "problem", "limit": "calls", "amount": 2, "price_unknown": False}
        assert ended == [end]
        assert transcript["candidate"]["program"] == "print(input())\n"
