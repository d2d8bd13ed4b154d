"""What a program for a problem has to be: one that reads and prints, or code that defines a function.

A stage that writes or repairs programs takes from here what it tells its prompts of that, and how answers are read, so
that it works for tests of any kind.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from alpha_codium.flows.asking import WHOLE_PROGRAM, WRITTEN, CodeForm
from alpha_codium.flows.context import SampleContext
from alpha_codium.flows.extraction import Extracted, extract_code, fenced_texts
from alpha_codium.flows.fences import clean
from alpha_codium.flows.state import FlowState
from alpha_codium.languages.python.beginnings import Beginning, beginning_of
from alpha_codium.languages.python.completion import as_body, completed
from alpha_codium.languages.python.programs import ProgramReader
from alpha_codium.problem import Statement, TestCase

WHOLE_CODE = (
    f"Give the whole {WRITTEN.title} code, with the imports it needs, in one fenced block:\n```{WRITTEN.tag}\n...\n```"
)


@dataclass(frozen=True, slots=True)
class CodingTask:
    """What is to be written; `kind` is that of the tests, `beginning` the code that a function is to go on from."""

    statement: Statement
    kind: str
    beginning: Beginning | None
    tests: Sequence[TestCase]

    @classmethod
    def of(cls, state: FlowState, context: SampleContext) -> "CodingTask":
        """The task of a sample."""
        statement, kind = state.statement, context.judge.kind.name
        beginning = None if kind == "stdin" else beginning_of(statement.description)
        return cls(statement, kind, beginning, tests_to_show(statement, state.examples))

    @property
    def is_function(self) -> bool:
        """Whether tests call what the program defines."""
        return self.kind != "stdin"

    @property
    def form(self) -> CodeForm:
        """How the program is asked for and read: of a function its body is enough."""
        if not self.is_function:
            return WHOLE_PROGRAM
        return CodeForm(WHOLE_CODE, partial(extract_completion, beginning=self.beginning))

    @property
    def variables(self) -> dict[str, Any]:
        """What prompts are told: `problem`, `is_function`, `beginning` (its text) and `tests`, those to be shown."""
        return {
            "problem": self.statement,
            "is_function": self.is_function,
            "beginning": self.beginning.text if self.beginning else "",
            "tests": self.tests,
        }


def extract_completion(answer: str, beginning: Beginning | None) -> Extracted | None:
    """The program in an answer to a beginning of code, and whether its end was seen; None where there is none."""
    found = extract_code(answer)
    if beginning is None:
        return found
    if found is not None:
        return replace(found, code=completed(found.code, beginning))
    # An indented body is no Python by itself, and so no code to those who don't know its beginning.
    reader = ProgramReader()
    for text in (*fenced_texts(answer), Extracted(clean(answer))):
        body = as_body(text.code, beginning, reader)
        if body is not None:
            return replace(text, code=body)
    return None


def tests_to_show(statement: Statement, examples: Sequence[TestCase] = ()) -> Sequence[TestCase]:
    """The public tests but for those that the description shows already: its `examples`, and assertions in it."""
    text = statement.description
    return [
        test
        for test in statement.public_tests
        if test not in examples and (test.output.strip() or any(line not in text for line in _lines(test)))
    ]


def _lines(test: TestCase) -> list[str]:
    return [line.strip() for line in test.input.splitlines()]
