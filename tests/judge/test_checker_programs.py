"""Outputs that a checker program judges, in real sandboxes."""

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from alpha_codium.judge import Judge, Rules, checker_programs
from alpha_codium.limits import Limits
from alpha_codium.problem import ExecutionSpec, TestCase
from alpha_codium.sandbox import Sandbox
from alpha_codium.verdict import Judgement, Verdict
from tests.judge.checkers import CPP_FILES, DIVISOR, TESTLIB, TESTS, needs_compiler, problem
from tests.support import ROOT

FOUR = TESTS[:1]


@pytest.fixture(autouse=True, scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> object:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GENCODE_HOME", str(tmp_path_factory.mktemp("home")))
        yield


async def judged(
    sandbox: Sandbox, checker: object, program: str, tests: Sequence[TestCase] = FOUR, **arguments: object
) -> Judgement:
    given = problem(checker, **arguments)  # type: ignore[arg-type]
    return await Judge(sandbox, Rules(cpu_seconds=2)).for_problem(given).judge(program, tests)


def verdicts(judgement: Judgement) -> list[str]:
    return [test.verdict.value for test in judgement.tests]


@pytest.mark.thorough
@pytest.mark.parametrize("checker", [DIVISOR, pytest.param(CPP_FILES, marks=needs_compiler)], ids=["python", "cpp"])
async def test_every_right_answer_is_accepted_and_no_other(both: Sandbox, checker: object) -> None:
    least = "n = int(input())\nprint(2)"
    greatest = "n = int(input())\nprint(n // 2)"
    assert (await judged(both, checker, least, TESTS)).accepted
    assert (await judged(both, checker, greatest, TESTS)).accepted
    mixed = "n = int(input())\nif n == 8: 1 / 0\nprint({6: 4, 10: 'x', 12: '2 2', 14: ''}.get(n, 2))"
    judgement = await judged(both, checker, mixed, TESTS)
    assert verdicts(judgement) == [
        *("accepted", "wrong_answer", "runtime_error", "wrong_answer", "wrong_answer", "wrong_answer", "accepted")
    ]
    assert judgement.verdict is Verdict.WRONG_ANSWER
    assert judgement.tests[0].execution.stdout == "2\n"


@needs_compiler
@pytest.mark.parametrize("said", ["crash", "assert", "throw"])
async def test_an_output_that_crashes_a_checker_in_cpp_is_wrong_if_the_expected_one_does_not(
    both: Sandbox, said: str
) -> None:
    judgement = await judged(both, CPP_FILES, f"print({said!r})")
    assert judgement.verdict is Verdict.WRONG_ANSWER
    judgement = await judged(both, CPP_FILES, f"print({said!r})", [replace(FOUR[0], output=said)])
    assert judgement.verdict is Verdict.INTERNAL_ERROR
    reason = judgement.tests[0].execution.stderr
    assert "was ended by signal" in reason
    assert said == "crash" or "Assertion" in reason


@needs_compiler
async def test_a_checker_in_cpp_has_a_stack_its_flags_and_its_own_end(both: Sandbox) -> None:
    assert (await judged(both, CPP_FILES, "print('deep')")).accepted
    assert (await judged(both, CPP_FILES, "print('flags')", flags=" one  2 ")).accepted
    assert not (await judged(both, CPP_FILES, "print('flags')", flags="one")).accepted


OPEN_R1 = """
import sys
given, answer, output = (open(path).read() for path in sys.argv[1:])
assert (given, answer) == ("4", "2")
print({"1\\n2\\n": 1, "100\\n": 100, "0\\n": 0}[output])
"""


async def test_a_checker_of_open_r1_prints_its_verdict_on_an_output_without_empty_lines(both: Sandbox) -> None:
    tests = [TestCase("4", "2")]
    for output, verdict in (("1\\n\\n2", "accepted"), ("100", "accepted"), ("0", "wrong_answer")):
        judgement = await judged(both, OPEN_R1, f"print('{output}')", tests, protocol="open_r1")
        assert verdicts(judgement) == [verdict], judgement.message
    # On any other output it fails, also on the expected one.
    judgement = await judged(both, OPEN_R1, "print(5)", tests, protocol="open_r1")
    assert verdicts(judgement) == ["internal_error"]


SEES = """
import os, sys
folder = sys.argv[3]
assert folder.endswith("/") and os.listdir(folder) == [] and os.path.isabs(sys.argv[1])
open(folder + "score.txt", "w").write("1")
assert open(sys.argv[1], newline="").read() == "in\\r\\n" and open(sys.argv[2]).read() == "answer \\u00e9"
assert sys.argv[4:] == ["case_sensitive", "float_tolerance", "1e-6"], sys.argv
assert sys.stdin.read() == "out\\n" and __name__ == "__main__"
print("chatter")
import beside
sys.exit(beside.VERDICT)
"""


async def test_a_checker_sees_what_the_protocol_says(both: Sandbox) -> None:
    files = {"v/check.py": SEES, "v/beside.py": "VERDICT = 42"}
    flags = "case_sensitive float_tolerance 1e-6"
    tests = [TestCase("in\r\n", "answer \u00e9")] * 2
    judgement = await judged(both, files, "print('out')", tests, main="v/check.py", flags=flags)
    assert judgement.accepted, judgement.tests[0].execution.stderr


async def test_testlibs_exit_statuses_are_understood(both: Sandbox) -> None:
    # 3, 7 and 42 are no verdicts; the checker gives one on the expected output, which is 2.
    for status in (0, 1, 2, 3, 4, 7, 8, 42):
        judgement = await judged(both, TESTLIB, f"print({status})", [TestCase("4", "2")], protocol="testlib")
        assert verdicts(judgement) == ["wrong_answer" if status else "accepted"], status
    says_so = "import sys\nprint('says so', file=sys.stderr)\nsys.exit(3)"
    judgement = await judged(both, says_so, "print(3)", protocol="testlib")
    assert set(verdicts(judgement)) == {"internal_error"}
    assert judgement.tests[0].execution.stderr.endswith("no verdict: says so")


NO_VERDICT = [
    ("icpc", "", "ended with 0, which is no verdict"),
    ("icpc", "raise SystemExit(1)", "ended with 1"),
    ("icpc", "1 / 0", "was ended by signal 6: ZeroDivisionError"),
    ("testlib", "1 / 0", "was ended by signal 6: ZeroDivisionError"),
    ("testlib", "x = [0] * (1 << 30)\nx += x", "signal 6: MemoryError"),
    ("testlib", "import os; os.kill(os.getpid(), 9)", "was ended by signal 9"),
    ("icpc", "while True: pass", "took more than 0.3 s"),
]


# Reads a number, as many checkers do, and fails on other outputs.
READS_A_NUMBER = "import sys\nsys.exit(42 if int(sys.stdin.read()) == int(open(sys.argv[2]).read()) else 43)"


async def test_an_output_on_which_a_checker_fails_is_wrong_and_says_why(both: Sandbox) -> None:
    tests = [TestCase(str(number), "2") for number in range(6)]
    program = "n = int(input())\nprint('abc' if n in (1, 4) else 2)"
    judgement = await judged(both, READS_A_NUMBER, program, tests)
    assert verdicts(judgement) == ["accepted", "wrong_answer", "accepted", "accepted", "wrong_answer", "accepted"]
    reason = judgement.tests[1].execution.stderr
    assert "not on the expected one, the checker was ended by signal 6: ValueError: invalid literal" in reason
    stopped = (
        await Judge(both, Rules(cpu_seconds=2, stop_on_first_failure=True))
        .for_problem(problem(READS_A_NUMBER))
        .judge(program, tests)
    )
    assert verdicts(stopped) == ["accepted", "wrong_answer"]


async def test_a_checker_that_fails_on_the_expected_output_too_gives_no_verdict(both: Sandbox) -> None:
    judgement = await judged(both, READS_A_NUMBER, "print('abc')", [TestCase("1", "two")])
    assert verdicts(judgement) == ["internal_error"]


@pytest.mark.thorough
@pytest.mark.parametrize(("protocol", "code", "said"), NO_VERDICT)
async def test_a_checker_that_gives_no_verdict_is_our_fault_and_says_why(
    both: Sandbox, protocol: str, code: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checker_programs, "CHECKER_LIMITS", Limits(cpu_seconds=0.3, file_bytes=1 << 26))
    judgement = await judged(both, code, "print(2)", protocol=protocol)
    assert judgement.verdict is Verdict.INTERNAL_ERROR
    assert said in judgement.tests[0].execution.stderr


@needs_compiler
async def test_a_checker_that_does_not_compile_says_so_for_every_test(both: Sandbox) -> None:
    for files, said in (({"c.py": "if"}, "SyntaxError"), ({"c.cpp": "int main( { }"}, "compile: c.cpp:1:5: error:")):
        judgement = await judged(both, files, "print(2)", TESTS)
        assert judgement.verdict is Verdict.INTERNAL_ERROR
        assert said in judgement.message
        assert "problem 'p': its checker doesn't compile" in judgement.message
        assert verdicts(judgement) == ["internal_error"] * len(TESTS)


ECHO = "import sys\nsys.exit(42 if sys.stdin.buffer.read() == open(sys.argv[2], 'rb').read() else 43)"
HOSTILE = ["", "\n", "0\n", "4 4 4\n1", "\0", "42", "\r\n\r", "\u00e9" * 3, "\ufeff", "x" * 100_000, "1\x1a2"]


async def test_no_output_can_stand_for_another_file(both: Sandbox) -> None:
    tests = [TestCase(str(place), text) for place, text in enumerate(HOSTILE)]
    # Bytes that are no UTF-8 come to the checker as question marks.
    said = [text.encode("utf-8", "replace") for text in HOSTILE]
    program = f"import sys\nsys.stdout.buffer.write({said!r}[int(input())])"
    assert (await judged(both, ECHO, program, tests)).accepted
    assert not (await judged(both, ECHO, program.replace("(input())]", "(input())] + b'2 2'"), tests)).tests_passed


LENGTH = "import sys\nsys.exit(42 if len(sys.stdin.buffer.read()) == int(open(sys.argv[2]).read()) else 43)"


@pytest.mark.thorough
async def test_invalid_utf_8_does_not_grow_and_fill_the_checkers_folder(both: Sandbox) -> None:
    size = (1 << 24) - 5
    tests = [TestCase("1" * (20 << 20), str(size)), TestCase("", str(size + 1))]
    judgement = await judged(both, LENGTH, f"import sys\nsys.stdout.buffer.write(b'\\xff' * {size})", tests)
    assert verdicts(judgement) == ["accepted", "wrong_answer"], judgement.tests[0].execution.stderr


async def test_a_checker_reads_integers_of_any_length(both: Sandbox) -> None:
    reads = "import sys\nsys.exit(42 if int(sys.stdin.read()) == int(open(sys.argv[2]).read()) else 43)"
    tests = [TestCase("", "7"), TestCase("", "7" * 5000)]
    assert verdicts(await judged(both, reads, "print('7' * 5000)", tests)) == ["wrong_answer", "accepted"]


async def test_a_candidate_leaves_nothing_for_the_checker_to_find(both: Sandbox) -> None:
    program = "import os\nfor name in ('checker.py', 'sys.py', 'input', 'beside.py'): open(name, 'w').write('1 / 0')\n"
    assert (await judged(both, DIVISOR, program + "print(2)", TESTS)).accepted


@pytest.mark.thorough
async def test_the_first_failure_stops_the_program(both: Sandbox) -> None:
    tests = [TestCase(f"{n}\n", "2\n") for n in range(4, 104, 2)]
    judge = Judge(both, Rules(cpu_seconds=2, stop_on_first_failure=True)).for_problem(problem(DIVISOR))
    for failing in (4, 8, 40):
        program = f"n = int(input())\nif n > {failing}: 1 / 0\nprint(3 if n == {failing} else 2)"
        judgement = await judge.judge(program, tests)
        assert verdicts(judgement) == ["accepted"] * ((failing - 4) // 2) + ["wrong_answer"]
        assert judgement.tests_total == len(tests)
    judgement = await judge.judge("n = int(input())\nif n == 20: 1 / 0\nprint(2)", tests)
    assert verdicts(judgement) == ["accepted"] * 8 + ["runtime_error"]


async def test_large_outputs_are_checked_whole_slice_by_slice(both: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checker_programs, "SLICE", 3 << 20)
    longer = "import sys\nsys.exit(42 if len(sys.stdin.read()) == int(open(sys.argv[1]).read()) else 43)"
    tests = [TestCase(f"{(1 << 20) + place}\n", "") for place in range(8)]
    judgement = await judged(both, longer, "print(end='x' * int(input()))", tests)
    assert judgement.accepted
    assert {len(test.execution.stdout) for test in judgement.tests} == {1 << 16}


async def test_a_program_that_does_not_compile_is_not_checked(both: Sandbox) -> None:
    judgement = await judged(both, DIVISOR, "print(", TESTS)
    assert judgement.verdict is Verdict.COMPILATION_ERROR
    assert verdicts(judgement) == ["compilation_error"] * len(TESTS)


async def test_setup_code_and_single_runs_are_as_without_a_checker(both: Sandbox) -> None:
    given = replace(problem(DIVISOR), execution=ExecutionSpec(setup_code="two = 2"))
    judge = Judge(both).for_problem(given)
    assert (await judge.judge("print(two)", TESTS)).accepted
    assert (await judge.execute("print(two + int(input()))", "1")).stdout == "3\n"
    assert (await judge.execute("print(", "1")).status.value == "compilation_error"


WALLED = """
import asyncio, sys
from alpha_codium.judge import Judge
from alpha_codium.sandbox import open_sandbox
from tests.judge.checkers import CPP_FILES, DIVISOR, TESTS, problem

async def main():
    async with open_sandbox("local", workers=1, interpreter="/usr/bin/python3") as sandbox:
        for checker in (CPP_FILES, DIVISOR):
            judge = Judge(sandbox).for_problem(problem(checker))
            for program in ("n = int(input())\\nprint(n // 2)", "print(1)"):
                judgement = await judge.judge(program, TESTS)
                print(judgement.verdict.value, *filter(None, [judgement.message]))
asyncio.run(main())
"""


@pytest.mark.thorough
@needs_compiler
@pytest.mark.skipif(shutil.which("setpriv") is None, reason="setpriv isn't here to take the right to make namespaces")
def test_a_checker_is_compiled_and_runs_with_weaker_isolation_too(tmp_path: Path) -> None:
    command = ["setpriv", "--bounding-set=-sys_admin", sys.executable, "-c", WALLED]
    environment = os.environ | {"GENCODE_HOME": str(tmp_path)}
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=environment, check=False)
    if "cannot make the jail" in done.stderr or "setpriv:" in done.stderr:
        pytest.skip(done.stderr.strip().splitlines()[-1])
    assert done.stdout.split() == ["accepted", "wrong_answer"] * 2, done.stderr
