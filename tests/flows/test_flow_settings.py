"""Every setting changes what happens: here the models of prompts and samples, and the vetting of AI tests."""

import pytest

from alpha_codium.errors import SettingsError
from tests.flows.scripted_flow import ONE, PLANNING, SUM, ai_tests, program
from tests.flows.switches import changes


@changes("config.model_by_prompt")
async def test_model_by_prompt_asks_another_model_for_some_prompts(bench):
    named = {"config.model_by_prompt": {"reflect": "openai/small", "initial_code": "openai/big"}}
    outcome = await bench.solve(settings=named)
    asked = {call.prompt: call.body["model"] for call in outcome.calls}
    assert asked == dict.fromkeys(PLANNING, "scripted") | {"reflect": "small", "initial_code": "big"}


async def test_a_model_for_a_prompt_that_there_is_not_is_the_users_mistake(bench):
    with pytest.raises(SettingsError, match=r"there is no prompt 'reflct' \(did you mean 'reflect'\?\)"):
        await bench.solve(settings={"config.model_by_prompt": {"reflct": "openai/small"}})


async def test_a_model_for_a_prompt_of_another_shipped_flow_may_be_named(bench):
    named = {"config.model_by_prompt": {"complete": "openai/small"}}
    assert {call.body["model"] for call in (await bench.solve(settings=named)).calls} == {"scripted"}


@pytest.mark.thorough
@changes("config.rotate_models")
async def test_rotate_models_gives_each_sample_another_model(bench):
    models = {"config.rotate_models": ["openai/a", "openai/b"]}
    asked = [(await bench.solve(settings=models, sample=number)).calls for number in range(3)]
    assert [{call.body["model"] for call in calls} for calls in asked] == [{"a"}, {"b"}, {"a"}]
    alike = models | {"dataset.use_iteration_scheme": False}
    assert {call.body["model"] for call in (await bench.solve(settings=alike, sample=1)).calls} == {"a"}


@pytest.mark.thorough
async def test_a_model_for_a_prompt_goes_before_the_samples_own(bench):
    models = {"config.rotate_models": ["openai/a", "openai/b"], "config.model_by_prompt": {"reflect": "openai/small"}}
    outcome = await bench.solve(settings=models, sample=1)
    assert [call.body["model"] for call in outcome.calls] == ["small", "b", "b", "b", "b"]


@pytest.mark.thorough
@changes("generate_ai_tests.vet_by_brute_force")
@pytest.mark.parametrize("vetted", [False, True])
async def test_vet_by_brute_force_drops_tests_on_which_a_simple_program_disagrees(bench, vetted):
    answers = {"generate_ai_tests": ai_tests(("2 2", "5"), ("0 4", "4"))}
    outcome = await bench.solve(ONE, answers, {"generate_ai_tests.vet_by_brute_force": vetted})
    assert ("brute_force" in outcome.prompts) == vetted
    assert ("fix" in outcome.prompts) != vetted
    if vetted:
        assert (outcome.step("brute_force", "agreed")[-1], outcome.step("brute_force", "of")[-1]) == (1, 2)


async def test_a_brute_force_program_that_fails_the_public_tests_confirms_no_ai_test(bench):
    answers = {"generate_ai_tests": ai_tests(("2 2", "0")), "brute_force": program("print(0)")}
    outcome = await bench.solve(ONE, answers, {"generate_ai_tests.vet_by_brute_force": True})
    assert outcome.prompts == [*PLANNING, "brute_force", "initial_code"]
    assert outcome.program == SUM
