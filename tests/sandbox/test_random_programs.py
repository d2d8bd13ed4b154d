"""Random programs do in the sandbox what they do under `python3 program.py < input`.

1. A program is a list of snippets, each a habit of real programs or an odd corner of the interpreter, in any order,
   some of them wrapped in a function, a thread, a `try`; with a way to end, a source encoding and an input.
2. Every snippet says the same each time it is run: no addresses, no clocks, no races. So the whole of stdout, of
   stderr and the exit status must be the same in both.
   Only how many frames fit under the recursion limit may differ by a few: `test_same_as_python3` has that exactly.
3. Hypothesis shrinks a program that differs to the few snippets that matter, and prints it.
"""

import asyncio
import os
import re
import signal
import textwrap
from collections.abc import AsyncIterator
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, Phase, given, note, settings
from hypothesis import strategies as st

from alpha_codium.limits import Limits
from alpha_codium.sandbox import Sandbox
from alpha_codium.verdict import Execution, Report, Status
from tests.sandbox.backends import BACKENDS
from tests.sandbox.beside_python3 import Real, neutral, run_for_real, same_end
from tests.sandbox.random_snippets import FLAWS, HEADS, LINE_ENDS, SNIPPETS, WRAPPERS
from tests.sandbox.test_same_as_python3 import COMPARED

# Set it to try more programs than the usual ones, other ones each time.
MORE = int(os.environ.get("GENCODE_RANDOM_PROGRAMS", "0"))
# Characters that Python keeps, or nearly, before it writes.
BUFFERED = 8000


def wrapped(wrapper: str, body: list[str]) -> str:
    """A wrapper around snippets."""
    head, _, tail = wrapper.partition("BODY")
    spaces = " " * (len(head) - len(head.rstrip(" ")))
    return head.rstrip(" ") + textwrap.indent("\n".join(body), spaces) + tail


snippets = st.one_of(*(st.sampled_from(table) for table in SNIPPETS))
printed = st.one_of(st.text(max_size=20), st.integers(), st.floats(), st.binary(max_size=9)).map(
    lambda v: f"print({v!r})"
)
blocks = st.recursive(
    st.one_of(snippets, snippets, snippets, printed),
    lambda inner: st.builds(wrapped, st.sampled_from(WRAPPERS), st.lists(inner, min_size=1, max_size=4)),
    max_leaves=6,
)
inputs = st.one_of(
    st.sampled_from(["", "3 4\n", "3 4", "a\r\nb\r\n", "a\rb\n", "ž\0漢\n", "\n\n", "1\n" * 2000, "\ufeffx\n"]),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=40),
)


@st.composite
def programs(draw: st.DrawFn) -> str:
    """The text of a program; one in ten or so doesn't compile."""
    body = draw(st.lists(blocks, min_size=1, max_size=6))
    if draw(st.integers(0, 9)) == 9:
        body.insert(draw(st.integers(0, len(body))), draw(st.sampled_from(FLAWS)))
    end = draw(st.sampled_from(["\n", "\n", "", "\n\n  ", "\n#", "\n\x0c\n"]))
    return (draw(st.sampled_from(HEADS)) + "\n".join(body) + end).replace("\n", draw(st.sampled_from(LINE_ENDS)))


@pytest.fixture(params=COMPARED)
async def compared(request: pytest.FixtureRequest) -> AsyncIterator[Sandbox]:
    async with BACKENDS[request.param].open() as opened:
        yield opened


@pytest.mark.thorough
@settings(
    max_examples=MORE or 120,
    derandomize=not MORE,
    database=None,
    deadline=None,
    phases=[Phase.generate, Phase.shrink],
    # The sandbox stays open from one program to the next, and that is meant.
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(program=programs(), text=inputs)
async def test_a_random_program_does_what_python3_does(compared: Sandbox, program: str, text: str) -> None:
    note(program)
    real, report = await asyncio.gather(
        asyncio.to_thread(real_end, program, text), compared.run(program, [text], limits=Limits(wall_seconds=60))
    )
    compare(report, real)


@lru_cache(maxsize=1000)
def real_end(program: str, text: str) -> Real:
    """What `python3` does; once for both backends, which get the same programs."""
    with TemporaryDirectory(prefix="gencode-random-") as folder:
        return run_for_real(program, text, Path(folder))


def compare(report: Report, real: Real) -> None:
    """Raise AssertionError where a program did something else in the sandbox than under `python3`."""
    if not report.compiled:
        assert (real.returncode, real.stdout) == (1, b"")
        assert error_class(refusal_of(report)) == error_class(real.stderr.decode())
        return
    execution = report.executions[0]
    if real.returncode == -signal.SIGINT:
        # Known: `local` ends it before its variables go, and what those would have written; `portable` doesn't.
        said = "KeyboardInterrupt" if b"KeyboardInterrupt" in real.stderr else ""
        assert end_of(execution) == real.returncode
        assert error_class(execution.stderr) in {said, error_class(real.stderr.decode("utf-8", "replace"))}
        return
    if met_the_limit_in_an_import(execution.stderr, real.stderr.decode("utf-8", "replace")):
        assert end_of(execution) == real.returncode
        return
    assert (roughly(execution.stdout), end_of(execution)) == (
        roughly(real.stdout.decode("utf-8", "replace")),
        real.returncode,
    )
    assert same_end(execution.stderr, real.stderr, roughly)


def roughly(text: str) -> str:
    """A text without what tells how near the recursion limit was; of deep tracebacks only some frames are shown."""
    text = re.sub(r"(?<=recursion depth exceeded) while .*", "", neutral(text))
    if len(text) > BUFFERED:
        # Where it stands among what is buffered depends on how long the path in a traceback is.
        text = text.replace("straight\n", "")
    return re.sub(r"^  .*\n", "", text, flags=re.MULTILINE) if "[Previous line repeated" in text else text


def met_the_limit_in_an_import(*ends: str) -> bool:
    """Whether both ended in an import too deep for the recursion limit: how far it came depends on what is loaded."""
    return {error_class(end) for end in ends} == {"RecursionError"} and any("<frozen importlib" in end for end in ends)


def refusal_of(report: Report) -> str:
    assert report.compilation.status is Status.COMPILATION_ERROR, report.compilation
    return report.compilation.stderr


def end_of(execution: Execution) -> int | None:
    """The exit status as `subprocess` gives it: below 0 where a signal ended the program."""
    return execution.exit_code if execution.signal is None else -execution.signal


def error_class(stderr: str) -> str:
    """What kind of error the last line tells of."""
    return stderr.rstrip().rpartition("\n")[2].partition(":")[0]
