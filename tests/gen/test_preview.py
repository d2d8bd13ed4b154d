from dataclasses import dataclass

import pytest

from alpha_codium.errors import UserError
from alpha_codium.flows import Flow, load_flow
from alpha_codium.flows.loading import shipped_flows
from alpha_codium.gen.budgets import Usage
from alpha_codium.gen.preview import LONGEST_ANSWER, check_prices, models_asked, preview_of
from alpha_codium.problem import ExecutionSpec, Problem, TestCase
from alpha_codium.rendering import Prompt
from tests.flows.scripted_flow import settings_of

PRICES = {"openai/mine": {"input": 2.0, "output": 10.0}, "openai/other": {"input": 1.0, "output": 20.0}}
MINE = {"config.model": "openai/mine", "prices.models": PRICES, "solve.max_format_retries": 0}
PROBLEM = Problem("p", "x" * 400, public_tests=(TestCase("1" * 20, "2" * 20),))


@dataclass(frozen=True)
class Asks:
    """A stage that says how many calls it makes."""

    prompt: Prompt
    least: int = 1
    most: int = 1

    def calls(self, settings, statement):
        return self.least, self.most if statement.public_tests else self.least

    async def run(self, state, context):
        pass


@dataclass(frozen=True)
class Silent:
    """A stage that doesn't."""

    async def run(self, state, context):
        pass


def flow_of(*stages, tmp_path="."):
    return Flow("f", "", stages, tmp_path, stage_kinds=tuple("kind" for _ in stages))


def prompt_of(length):
    return Prompt("prompt", "y" * length)


def of(flow, settings=None, problems=(PROBLEM,), samples=1):
    return preview_of(flow, problems, samples, settings_of(MINE | (settings or {})))


TWO = flow_of(Asks(prompt_of(200)), Asks(prompt_of(600), 0, 4))


def test_calls_are_those_of_the_stages_times_the_samples():
    preview = of(TWO, samples=6, problems=[PROBLEM] * 3)
    assert (preview.problems, preview.samples, preview.calls) == (3, 6, 30)


def test_a_problem_without_public_tests_takes_its_own_number_of_calls():
    bare = Problem("q", "x" * 400)
    assert of(TWO, problems=[PROBLEM, bare], samples=2).calls == 6


def test_answers_that_cannot_be_read_may_be_asked_for_again():
    assert of(TWO, {"solve.max_format_retries": 2}).calls == 15


def test_tokens_come_of_the_statement_the_templates_and_the_answers():
    preview = of(TWO, {"config.max_tokens": 100})
    # 400 characters of statement, 40 of tests, the longer template, and two answers of before.
    assert preview.prompt_tokens == 5 * ((400 + 40 + 600) / 4 + 2 * 100)
    assert preview.completion_tokens == 500
    assert of(TWO).completion_tokens == 5 * LONGEST_ANSWER


def test_the_cost_is_the_tokens_by_the_price():
    preview = of(TWO, {"config.max_tokens": 100})
    assert preview.cost == pytest.approx((preview.prompt_tokens * 2 + 500 * 10) / 1e6)
    assert f"cost up to ${preview.cost:.4f}"[:15] in preview.line()


def test_the_most_expensive_model_bounds_the_cost():
    one, both = of(TWO), of(TWO, {"config.model_by_prompt": {"reflect": "openai/other"}})
    assert both.models == ("openai/mine", "openai/other")
    assert both.cost > one.cost


@pytest.mark.parametrize(
    ("config", "models"),
    [
        ({}, ("openai/mine",)),
        ({"rotate_models": ["a/b", "a/c"]}, ("a/b", "a/c")),
        ({"model_by_prompt": {"x": "a/b", "y": "openai/mine"}}, ("openai/mine", "a/b")),
        ({"fallback_models": ["a/b"]}, ("openai/mine",)),
    ],
)
def test_the_models_are_those_that_samples_ask(config, models):
    values = {f"config.{key}": value for key, value in config.items()}
    assert models_asked(settings_of(MINE | values)) == models


def test_an_unknown_price_is_unknown_and_never_nothing():
    preview = of(TWO, {"config.model": "openai/nobody-knows"})
    assert (preview.cost, preview.unpriced) == (None, ("openai/nobody-knows",))
    assert "cost unknown" in preview.line()
    said = 'cost               unknown: give prices.models = {"openai/nobody-knows" = {input = 0.5, output = 1.5}}'
    assert said in preview.lines()


def test_a_local_model_costs_nothing():
    assert of(TWO, {"config.model": "local/small"}).cost == 0


def test_a_stage_that_does_not_tell_its_calls_leaves_the_end_open():
    preview = of(flow_of(Asks(prompt_of(10)), Silent()))
    assert (preview.calls, preview.prompt_tokens, preview.cost) == (None, None, None)
    assert "calls unknown, tokens unknown, cost unknown" in preview.line()


def test_the_budget_of_a_samples_calls_bounds_what_is_foreseen():
    assert of(flow_of(Silent()), {"solve.max_calls": 7}, samples=2).calls == 14
    assert of(TWO, {"solve.max_calls": 3}).calls == 3
    assert of(TWO, {"solve.max_calls": 100}).calls == 5


def test_fewer_calls_than_the_flow_needs_leave_stages_out():
    three = flow_of(Asks(prompt_of(10)), Asks(prompt_of(10)), Asks(prompt_of(10)))
    said = "at most 2 calls a sample: below the flow's minimum of 3, so some stages will be left out"
    assert of(three, {"solve.max_calls": 2}).cuts == (said,)
    assert of(three, {"solve.max_calls": 3}).cuts == ()


@pytest.mark.parametrize(
    ("budget", "cut"),
    [
        ({}, []),
        ({"budget.run_calls": 30}, []),
        ({"budget.run_calls": 29}, ["at most 29 calls in all"]),
        ({"budget.run_calls": 5}, ["at most 5 calls in all"]),
        ({"budget.problem_calls": 9}, ["at most 9 calls a problem"]),
        ({"budget.problem_calls": 10}, []),
        ({"budget.run_cost": 0.0001}, ["at most $0.0001 in all"]),
        ({"solve.max_cost": 0.01}, ["at most $0.01 a sample"]),
        ({"budget.run_tokens": 3000}, ["at most 3000 tokens in all"]),
        ({"budget.run_seconds": 60.0, "solve.max_seconds": 5.0}, ["at most 5 s a sample", "at most 60 s in all"]),
    ],
)
def test_the_preview_says_which_budgets_may_end_the_run(budget, cut):
    assert list(of(TWO, budget, [PROBLEM] * 3, 6).cuts) == cut


def test_where_nothing_is_left_to_do_no_budget_leaves_samples_out():
    used = Usage(llm_calls=50)
    settings = settings_of(MINE | {"budget.run_calls": 40, "budget.run_seconds": 9.0})
    assert preview_of(TWO, [PROBLEM], 0, settings, used).cuts == ()
    assert "at most 40 calls in all, including earlier samples" in preview_of(TWO, [PROBLEM], 1, settings, used).cuts


@pytest.mark.parametrize(("on", "said"), [(True, "on: answers that it holds count here"), (False, "off")])
def test_the_preview_says_whether_answers_may_come_from_the_cache(on, said):
    preview = of(TWO, {"config.cache": on})
    (line,) = [line for line in preview.lines() if line.startswith("cache ")]
    assert line.split(maxsplit=1)[1].startswith(said)
    assert preview.cache is on


def test_of_many_problems_a_hundred_stand_for_the_others():
    class Counted(list):
        asked = 0

        def __getitem__(self, place):
            Counted.asked += 1
            return super().__getitem__(place)

    problems = Counted([PROBLEM] * 10_000)
    assert of(TWO, problems=problems, samples=20_000).calls == 100_000
    assert Counted.asked <= 2 * 100


def test_the_flow_that_chooses_is_seen_by_each_problems_kind():
    function = Problem("f", "def f(x):\n", execution=ExecutionSpec("assertions", entry_point="f"))
    chosen = Flow("auto", "", (), ".", by_kind={"stdin": TWO, "assertions": flow_of(Asks(prompt_of(10)))})
    assert of(chosen, problems=[PROBLEM, function], samples=2).calls == 6


@pytest.mark.parametrize("name", sorted(shipped_flows()))
def test_every_shipped_flow_tells_what_it_takes(name):
    preview = of(load_flow(name))
    assert preview.calls is not None
    assert preview.calls >= 1


@pytest.mark.parametrize("budget", ["solve.max_cost", "budget.run_cost", "budget.problem_cost"])
@pytest.mark.parametrize("config", [{"model": "openai/no-such"}, {"fallback_models": ["openai/no-such"]}])
def test_a_budget_in_money_needs_the_price_of_every_model(budget, config):
    settings = MINE | {f"config.{key}": value for key, value in config.items()}
    check_prices(settings_of(settings))
    check_prices(settings_of(MINE | {budget: 1.0}))
    with pytest.raises(UserError) as error:
        check_prices(settings_of(settings | {budget: 1.0}))
    assert 'prices.models = {"openai/no-such" = {input = 0.5, output = 1.5}}' in str(error.value)


def test_a_price_that_is_given_or_that_litellm_knows_is_known():
    check_prices(settings_of({"config.model": "openai/gpt-4o-mini", "budget.run_cost": 1.0}))
    check_prices(settings_of({"config.model": "local/small", "budget.run_cost": 1.0}))
