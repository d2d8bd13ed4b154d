"""Every setting changes what happens: here those of the flow."""

from importlib import import_module
from pathlib import Path

import pytest

from alpha_codium.config.base import Section
from alpha_codium.config.sections import Settings
from alpha_codium.errors import SettingsError
from tests.flows.scripted_flow import (
    NO_FIXES,
    ONE,
    PLANNING,
    TWO,
    ai_tests,
    answering,
    chosen,
    explanations,
    fields,
    plan,
    plans,
    program,
    settings_of,
)
from tests.flows.switches import TESTED, changes

WRONG = {"initial_code": program("print(0)")}
ONE_TRY = {"initial_code_generation.max_attempts": 1}


def all_settings(model=Settings, prefix=""):
    names = set()
    for key, field in model.model_fields.items():
        if isinstance(field.annotation, type) and issubclass(field.annotation, Section):
            names |= all_settings(field.annotation, f"{prefix}{key}.")
        else:
            names.add(prefix + key)
    return names


def test_every_setting_has_a_test_that_it_changes_what_happens():
    for path in sorted(Path(__file__).parent.glob("test_*.py")):
        if "@changes(" in path.read_text("utf-8"):
            import_module(f"tests.flows.{path.stem}")
    assert set(TESTED) == all_settings()


def test_a_setting_that_nothing_knows_is_an_error():
    with pytest.raises((SettingsError, ValueError)):
        settings_of({"solve.use_basline": True})


@changes("solve.use_direct_solutions")
async def test_use_direct_solutions_leaves_out_the_plans_and_asks_for_brute_force(bench):
    outcome = await bench.solve(settings={"solve.use_direct_solutions": True})
    assert outcome.prompts == ["reflect", "generate_ai_tests", "direct_code"]
    assert "brute force" in outcome.user("direct_code")


@pytest.mark.thorough
@changes("solve.max_calls")
async def test_max_calls_bounds_the_calls_of_a_sample(bench):
    answers = WRONG | {"fix": program("print(0)")}
    assert len((await bench.solve(ONE, answers, {"solve.max_calls": 6})).calls) == 6
    assert len((await bench.solve(ONE, answers, ONE_TRY)).calls) > 6


@pytest.mark.thorough
@changes("solve.max_tokens")
async def test_max_tokens_limits_a_sample_and_keeps_the_best_program(bench):
    answers = WRONG | {"fix": program("print(0)")}
    unbounded = await bench.solve(ONE, answers, ONE_TRY)
    used = unbounded.candidate.prompt_tokens + unbounded.candidate.completion_tokens
    bounded = await bench.solve(ONE, answers, ONE_TRY | {"solve.max_tokens": used // 2})
    assert 0 < len(bounded.calls) < len(unbounded.calls)


@changes("solve.max_cost")
async def test_max_cost_ends_a_sample_whose_price_is_unknown_after_one_call(bench):
    outcome = await bench.solve(ONE, None, {"solve.max_cost": 1.0})
    assert (len(outcome.calls), outcome.candidate.cost) == (1, None)
    assert "an unknown amount" in str(outcome.candidate.error)


@changes("solve.max_format_retries")
@pytest.mark.parametrize("retries", [0, 1])
async def test_max_format_retries_limits_retries_of_unreadable_answers(bench, retries):
    outcome = await bench.solve(ONE, {"reflect": "?"}, {"solve.max_format_retries": retries})
    assert outcome.prompts.count("reflect") == 1 + retries


@changes("self_reflection.validate_self_reflection")
@pytest.mark.parametrize("validated", [False, True])
async def test_validate_self_reflection_has_the_explanations_checked(bench, validated):
    outcome = await bench.solve(settings={"self_reflection.validate_self_reflection": validated})
    assert ("validate_reflection" in outcome.prompts) == validated
    assert ("checked: one and two" in outcome.user("possible_solutions")) == validated
    if validated:
        assert "because they add up" in outcome.user("validate_reflection")


@changes("possible_solutions.max_num_of_possible_solutions")
@pytest.mark.parametrize(("most", "shown"), [(2, ["a", "b"]), (3, ["a", "b", "c"])])
async def test_max_num_of_possible_solutions_bounds_the_plans(bench, most, shown):
    settings = {"possible_solutions.max_num_of_possible_solutions": most}
    outcome = await bench.solve(ONE, {"possible_solutions": plans("a", "b", "c", "d")}, settings)
    assert f"Suggest up to {most} different solutions" in outcome.user("possible_solutions")
    assert [name for name in "abcd" if f"the idea of {name}" in outcome.user("choose_best")] == shown


@changes("possible_solutions.use_test_explanations")
@pytest.mark.parametrize("used", [False, True])
async def test_use_test_explanations_shows_them_to_the_planner(bench, used):
    outcome = await bench.solve(settings={"possible_solutions.use_test_explanations": used})
    assert ("because they add up" in outcome.user("possible_solutions")) == used
    assert "because they add up" in outcome.user("generate_ai_tests")


@pytest.mark.thorough
@changes("possible_solutions.remove_brute_force_solutions")
@pytest.mark.parametrize("removed", [False, True])
@pytest.mark.parametrize("brute", [plan("Brute-force"), plan("x", "Brute force")], ids=["name", "label"])
async def test_remove_brute_force_solutions_leaves_them_out(bench, removed, brute):
    brute = brute | {"content": "TRY ALL"}
    answers = {"possible_solutions": fields(possible_solutions=[brute, plan("a"), plan("b")])}
    settings = {"possible_solutions.remove_brute_force_solutions": removed}
    outcome = await bench.solve(ONE, answers, settings)
    assert ("TRY ALL" in outcome.user("choose_best")) != removed


async def test_brute_force_is_left_where_it_is_the_only_plan(bench):
    brute = [plan("brute force"), plan("more brute force")]
    outcome = await bench.solve(ONE, {"possible_solutions": fields(possible_solutions=brute)})
    assert "Use this solution: brute force\n" in outcome.user("initial_code")


@changes("generate_ai_tests.validate_ai_tests")
@pytest.mark.parametrize("validated", [False, True])
async def test_validate_ai_tests_has_them_checked(bench, validated):
    answers = {"generate_ai_tests": ai_tests(("2 2", "5")), "validate_ai_tests": ai_tests(("2 2", "4"))}
    outcome = await bench.solve(ONE, answers, {"generate_ai_tests.validate_ai_tests": validated})
    assert ("validate_ai_tests" in outcome.prompts) == validated
    assert ("fix" in outcome.prompts) != validated


@pytest.mark.thorough
@changes("generate_ai_tests.number_of_ai_tests")
@pytest.mark.parametrize(("number", "fixes"), [(0, 0), (1, 1), (3, 3)])
async def test_number_of_ai_tests_bounds_them(bench, number, fixes):
    answers = {"generate_ai_tests": ai_tests(("2 2", "0"), ("3 3", "0"), ("4 4", "0"), ("5 5", "0"))}
    outcome = await bench.solve(ONE, answers, {"generate_ai_tests.number_of_ai_tests": number})
    assert outcome.prompts.count("fix") == fixes
    assert ("generate_ai_tests" in outcome.prompts) == bool(number)
    assert not number or f"Write {number} new tests" in outcome.user("generate_ai_tests")


@changes("generate_ai_tests.use_test_explanations")
@pytest.mark.parametrize("used", [False, True])
async def test_use_test_explanations_shows_them_to_the_maker_of_tests(bench, used):
    outcome = await bench.solve(settings={"generate_ai_tests.use_test_explanations": used})
    assert ("because they add up" in outcome.user("generate_ai_tests")) == used
    assert "because they add up" in outcome.user("possible_solutions")


@changes("generate_ai_tests.add_public_tests_to_ai_tests")
@pytest.mark.parametrize("added", [False, True])
async def test_add_public_tests_to_ai_tests_goes_on_fixing_by_public_tests(bench, added):
    settings = ONE_TRY | {"public_tests.max_allowed_calls": 0, "generate_ai_tests.add_public_tests_to_ai_tests": added}
    answers = {"initial_code": program(answering({"0 4": 4}))}
    assert ("fix" in (await bench.solve(ONE, answers, settings)).prompts) == added


@pytest.mark.thorough
@changes("initial_code_generation.max_attempts")
@pytest.mark.parametrize("attempts", [1, 3, 8])
async def test_max_attempts_bounds_the_first_programs(bench, attempts):
    settings = NO_FIXES | {"initial_code_generation.max_attempts": attempts}
    assert (await bench.solve(ONE, WRONG, settings)).prompts.count("initial_code") == attempts


@pytest.mark.thorough
@changes("public_tests.max_allowed_calls")
@pytest.mark.parametrize("calls", [0, 2, 4])
async def test_max_allowed_calls_bounds_the_fixes_by_public_tests(bench, calls):
    settings = ONE_TRY | {"public_tests.max_allowed_calls": calls, "ai_tests.max_allowed_calls": 0}
    outcome = await bench.solve(TWO, WRONG | {"fix": program("print(0)")}, settings)
    assert outcome.prompts.count("fix") == calls


@pytest.mark.thorough
@changes("public_tests.max_fixes_per_test")
@pytest.mark.parametrize("fixes", [0, 1, 2])
async def test_max_fixes_per_test_bounds_the_fixes_of_each(bench, fixes):
    settings = ONE_TRY | {"public_tests.max_fixes_per_test": fixes, "ai_tests.max_allowed_calls": 0}
    outcome = await bench.solve(TWO, WRONG | {"fix": program("print(0)")}, settings)
    assert outcome.prompts.count("fix") == 2 * fixes


@changes("public_tests.use_test_explanations")
@pytest.mark.parametrize("used", [False, True])
async def test_use_test_explanations_shows_the_tests_own_to_the_fixer(bench, used):
    records = explanations(("5 5", "10"), why="not this") + explanations(("1 2", "3"))
    answers = WRONG | {"reflect": fields(self_reflection="- x", tests_explanations=records)}
    outcome = await bench.solve(ONE, answers, ONE_TRY | {"public_tests.use_test_explanations": used})
    assert ("Why the expected output is right: because they add up" in outcome.user("fix")) == used
    assert "not this" not in outcome.user("fix")


@changes("public_tests.use_self_reflection")
@pytest.mark.parametrize("used", [False, True])
async def test_use_self_reflection_shows_it_to_the_fixer(bench, used):
    outcome = await bench.solve(ONE, WRONG, ONE_TRY | {"public_tests.use_self_reflection": used})
    assert ("THE REFLECTION" in outcome.user("fix")) == used


@changes("public_tests.single_stage_fix")
@pytest.mark.parametrize(("single", "asked"), [(True, ["fix"]), (False, ["analyze_failure", "fix_analyzed"])])
async def test_single_stage_fix_says_whether_a_fix_is_one_call_or_two(bench, single, asked):
    outcome = await bench.solve(ONE, WRONG, ONE_TRY | {"public_tests.single_stage_fix": single})
    assert outcome.prompts == [*PLANNING, "initial_code", *asked]


@pytest.mark.thorough
@changes("ai_tests.max_allowed_calls")
@pytest.mark.parametrize("calls", [0, 1, 3])
async def test_max_allowed_calls_bounds_the_fixes_by_ai_tests(bench, calls):
    answers = {"generate_ai_tests": ai_tests(*((f"9 {n}", "0") for n in range(4)))}
    outcome = await bench.solve(ONE, answers, {"ai_tests.max_allowed_calls": calls})
    assert outcome.prompts.count("fix") == calls


@changes("dataset.use_iteration_scheme")
@pytest.mark.parametrize(("scheme", "name", "temperature"), [(True, "b", 0.6), (False, "a", 0.3)])
async def test_use_iteration_scheme_makes_samples_differ(bench, scheme, name, temperature):
    answers = {"possible_solutions": plans("a", "b"), "choose_best": chosen("a")}
    outcome = await bench.solve(ONE, answers, {"dataset.use_iteration_scheme": scheme}, sample=3)
    assert f"Use this solution: {name}\n" in outcome.user("initial_code")
    assert outcome.of("initial_code")[0].body["temperature"] == temperature
