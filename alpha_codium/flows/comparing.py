"""Asking which of two outputs is right."""

import re

from alpha_codium.flows.asking import Question
from alpha_codium.flows.context import shortened
from alpha_codium.flows.tasks import Task
from alpha_codium.rendering import Prompt

SHOWN = 600
# Capitals only: `a` is an article. What follows the word "answer" goes before all else that names an output.
LETTER = r"(?i:%s)\W{0,6}(?:(?i:is)\W{1,4})?(?:(?i:output)\W{1,3})?([AB])\b"
SAID = (re.compile(LETTER % "answer"), re.compile(LETTER % "right|correct|output"))
ALONE = re.compile(r"(?:.*\banswer\W{1,6})?\W*([AB])\W*", re.IGNORECASE)


def compare_question(prompt: Prompt, task: Task, input: str, first: str, second: str) -> Question:
    """The question which of two outputs for an input is right; it may be the budget's last."""
    shown = {"input": input, "first": first, "second": second}
    variables = {name: shortened(text.strip(), SHOWN) or "(nothing)" for name, text in shown.items()}
    return Question(prompt, task.variables | variables, may_be_last=True)


def first_is_right(answer: str) -> bool | None:
    """Whether an answer takes A; None where it takes neither. Of what is said in the same way the last counts."""
    lines = [line for line in answer.splitlines() if line.strip()]
    alone = ALONE.fullmatch(lines[-1]) if lines else None
    said = next((found for each in SAID if (found := each.findall(answer))), [])
    letter = alone[1] if alone else said[-1] if said else ""
    return letter.upper() == "A" if letter else None
