"""Readers of texts that candidates, models and datasets wrote take time in proportion to the text's length.

One table of readers, and all regular expressions of the package (`patterns.py`). Each reads a text of N characters and
one of 2N that repeats the same unit. CPU times are compared with each other, not with the clock: a linear reader takes
about twice as long, a quadratic one four times. Times below `TOO_LITTLE_TO_TELL` are those of a linear reader: a
quadratic one needs more for 2N characters. The garbage collector is off: it goes through all objects of the process at
times of its own, which made readers with large syntax trees take up to four times as long for 2N.
"""

import gc
import itertools
import re
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import pytest

from alpha_codium.answers.cleaning import GeneratedText, cleaned
from alpha_codium.answers.extraction import extract_code
from alpha_codium.answers.fences import clean, fenced_texts
from alpha_codium.answers.structured import AnswerSchema
from alpha_codium.audit.datasets.wording import several_answers
from alpha_codium.checkers import BUILT_IN
from alpha_codium.data.statements import problem_of_statement
from alpha_codium.flows.nearness import output_distance
from alpha_codium.flows.stages.selecting import first_is_right
from alpha_codium.judge.assertions import AssertionReport
from alpha_codium.judge.behaviour import error_shown, key_of_output, returned, without_addresses
from alpha_codium.judge.call import call_result
from alpha_codium.judge.codec import Malformed, decode
from alpha_codium.judge.tolerances import tolerance_in
from alpha_codium.languages.python.beginnings import beginning_of
from alpha_codium.languages.python.completion import completed
from alpha_codium.languages.python.examples import examples_in
from alpha_codium.languages.python.programs import ProgramReader
from alpha_codium.llm.responses import split_reasoning
from alpha_codium.log import redact, visible
from alpha_codium.metrics.assertion_runs import compile_message
from alpha_codium.problem import Statement
from alpha_codium.verdict import Execution, Report, Status
from tests.patterns import Use, pumped, uses_of_patterns

LENGTH = 5_000
TOO_LITTLE_TO_TELL = 0.0125
ENOUGH_TO_TELL = 0.05
MOST_GROWTH = 3.2
MOST_SECONDS = 3.0


class TooSlow(BaseException):
    """A reader took more CPU time than any linear one."""


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """Raise TooSlow after so much CPU time; regular expressions check for signals, too."""

    def stop(*_: Any) -> None:
        raise TooSlow

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def cost(reader: Callable[[str], Any], text: str, at_least: float = 0) -> float:
    """Return the CPU seconds of a reader; what it raises doesn't matter.

    It reads the text until it has taken `at_least` so many seconds, since a kernel may count CPU time in ticks of 4 ms.
    """
    gc.disable()
    start, times = time.process_time(), 0
    try:
        with at_most(MOST_SECONDS):
            while times == 0 or time.process_time() - start < at_least:
                times += 1
                with suppress(Exception):
                    reader(text)
    except TooSlow:
        return MOST_SECONDS
    finally:
        gc.enable()
    return (time.process_time() - start) / times


def grows_too_fast(reader: Callable[[str], Any], text_of: Callable[[int], str], length: int = LENGTH) -> bool:
    """Whether twice the text takes more than `MOST_GROWTH` times as long: at first sight, and in each of five attempts.

    The attempts are exact but slow, and few texts need one.
    """
    return all(_grows(reader, text_of, length, at_least) for at_least in (0, *[ENOUGH_TO_TELL] * 5))


def _grows(reader: Callable[[str], Any], text_of: Callable[[int], str], length: int, at_least: float) -> bool:
    twice = cost(reader, text_of(2 * length), at_least)
    if twice < TOO_LITTLE_TO_TELL:
        return False
    if twice >= MOST_SECONDS:
        return True
    return twice >= MOST_GROWTH * min(cost(reader, text_of(length), at_least) for _ in range(2))


# A text is PREFIX + UNIT * n + SUFFIX. Line breaks in a unit make many lines, without them one long line.
PREFIXES = ("", "- a: ", "```python\n", "# t\n", "Output\nerror 10", "def f(x):\n    '''\n    f(1)")
UNITS = (
    *(" ", "\n", "\t", " \n", "1", "1.", "a", "a ", "a\n", ".", "(", ")", "[", "{", "]", "- ", "-", "`", "```\n", "~"),
    *("<think>", "</think>\n", "f(1) ", "f(1)\n", ">>> ", "#", "'", '"', "\\", "\\frac", "e", "\u00e9", "- a: b\n"),
    *(
        "error 10^",
        "1/",
        "10 - ",
        "answer ",
        "a: |\n",
        "import a\n",
        "x=1;",
        ",",
        "1,",
        "<|",
        "\r",
        "_",
        " at 0x",
        "0.",
    ),
)
SUFFIXES = ("", "x")
# Texts that repeat one unit and then another one.
PAIRS = (("[", "[]"), ("[", "]"), ("{", "{}"), ("(", ")"), ("<think>", "</think>\n"), ("```\n", "~~~\n"), (" ", "\n"))


def texts() -> Iterator[tuple[str, ...]]:
    yield from itertools.product(PREFIXES, UNITS, SUFFIXES)
    yield from (("", first, second, "") for first, second in PAIRS)


def made(shape: tuple[str, ...]) -> Callable[[int], str]:
    """Return a function that makes a text of a length from `(prefix, *units, suffix)`."""
    prefix, *units, suffix = shape
    return lambda length: prefix + "".join(unit * (length // len(unit) // len(units)) for unit in units) + suffix


def decoded(text: str) -> None:
    try:
        decode(text)
    except Malformed:
        return


SCHEMA = AnswerSchema.from_table("p", {"a": "text", "list": "list", "inner": {"kind": "records", "b": "text"}})
STUB = "def f(x):\n    '''What f does.'''\n"
BEGINNING = beginning_of(STUB)
READERS: dict[str, Callable[[str], Any]] = {
    **{f"checker {name}": lambda text, make=make: make()("", "5 6\n7", text) for name, make in BUILT_IN.items()},
    "checker float within 1e-6": lambda text: BUILT_IN["float"](abs=1e-6)("", "5 6\n7", text),
    "checker deepmind, a number": lambda text: BUILT_IN["deepmind"]()("", "5", text),
    "checker deepmind, the same": lambda text: BUILT_IN["deepmind"]()("", text + " 1", text + " 1.0"),
    **{
        f"checker {name}, the same backwards": lambda text, make=make: make()(
            "", text, "".join(reversed(text.splitlines(keepends=True)))
        )
        for name, make in BUILT_IN.items()
    },
    "checker call_result": lambda text: call_result()("", "[1]", text),
    "codec": decoded,
    "report of assertions": lambda text: AssertionReport.of(
        Report(Execution(Status.FINISHED), (Execution(Status.FINISHED, stdout=f"token passed {text}"),)), "token"
    ),
    "addresses": without_addresses,
    "returned value": returned,
    "key of an output": key_of_output,
    "error shown": lambda text: error_shown(Execution(Status.RUNTIME_ERROR, stderr=text)),
    "message of a compiler": compile_message,
    "distance of outputs": lambda text: output_distance("5 6\n7", text),
    "code in an answer": extract_code,
    "code in C++ in an answer": lambda text: extract_code(text, "cpp"),
    "fences": lambda text: list(fenced_texts(text)),
    "thinking and end tokens": clean,
    "structured answer": SCHEMA.parse,
    "structured answer, truncated": lambda text: SCHEMA.parse(text, truncated=True),
    "first or second": first_is_right,
    "reasoning": split_reasoning,
    "cleaning of programs": lambda text: cleaned(GeneratedText(text, "solution")),
    "cleaning of completions": lambda text: cleaned(GeneratedText(text, "completion", prompt=STUB, entry_point="f")),
    "kind of a program": lambda text: ProgramReader().kind_of(text),
    "completion": lambda text: completed(text, BEGINNING),
    "tolerance": tolerance_in.__wrapped__,
    "examples": lambda text: examples_in(Statement("p", text, ())),
    "examples after a beginning": lambda text: examples_in(
        Statement("p", f"def f(x):\n    '''\n    {text}\n    '''\n", ())
    ),
    "several answers": several_answers,
    "a statement's title": problem_of_statement,
    "log": lambda text: redact(visible(text)),
}


@pytest.mark.thorough
@pytest.mark.parametrize("name", READERS)
def test_a_reader_of_foreign_text_takes_time_in_proportion_to_its_length(name: str) -> None:
    slow = [shape for shape in texts() if grows_too_fast(READERS[name], made(shape))]
    assert slow == []


USES = uses_of_patterns()


@pytest.mark.thorough
@pytest.mark.parametrize("use", USES, ids=str)
def test_a_regular_expression_takes_time_in_proportion_to_the_length(use: Use) -> None:
    assert [shape for shape in pumped(use.pattern) if grows_too_fast(use.run, made(shape))] == []


def test_the_patterns_that_were_found_include_some_that_are_known() -> None:
    names = {str(use) for use in USES}
    assert {"checkers.DEEPMIND_NUMBER.fullmatch", "judge.tolerances.NUMBER.finditer"} <= names
    assert len(USES) > 80


# Cubic and quadratic. If they are noticed at these lengths, they are at `LENGTH`, which would take longer.
@pytest.mark.thorough
@pytest.mark.parametrize(("pattern", "length"), [("[0-9]+\\.?[0-9]*z", 400), (r"^\W*Output\b", 2_500)])
def test_a_pattern_that_is_not_linear_is_noticed(pattern: str, length: int) -> None:
    use = Use("", re.compile(pattern, re.MULTILINE), "finditer")
    assert any(grows_too_fast(use.run, made(shape), length) for shape in pumped(use.pattern))
