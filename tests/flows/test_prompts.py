"""Prompts: what is put into them stays text, what they lack is told, and all that are shipped can be rendered."""

import dataclasses
from dataclasses import replace

import pytest

from alpha_codium.errors import FlowError
from alpha_codium.flows.loading import load_flow, shipped_flows
from alpha_codium.flows.state import ExplainedTest, Plan
from alpha_codium.flows.variables import TASK
from alpha_codium.problem import Statement, TestCase
from alpha_codium.rendering import Prompt, load_prompt
from tests.flows.scripted_flow import PLANNING, chosen, explanations, fields, marks, plan, problem_of, program
from tests.flows.test_loading import variables_of_prompts

PROBLEM = {
    "problem": Statement("Sum", "Add.", (TestCase("1 2\n", "3\n"),)),
    "kind": "stdin",
    "is_function": False,
    "beginning": "",
    "language": "Python 3",
    "tag": "python",
    "tests": (),
}
REFLECTION = {"reflection": "known"}
EXPLAINED = [ExplainedTest("1 2", "3", "it adds up")]
EXAMPLE = {"example": "1 2"}
FAILURE = {
    "program": "print(0)",
    "test": TestCase("1 2", "3"),
    "actual": "0",
    "verdict": "wrong_answer",
}
FIX = FAILURE | {"explanation": "", "reflection": "", "trace": "", "objection": "", "rejected": None}
# What each stage passes to its prompt.
PASSED = {
    "reflect": PROBLEM | EXAMPLE,
    "validate_reflection": PROBLEM | EXAMPLE | {"explanations": EXPLAINED},
    "possible_solutions": PROBLEM | REFLECTION | {"explanations": EXPLAINED, "max_num_of_possible_solutions": 3},
    "choose_best": PROBLEM | REFLECTION | {"plans": [Plan("a", "b"), Plan("c", "d", "e", ("f",), "O(n)")]},
    "generate_ai_tests": PROBLEM | EXAMPLE | REFLECTION | {"explanations": [], "number_of_ai_tests": 6},
    "validate_ai_tests": PROBLEM
    | EXAMPLE
    | REFLECTION
    | {"explanations": [], "number_of_ai_tests": 6, "ai_tests": EXPLAINED},
    "brute_force": PROBLEM,
    "complete": PROBLEM,
    "initial_code": PROBLEM | REFLECTION | {"plan": None},
    "direct_code": PROBLEM | REFLECTION | {"plan": None},
    "fix": PROBLEM | FIX,
    "analyze_failure": PROBLEM | FIX,
    "fix_analyzed": PROBLEM | FIX | {"analysis": {"what_went_wrong": "a", "fixed_flow": "b"}},
    "code_contests_prompts_baseline": PROBLEM,
    "lesson": PROBLEM | FAILURE,
    "retry": PROBLEM | FAILURE | {"lessons": ["look twice"]},
    "repair": PROBLEM | FAILURE,
    "new_inputs": PROBLEM | EXAMPLE | {"number": 4},
    "which_output": PROBLEM | {"input": "1 2", "first": "3", "second": "4"},
}
HOSTILE = "{{ 7 * 7 }} {% for %} {# gone #} {{ problem.private_tests }} ${x} %s {}"


def prompts():
    paths = [path for folder in shipped_flows().values() for path in sorted(folder.glob("*.toml"))]
    return [path for path in paths if path.stem not in ("flow", "partials")]


@pytest.mark.parametrize("path", prompts(), ids=lambda path: path.stem)
def test_every_shipped_prompt_renders_with_what_its_stage_passes(path):
    _, user = load_prompt(path).render(PASSED[path.stem])
    assert "Add." in user
    assert marks()[path.stem] in user
    assert not [mark for mark in ("{{", "{%", "\n\n\n\n") if mark in user]


@pytest.mark.parametrize("path", prompts(), ids=lambda path: path.stem)
def test_every_shipped_prompt_says_its_name_where_the_problem_is_missing(path):
    without_problem = {name: value for name, value in PASSED[path.stem].items() if name != "problem"}
    with pytest.raises(FlowError, match=rf"prompt '{path.stem}' can't be rendered: 'problem' is undefined"):
        load_prompt(path).render(without_problem)


@pytest.mark.thorough
def test_every_stage_passes_what_its_prompts_may_use_and_nothing_else():
    for name in shipped_flows():
        for stage in load_flow(name).stages:
            for field in dataclasses.fields(stage):
                prompt = getattr(stage, field.name)
                if isinstance(prompt, Prompt):
                    assert {*TASK, *field.metadata["variables"]} == {*PASSED[prompt.name]}, prompt.name


def test_every_variable_is_described():
    assert {*TASK, *variables_of_prompts()} == {name for passed in PASSED.values() for name in passed}


@pytest.mark.thorough
def test_every_shipped_prompt_belongs_to_a_stage():
    used = set()
    for name in shipped_flows():
        for stage in load_flow(name).stages:
            used |= {value.name for value in vars(stage).values() if isinstance(value, Prompt)}
    assert used == {path.stem for path in prompts()} == set(PASSED)


def test_a_missing_variable_is_an_error_that_names_the_prompt():
    with pytest.raises(FlowError, match=r"prompt 'greet' can't be rendered: 'name' is undefined"):
        Prompt("greet", "Hello {{ name }}").render({})


def test_a_field_that_the_statement_does_not_have_is_an_error():
    with pytest.raises(FlowError, match="private_tests"):
        Prompt("greet", "{{ problem.private_tests }}").render(PROBLEM)


@pytest.mark.parametrize("template", ["{{ problem.__class__.__mro__ }}", "{{ problem.name.__class__ }}"])
def test_a_template_cannot_reach_behind_its_values(template):
    with pytest.raises(FlowError):
        Prompt("greet", template).render(PROBLEM)


async def test_templates_in_a_statement_or_an_answer_stay_text(bench):
    wrong = f"print(0)  # {HOSTILE}"
    answers = {
        "reflect": fields(self_reflection=HOSTILE, tests_explanations=explanations(("1 2", "3"), why=HOSTILE)),
        "possible_solutions": fields(possible_solutions=[plan("a") | {"content": HOSTILE}, plan("b")]),
        "choose_best": fields(name="a", content=HOSTILE, why=HOSTILE, flow=[HOSTILE]),
        "initial_code": program(wrong),
    }
    problem = replace(problem_of((HOSTILE, "3")), description=f"Add. {HOSTILE}", name=f"Sum {HOSTILE}")
    outcome = await bench.solve(problem, answers, {"initial_code_generation.max_attempts": 1})
    assert set(outcome.prompts) == {*PLANNING, "initial_code", "fix"}
    for call in outcome.calls:
        assert call.user.count(HOSTILE) >= 3
        assert "49" not in call.user
    assert outcome.user("initial_code").count(HOSTILE) == 6
    assert wrong in outcome.user("fix")


async def test_a_plan_may_be_called_what_it_likes(bench):
    answers = {"possible_solutions": fields(possible_solutions=[plan("{{ a }}"), plan("b")])}
    outcome = await bench.solve(answers=answers | {"choose_best": chosen("{{ A }}")})
    assert "Use this solution: {{ a }}\n" in outcome.user("initial_code")
