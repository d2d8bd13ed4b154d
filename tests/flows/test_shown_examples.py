"""Examples stand once in a prompt: those that the statement shows aren't added to it."""

import pytest

from alpha_codium.flows.tasks import is_example
from alpha_codium.problem import TestCase
from tests.flows.scripted_flow import explanations, fields, problem_of

STATEMENT = (
    "Print the sum.\n\nInput\n\nTwo numbers.\n\nExample\n\nInput\n\n\n12 20\n\n\nOutput\n\n\n32\n\nNote\n\nEasy."
)


@pytest.mark.parametrize("flow", ["alphacodium", "baseline", "reflexion", "select"])
async def test_a_shown_example_stands_once_and_another_one_is_added(bench, flow):
    records = explanations(("12 20", "32"), why="because they add up")
    answers = {"reflect": fields(self_reflection="- add", tests_explanations=records)}
    problem = problem_of(("12 20", "32"), ("41 50", "91"), description=STATEMENT)
    outcome = await bench.solve(problem, answers, flow=flow)
    assert outcome.calls
    for call in outcome.calls:
        assert (call.user.count("12 20"), call.user.count("32")) == (1, 1)
        assert (call.user.count("41 50"), call.user.count("91")) == (1, 1)
    if flow == "alphacodium":
        assert "Explanation of example 1: because they add up" in outcome.user("generate_ai_tests")


@pytest.mark.parametrize(
    ("description", "is_shown"),
    [
        (STATEMENT, True),
        ("Sample Input 1\n12 20\nSample Output 1\n32\n", True),
        ("Input: 12 20\nOutput: 32", True),
        ("INPUT\n12\n20\nOUTPUT\n32.000", True),
        ("a is at most\n12 20\n32 is the sum", True),
        ("Input\n12 20 7\nOutput\n32", False),
        ("Input\n7 12 20\nOutput\n32", False),
        ("a is at most 12 20\n\nOutput\n\nPrint 32.", False),
        ("The answer for 12 20 is 32.", False),
        ("Print the sum.", False),
    ],
)
def test_an_example_is_a_line_with_the_input_before_the_output(description, is_shown):
    assert is_example(TestCase("12 20\n", "32\n"), description) == is_shown


@pytest.mark.parametrize("fence", ["```", "~~~text"])
def test_an_example_in_fences_is_shown(fence):
    description = f"Add.\n\n## Example\n\nInput:\n{fence}\n12 20\n{fence[:3]}\nOutput:\n{fence}\n32\n{fence[:3]}\n"
    assert is_example(TestCase("12 20\n", "32\n"), description)
    assert not is_example(TestCase("12 2\n", "14\n"), description)


def test_an_output_with_html_entities_is_shown():
    assert is_example(TestCase("1 2\n", "<\n"), "Input\n\n1 2\n\nAnswer\n\n&lt;\n")


def test_an_example_without_input_is_never_taken_for_shown():
    assert not is_example(TestCase("", "5\n"), "Print five.\n\nOutput\n\nThe number.")
