"""Thinking in every form that a model writes: what is in it is never the program."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alpha_codium.answers.extraction import extract_code
from alpha_codium.thinking import split_thinking

PROGRAM = "n = int(input())\nprint(2 * n)\n"
DRAFT = "print(int(input()) + 1)\n"
FENCED, FENCED_DRAFT = f"```python\n{PROGRAM}```\n", f"```python\n{DRAFT}```\n"
MARKS = {
    **{f"<{name}>": f"</{name}>" for name in ("think", "thinking", "Think", "thought", "thoughts", "reason")},
    **{f"<{name}>": f"</{name}>" for name in ("reasoning", "seed:think", "mm:think", "longcat_think", "my-thinking")},
    **{f"<{name}>": f"</{name}>" for name in ("analysis", "scratchpad", "reflection", "inner_monologue")},
    "<think id=1>": "</think>",
    '<details type="reasoning" done="true">': "</details>",
    "[THINK]": "[/THINK]",
    "\u25c1think\u25b7": "\u25c1/think\u25b7",
    "<|begin_of_thought|>": "<|end_of_thought|>\n\n<|begin_of_solution|>",
    "<|START_THINKING|>": "<|END_THINKING|><|START_RESPONSE|>",
    "<|think:start|>": "<|think:end|>",
    "<|inner_prefix|>": "<|inner_suffix|>",
    "<|channel>thought\n": "<channel|>",
    "<|open|>think<|sep|>": "<|close|>think<|sep|><|open|>response<|sep|>",
    "<|channel|>analysis<|message|>": "<|end|><|start|>assistant<|channel|>final<|message|>",
    "analysisWe": "assistantfinal",
    "Here is my thought process:": "Here is my response:",
    "/think\n": "<|im_end|>\n<|im_start|>assistant\n",
}  # fmt: skip
BY_TEMPLATE = ("</think>", "</thinking>", "</thought>", "</reasoning>", "</seed:think>", "[/THINK]", "<|END_THINKING|>")


def code_in(answer):
    found = extract_code(answer)
    return None if found is None else found.code.strip()


@pytest.mark.parametrize(("opening", "closing"), MARKS.items())
def test_what_was_thought_is_not_the_program(opening, closing):
    thought = f"{opening}\nMaybe\n{FENCED_DRAFT}no.\n"
    for rest in (FENCED, PROGRAM, f"Here you are:\n{FENCED}Bye."):
        assert code_in(f"{thought}{closing}\n{rest}") == PROGRAM.strip()
    assert code_in(f"{opening}hm{closing}{FENCED}") == PROGRAM.strip()
    assert code_in(f"{opening}\n```python\n{DRAFT}\n{closing}\n{FENCED}") == PROGRAM.strip()
    assert code_in(f"{thought}{closing}\nI give up.") is None
    assert code_in(thought) is None
    assert code_in(f"{opening}\n```python\n{DRAFT}") is None


@pytest.mark.parametrize("closing", BY_TEMPLATE)
def test_a_closing_mark_ends_what_the_template_began(closing):
    for draft in (FENCED_DRAFT, f"```python\n{DRAFT}", f"```\n{DRAFT}", DRAFT):
        for rest in (FENCED, f"```\n{PROGRAM}```", f"Here it is:\n```\n{PROGRAM}", PROGRAM):
            assert code_in(f"Maybe\n{draft}{closing}\n{rest}") == PROGRAM.strip()


@pytest.mark.parametrize("tag", ["ponder", "my-plan x='1'", "draft"])
def test_an_unknown_tag_around_the_beginning_is_thinking_if_a_program_follows(tag):
    thought = f"<{tag}>\nMaybe\n{FENCED_DRAFT}</{tag.split()[0]}>\n"
    assert code_in(thought + FENCED) == code_in(thought + PROGRAM) == PROGRAM.strip()
    assert code_in(f"<{tag}>\n{FENCED}</{tag.split()[0]}>") == PROGRAM.strip()


@given(st.sampled_from(list(MARKS.items())), st.integers(0, 200), st.sampled_from([FENCED, PROGRAM]))
def test_wherever_an_answer_is_cut_off_its_program_is_the_program_or_nothing(marks, length, rest):
    opening, closing = marks
    head = f"{opening}\nMaybe\n{FENCED_DRAFT}\n```python\n{DRAFT}"
    answer = f"{head}\n{closing}\n{rest}"
    found = code_in(answer[: len(opening) + length])
    assert found is None or PROGRAM.startswith(found), found


@given(st.text(st.sampled_from("<>/think[]|`~\n a'\"")))
def test_any_text_is_split_and_only_thinking_goes(text):
    answer, thoughts = split_thinking(text)
    assert len(answer) + len(thoughts) <= len(text) + thoughts.count("\n")
    assert thoughts or "think" in text or answer == text
