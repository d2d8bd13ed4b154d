"""Whatever stands around a program in an answer, in any language, what comes out is the program."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alpha_codium.answers.extraction import extract_code
from alpha_codium.language_table import LANGUAGES
from alpha_codium.languages import language_named
from alpha_codium.sandbox.conformance.test_languages import BUILT, MODES

PROGRAM = "n = int(input())\nprint(2 * n)\n"
FENCED = f"```python\n{PROGRAM}```\n"
CPP = "#include <iostream>\nint main() {\n    int n;\n    std::cin >> n;\n    std::cout << 2 * n;\n}\n"
BEFORE = (
    "", "Here's the solution:\n\n", "Sure! This program reads n and prints 2n.\n", "Solution\n\n", "**Solution**\n\n",
    "Let me think. It's O(n).\n\nHere is the code:\n", "C++ code:\n\n", "here is my code:\n\n",
    "1. Read.\n2. Print.\n\n",
)  # fmt: skip
AFTER = (
    "", "\nThis program works because it's simple.\n", "\nExplanation:\n- It reads n.\n- It prints 2n.\n",
    "\n**Complexity**: O(1)\n", "\nthis one is simple and fast.\n", "\nIt's O(n) (see above).\nDone\n",
)  # fmt: skip
PROGRAMS = {name: (MODES / f"modes{LANGUAGES[name].suffix}").read_text() for name in BUILT} | {"python3": PROGRAM}


def code_in(answer, language="python3"):
    found = extract_code(answer, language)
    return None if found is None else found.code.strip()


@pytest.mark.parametrize("language", PROGRAMS)
@given(st.sampled_from(BEFORE), st.sampled_from(AFTER))
def test_prose_around_a_program_without_a_fence_goes(language, before, after):
    program = PROGRAMS[language]
    assert code_in(before + program + after, language) == program.strip()


FORMS = {
    "a longer fence, and one that is closed by a shorter": (
        f"Plan:\n\n   `````python\n   First read n.\n   ```\n\nNow:\n\n````\n{PROGRAM}````\n"
    ),
    "five backticks": f"`````python\n{PROGRAM}`````",
    "a fence in a longer fence": f"````md\n{FENCED}````",
    "a fence in tildes": f"~~~md\n{FENCED}~~~",
    "an open block that doesn't parse": f"```python\nthis is (not code\n\n~~~python\n{PROGRAM}~~~\n",
    "code on the fence's line": "```python n = int(input())\nprint(2 * n)\n```",
    "code in place of the tag": "```n = int(input())\nprint(2 * n)\n```",
    "an attribute": f'```python title="a.py" linenums=1\n{PROGRAM}```',
    "an answer in a tag": f"<think>\nhm</think>\n<answer>\n{PROGRAM}</answer>",
    "a fence in a tag, and others": f"```python\nprint(0)\n```\n<answer>\n{FENCED}</answer>\n```python\nprint(3)\n```",
    "an answer that was cut off": f"<answer>\n{PROGRAM}",
    "another answer": f"{FENCED}\n<answer>42</answer>",
    "a quotation": "> Here:\n> " + FENCED.replace("\n", "\n> "),
    "a quotation without a fence": "> " + PROGRAM.replace("\n", "\n> "),
    "a session": "```python\n>>> n = int(input())\n>>> print(2 * n)\n4\n```",
    "a call of a tool": f'<tool_call>\n{json.dumps({"name": "run", "arguments": {"code": PROGRAM}})}\n</tool_call>',
    "a call whose arguments are JSON": json.dumps({"name": "run", "arguments": json.dumps({"code": PROGRAM})}),
}  # fmt: skip


@pytest.mark.parametrize("answer", FORMS.values(), ids=FORMS.keys())
def test_the_program_is_found_in_each_form(answer):
    assert code_in(answer) == PROGRAM.strip()


def test_a_program_within_one_line_is_found():
    assert code_in("```print(2 * int(input()))```") == "print(2 * int(input()))"
    assert code_in("It is <answer>print(2*int(input()))</answer>.") == "print(2*int(input()))"


def test_html_is_read_without_its_escapes():
    escaped = CPP.replace("<", "&lt;").replace(">", "&gt;")
    assert code_in(f"<p>Hi</p>\n<pre><code class='cpp'>{escaped}</code></pre>\nbye", "cpp") == CPP.strip()


@pytest.mark.parametrize("language", PROGRAMS)
@given(st.data())
def test_a_fenced_program_comes_out_whatever_the_fence(language, data):
    program, tag = PROGRAMS[language], language_named(language).tag
    mark = data.draw(st.sampled_from("`~")) * data.draw(st.integers(3, 9))
    before, after = data.draw(st.sampled_from(BEFORE)), data.draw(st.sampled_from(AFTER))
    assert code_in(f"{before}{mark}{tag}\n{program}{mark}\n{after}", language) == program.strip()
