"""No two requests of a sample are the same: of any shipped flow, with a model that always fails."""

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from alpha_codium.flows.loading import shipped_flows
from alpha_codium.flows.variation import Attempts, Variation
from alpha_codium.llm.messages import ChatRequest, Message
from tests.flows.scripted_flow import (
    CRASH,
    ONE,
    TWO,
    ai_tests,
    answering,
    chosen,
    explanations,
    fields,
    fixed,
    plans,
    program,
    settings_of,
)
from tests.flows.test_complete_flow import CALL, HUMANEVAL

WRONG = ("print(0)", CRASH, answering({"1 2": 3}), "def broken(:", "def total(numbers):\n    return 0")
PROGRAMS = [text for code in WRONG for text in (program(code), fixed(code))]
NOTHING = ["", "No.", "```python\n...\n```", "TEST IS WRONG", "1 2"]
STRUCTURED = [
    fields(self_reflection="- add", tests_explanations=explanations(("1 2", "3"))),
    plans("one", "two", "three"),
    chosen("two"),
    ai_tests(("2 2", "5"), ("1 2", "4"), ("total([2])", "9")),
    fields(failed_tests="it stops", what_went_wrong="the loop", fixed_flow="go on"),
]
ANSWERS = st.sampled_from([*PROGRAMS, *NOTHING, *STRUCTURED])
MARKED = ("seed", "temperature", "model", "response_format")


def requests_of(outcome):
    """What distinguishes the requests of a sample, in their order."""
    return [json.dumps({"m": c.body["messages"]} | {k: c.body.get(k) for k in MARKED}) for c in outcome.calls]


async def assert_distinct(bench, problem, answer, flow, values):
    names = [path.stem for folder in shipped_flows().values() for path in folder.glob("*.toml")]
    outcome = await bench.solve(problem, dict.fromkeys(names, answer), values, flow=flow)
    asked = requests_of(outcome)
    assert asked
    assert [text for n, text in enumerate(asked) if text in asked[:n]] == []
    return outcome


async def test_a_failing_model_is_never_asked_the_same_by_the_main_flow(bench):
    outcome = await bench.solve(ONE, {"initial_code": program("print(0)"), "fix": program("print(0)")})
    asked = requests_of(outcome)
    assert len(set(asked)) == len(asked)
    assert (outcome.prompts.count("initial_code"), outcome.prompts.count("fix")) == (8, 4)


@pytest.mark.thorough
@pytest.mark.parametrize("flow", sorted(shipped_flows()))
@pytest.mark.parametrize("seed", [None, 7])
@settings(max_examples=4, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(answers=st.lists(ANSWERS, min_size=1, max_size=4), problem=st.sampled_from([ONE, TWO, HUMANEVAL, CALL]))
async def test_no_flow_asks_a_failing_model_the_same_twice(bench, flow, seed, answers, problem):
    by_turns = iter(answers * 200)
    await assert_distinct(bench, problem, lambda _call: next(by_turns), flow, {"config.seed": seed})


@pytest.mark.parametrize("seed", [None, 7])
@pytest.mark.parametrize("flow", ["alphacodium", "resample"])
async def test_at_a_fixed_temperature_of_zero_nothing_is_asked_twice_and_the_calls_are_saved(bench, flow, seed):
    outcome = await assert_distinct(
        bench, ONE, program("print(0)"), flow, {"config.temperature": 0, "config.seed": seed}
    )
    messages = [json.dumps(call.body["messages"]) for call in outcome.calls]
    assert len(set(messages)) == len(messages)
    assert outcome.candidate.llm_calls == len(messages)


def made(count, **config):
    """The requests that `count` attempts at the same question make, None for those that are skipped."""
    attempts = Attempts(settings_of({f"config.{key}": value for key, value in config.items()}).config, Variation(1))
    return [attempts.new(ChatRequest((Message("user", "hi"),)), 0.2, 0) for _ in range(count)]


def test_a_hundred_attempts_have_a_temperature_of_their_own_which_is_not_too_high():
    temperatures = [request.temperature for request in made(100)]
    assert len(set(temperatures)) == 100
    assert temperatures[:3] == [0.3, 0.6, 0.61]
    assert max(temperatures) <= 0.7


def test_with_a_fixed_temperature_the_seed_makes_the_difference():
    requests = made(5, temperature=0.5, seed=3)
    assert len({request.seed for request in requests}) == 5
    assert {request.temperature for request in requests} == {0.5}


@pytest.mark.parametrize(
    "config", [{"temperature": 0}, {"temperature": 0, "seed": 3}, {"temperature": 0.5, "extra": {"seed": 4}}]
)
def test_where_nothing_can_vary_only_the_first_attempt_is_made(config):
    first, *others = made(4, **config)
    assert first is not None
    assert others == [None] * 3


def test_without_a_seed_the_answers_to_a_request_at_a_fixed_temperature_differ_anyway():
    assert all(request is not None for request in made(4, temperature=0.5))
