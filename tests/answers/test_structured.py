"""Structured answers as models really give them: every value is text, and what was readable is never changed."""

# ruff: noqa: E501 - a malformed answer is best seen on one line

import json

import pytest
import yaml
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from alpha_codium.answers.repairs import readings
from alpha_codium.answers.structured import AnswerSchema, FormatError, to_yaml
from alpha_codium.answers.yaml_text import MAX_CHARACTERS, read_yaml
from alpha_codium.errors import FlowError
from tests.answers.answer_cases import (
    MALFORMED,
    PLAN,
    REFLECT,
    SOLUTIONS,
    SUM,
    SUM_BODY,
    TESTS,
    TYPICAL,
    UNREADABLE,
    WHY,
    one_test,
)


@pytest.mark.parametrize("schema, answer, values", TYPICAL.values(), ids=TYPICAL.keys())
def test_a_typical_deviation_is_read_as_it_was_meant(schema, answer, values):
    assert schema.parse(answer) == values


@pytest.mark.parametrize("schema, answer, values", MALFORMED.values(), ids=MALFORMED.keys())
def test_a_malformed_answer_is_read_as_it_was_meant(schema, answer, values):
    assert schema.parse(answer) == values


@pytest.mark.parametrize("schema, answer, message", UNREADABLE.values(), ids=UNREADABLE.keys())
def test_what_cannot_be_read_is_said_in_words_for_the_model(schema, answer, message):
    with pytest.raises(FormatError, match=message) as caught:
        schema.parse(answer)
    assert "<unicode string>" not in str(caught.value)
    assert len(str(caught.value)) < 300


CUT = "tests:\n- input: '1'\n  output: '2'\n- input: '3'\n  out"
CUT_JSON = '```json\n{"tests": [{"input": "1", "output": "2"}, {"input": "}", "out'


@pytest.mark.parametrize("answer", [CUT, f"```yaml\n{CUT}", CUT_JSON, CUT_JSON.removeprefix("```json\n")])
def test_only_a_truncated_answer_loses_its_incomplete_last_item(answer):
    assert TESTS.parse(answer, truncated=True) == one_test("1", "2")
    with pytest.raises(FormatError):
        TESTS.parse(answer)


BOMBS = {
    "billion laughs": "a: &a [x, x]\nb: &b [*a, *a]\nc: &c [*b, *b]\nwhat_went_wrong: *c\nfixed_flow: *c\n",
    "an alias of itself": "what_went_wrong: &a [*a]\nfixed_flow: y\n",
    "a tag of Python": "what_went_wrong: !!python/object/apply:os.system ['true']\nfixed_flow: y\n",
    "deep brackets": "what_went_wrong: " + "[" * 50_000 + "\nfixed_flow: y\n",
    "closed brackets": "what_went_wrong: " + "[" * 5_000 + "]" * 5_000 + "\nfixed_flow: y\n",
    "deep JSON": '{"what_went_wrong": ' + "[" * 50_000,
    "closed JSON": '{"what_went_wrong": ' + "[" * 900 + "]" * 900 + ', "fixed_flow": "x"}',
    "deep dashes": "- " * 20_000 + "x",
    "deep mappings": "".join(" " * depth + "a:\n" for depth in range(500)),
    "many braces": "{" * 150_000,
    "a key of brackets": "? [a, b]\n: c\n",
    "a character that doesn't exist": 'what_went_wrong: "\\UFFFFFFFF"\nfixed_flow: y\n',
}


@pytest.mark.parametrize("bomb", BOMBS.values(), ids=BOMBS.keys())
def test_a_bomb_is_text_or_a_format_error(bomb):
    with pytest.raises(FormatError):
        read_yaml(bomb)
    try:
        values = WHY.parse(bomb)
    except FormatError:
        return
    assert sum(map(len, values.values())) <= len(bomb)


HUGE = {
    "prose": "The answer is long: very long. " * 50_000,
    "spaces": " " * 1_500_000,
    "keys": "what_went_wrong: x\n" * 80_000,
    "items": "tests:\n" + "- input: '1'\n" * 100_000,
    "fences": "```yaml\na: b\n```\n" * 90_000,
    "braces": "{" * 1_500_000,
    "JSON objects": '{"a": 1}\n' * 160_000,
    "quotes": '{"' * 750_000,
    "thinking": "<think>a</think>\n" * 90_000,
    "open braces on lines": "{\n" * 750_000,
    "an open string of escapes": 'tests {"' + '\\"' * 95_000,
    "a JSON string of escapes": '{"tests": "' + '\\"' * 90_000,
    "items that can't be read": "tests:\n" + "- input: a: b\n" * 6_000,
    "one long word in a list": "tests: [[" + "a" * 190_000 + ", b]]\n",
    "many numbers and a word": "tests: [{input: [" + "1," * 40_000 + "a]}]\n",
    "fences of items that can't be read": ("```\ntests:\n" + "- input: a: b\n" * 3_000 + "```\n") * 8,
}


@pytest.mark.thorough
@pytest.mark.parametrize("answer", HUGE.values(), ids=HUGE.keys())
def test_of_a_huge_answer_only_a_bounded_part_is_read(answer):
    texts = list(readings(answer, TESTS.fields, truncated=True))
    assert len(texts) <= 80
    assert all(len(text) <= MAX_CHARACTERS for text in texts)
    with pytest.raises(FormatError):
        TESTS.parse(answer)


def test_fields_after_megabytes_of_thinking_are_read():
    assert WHY.parse(f"<think>{'so, ' * 1_500_000}</think>\n```yaml\n{SUM_BODY}```") == SUM


NASTY = st.one_of(
    st.text(st.sampled_from("ab:#-*`@%'\"|>{}[],&! \n\t0\\?~=."), max_size=30),
    st.text(max_size=20),
    st.sampled_from(
        [
            "0010",
            "YES",
            "null",
            "1e3",
            "1:30",
            "~",
            "- a",
            "# x",
            "a #b",
            "```",
            "<think>",
            "a: b",
            "|",
            "\x00\x1b",
            "{{ x }}",
        ]
    ),
)
VALUES = st.fixed_dictionaries(
    {
        "goal": NASTY,
        "labels": st.lists(NASTY, max_size=3),
        "tests": st.lists(
            st.fixed_dictionaries({"input": NASTY, "output": NASTY, "notes": st.lists(NASTY, max_size=2)}), max_size=3
        ),
    }
)
EVERYTHING = AnswerSchema.from_table(
    "everything",
    {
        "goal": "text",
        "labels": "list",
        "tests": {"kind": "records", "input": "text", "output": "text", "notes": "list"},
    },
)
AROUND = st.sampled_from(
    [
        "{}",
        "```yaml\n{}```",
        "```\n{}```",
        "```yaml\n{}",
        "Sure, here it is:\n\n```yaml\n{}```\n\nHope this: helps!\n",
        "<think>\ngoal: x\n</think>\n```\n{}```<|im_end|>",
        "Here is the answer:\n{}",
    ]
)


@pytest.mark.thorough
@settings(max_examples=200, deadline=None)
@given(VALUES, AROUND, st.sampled_from([None, '"', "'", "|"]), st.booleans(), st.sampled_from([True, False, None]))
def test_values_that_were_properly_written_as_yaml_come_back_exactly(values, around, style, allow_unicode, flow_style):
    text = yaml.safe_dump(
        values, default_style=style, allow_unicode=allow_unicode, sort_keys=False, default_flow_style=flow_style
    )
    # PyYAML itself doesn't read back all that it writes.
    try:
        assume(yaml.load(text, Loader=yaml.BaseLoader) == values)
    except yaml.YAMLError:
        assume(False)
    assert EVERYTHING.parse(around.replace("{}", text)) == values


@pytest.mark.parametrize("style", [None, "'"])
@pytest.mark.parametrize("around", ["Here is the answer:\n{}", "{}", "```yaml\n{}```"])
def test_a_value_in_flow_style_that_wraps_before_a_tag_keeps_it(style, around):
    for words in range(25, 48):
        values = {"goal": "a " * words + "<THINK> b", "labels": [], "tests": []}
        text = yaml.safe_dump(values, default_style=style, sort_keys=False, default_flow_style=True)
        assert EVERYTHING.parse(around.replace("{}", text)) == values


@pytest.mark.thorough
@settings(max_examples=200, deadline=None)
@given(VALUES, AROUND, st.sampled_from([None, 2]), st.booleans())
def test_values_that_were_properly_written_as_json_come_back_exactly(values, around, indent, ensure_ascii):
    text = json.dumps(values, indent=indent, ensure_ascii=ensure_ascii) + "\n"
    assert EVERYTHING.parse(around.replace("{}", text)) == values


@settings(deadline=None)
@given(st.text(st.sampled_from("abgoal:tests[]{}'\"|>-*&!#`,\n\t  input_output"), max_size=150), st.booleans())
def test_no_answer_raises_anything_but_a_format_error(answer, truncated):
    try:
        values = EVERYTHING.parse(answer, truncated=truncated)
    except FormatError:
        return
    assert set(values) == {"goal", "labels", "tests"}


@settings(deadline=None)
@given(VALUES, st.text(st.sampled_from("ab: #`*\"'"), max_size=15))
def test_mending_one_value_leaves_its_neighbours_exactly_as_they_were(values, broken):
    text = yaml.safe_dump({"labels": values["labels"], "tests": values["tests"]}, sort_keys=False)
    parsed = EVERYTHING.parse(f"goal: `x`: {broken}\n{text}")
    assert (parsed["labels"], parsed["tests"]) == (values["labels"], values["tests"])


@pytest.mark.parametrize("schema", [REFLECT, TESTS, PLAN, SOLUTIONS, WHY], ids=lambda schema: schema.name)
def test_the_form_in_the_instructions_is_no_answer(schema):
    form = schema.blank_form()
    assert to_yaml(form) in schema.instructions("yaml")
    assert json.loads(schema.instructions("json_schema").rpartition("\n")[2]) == form
    for answer in (to_yaml(form), json.dumps(form), schema.instructions("yaml"), schema.instructions("json_schema")):
        with pytest.raises(FormatError, match="only repeats the form"):
            schema.parse(answer)


def test_the_instructions_name_every_field_and_what_it_is_about():
    for style in ("yaml", "json_schema"):
        text = REFLECT.instructions(style)
        assert "`self_reflection` (text): the goal, the rules, the edge cases, as bullets" in text
        assert "  - `explanation` (text): how the input leads to the output" in text


def test_a_field_may_have_an_example_of_its_own():
    schema = AnswerSchema.from_table("plan", {"name": {"kind": "text", "about": "a name", "example": "two pointers"}})
    assert "name: |\n  two pointers\n" in schema.instructions()


def test_the_json_schema_requires_every_field_and_allows_no_other():
    assert SOLUTIONS.json_schema() == {
        "type": "object",
        "properties": {
            "solutions": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {
                        "name": {"type": "string"},
                        "labels": {"type": "array", "items": {"type": "string"}},
                        "complexity": {"type": "string"},
                    },
                    "required": ["name", "labels", "complexity"],
                    "additionalProperties": False,
                },
            }
        },
        "required": ["solutions"],
        "additionalProperties": False,
    }


MISTAKES = {
    "an unknown kind": ({"a": "txt: x"}, "prompt 'p': fields.a: there is no kind of field 'txt'.*did you mean 'text'"),
    "no kind": ({"a": {"input": "text"}}, "there is no kind of field ''.*list, records, text"),
    "a number": ({"a": 1}, "a field is a text such as"),
    "records without fields": ({"a": {"kind": "records"}}, "records need fields"),
    "records as a word": ({"a": "records: x"}, "records need fields"),
    "records of records": ({"a": {"kind": "records", "b": {"kind": "records", "c": "text"}}}, "records need fields, each of kind text or list"),
    "fields of a text": ({"a": {"kind": "text", "b": "text"}}, "a field of kind text has no 'b'"),
    "no fields": ({}, "`fields` is empty"),
}  # fmt: skip


@pytest.mark.parametrize("table, message", MISTAKES.values(), ids=MISTAKES.keys())
def test_a_mistake_in_a_prompt_file_is_named(table, message):
    with pytest.raises(FlowError, match=message):
        AnswerSchema.from_table("p", table)
