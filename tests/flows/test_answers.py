"""Structured answers as models really give them: every value is text, and what was readable is never changed."""

# ruff: noqa: E501 - a malformed answer is best seen on one line

import json
from typing import Any

import pytest
import yaml
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from alpha_codium.errors import FlowError
from alpha_codium.flows.answers import AnswerSchema, FormatError, to_yaml
from alpha_codium.flows.repairs import readings
from alpha_codium.flows.yaml_text import MAX_CHARACTERS, read_yaml

REFLECT = AnswerSchema.from_table(
    "reflect",
    {
        "self_reflection": "text: the goal, the rules, the edge cases, as bullets",
        "tests_explanations": {
            "kind": "records",
            "input": "text",
            "output": "text",
            "explanation": "text: how the input leads to the output",
        },
    },
)
TESTS = AnswerSchema.from_table("tests", {"tests": {"kind": "records", "input": "text", "output": "text"}})
PLAN = AnswerSchema.from_table("plan", {"name": "text: a short name", "flow": "list: the steps"})
SOLUTIONS = AnswerSchema.from_table(
    "solutions", {"solutions": {"kind": "records", "name": "text", "labels": "list", "complexity": "text"}}
)
WHY = AnswerSchema.from_table("why", {"what_went_wrong": "text", "fixed_flow": "text"})

BODY = "self_reflection: |\n  - add the numbers\ntests_explanations:\n- input: |\n    1 2\n  output: |\n    3\n  explanation: |\n    1 + 2 = 3\n"
REFLECTED = {
    "self_reflection": "- add the numbers\n",
    "tests_explanations": [{"input": "1 2\n", "output": "3\n", "explanation": "1 + 2 = 3\n"}],
}
REFLECTED_JSON = json.dumps(REFLECTED)
SUM = {"what_went_wrong": "an off by one", "fixed_flow": "start at 1"}
SUM_BODY = "what_went_wrong: an off by one\nfixed_flow: start at 1\n"


def why(what_went_wrong: str, fixed_flow: str = "start at 1") -> dict[str, str]:
    return {"what_went_wrong": what_went_wrong, "fixed_flow": fixed_flow}


def one_test(input: str, output: str) -> dict[str, Any]:
    return {"tests": [{"input": input, "output": output}]}


# The eleven deviations of /work/shared/LLM.md that every reader must survive: five that YAML doesn't parse, two that it
# changes silently, and those around the text.
TYPICAL = {
    "a colon in a value": (
        WHY,
        "what_went_wrong: note: it is off: by one\nfixed_flow: start at 1\n",
        why("note: it is off: by one"),
    ),
    "a leading backtick": (
        WHY,
        "what_went_wrong: `n` is read twice\nfixed_flow: start at 1\n",
        why("`n` is read twice"),
    ),
    "a leading asterisk": (WHY, "what_went_wrong: *all* is wrong\nfixed_flow: start at 1\n", why("*all* is wrong")),
    "a block that isn't indented": (
        WHY,
        "what_went_wrong: |\nan off by one\nfixed_flow: start at 1\n",
        why("an off by one\n"),
    ),
    "tabs as indentation": (TESTS, "tests:\n\t- input: '1'\n\t  output: '2'\n", one_test("1", "2")),
    "leading zeros": (TESTS, "tests:\n- input: 0010\n  output: 0b11\n", one_test("0010", "0b11")),
    "words that are booleans elsewhere": (TESTS, "tests:\n- input: no\n  output: YES\n", one_test("no", "YES")),
    "prose before": (WHY, f"Sure, here is what I found:\n\n{SUM_BODY}", SUM),
    "prose after": (WHY, f"{SUM_BODY}\nI hope that this helps!", SUM),
    "a fence": (WHY, f"```yaml\n{SUM_BODY}```", SUM),
    "a fence left open": (WHY, f"```yaml\n{SUM_BODY}", SUM),
}

MALFORMED = {
    "a fence without a tag, prose around": (REFLECT, f"Here:\n\n```\n{BODY}```\nDone!", REFLECTED),
    "a fence with the tag yml": (REFLECT, f"```yml\n{BODY}```", REFLECTED),
    "a fence of tildes": (REFLECT, f"~~~yaml\n{BODY}~~~", REFLECTED),
    "a fence in a list item": (WHY, "1. Answer:\n   ```yaml\n   what_went_wrong: an off by one\n   fixed_flow: start at 1\n   ```", SUM),
    "prose after the open fence": (WHY, f"```yaml\n{SUM_BODY}\nI hope that this helps!", SUM),
    "thinking first": (REFLECT, f"<think>\nself_reflection: hm\n```yaml\nx: y\n```\n</think>\n{BODY}", REFLECTED),
    "thinking without its opening tag": (REFLECT, f"self_reflection: hm\n</think>\n```yaml\n{BODY}```", REFLECTED),
    "tokens at the end": (WHY, f"```yaml\n{SUM_BODY}```<|im_end|>", SUM),
    "tokens at the end of bare YAML": (WHY, f"{SUM_BODY}<|eot_id|>\n", SUM),
    "a byte order mark": (WHY, f"\ufeff{SUM_BODY}", SUM),
    "line ends of Windows": (REFLECT, BODY.replace("\n", "\r\n"), REFLECTED),
    "a marker of documents": (WHY, f"---\n{SUM_BODY}...\n", SUM),
    "a marker of documents before prose": (WHY, f"{SUM_BODY}---\nI hope this: helps", SUM),
    "a draft before the answer": (
        WHY,
        f"```yaml\nwhat_went_wrong: a draft\nfixed_flow: none\n```\nBetter:\n```yaml\n{SUM_BODY}```",
        SUM,
    ),
    "an unfinished repetition after the answer": (WHY, f"```yaml\n{SUM_BODY}```\n```yaml\nwhat_went_wrong: an", SUM),
    "a program in a fence after the fields": (WHY, f"```yaml\n{SUM_BODY}```\n```python\nprint(1)\n```", SUM),
    "a program after fields whose fence was left open": (WHY, f"```yaml\n{SUM_BODY}\n```python\nprint(1)\n```", SUM),
    "a fence inside a block": (
        WHY,
        "```yaml\nwhat_went_wrong: |\n  this line:\n  ```python\n  x = 1\n  ```\nfixed_flow: start at 1\n```",
        why("this line:\n```python\nx = 1\n```\n"),
    ),
    "JSON": (REFLECT, REFLECTED_JSON, REFLECTED),
    "JSON in a fence, prose around": (REFLECT, f"Here:\n```json\n{REFLECTED_JSON}\n```\nBye", REFLECTED),
    "JSON with prose before and after": (REFLECT, f"The answer is {REFLECTED_JSON} as asked.", REFLECTED),
    "JSON with braces in the prose": (REFLECT, f"With {{x}} and {{}}: {REFLECTED_JSON} as {{asked}}.", REFLECTED),
    "JSON with a trailing comma": (WHY, '{"what_went_wrong": "an off by one",\n "fixed_flow": "start at 1",\n}', SUM),
    "JSON with single quotes": (WHY, "{'what_went_wrong': 'an off by one', 'fixed_flow': 'start at 1'}", SUM),
    "JSON without quotes around keys": (WHY, '{what_went_wrong: "an off by one", fixed_flow: "start at 1"}', SUM),
    "JSON with line breaks in its texts": (WHY, '{"what_went_wrong": "an off\n  by one", "fixed_flow": "start at 1"}', why("an off\n  by one")),
    "JSON with numbers for texts": (TESTS, '{"tests": [{"input": 1e3, "output": 12345678901234567890}]}', one_test("1e3", "12345678901234567890")),
    "JSON with constants for texts": (TESTS, '{"tests": [{"input": null, "output": true}]}', one_test("null", "true")),
    "JSON with a list of numbers for a text": (TESTS, '{"tests": [{"input": [1, 2.50], "output": [[1], [2]]}]}', one_test("[1, 2.50]", "[[1], [2]]")),
    "JSON with lines for a text": (TESTS, '{"tests": [{"input": ["3", "1 2 3"], "output": ["6"]}]}', one_test("3\n1 2 3", "6")),
    "JSON with an object for a text": (TESTS, '{"tests": [{"input": {"n": 1}, "output": "1"}]}', one_test('{"n": 1}', "1")),
    "constants stay text": (TESTS, "tests:\n- input: null\n  output: ~\n", one_test("null", "~")),
    "times stay text": (TESTS, "tests:\n- input: 1:30\n  output: 2024-01-01\n", one_test("1:30", "2024-01-01")),
    "numbers stay text": (TESTS, "tests:\n- input: 1e3\n  output: 0x1F\n", one_test("1e3", "0x1F")),
    "underscores stay": (TESTS, "tests:\n- input: 1_000\n  output: .inf\n", one_test("1_000", ".inf")),
    "lines of numbers without a block": (TESTS, "tests:\n- input: 3\n    1 2 3\n  output: 6\n", one_test("3\n1 2 3", "6")),
    "lines of numbers within quotes": (TESTS, 'tests:\n- input: "3\n    1 2 3"\n  output: 6\n', one_test("3\n1 2 3", "6")),
    "a block keeps its inner lines": (TESTS, "tests:\n- input: |\n    2\n\n    a  b\n      c\n  output: |-\n    x\n", one_test("2\n\na  b\n  c\n", "x")),
    "a block of numbers that isn't indented": (TESTS, "tests:\n- input: |\n3\n1 2 3\n  output: |\n6\n", one_test("3\n1 2 3\n", "6\n")),
    "a block with tabs": (WHY, "what_went_wrong: |\n\tif x:\n\t\treturn\nfixed_flow: start at 1\n", why("if x:\n\treturn\n")),
    "a matrix for a text": (TESTS, "tests:\n- input: [[1, 2], [3, 4]]\n  output: [1]\n", one_test("[[1, 2], [3, 4]]", "[1]")),
    "a set for a text": (TESTS, "tests:\n- input: {1, 2}\n  output: 1\n", one_test("{1, 2}", "1")),
    "an unclosed bracket": (TESTS, "tests:\n- input: '1'\n  output: [1, 2\n", one_test("1", "[1, 2")),
    "text after quotes": (WHY, 'what_went_wrong: "n" is too small\nfixed_flow: start at 1\n', why('"n" is too small')),
    "quotes inside quotes": (WHY, 'what_went_wrong: "it prints "no" twice"\nfixed_flow: start at 1\n', why('it prints "no" twice')),
    "an apostrophe inside apostrophes": (WHY, "what_went_wrong: 'it isn't'\nfixed_flow: start at 1\n", why("it isn't")),
    "an unknown escape": (WHY, 'what_went_wrong: "the pattern \\d+\\n is wrong"\nfixed_flow: start at 1\n', why("the pattern \\d+\n is wrong")),
    "a leading at sign": (WHY, "what_went_wrong: @cache is missing\nfixed_flow: start at 1\n", why("@cache is missing")),
    "a leading per cent sign": (WHY, "what_went_wrong: %d is wrong\nfixed_flow: start at 1\n", why("%d is wrong")),
    "a leading exclamation mark": (WHY, "what_went_wrong: !x is wrong\nfixed_flow: start at 1\n", why("!x is wrong")),
    "a leading ampersand": (WHY, "what_went_wrong: &x is wrong\nfixed_flow: start at 1\n", why("&x is wrong")),
    "a leading hash": (WHY, "what_went_wrong: #1 is wrong\nfixed_flow: start at 1\n", why("#1 is wrong")),
    "a hash in a sentence": (WHY, "what_went_wrong: the wrong # of items\nfixed_flow: start at 1\n", why("the wrong # of items")),
    "a comment after a number": (TESTS, "tests:\n- input: 5  # small\n  output: '3' # why\n", one_test("5", "3")),
    "braces of Jinja": (WHY, "what_went_wrong: {{ x }} is {% y %}\nfixed_flow: '{{ y }}'\n", why("{{ x }} is {% y %}", "{{ y }}")),
    "control characters": (WHY, "what_went_wrong: it prints \x1b[0m\x00\nfixed_flow: |\n  a\x07b\n", why("it prints \x1b[0m\x00", "a\x07b\n")),
    "half a surrogate pair": (WHY, "what_went_wrong: it prints \ud83d\nfixed_flow: start at 1\n", why("it prints \ud83d")),
    "a quoted value over lines, broken": (WHY, "what_went_wrong: first: a\n  second: b\nfixed_flow: start at 1\n", why("first: a\nsecond: b")),
    "lines at the margin after a key": (WHY, "what_went_wrong: the loop\nis wrong, as it ends early\nfixed_flow: start at 1\n", why("the loop\nis wrong, as it ends early")),
    "bullets under a text": (WHY, "what_went_wrong:\n- the loop is wrong\n- it ends early\nfixed_flow: start at 1\n", why("- the loop is wrong\n- it ends early")),
    "a mapping under a text": (WHY, "what_went_wrong:\n  goal: add\n  rule: none\nfixed_flow: start at 1\n", why("goal: add\nrule: none")),
    "names in bold": (WHY, "**what_went_wrong**: an off by one\n**fixed_flow:** start at 1\n", SUM),
    "names in capitals and with spaces": (WHY, "What Went Wrong: an off by one\nFixed-Flow: start at 1\n", SUM),
    "names in quotes": (WHY, '"what_went_wrong": "an off by one"\n"fixed_flow": start at 1\n', SUM),
    "names as headings": (WHY, "Here:\n## what_went_wrong: an off by one\n## fixed_flow: start at 1\n", SUM),
    "everything indented": (WHY, "Here it is:\n  what_went_wrong: an off by one\n  fixed_flow: start at 1\n", SUM),
    "fields nobody asked for": (WHY, f"confidence: 0.9\n{SUM_BODY}note: none\n", SUM),
    "fields below one key": (WHY, "answer:\n  what_went_wrong: an off by one\n  fixed_flow: start at 1\n", SUM),
    "fields as items of a list": (WHY, "- what_went_wrong: an off by one\n- fixed_flow: start at 1\n", SUM),
    "a list without the field's name": (TESTS, "- input: '1'\n  output: '2'\n", one_test("1", "2")),
    "a list of JSON without the field's name": (TESTS, '```json\n[{"input": "1", "output": "2"}]\n```', one_test("1", "2")),
    "a single record for a list": (TESTS, "tests:\n  input: '1'\n  output: '2'\n", one_test("1", "2")),
    "records under names": (TESTS, "tests:\n  first:\n    input: '1'\n    output: '2'\n", one_test("1", "2")),
    "records under a key in a list": (TESTS, "tests:\n- test:\n    input: '1'\n    output: '2'\n", one_test("1", "2")),
    "no records": (TESTS, "tests: []\n", {"tests": []}),
    "an empty text in a record": (TESTS, "tests:\n- input:\n  output: '2'\n", one_test("", "2")),
    "a text for a list": (PLAN, "name: add\nflow: read and add\n", {"name": "add", "flow": ["read and add"]}),
    "numbered lines for a list": (PLAN, "name: add\nflow:\n  1. read\n  2. add\n", {"name": "add", "flow": ["read", "add"]}),
    "a block of bullets for a list": (PLAN, "name: add\nflow: |\n  - read\n  - add\n", {"name": "add", "flow": ["read", "add"]}),
    "asterisks as bullets": (PLAN, "name: add\nflow:\n  * read\n  * add: all\n", {"name": "add", "flow": ["read", "add: all"]}),
    "colons in items": (PLAN, "name: add\nflow:\n- read: the numbers\n- add: x: y\n", {"name": "add", "flow": ["read: the numbers", "add: x: y"]}),
    "backticks in items": (PLAN, "name: add\nflow:\n- `read` it\n- \"add\" it\n", {"name": "add", "flow": ["`read` it", '"add" it']}),
    "a list of lists": (
        SOLUTIONS,
        "solutions:\n- name: Two: pointers\n  labels: [greedy, two pointers]\n  complexity: O(n): fast\n- name: `dp`\n  labels: dp\n  complexity: O(n^2)\n",
        {
            "solutions": [
                {"name": "Two: pointers", "labels": ["greedy", "two pointers"], "complexity": "O(n): fast"},
                {"name": "`dp`", "labels": ["dp"], "complexity": "O(n^2)"},
            ]
        },
    ),
}  # fmt: skip


@pytest.mark.parametrize("schema, answer, values", TYPICAL.values(), ids=TYPICAL.keys())
def test_a_typical_deviation_is_read_as_it_was_meant(schema, answer, values):
    assert schema.parse(answer) == values


@pytest.mark.parametrize("schema, answer, values", MALFORMED.values(), ids=MALFORMED.keys())
def test_a_malformed_answer_is_read_as_it_was_meant(schema, answer, values):
    assert schema.parse(answer) == values


UNREADABLE = {
    "nothing": (WHY, "", "none of the fields `what_went_wrong`, `fixed_flow`"),
    "a refusal": (WHY, "I'm sorry, but I can't: it is not allowed.", "none of the fields"),
    "thinking that never ends": (WHY, f"<think>\nmaybe\n  {SUM_BODY}", "fixed_flow` is missing|none of the fields|line "),
    "a field that is missing": (WHY, "what_went_wrong: x\n", "^the field `fixed_flow` is missing$"),
    "a field that is missing in a fence": (WHY, "```yaml\nwhat_went_wrong: x\n```", "^the field `fixed_flow` is missing$"),
    "a field that is empty": (WHY, "what_went_wrong:\nfixed_flow: x\n", "^the field `what_went_wrong` is empty$"),
    "a list that is missing": (PLAN, "name: add\n", "^the field `flow` is missing$"),
    "a list that is empty": (PLAN, "name: add\nflow:\n", "^the field `flow` is empty$"),
    "a record without a field": (TESTS, "tests:\n- input: '1'\n  output: '2'\n- input: '3'\n", "^item 2 of `tests` lacks `output`$"),
    "text for records": (TESTS, "tests: none\n", "`tests` must be a list of records with `input`, `output`"),
    "texts for records": (TESTS, "tests:\n- a\n", "item 1 of `tests` is no record with `input`, `output`"),
    "a key given twice": (WHY, "what_went_wrong: x\nwhat_went_wrong: y\nfixed_flow: z\n", "line 2: the key `what_went_wrong` is given twice"),
    "a key of JSON given twice": (WHY, '{"what_went_wrong": "x", "what_went_wrong": "y"}', "the key `what_went_wrong` is given twice"),
    "broken JSON": (WHY, '{"what_went_wrong": "x", "fixed_flow": "an "x" here"}', "line 1: "),
    "a broken line between fields": (WHY, "what_went_wrong: |\n  x\nwell\nfixed_flow: {\n", "`fixed_flow` is missing|line "),
}  # fmt: skip


@pytest.mark.parametrize("schema, answer, message", UNREADABLE.values(), ids=UNREADABLE.keys())
def test_what_cannot_be_read_is_said_in_words_for_the_model(schema, answer, message):
    with pytest.raises(FormatError, match=message) as caught:
        schema.parse(answer)
    assert "<unicode string>" not in str(caught.value)
    assert len(str(caught.value)) < 300


CUT = "tests:\n- input: '1'\n  output: '2'\n- input: '3'\n  out"
CUT_JSON = '```json\n{"tests": [{"input": "1", "output": "2"}, {"input": "}", "out'


@pytest.mark.parametrize("answer", [CUT, f"```yaml\n{CUT}", CUT_JSON, CUT_JSON.removeprefix("```json\n")])
def test_an_incomplete_last_item_is_left_out_only_of_an_answer_that_was_cut(answer):
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
    "prose": "The answer is long: very long. " * 160_000,
    "spaces": " " * 5_000_000,
    "keys": "what_went_wrong: x\n" * 260_000,
    "items": "tests:\n" + "- input: '1'\n" * 380_000,
    "fences": "```yaml\na: b\n```\n" * 300_000,
    "braces": "{" * 5_000_000,
    "JSON objects": '{"a": 1}\n' * 550_000,
    "quotes": '{"' * 2_500_000,
    "thinking": "<think>a</think>\n" * 300_000,
    "open braces on lines": "{\n" * 2_500_000,
    "an open string of escapes": 'tests {"' + '\\"' * 95_000,
    "a JSON string of escapes": '{"tests": "' + '\\"' * 90_000,
    "items that can't be read": "tests:\n" + "- input: a: b\n" * 6_000,
    "one long word in a list": "tests: [[" + "a" * 190_000 + ", b]]\n",
    "many numbers and a word": "tests: [{input: [" + "1," * 40_000 + "a]}]\n",
    "fences of items that can't be read": ("```\ntests:\n" + "- input: a: b\n" * 3_000 + "```\n") * 8,
}


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
def test_the_example_in_the_instructions_is_a_valid_answer(schema):
    assert to_yaml(schema.example()) in schema.instructions("yaml")
    assert set(schema.parse(to_yaml(schema.example()))) == {field.name for field in schema.fields}
    assert schema.parse(schema.instructions("yaml")) == schema.parse(to_yaml(schema.example()))
    assert schema.parse(schema.instructions("json_schema").rpartition("\n")[2]) == schema.example()


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
