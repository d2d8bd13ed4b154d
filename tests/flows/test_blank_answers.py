"""An answer that only repeats the form that it was to fill in is no answer."""

import json
import re

import pytest

from alpha_codium.answers.structured import AnswerSchema, FormatError, to_yaml
from alpha_codium.flows.loading import shipped_flows
from alpha_codium.flows.stages.selecting import first_is_right
from alpha_codium.rendering import load_prompt
from tests.answers.answer_cases import PLAN, REFLECT, TESTS
from tests.flows.scripted_flow import ONE, SUM, ai_tests, explanations, fields, program

FORMS = [
    AnswerSchema.from_table(prompt.name, prompt.fields)
    for folder in sorted(shipped_flows().values())
    for prompt in (load_prompt(path) for path in sorted(folder.glob("*.toml")) if path.stem not in ("flow", "partials"))
    if prompt.fields
]


def filled(field, text):
    """The value of a field all of whose texts are `text` of their field."""
    if field.kind == "records":
        return [{inner.name: filled(inner, text) for inner in field.fields}]
    return [text(field)] if field.kind == "list" else text(field)


LAYOUTS = {
    "the blank": lambda field: field.blank,
    "the description": lambda field: field.about,
    "as a sentence": lambda field: f"{field.about[:1].upper()}{field.about[1:]}.",
    "in brackets": lambda field: f"<{field.about}>",
    "in quotes": lambda field: f'"{field.blank}"',
    "in bullets": lambda field: "- " + field.about.replace(", ", "\n- "),
    "in capitals": lambda field: field.blank.upper().replace("_", " "),
}


@pytest.mark.parametrize("schema", FORMS, ids=lambda schema: schema.name)
@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS.keys())
def test_a_repeated_form_is_unreadable_in_every_shipped_prompt(schema, layout):
    answer = {field.name: filled(field, layout) for field in schema.fields}
    for text in (f"```yaml\n{to_yaml(answer)}```", json.dumps(answer)):
        with pytest.raises(FormatError, match=r"only repeats the form|is empty"):
            schema.parse(text)


@pytest.mark.parametrize("schema", FORMS, ids=lambda schema: schema.name)
def test_no_text_of_a_form_can_be_taken_for_an_answer(schema):
    blanks = re.findall(r"<\w+>", to_yaml(schema.blank_form()))
    assert len(blanks) == to_yaml(schema.blank_form()).count("<")
    assert set(blanks) >= {f"<{inner.name}>" for field in schema.fields for inner in field.fields or (field,)}


def test_a_text_that_only_contains_the_form_is_an_answer():
    answer = fields(name="a short name for it", flow=["the steps of the loop"])
    assert PLAN.parse(answer) == {"name": "a short name for it\n", "flow": ["the steps of the loop"]}
    assert TESTS.parse(fields(tests=[{"input": "<b>", "output": "input"}]))


def test_repeated_items_are_left_out_of_a_list_and_of_records():
    assert PLAN.parse(fields(name="x", flow=["<flow>", "the steps", "read"]))["flow"] == ["read"]
    records = [{"input": "<input>", "output": "<output>"}, {"input": "1", "output": "2"}]
    assert TESTS.parse(fields(tests=records)) == {"tests": [{"input": "1\n", "output": "2\n"}]}


def test_no_items_are_an_answer():
    assert REFLECT.parse(fields(self_reflection="- add", tests_explanations=[]))["tests_explanations"] == []


def test_an_example_of_the_form_is_no_answer_either():
    schema = AnswerSchema.from_table("p", {"name": {"kind": "text", "about": "a name", "example": "two pointers"}})
    with pytest.raises(FormatError, match="the field `name` only repeats the form"):
        schema.parse("name: two pointers\n")
    assert schema.parse("name: three pointers\n") == {"name": "three pointers"}


REPEATED = fields(self_reflection="<self_reflection>", tests_explanations=explanations(("<input>", "<output>")))


async def test_a_repeated_form_is_asked_again_with_the_reason_and_then_the_stage_is_skipped(bench):
    outcome = await bench.solve(ONE, {"reflect": REPEATED})
    first, second, third = outcome.of("reflect")
    assert "the field `self_reflection` only repeats the form" in second.messages[2]
    assert first.body["temperature"] < third.body["temperature"], "the same question isn't asked again"
    assert "only repeats the form" in outcome.skipped("reflect")
    assert "Analysis of the problem" not in outcome.user("initial_code")
    assert outcome.program == SUM


async def test_a_repeated_test_is_not_run(bench):
    pairs = (("<input>", "<output>"), ("2 2", "4"))
    outcome = await bench.solve(ONE, {"generate_ai_tests": ai_tests(*pairs), "initial_code": program(SUM)})
    assert outcome.step("initial_code", "of_ai") == [1]


async def test_a_repeated_fence_is_no_program(bench):
    outcome = await bench.solve(ONE, {"initial_code": ["```python\n...\n```", program(SUM)]})
    assert outcome.prompts.count("initial_code") == 2
    assert outcome.program == SUM


@pytest.mark.parametrize(
    ("answer", "first"),
    [('"Answer: A" or "Answer: B"', None), ("Answer: A or Answer: B\nAnswer: B", False), ("It is A.\nAnswer: A", True)],
)
def test_both_choices_on_a_line_are_no_choice(answer, first):
    assert first_is_right(answer) is first
