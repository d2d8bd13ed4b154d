"""Answers as models really give them, each with the schema it is an answer to and what it means."""

# ruff: noqa: E501 - a malformed answer is best seen on one line

import json
from typing import Any

from alpha_codium.answers.structured import AnswerSchema

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
