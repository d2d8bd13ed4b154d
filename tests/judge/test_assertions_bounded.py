"""What a program returns, raises or writes can neither raise in the judge nor fill the memory of its process."""

import secrets

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from alpha_codium.judge.assertion_batches import result_of_line
from alpha_codium.judge.assertions import DONE, AssertionReport, AssertionsKind
from alpha_codium.judge.codec import encode
from alpha_codium.limits import Limits
from alpha_codium.metrics.assertion_runs import result_text
from alpha_codium.problem import ExecutionSpec, TestCase
from alpha_codium.program import as_program
from alpha_codium.sandbox import Sandbox
from alpha_codium.verdict import Execution, Report, Status, Verdict
from tests.judge.asserting import judged_in_batch

LARGE = 9_000_000
TEST = "assert f(1) == 2"
MESSAGE = "r = f(1)\nassert r == 2, r"
CAUGHT = "try:\n    r = f(1)\nexcept Exception as e:\n    assert False, str(e)\nassert r == 2"
PATCHING = "from unittest.mock import patch\nwith patch('program.f', lambda x: 2):\n    assert f(1) == 2"
HONEST = "def f(x):\n    return x + 1\n"
LARGE_ANSWERS = {
    "a long text": (TEST, f"def f(x):\n    return 'a' * {LARGE}\n"),
    "a long list": (TEST, "def f(x):\n    return list(range(1_300_000))\n"),
    "a long text in a message": (MESSAGE, f"def f(x):\n    return 'a' * {LARGE}\n"),
    "a long exception": (TEST, "def f(x):\n    raise KeyError(chr(0) * 3_000_000)\n"),
    "a long exception that is caught": (CAUGHT, f"def f(x):\n    raise ValueError('a' * {LARGE})\n"),
    "an exception in many lines": (TEST, "def f(x):\n    raise ValueError('\\n' * 3_000_000)\n"),
    "much on every stream": (
        TEST,
        "import os\nfor fd in range(3, 20):\n    try: os.write(fd, b'x' * (15 << 20))\n"
        "    except OSError: pass\ndef f(x): return 3\n",
    ),
}


def kind_in(sandbox: Sandbox) -> AssertionsKind:
    return AssertionsKind(sandbox, Limits(), ExecutionSpec("assertions", "f"))


@pytest.mark.thorough
@pytest.mark.parametrize("name", LARGE_ANSWERS)
async def test_a_large_answer_affects_only_its_program_and_its_text_is_bounded(sandbox: Sandbox, name: str) -> None:
    test, program = LARGE_ANSWERS[name]
    result = await kind_in(sandbox).judge(as_program(program), test)
    assert result.verdict not in (Verdict.ACCEPTED, Verdict.INTERNAL_ERROR)
    assert len(result_text(result)) < 1 << 13
    assert len(result.execution.stdout) + len(result.execution.stderr) <= 1 << 17


@pytest.mark.thorough
@pytest.mark.parametrize("name", LARGE_ANSWERS)
async def test_large_answers_in_a_batch_leave_the_others_their_verdicts(sandbox: Sandbox, name: str) -> None:
    test, program = LARGE_ANSWERS[name]
    jobs = [(f"{program}# {i}\n", test) for i in range(3)] + [(HONEST, test)]
    *large, honest = await judged_in_batch(kind_in(sandbox), jobs)
    assert honest.verdict is Verdict.ACCEPTED
    for result in large:
        assert result.verdict not in (Verdict.ACCEPTED, Verdict.INTERNAL_ERROR)
        assert len(result_text(result)) < 1 << 13


@pytest.mark.thorough
async def test_very_large_programs_are_judged_beside_a_small_one(sandbox: Sandbox) -> None:
    jobs = [(f"#{'a' * (20 << 20)}{i}\ndef f(x):\n    return 2\n", TEST) for i in range(4)] + [(HONEST, TEST)]
    results = await judged_in_batch(kind_in(sandbox), jobs)
    assert results[-1].verdict is Verdict.ACCEPTED
    assert all(result.verdict is not Verdict.INTERNAL_ERROR for result in results)


@pytest.mark.parametrize("forged", ["zzz", "i1;", "Ln;", "n;", "TsX;n;n;)", "TLn;)Ln;)Ln;))", ""])
async def test_a_program_that_forges_what_the_assertions_say_has_a_verdict(sandbox: Sandbox, forged: str) -> None:
    """In one process with the assertions it can read the token."""
    program = (
        "import os\nos.lseek(0, 0, 0)\ntext = os.read(0, 1 << 20).decode()\n"
        "token = bytes.fromhex(text[2:text.index(';')]).decode()\n"
        f"for fd in range(1, 20):\n    try: os.write(fd, f'{{token}} passed {forged}\\n'.encode())\n"
        "    except OSError: pass\nos._exit(0)\n"
    )
    result = await kind_in(sandbox).judge(as_program(program), PATCHING)
    assert result.trust == "in_process"
    assert result.verdict is Verdict.WRONG_ANSWER


async def test_a_judged_test_keeps_the_end_of_a_long_traceback(sandbox: Sandbox) -> None:
    program = as_program("def f(x):\n    raise ValueError('a' * 100_000 + 'THE END')\n")
    (result,) = await kind_in(sandbox).results(program, [TestCase(TEST, "")], stop_early=False)
    assert "THE END" in result.execution.stderr
    assert len(result.execution.stderr) <= 1 << 16


TOKEN = secrets.token_hex(16)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary(),
    lambda inner: st.lists(inner) | st.tuples(inner, inner, inner) | st.dictionaries(st.text(), inner),
)
ANSWERS = st.text() | VALUES.map(encode) | VALUES.map(encode).map(lambda text: text[: len(text) // 2])
OUTCOMES = st.sampled_from(["passed", "wrong", "raised", "unsupported", ""]) | st.text()


@pytest.mark.thorough
@given(OUTCOMES, ANSWERS)
@settings(max_examples=300)
def test_any_text_after_the_token_can_be_read(outcome: str, answer: str) -> None:
    report = Report(DONE, (Execution(Status.FINISHED, stdout=f"{TOKEN} {outcome} {answer}"),))
    reported = AssertionReport.of(report, TOKEN)
    assert reported.failure is None or isinstance(reported.failure, str)


@pytest.mark.thorough
@given(OUTCOMES, ANSWERS)
@settings(max_examples=300)
def test_whatever_a_replay_writes_can_be_read(outcome: str, answer: str) -> None:
    result = result_of_line(f"{TOKEN} {outcome} {answer}", TOKEN, DONE, Limits(), TEST)
    assert result is None or outcome in ("passed", "wrong", "raised")
