"""Every setting changes what happens: here the budgets of samples, problems and runs, and prices."""

import asyncio
import json

import pytest

from alpha_codium.app.generation import solve_set
from alpha_codium.cli.options import CommonOptions
from alpha_codium.gen.budgets import Ledger
from alpha_codium.gen.preview import check_prices
from alpha_codium.solution import BudgetEnd
from tests.flows.scripted_flow import MODEL, ONE, program, settings_of
from tests.flows.switches import changes
from tests.servers.scripted import Hang, ScriptedServer, When

PRICE = '{"openai/scripted" = {input = 1000000, output = 0}}'


@changes("solve.max_seconds")
async def test_max_seconds_ends_a_sample_in_the_middle_of_a_call(bench):
    with ScriptedServer(faults=[When(lambda _: True, Hang())]) as server:
        outcome = await bench.solve(settings={"solve.max_seconds": 0.5}, api_base=server.api_base)
    assert "had its 0.5 seconds" in str(outcome.candidate.error)
    assert str(outcome.all(BudgetEnd)[-1]) == "the sample has had its 0.5 seconds"


def run_of(folder, *overrides):
    """How many calls each sample made of a run of three problems with two samples, one at a time."""
    tests = {"input": ["1 2\n"], "output": ["3\n"]}
    rows = [{"name": f"P{n}", "description": "Print 3.", "public_tests": tests} for n in range(3)]
    (folder / "few.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    with ScriptedServer(lambda body: program("print(3)")) as server:
        given = (f"config.model={MODEL}", f"config.api_base={server.api_base}", "config.concurrency=1", *overrides)
        common = CommonOptions(None, (*given, "config.cache=false"), None, -2)
        summary = solve_set(str(folder / "few.jsonl"), samples=2, flow="baseline", settings=common.settings)
        return len(server.requests), summary


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("GENCODE_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("OPENAI_API_KEY", "sk-scripted-0123456789")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@changes(
    "budget.run_calls",
    "budget.run_tokens",
    "budget.run_cost",
    "budget.problem_calls",
    "budget.problem_tokens",
    "budget.problem_cost",
    "prices.models",
)
@pytest.mark.parametrize(
    ("budget", "calls"),
    [
        ("budget.run_calls=4", 4),
        ("budget.run_tokens=1", 1),
        ("budget.run_cost=0.5", 1),
        ("budget.problem_calls=1", 3),
        ("budget.problem_tokens=1", 3),
        ("budget.problem_cost=0.5", 3),
    ],
)
def test_a_budget_bounds_the_calls_of_a_run_or_of_each_problem(folder, budget, calls):
    asked, summary = run_of(folder, budget, f"prices.models={PRICE}")
    assert (asked, summary.unfinished) == (calls, 6 - calls)
    assert sum(summary.ended_by_budget.values()) == 6 - calls


def test_without_a_budget_all_is_asked(folder):
    asked, summary = run_of(folder)
    assert (asked, summary.ended_by_budget) == (6, {})


@changes("budget.run_seconds", "budget.problem_seconds")
@pytest.mark.parametrize("whose", ["run", "problem"])
async def test_seconds_of_a_run_or_of_a_problem_cancel_a_call(whose):
    budget = Ledger(settings_of({f"budget.{whose}_seconds": 0.01})).sample(ONE.name)
    never = asyncio.Event()
    with pytest.raises(Exception, match=rf"the {whose} has had its 0\.01 seconds"):
        async with budget.calls(1, request=0):
            await never.wait()


def test_a_budget_in_money_accepts_a_price_from_the_settings():
    settings = {"config.model": MODEL, "budget.run_cost": 1.0, "prices.models": {MODEL: {"input": 1, "output": 1}}}
    check_prices(settings_of(settings))
    with pytest.raises(Exception, match="isn't known"):
        check_prices(settings_of(settings | {"prices.models": {}}))
