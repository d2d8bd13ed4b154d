"""The code that a problem asks for: a program that reads stdin, or a function.

Stages that write or repair programs get the variables of their prompts and the reader of answers from a `CodingTask`,
so that they work for all kinds of tests.
"""

import html
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from alpha_codium.answers.extraction import Extracted, extract_code, fenced_texts
from alpha_codium.answers.fences import clean
from alpha_codium.flows.asking import CodeForm, whole_program
from alpha_codium.flows.context import SampleContext
from alpha_codium.flows.state import FlowState
from alpha_codium.languages import Language
from alpha_codium.languages.python.beginnings import Beginning, beginning_of
from alpha_codium.languages.python.completion import as_body, completed
from alpha_codium.languages.python.programs import ProgramReader
from alpha_codium.problem import ExecutionSpec, Statement, TestCase
from alpha_codium.program import PYTHON

OUTPUT_HEADING = r"[^\n]{0,40}\boutput\b[^\n]{0,40}[:\n]"
ANY_HEADING = r"(?:[^\n]{0,40}\n\s*)?"
FENCES = re.compile(r"^[ \t]*(?:```|~~~).*$", re.MULTILINE)
# Of a longer input or output, the beginning is compared.
MOST_WORDS = 2000

WHOLE_CODE = "Give the complete {title} code, with the imports it needs, in one fenced block:\n```{tag}\n...\n```"


@dataclass(frozen=True, slots=True)
class CodingTask:
    """The code to write; `kind` is the kind of the tests, `beginning` the code that a function in Python continues."""

    statement: Statement
    kind: str
    beginning: Beginning | None
    tests: Sequence[TestCase]
    language: Language

    @classmethod
    def of(cls, state: FlowState, context: SampleContext) -> "CodingTask":
        """Return the task of a sample."""
        statement, kind = state.statement, context.judge.kind.name
        language, beginning = context.language, None
        is_function = ExecutionSpec(kind).is_function
        if is_function and language.name == PYTHON:
            beginning = beginning_of(statement.description)
        tests = tests_to_show(statement, state.examples, is_function=is_function)
        return cls(statement, kind, beginning, tests, language)

    @property
    def is_function(self) -> bool:
        """Whether tests call a function of the program."""
        return ExecutionSpec(self.kind).is_function

    @property
    def has_outputs(self) -> bool:
        """Whether a test has an output beside its input; otherwise it is code with assertions."""
        return ExecutionSpec(self.kind).has_outputs

    @property
    def form(self) -> CodeForm:
        """The request for the program, and its reader; an answer with only a function's body is accepted."""
        if not self.is_function:
            return whole_program(self.language)
        title, tag = self.language.title, self.language.tag
        if self.language.name == PYTHON:
            read = partial(extract_completion, beginning=self.beginning)
        else:
            read = partial(extract_code, language=self.language.name)
        return CodeForm(WHOLE_CODE.format(title=title, tag=tag), read, title)

    @property
    def variables(self) -> dict[str, Any]:
        """The variables of all prompts (`variables.TASK`)."""
        return {
            "problem": self.statement,
            "kind": self.kind,
            "is_function": self.is_function,
            "beginning": self._code_to_continue,
            "language": self.language.title,
            "tag": self.language.tag,
            "tests": self.tests,
        }

    @property
    def _code_to_continue(self) -> str:
        """The code of the statement that a function continues: benchmarks in other languages consist of it."""
        if not self.has_outputs and self.language.name != PYTHON:
            return self.statement.description
        return self.beginning.text if self.beginning else ""


def extract_completion(answer: str, beginning: Beginning | None) -> Extracted | None:
    """Return the program in an answer, which may be the continuation of `beginning`; None if there is none."""
    found = extract_code(answer)
    if beginning is None:
        return found
    if found is not None:
        return replace(found, code=completed(found.code, beginning))
    # An indented body isn't Python without its beginning.
    reader = ProgramReader()
    for text in (*fenced_texts(answer), Extracted(clean(answer))):
        body = as_body(text.code, beginning, reader)
        if body is not None:
            return replace(text, code=body)
    return None


def tests_to_show(statement: Statement, examples: Sequence[TestCase] = (), *, is_function: bool) -> Sequence[TestCase]:
    """Return the public tests that the description doesn't contain, as `examples`, as assertions, or as the input and
    output of a program.
    """
    text = statement.description
    tests = (test for test in statement.public_tests if test not in examples)
    return [test for test in tests if not _is_shown(test, text, is_function=is_function)]


def _is_shown(test: TestCase, description: str, *, is_function: bool) -> bool:
    if not test.output.strip():
        return all(line.strip() in description for line in test.input.splitlines())
    return not is_function and is_example(test, description)


def is_example(test: TestCase, description: str) -> bool:
    """Return whether a description has a line with a test's input, perhaps fenced, and then its output or its heading.

    An output under a heading may be written in another way, or be another right one.
    """
    given, expected = (r"\s+".join(map(re.escape, text.split()[:MOST_WORDS])) for text in (test.input, test.output))
    shown = rf"(?:^|:)[ \t]*{given}\s+(?:{OUTPUT_HEADING}|{ANY_HEADING}{expected}(?!\S))"
    text = html.unescape(FENCES.sub("", description))
    return bool(given and re.search(shown, text, re.IGNORECASE | re.MULTILINE))
