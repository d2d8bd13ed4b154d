"""Interactive problems: candidates beside interactors, in a real sandbox."""

import json
import shutil
import time
from collections.abc import Sequence
from dataclasses import replace

import pytest

from alpha_codium.errors import Unjudgeable
from alpha_codium.judge import Judge, Rules
from alpha_codium.judge import interactive as judging
from alpha_codium.problem import CheckerSpec, ExecutionSpec, Problem, Solution, TestCase
from alpha_codium.program import PYTHON, Program
from alpha_codium.sandbox import Sandbox, open_sandbox
from alpha_codium.sandbox.portable.isolation import namespaces_command
from alpha_codium.verdict import Judgement, Verdict
from tests.judge.checkers import needs_compiler
from tests.judge.interactors import GUESSES, GUESSES_CPP, GUESSES_JAVA, IN_CPP, IN_PYTHON, TESTS, interactive
from tests.support import shared_path

needs_java = pytest.mark.skipif(shutil.which("javac") is None, reason="there is no JDK: apt-get install default-jdk")
ONE = TESTS[1:2]
BOTH = [
    pytest.param(IN_PYTHON, id="python"),
    pytest.param(IN_CPP, id="cpp", marks=[needs_compiler, pytest.mark.thorough]),
]


@pytest.fixture(autouse=True, scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> object:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GENCODE_HOME", str(tmp_path_factory.mktemp("home")))
        patch.setattr(judging, "IDLE_SECONDS", 0.7)
        yield


async def judged(
    sandbox: Sandbox,
    program: str,
    problem: Problem = IN_PYTHON,
    tests: Sequence[TestCase] = ONE,
    language: str = PYTHON,
) -> Judgement:
    judge = Judge(sandbox, Rules(time_limit_factor=1)).for_problem(problem)
    return await judge.judge(Program.from_source(language, program), tests, stop_early=False)


@pytest.mark.parametrize(
    ("problem", "language", "program"),
    [
        pytest.param(IN_PYTHON, "python3", GUESSES, id="python in python"),
        pytest.param(IN_CPP, "cpp", GUESSES_CPP, id="cpp in cpp", marks=needs_compiler),
        pytest.param(IN_CPP, "python3", GUESSES, id="python in cpp", marks=[needs_compiler, pytest.mark.thorough]),
        pytest.param(IN_PYTHON, "cpp", GUESSES_CPP, id="cpp in python", marks=[needs_compiler, pytest.mark.thorough]),
        pytest.param(IN_PYTHON, "java", GUESSES_JAVA, id="java in python", marks=[needs_java, pytest.mark.thorough]),
    ],
)
async def test_a_right_program_is_accepted_in_every_language(
    sandbox: Sandbox, problem: Problem, language: str, program: str
) -> None:
    problem = replace(problem, time_limit_seconds=4.0)
    judgement = await judged(sandbox, program, problem, TESTS, language)
    assert judgement.accepted, judgement.tests
    judgement = await judged(sandbox, program.replace('"higher"', '"lower"'), problem, TESTS, language)
    assert [test.verdict.value for test in judgement.tests] == ["accepted", *["wrong_answer"] * 3]


@pytest.mark.parametrize("problem", BOTH)
@pytest.mark.parametrize(
    ("program", "verdict"),
    [
        ("for n in range(1000, 0, -1): print(n, flush=True), input()", Verdict.WRONG_ANSWER),
        ("pass", Verdict.WRONG_ANSWER),
        ("print(7, flush=True)", Verdict.WRONG_ANSWER),
        ("print(7, flush=True)\nprint(input().upper()[9])", Verdict.RUNTIME_ERROR),
        ("import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)", Verdict.RUNTIME_ERROR),
        ("print(1, flush=True)\ninput()\n1 / 0", Verdict.RUNTIME_ERROR),
        ("print(1, flush=True)\nraise SystemExit(42)", Verdict.RUNTIME_ERROR),
        ("while True: pass", Verdict.TIME_LIMIT_EXCEEDED),
        ("print(1, flush=True)\nwhile True: pass", Verdict.TIME_LIMIT_EXCEEDED),
        ("x = ' ' * (2 << 30)", Verdict.MEMORY_LIMIT_EXCEEDED),
        ("def f(:", Verdict.COMPILATION_ERROR),
        ("print(1, flush=True)", Verdict.ACCEPTED),
        ("import sys\nsys.stdout.write('1')", Verdict.ACCEPTED),
    ],
)
async def test_each_end_of_a_program_has_its_verdict(
    sandbox: Sandbox, problem: Problem, program: str, verdict: Verdict
) -> None:
    judgement = await judged(sandbox, program, problem)
    assert judgement.verdict is verdict, judgement.tests


@pytest.mark.parametrize("problem", BOTH)
@pytest.mark.parametrize(
    "program",
    [
        "import sys\nsys.stdout.write('500\\n')\nsys.stdin.readline()",  # doesn't flush
        "input()",
        "import time\ntime.sleep(600)",
        "import threading\nthreading.Event().wait()",
    ],
)
async def test_a_program_that_only_waits_exceeds_the_idleness_limit(
    sandbox: Sandbox, problem: Problem, program: str
) -> None:
    start = time.monotonic()
    judgement = await judged(sandbox, program, problem)
    assert judgement.verdict is Verdict.TIME_LIMIT_EXCEEDED
    execution = judgement.tests[0].execution
    assert "idleness limit exceeded: for 0.7 s" in execution.stderr
    assert execution.cpu_seconds < 0.5
    assert time.monotonic() - start < 15
    shown = Judge(sandbox).for_problem(problem).kind.shown(execution)
    assert shown.startswith("idleness limit exceeded")


async def test_a_wrong_answer_comes_at_once_whatever_the_program_does_then(sandbox: Sandbox) -> None:
    for then in ("while True: pass", "import time\ntime.sleep(600)", "input()", "while True: print(5)"):
        start = time.monotonic()
        judgement = await judged(
            sandbox, f"print('five', flush=True)\nprint('{'x' * 9}', flush=True)\n{then}", WANTS_A_NUMBER
        )
        assert judgement.verdict is Verdict.WRONG_ANSWER, then
        assert time.monotonic() - start < 5
    assert judgement.tests[0].execution.stderr.endswith("the interactor said: not a number")


WANTS_A_NUMBER = interactive(
    "import sys\nif not input().isdigit(): print('not a number', file=sys.stderr), sys.exit(43)"
)


async def test_the_message_of_the_interactor_is_shown(sandbox: Sandbox) -> None:
    program = "import sys\nfor n in range(9): print(n, flush=True), input()\nprint('mine', file=sys.stderr)"
    problem = replace(IN_PYTHON, name="shown")
    judgement = await judged(sandbox, program, problem, [TestCase("500", "3")])
    kind = Judge(sandbox).for_problem(problem).kind
    assert judgement.verdict is Verdict.WRONG_ANSWER
    assert kind.given(judgement.tests[0]) == kind.shown(judgement.tests[0].execution) == "more than 3 guesses"


@pytest.mark.parametrize(
    ("interactor", "said"),
    [
        ("import sys\nsys.exit(3)", "ended with 3, which is no verdict"),
        ("1 / 0", "was ended by signal 6: ZeroDivisionError: division by zero"),
        ("print(1, flush=True)\n1 / 0", "ZeroDivisionError"),
        ("import os\nos.kill(os.getpid(), 9)", "was ended by signal 9"),
    ],
)
async def test_an_interactor_that_fails_before_it_reads_is_never_the_programs_fault(
    sandbox: Sandbox, interactor: str, said: str
) -> None:
    judgement = await judged(sandbox, "print(1)", interactive(interactor))
    assert judgement.verdict is Verdict.INTERNAL_ERROR
    assert said in judgement.message
    assert "interactor" in judgement.message


FAILS = [
    ("input()\n1 / 0", "ZeroDivisionError"),
    ("import time\ninput()\ntime.sleep(600)", "the interactor waited for too long"),
    ("input()", "ended with 0, which is no verdict"),
    ("import sys\nsys.exit(3 * int(input()))", "ended with 3, which is no verdict"),
    ("int(input() + '?')", "ValueError"),
    ("x = [int(input())]\nwhile True: x += x", "MemoryError"),
]


@pytest.mark.parametrize(("interactor", "said"), FAILS)
async def test_an_interactor_that_fails_after_it_has_read_rejects_and_says_why(
    sandbox: Sandbox, interactor: str, said: str
) -> None:
    problem = interactive(interactor)
    judgement = await judged(sandbox, "print(1)", problem)
    assert judgement.verdict is Verdict.WRONG_ANSWER
    kind = Judge(sandbox).for_problem(problem).kind
    assert said in kind.given(judgement.tests[0])


@pytest.mark.parametrize(("interactor", "said"), FAILS[:3])
async def test_an_interactor_that_fails_on_a_known_solution_too_is_never_the_programs_fault(
    sandbox: Sandbox, interactor: str, said: str
) -> None:
    known = (Solution("python3", "import sys\nsys.exit('it fails by itself')"), Solution("python3", "print(1)"))
    judgement = await judged(sandbox, "print(2)", replace(interactive(interactor), solutions=known))
    assert judgement.verdict is Verdict.INTERNAL_ERROR
    assert said in judgement.message


async def test_a_wrong_program_is_wrong_whatever_the_interactor_makes_of_it(sandbox: Sandbox) -> None:
    solutions = (Solution("python3", GUESSES), Solution("cobol", "whatever"))
    judge = Judge(sandbox, Rules(time_limit_factor=1)).for_problem(replace(IN_PYTHON, solutions=solutions))
    for said in ("abc", "", "1.5", "inf", "\\xff", "\\0", "1 2", "9" * 200_000):
        program = f"import os\nos.write(1, b'{said}\\n')\ninput()\n"
        judgement = await judge.judge(program, ONE)
        assert judgement.verdict is Verdict.WRONG_ANSWER, said
    assert (await judge.judge(GUESSES, ONE)).accepted


async def test_a_crash_is_the_programs_even_if_the_interactor_fails_because_of_it(sandbox: Sandbox) -> None:
    judgement = await judged(sandbox, "1 / 0", interactive("import sys\nsys.stdin.read()\n1 / 0"))
    assert judgement.verdict is Verdict.RUNTIME_ERROR


async def test_setup_code_and_the_header_run_before_the_program(sandbox: Sandbox) -> None:
    problem = replace(IN_PYTHON, execution=ExecutionSpec(setup_code="answer = 1"))
    judge = Judge(sandbox, Rules(cpu_seconds=2, header="import math")).for_problem(problem)
    assert (await judge.judge("print(math.floor(answer), flush=True)", ONE)).accepted


@pytest.mark.thorough
async def test_an_accepted_program_must_still_end_well(sandbox: Sandbox) -> None:
    accepts = interactive("import sys\nprint('right', flush=True)\nsys.exit(42)")
    assert (await judged(sandbox, "input()\nprint('x' * (1 << 20))", accepts)).accepted
    assert (await judged(sandbox, "input()\n1 / 0", accepts)).verdict is Verdict.RUNTIME_ERROR
    assert (await judged(sandbox, "input()\nwhile True: pass", accepts)).verdict is Verdict.TIME_LIMIT_EXCEEDED
    assert (await judged(sandbox, "import time\ntime.sleep(600)", accepts)).verdict is Verdict.TIME_LIMIT_EXCEEDED


async def test_an_interactor_that_can_not_be_used_is_one_clear_line(sandbox: Sandbox) -> None:
    judge = Judge(sandbox)
    with pytest.raises(Unjudgeable, match="the checker 'interactor' takes `files`"):
        judge.for_problem(Problem("p", checker=CheckerSpec("interactor", {})))
    with pytest.raises(Unjudgeable, match="programs use files in place of stdin and stdout"):
        judge.for_problem(replace(IN_PYTHON, input_file="in.txt"))
    judgement = await judged(sandbox, GUESSES, interactive("def f(:"))
    assert judgement.verdict is Verdict.INTERNAL_ERROR
    assert judgement.message.startswith("problem 'guess': its interactor doesn't compile: SyntaxError")


async def test_a_backend_without_dialogues_says_which_one_has_them() -> None:
    async with open_sandbox("portable", workers=1, isolation=bool(namespaces_command())) as portable:
        judgement = await judged(portable, GUESSES)
    assert judgement.verdict is Verdict.INTERNAL_ERROR
    assert "it is interactive: portable can't join the streams of two programs: use " in judgement.message


LOST_ARRAY = """
import sys
with open(sys.argv[1]) as file:
    n, k, *array = map(int, file.read().split())
fewest, total = map(int, open(sys.argv[2]).read().split())
print(n, k, flush=True)
asked = 0
while True:
    kind, *words = input().split()
    if kind == "-1":
        sys.exit(42 if fewest == -1 and not sys.stdin.read().split() else 43)
    numbers = [int(word) for word in words]
    if kind == "!":
        sys.exit(42 if numbers == [total] and asked <= fewest else 43)
    asked += 1
    if kind != "?" or not len(set(numbers)) == len(words) == k or not set(numbers) <= {*range(1, n + 1)} or asked > 500:
        sys.exit(43)
    x = 0
    for each in numbers:
        x ^= array[each - 1]
    print(x, flush=True)
"""


async def test_a_published_solution_of_codeforces_passes_the_problems_own_tests(sandbox: Sandbox) -> None:
    with shared_path("data/codecontests_train.jsonl").open(encoding="utf-8") as file:
        record = next(each for each in map(json.loads, file) if each["name"].startswith("1534_E"))
    hidden = record["private_tests"]
    tests = [TestCase(*each) for each in zip(hidden["input"], hidden["output"], strict=True)]
    (solution,) = record["solutions"]["solution"]
    judgement = await judged(sandbox, solution, interactive(LOST_ARRAY), tests)
    assert judgement.accepted
    assert len(tests) == 8
    wrong = solution.replace("print('!', xor)", "print('!', xor ^ 1)")
    verdicts = [each.verdict.value for each in (await judged(sandbox, wrong, interactive(LOST_ARRAY), tests)).tests]
    assert verdicts == ["accepted" if test.output.startswith("-1") else "wrong_answer" for test in tests]


# What a hostile program does, and its verdict: it can lose, but not win, and find nothing of the interactor's.
SEARCH = """
import os
found = []
for folder, _, names in os.walk("/"):
    if folder.startswith(("/proc", "/dev", "/usr", "/lib", "/opt")): continue
    for name in names:
        try: text = open(os.path.join(folder, name), "rb").read(100)
        except OSError: continue
        if b"777\\n" == text or b"judge" in text: found.append(name)
open_files = [fd for fd in range(3, 64) if os.path.exists(f"/proc/self/fd/{fd}")]
for fd in range(3, 64):
    try: os.fstat(fd); open_files.append(fd)
    except OSError: pass
print(7 if found or open_files else 777)
"""
HOSTILE = [
    pytest.param(SEARCH, Verdict.ACCEPTED, id="searches for the interactor's files and descriptors, and finds none"),
    pytest.param("import os\nos._exit(42)", Verdict.RUNTIME_ERROR, id="exits as an interactor does"),
    pytest.param(
        "import os\nprint('right\\n42\\nok', flush=True)\nos._exit(0)", Verdict.WRONG_ANSWER, id="talks nonsense"
    ),
    pytest.param(
        "import os\nos.write(os.open('/proc/self/fd/0', os.O_WRONLY), b'right\\n')\nprint(input())\n",
        Verdict.WRONG_ANSWER,
        id="writes to its own stdin",
    ),
    pytest.param(
        "import os\nfor _ in range(9):\n    if os.fork() == 0:\n        while True: pass\nprint(1)\n",
        Verdict.WRONG_ANSWER,
        id="leaves processes that hold the pipes",
    ),
    pytest.param(
        "import os\nwhile True: os.write(1, b'1\\n' * 4096)", Verdict.WRONG_ANSWER, id="floods and never reads"
    ),
    pytest.param(
        "import os, signal\nfor n in range(1, 99):\n    try: os.kill(n, 9)\n    except OSError: pass\nos.kill(-1, 9)",
        Verdict.RUNTIME_ERROR,
        id="kills what it can",
    ),
    pytest.param(
        "import os\nos.close(0), os.close(1)\nos.read(os.pipe()[0], 1)", Verdict.TIME_LIMIT_EXCEEDED, id="closes all"
    ),
]


@pytest.mark.parametrize(("program", "verdict"), HOSTILE)
async def test_a_hostile_program_reaches_neither_interactor_nor_verdict(
    sandbox: Sandbox, program: str, verdict: Verdict
) -> None:
    judgement = await judged(sandbox, program, tests=[TestCase("777\n", "10\n")])
    assert judgement.verdict is verdict, judgement.tests
    assert (await judged(sandbox, GUESSES)).accepted
