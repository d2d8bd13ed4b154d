"""Many programs under the same assertions: judged in batches they get the verdicts that they get as pairs."""

import json
import subprocess
import sys

import pytest

from alpha_codium.judge.assertion_needs import needs_of
from alpha_codium.judge.assertion_rewriting import without_assertions
from alpha_codium.judge.assertions import AssertionsKind
from alpha_codium.judge.drivers import driver
from alpha_codium.limits import Limits
from alpha_codium.problem import ExecutionSpec, TestCase
from alpha_codium.program import PairJob, as_program
from alpha_codium.sandbox import Sandbox
from alpha_codium.verdict import OUTSIDE, PairReport, Verdict
from tests.jobs import WrappedSandbox
from tests.judge.asserting import CHECK, judged_in_batch
from tests.judge.python_oddities import ODDITIES
from tests.judge.pythons import OTHER_PYTHONS
from tests.judge.test_assertions import CHEATS
from tests.support import shared_path

LIMITS = Limits(cpu_seconds=0.6, wall_seconds=5.0)


class Counting(WrappedSandbox):
    """A sandbox that counts pairs."""

    def __init__(self, sandbox: Sandbox) -> None:
        super().__init__(sandbox)
        self.programs: list[str] = []

    async def execute_pair(self, job: PairJob) -> PairReport:
        self.programs.append(job.right.program.source)
        return await super().execute_pair(job)


def kind_in(sandbox: Sandbox | Counting, entry_point: str = "", setup_code: str = "") -> AssertionsKind:
    spec = ExecutionSpec("assertions", entry_point, setup_code=setup_code)
    return AssertionsKind(sandbox, LIMITS, spec)  # type: ignore[arg-type]


PROGRAMS = {
    "right": "def order(xs): return sorted(xs)",
    "in place": "def order(xs):\n    xs.sort()\n    return xs",
    "wrong": "def order(xs): return xs",
    "late": "def order(xs): return sorted(xs) if xs != [] else None",
    "raises": "def order(xs): return xs[5]",
    "own exception": "class E(Exception): pass\ndef order(xs): raise E('mine')",
    "doesn't compile": "def order(",
    "doesn't run": "1 / 0",
    "ends": "import sys\nsys.exit(1)",
    "isn't there": "x = 1",
    "never ends": "def order(xs):\n    while True: pass",
    "waits": "import time\ndef order(xs): time.sleep(1e6)",
    "takes its time": "import time\ndef order(xs):\n    while time.process_time() < 0.3: pass\n    return sorted(xs)",
    "wrong, then never ends": "def order(xs):\n    while not xs: pass\n    return xs",
    "gives an iterator": "def order(xs): return iter(sorted(xs))",
    "nothing": "",
}


@pytest.mark.thorough
@pytest.mark.parametrize("programs", [PROGRAMS, CHEATS], ids=["programs", "cheats"])
async def test_a_batch_gives_the_verdicts_and_texts_of_pairs(both: Sandbox, programs: dict[str, str]) -> None:
    kind = kind_in(both, "order")
    batch = await judged_in_batch(kind, [(program, CHECK) for program in programs.values()])
    for name, result in zip(programs, batch, strict=True):
        pair = await kind.judge(as_program(programs[name]), CHECK)
        told = (result.verdict, result.trust, result.failure)
        # How the end of a program shows at the other end of a channel is a matter of time.
        same = told == (pair.verdict, pair.trust, pair.failure) or programs is CHEATS
        assert same, name
        assert Verdict.ACCEPTED not in (result.verdict, pair.verdict) or programs is PROGRAMS, name


@pytest.mark.thorough
async def test_most_programs_of_a_batch_need_no_pair(sandbox: Sandbox) -> None:
    counting = Counting(sandbox)
    await judged_in_batch(kind_in(counting, "order"), [(program, CHECK) for program in PROGRAMS.values()])
    paired = {name for name, program in PROGRAMS.items() if program in counting.programs}
    assert paired == {"gives an iterator", "own exception", "ends", "nothing"}


async def test_assertions_whose_calls_depend_on_answers_are_judged_as_pairs(both: Sandbox) -> None:
    counting = Counting(both)
    test = "assert undo(do('abc')) == 'abc'"
    right = "def do(s): return s[::-1]\nundo = do"
    wrong = "def do(s): return s\ndef undo(s): return ''"
    results = await judged_in_batch(kind_in(counting), [(program, test) for program in (right, wrong, wrong + "\n")])
    assert [result.verdict for result in results] == [Verdict.ACCEPTED, *[Verdict.WRONG_ANSWER] * 2]
    assert len(counting.programs) == 3


async def test_random_arguments_are_the_same_for_each_program_and_need_no_pair(sandbox: Sandbox) -> None:
    counting = Counting(sandbox)
    test = "import random\nfor _ in range(20):\n    x = random.randint(0, 99)\n    assert f(x) == x + 1"
    programs = ["def f(x): return x + 1", "def f(x): return x + 2", "import random\ndef f(x): return random.random()"]
    results = await judged_in_batch(kind_in(counting), [(program, test) for program in programs])
    assert [result.verdict is Verdict.ACCEPTED for result in results] == [True, False, False]
    assert counting.programs == []


async def test_the_line_of_a_syntax_error_is_the_programs_own_not_that_of_another_one(sandbox: Sandbox) -> None:
    imports = "\n".join(f"import {name}" for name in ("bisect", "cmath", "fractions", "heapq", "statistics"))
    invalid = "def f(x):\n    if x:\n        y = 1\n      return mine"
    programs = [f"{imports}\ndef f(x): return x", *(f"{invalid} + {i}" for i in range(8))]
    _, *results = await judged_in_batch(kind_in(sandbox), [(program, "assert f(1) == 1") for program in programs])
    assert {result.verdict for result in results} == {Verdict.COMPILATION_ERROR}
    assert all(f"    return mine + {i}\n" in result.execution.stderr for i, result in enumerate(results))


async def test_different_assertions_may_stand_in_one_batch(both: Sandbox) -> None:
    jobs = [(f"def f(x): return x + {i % 2}", f"assert f({i}) == {i}") for i in range(8)]
    results = await judged_in_batch(kind_in(both), jobs)
    assert [result.verdict is Verdict.ACCEPTED for result in results] == [True, False] * 4


@pytest.mark.thorough
async def test_what_passes_in_python3_is_accepted_in_a_batch_too(both: Sandbox) -> None:
    chosen = [case for case in ODDITIES.values() if "numpy" not in case[0] + case[1]][::4]
    results = await judged_in_batch(kind_in(both), list(chosen))
    failed = [case for case, result in zip(chosen, results, strict=True) if result.verdict is not Verdict.ACCEPTED]
    assert failed == []


FORGERIES = {
    "an answer to all": "import os\nfor fd in range(3, 20):\n    try: os.write(fd, b'Ts76616c7565;i5;)\\n' * 99)\n"
    "    except OSError: pass\nos._exit(0)",
    "answers of others": "import gc\ndef f(x):\n    found = [o for o in gc.get_objects() if type(o) is list]\n"
    "    return next((o for o in found if o == [x + 1]), None)",
    "too long an answer": "def f(x): return 'a' * (20 << 20)",
    "too deep an answer": "def f(x):\n    deep = []\n    for _ in range(300): deep = [deep]\n    return deep",
    "equal to all": "class Y(int):\n    def __eq__(self, other): return True\ndef f(x): return Y(0)",
    "no answer": "import os\ndef f(x): os._exit(0)",
    "a killed process": "import os\ndef f(x): os.kill(os.getpid(), 9)",
}


@pytest.mark.thorough
async def test_forged_answers_never_pass(both: Sandbox) -> None:
    test = "assert f(3) == 4\nassert f(5) == 6"
    results = await judged_in_batch(kind_in(both), [(program, test) for program in FORGERIES.values()])
    for name, result in zip(FORGERIES, results, strict=True):
        assert result.verdict not in (Verdict.ACCEPTED, Verdict.INTERNAL_ERROR), name
        assert result.trust == OUTSIDE, name


@pytest.mark.parametrize("python", [sys.executable, *OTHER_PYTHONS])
@pytest.mark.parametrize("name", ["recording", "answering", "replaying"])
def test_its_drivers_are_texts_that_each_supported_python_runs(name: str, python: str) -> None:
    assert "alpha_codium" not in driver(name)
    done = subprocess.run(
        [python, "-I", "-S", "-W", "error", "-"], input=driver(name), capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_assertions_are_removed_and_their_calls_stay() -> None:
    assert without_assertions("for x in y:\n    assert f(x) == 1, g(x)\n") == "for x in y:\n    f(x) == 1"


async def test_messages_of_assertions_may_call_the_program_and_are_reported(sandbox: Sandbox) -> None:
    counting = Counting(sandbox)
    test = "assert f(1) == 1\nassert f(2) == 2, 'two: ' + str(f(2)) + f\"{f(1)!r}\"\nassert f(3) == 3, str(f(9))"
    programs = [f"def f(x): return x if x < {i} else 'no'" for i in (2, 3, 4)]
    results = await judged_in_batch(kind_in(counting), [(program, test) for program in programs])
    assert [result.failure for result in results] == ["two: no1", "no", None]
    # What the last message asks for had not been asked for before.
    assert counting.programs == programs[1:2]


async def test_a_batch_says_which_assertion_failed_and_what_was_returned_as_a_pair_does(sandbox: Sandbox) -> None:
    counting = Counting(sandbox)
    kind = kind_in(counting)
    test = """
def check(xs):
    # two lines
    assert f(xs) == [
        1, 2], str(xs) + "ü"
check([0]);   check([1])
"""
    programs = [f"def f(xs): return [1, 2, *xs][:{i}]" for i in (2, 3, 4)]
    batch = await judged_in_batch(kind, [(program, test) for program in programs])
    assert counting.programs == []
    case = TestCase(test, "")
    for program, result in zip(programs, batch, strict=True):
        pair = await kind.judge(as_program(program), test)
        assert (kind.failed_assertion(case, result.execution), kind.given(result), result.failure) == (
            *(kind.failed_assertion(case, pair.execution), kind.given(pair), pair.failure),
        )
    shown = kind.failed_assertion(case, batch[1].execution)
    assert shown == 'assert f(xs) == [\n        1, 2], str(xs) + "ü"'
    assert kind.given(batch[1]) == "[1, 2, 0]"


ALIKE = {
    "a missing docstring": ("def f(): return 1", "assert f.__doc__ is not None\nassert f() == 1"),
    "an attribute that is set": ("def f(): return f.x", "f.x = 3\nassert f() == 3"),
    "a method in place of a function": ("class Solution:\n    def f(self): return 1", "assert f() == 1"),
    "a method beside a function": (
        "class Solution:\n    def f(self): return 2\ndef f(): return 1",
        "assert f() == 1\nassert f() != 2",
    ),
    "an exception with a file's name": (
        "def f(): open('nothing')",
        "try:\n    f()\nexcept OSError as e:\n    assert (e.errno, e.filename) == (2, 'nothing')",
    ),
    "an exception of the standard library": (
        "import json\ndef f(): json.loads('{')",
        "import json\ntry:\n    f()\nexcept json.JSONDecodeError as e:\n    assert e.pos == 1",
    ),
    "an exception that led to another": (
        "def f():\n    try: int('x')\n    except ValueError: raise KeyError('k')",
        "try:\n    f()\nexcept KeyError as e:\n    assert isinstance(e.__context__, ValueError)",
    ),
    "an exception with an attribute": (
        "def f():\n    e = ValueError()\n    e.code = 7\n    raise e",
        "try:\n    f()\nexcept ValueError as e:\n    assert e.code == 7",
    ),
    "a module that only the test's side has": ("def f(): return 1", "assert math.floor(f()) == 1"),
    "a name that isn't there": ("x = 1", "assert g(1) == 1"),
    "a byte order mark": ("\ufeffdef f(): return 1", "assert f() == 1"),
    "an encoding": ("# coding: latin-1\ndef f(): return 'é'", "assert f() == 'é'"),
    "a recursion as deep as can be": ("def f(n): return 0 if n == 0 else 1 + f(n - 1)", "assert f(994) == 994"),
    "a recursion too deep": ("def f(n): return 0 if n == 0 else 1 + f(n - 1)", "assert f(1100) == 1100"),
    "a default factory": (
        "from collections import defaultdict\ndef f(): return defaultdict(int)",
        "assert f()[1] == 0",
    ),
}


@pytest.mark.thorough
async def test_a_batch_and_a_pair_agree_where_they_could_differ(both: Sandbox) -> None:
    kind = kind_in(both)
    batch = await judged_in_batch(kind, list(ALIKE.values()))
    for (name, case), result in zip(ALIKE.items(), batch, strict=True):
        assert result.verdict is (await kind.judge(as_program(case[0]), case[1])).verdict, name


@pytest.mark.thorough
async def test_too_much_output_has_the_same_verdict_in_a_batch(sandbox: Sandbox) -> None:
    flood = "def f(x):\n    for _ in range(200000): print('x' * 100)\n    return x"
    results = await judged_in_batch(kind_in(sandbox), [(flood, f"assert f({x}) == {x}") for x in range(3)])
    assert {result.verdict for result in results} == {Verdict.OUTPUT_LIMIT_EXCEEDED}


def test_nearly_all_of_a_benchmark_is_judged_in_batches() -> None:
    rows = [json.loads(line) for line in shared_path("data/humaneval.jsonl").read_text().splitlines()]
    specs = [(row["test"], ExecutionSpec("assertions", row["entry_point"])) for row in rows]
    assert sum(needs_of(*spec).recordable for spec in specs) >= 160


# Finds the argument of the call of `decode` that comes later, and returns it as the answer of `encode`.
LOOKING_AHEAD = """
import sys
def encode(text):
    frame = sys._getframe()
    while frame is not None:
        if "requests" in frame.f_locals:
            later = [frame.f_globals["decode"](each) for each in frame.f_locals["requests"]]
            return next(arguments[1] for _, _, arguments, *_ in later if arguments[0] == "decode")
        frame = frame.f_back
    return "nothing"
def decode(text):
    return "abc"
"""
# The same, from all descriptors that it can read.
READING_AHEAD = """
import os, select
def encode(text):
    for fd in range(64):
        try:
            if select.select([fd], [], [], 0.05)[0] and b"xyz" in os.read(fd, 1 << 20):
                return "xyz"
            if b"xyz" in os.pread(fd, 1 << 20, 0):
                return "xyz"
        except (OSError, ValueError):
            pass
    return "nothing"
def decode(text):
    return "abc"
"""
TEST = 'assert encode("abc") == "xyz"\nassert decode("xyz") == "abc"\n'
HONEST = 'def encode(text): return {"abc": "xyz"}[text]\ndef decode(text): return {"xyz": "abc"}[text]\n'


@pytest.mark.thorough
async def test_a_program_in_a_batch_does_not_see_calls_that_come_later(both: Sandbox) -> None:
    jobs = [(program, TEST) for program in (LOOKING_AHEAD, HONEST, READING_AHEAD, HONEST)]
    results = await judged_in_batch(kind_in(both), jobs)
    assert [result.verdict is Verdict.ACCEPTED for result in results] == [False, True, False, True]
