import textwrap

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from alpha_codium.answers.cleaning import RULES, STOP_WORDS, GeneratedText, cleaned
from alpha_codium.cli.data import RULE_NAMES
from alpha_codium.data.samples.reading import COMPLETION, SOLUTION

PROMPT = (
    'from typing import List\n\n\ndef add(xs: List[int]) -> int:\n    """Add up.\n    >>> add([1])\n    1\n    """\n'
)
BODY = "    total = sum(xs)\n    return total\n"
WHOLE = "def add(xs):\n    return sum(xs)\n"
USAGE = "for n in range(100):\n    print(add([n, n + 1, n + 2]))\n"
TAIL = "\nprint(add([1, 2]))\n"


def solution(text, **known):
    return cleaned(GeneratedText(text, SOLUTION, **known))


def completion(text, prompt=PROMPT, **known):
    return cleaned(GeneratedText(text, COMPLETION, prompt, "add", **known))


@pytest.mark.parametrize(
    ("text", "clean", "rules"),
    [
        (f"```python\n{WHOLE}```", WHOLE, {"fences"}),
        (f"Here it is:\n\n```\n{WHOLE}```\n\nIt adds.", WHOLE, {"fences"}),
        (f"```python\n{WHOLE}```\nUsage:\n```python\n{USAGE}```", WHOLE, {"fences"}),
        (f"```python\ndef add(xs): pass\n```\nNo:\n```python\n{WHOLE}```", WHOLE, {"fences"}),
        (f"{WHOLE}```\nThis adds up.", WHOLE, {"fences"}),
        (f"```python\n{WHOLE}", WHOLE, {"fences"}),
        (f"Sure! This adds up:\n\n{WHOLE}", WHOLE, {"prose"}),
        (f"{WHOLE}\nThis function adds up the numbers.", f"{WHOLE}\n", {"prose"}),
        (f"Sure! Here:\n{WHOLE}\nThis works because it's right.", f"{WHOLE}\n", {"prose"}),
        (f"<think>\nHm, a sum.\n</think>\n{WHOLE}", f"\n{WHOLE}", {"thinking"}),
        (f"{WHOLE}<|endoftext|>def more(): pass", WHOLE, {"end_tokens"}),
        (textwrap.indent(WHOLE, "  "), WHOLE, {"indentation"}),
        (textwrap.indent(f"```python\n{WHOLE}```", "    "), WHOLE, {"fences"}),
        (f"{WHOLE}</s>", WHOLE, {"end_tokens"}),
        (f"[PYTHON]\n{WHOLE}[/PYTHON]", WHOLE, {"end_tokens"}),
        (f"[PYTHON]\n{WHOLE}", WHOLE, {"end_tokens"}),
        (f"  [PYTHON] {WHOLE}[/PYTHON]\nDone.", WHOLE, {"end_tokens"}),
        (f"Here you are.\n[PYTHON]\r\n{WHOLE}[/PYTHON]\n", WHOLE, {"end_tokens"}),
        ('x = """\n[PYTHON]\n"""\n' + WHOLE, 'x = """\n[PYTHON]\n"""\n' + WHOLE, set()),
        (f"{WHOLE}\n[PYTHON]\n{WHOLE}", f"{WHOLE}\n[PYTHON]\n{WHOLE}", set()),
        (f"<think>\nx\n</think>\nThe answer:\n```python\n{WHOLE}```<|im_end|>", WHOLE,
         {"thinking", "end_tokens", "fences"}),
    ],
)  # fmt: skip
def test_what_stands_around_a_program_goes(text, clean, rules):
    assert solution(text, entry_point="add") == (clean, rules)


@pytest.mark.parametrize(
    ("text", "clean", "rules"),
    [
        (BODY + TAIL, BODY.rstrip("\n") + "\n", {"stop_words"}),
        (f"{BODY}\ndef more():\n    pass\n", BODY, {"stop_words"}),
        (f"{BODY}\n# Test\nadd([])", BODY, {"stop_words"}),
        (PROMPT + BODY, "\n" + BODY, {"prompts"}),
        (PROMPT + BODY + TAIL, "\n" + BODY, {"prompts", "stop_words"}),
        (f"```python\n{PROMPT}{BODY}```", "\n" + BODY, {"fences", "prompts"}),
        (f"```python\n{BODY}```", BODY, {"fences"}),
        (f"\n{WHOLE}{TAIL}", f"\n{WHOLE}{TAIL}", set()),
        (f"{BODY}[DONE]\nmore", BODY, {"end_tokens"}),
        (f"[PYTHON]\n{BODY}[/PYTHON]", BODY, {"end_tokens"}),
        (BODY, BODY, set()),
        ("", "", set()),
    ],
)
def test_what_stands_around_a_completion_goes(text, clean, rules):
    assert completion(text) == (clean, rules)


def test_without_a_prompt_a_completion_is_read_as_a_body():
    assert completion(BODY + TAIL, prompt="") == (BODY, {"stop_words"})
    assert completion(f"```\n{BODY}```", prompt="") == (BODY, {"fences"})


def test_stop_words_may_be_others():
    assert completion(f"{BODY}\nassert add([]) == 0", stop_words=["\nassert"]) == (BODY, {"stop_words"})
    assert completion(f"{BODY}\nassert add([]) == 0")[1] == set()


PROGRAMS = [
    WHOLE,
    'FENCE = """\n```python\nx = 1\n```\n"""\nprint(FENCE)\n',
    "print('<|endoftext|>', '</s>')\n",
    'def add(xs):\n    """<think>\n    no\n    </think>"""\n    return sum(xs)\n\n\nprint(add([1]))\n',
    "# Here is the code:\nimport sys\nprint(sys.stdin.read())\n",
    PROMPT + BODY,
    "class Solution:\n    def add(self, xs):\n        return sum(xs)\n",
]


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_clean_program_is_untouched(program):
    assert solution(program) == (program, frozenset())
    assert solution(program, entry_point="add", prompt=PROMPT) == (program, frozenset())


def test_a_program_that_was_cut_off_is_not_mended():
    cut = "def add(xs):\n    return sum(xs)\n\ndef main():\n    print(add([1, 2"
    assert solution(cut) == (cut, frozenset())


PIECES = [
    *PROGRAMS, BODY, TAIL, PROMPT, "```python\n", "```\n", "```", "Here is the code:\n", "<think>\n", "</think>\n",
    "<|endoftext|>", "[DONE]\n", "\n", "    ", "This adds.\n", "~~~\n", "def ", "\x00", "'''", "\r\n",
]  # fmt: skip


@pytest.mark.thorough
@given(
    st.lists(st.sampled_from(PIECES) | st.text(max_size=5), max_size=8),
    st.sampled_from([COMPLETION, SOLUTION]),
    st.sampled_from(["", PROMPT]),
)
@settings(max_examples=300, deadline=None)
def test_what_is_clean_stays_as_it_is_and_every_rule_only_cuts(pieces, form, prompt):
    text = "".join(pieces)
    once, rules = cleaned(GeneratedText(text, form, prompt, "add"))
    assert cleaned(GeneratedText(once, form, prompt, "add")) == (once, frozenset())
    assert (once == text) == (not rules)
    assert len(once) <= len(text)


@given(
    st.sampled_from(PROGRAMS),
    st.sampled_from(["python\n", "\n", "py\n"]),
    st.sampled_from(["", "It works:\n", "1. So:\n\n"]),
)
def test_a_fenced_program_comes_out_whole(program, tag, before):
    fence = "~~~" if "```" in program else "```"
    assert solution(f"{before}{fence}{tag}{program}{fence}\nDone.\n")[0] == program


@pytest.mark.parametrize("name", RULE_NAMES)
def test_a_rule_that_is_off_changes_nothing(name):
    dirty = f"<think>\nx\n</think>\nSo:\n```python\n{PROMPT}{BODY}{TAIL}```\nDone.<|endoftext|>"
    others = [rule for rule in RULES if rule.name != name]
    for text in (textwrap.indent(WHOLE, "  "), dirty, BODY + TAIL, PROMPT + BODY, f"Sure:\n{WHOLE}"):
        for form in (COMPLETION, SOLUTION):
            assert name not in cleaned(GeneratedText(text, form, PROMPT, "add"), others)[1]


def test_each_rule_has_a_flag_and_the_stop_words_are_those_of_the_paper():
    assert tuple(rule.name for rule in RULES) == RULE_NAMES
    assert STOP_WORDS == ("\nclass", "\ndef", "\n#", "\nif", "\nprint")


@pytest.mark.thorough
def test_a_long_text_of_anything_is_cleaned():
    for unit in ("```python\nx = 1\n", "def f():\n", "<think>", "Here is:\n", "((((", "'''"):
        text = unit * (10**5 // len(unit))
        cleaned(GeneratedText(text, SOLUTION))
        cleaned(GeneratedText(text, COMPLETION, PROMPT, "add"))
