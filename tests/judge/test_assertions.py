"""Programs with assertions: the verdict is decided where the program can't reach."""

import json

import pytest

from alpha_codium.judge import Judge
from alpha_codium.problem import ExecutionSpec, Problem, TestCase, TestType
from alpha_codium.sandbox import Sandbox
from alpha_codium.verdict import Verdict
from tests.judge.asserting import CHECK, EQUAL_TO_ALL, Unpaired, judged, problem
from tests.support import shared_path


@pytest.mark.parametrize(
    "program",
    [
        "def order(xs): return sorted(xs)",
        "print('noise')\ndef order(xs):\n    print('more')\n    xs.sort()\n    return xs",
        "from functools import lru_cache\norder = sorted",
        "def order(xs): return sorted(xs)\nif __name__ == '__main__': order(int(input()))",
    ],
    ids=["function", "noise", "builtin", "main"],
)
async def test_a_right_program_is_accepted_from_outside(both: Sandbox, program: str) -> None:
    judgement = await judged(both, program)
    assert judgement.accepted, judgement.tests
    assert (judgement.trust, judgement.tests_total) == ("outside", 1)


NAMES = {
    "a method": ("class Solution:\n    def order(self, xs): return sorted(xs)", CHECK, False),
    "a method beside a function": (
        "class Solution:\n    def order(self, xs): return 0\ndef order(xs): return sorted(xs)",
        CHECK,
        True,
    ),
    "a function that isn't there": ("x = 1", "try:\n    order([1])\nexcept NameError:\n    assert x == 1", True),
    "a function that the test doesn't use": ("def other(): return 1", "assert other() == 1", True),
    "a check of a function that isn't there": (
        "def other(): return 1",
        "def check(candidate):\n    assert True",
        False,
    ),
    "a module that the program imports": (
        "import math\ndef order(x): return 1.5",
        "assert math.floor(order(0)) == 1",
        True,
    ),
    "a module that it doesn't import": ("def order(x): return 1.5", "assert math.floor(order(0)) == 1", False),
    "a module under another name": (
        "import numpy as n\ndef order(x): return 1",
        "assert np.isclose(order(0), 1)",
        False,
    ),
}


@pytest.mark.parametrize("case", NAMES)
@pytest.mark.parametrize("paired", [True, False])
async def test_names_are_those_that_python_finds_in_the_programs_module(
    sandbox: Sandbox, case: str, paired: bool
) -> None:
    program, test, passes = NAMES[case]
    judgement = await judged(sandbox if paired else Unpaired(sandbox), program, test, "order")
    assert judgement.verdict in ((Verdict.ACCEPTED,) if passes else (Verdict.RUNTIME_ERROR, Verdict.WRONG_ANSWER))
    assert judgement.trust == ("outside" if paired else "in_process")


CHEATS = {
    "nothing": "def order(xs): pass",
    "exit": "import sys\nsys.exit(0)",
    "_exit": "import os\nos._exit(0)",
    "exit when called": "def order(xs): raise SystemExit(0)",
    "_exit when called": "def order(xs):\n    import os\n    os._exit(0)",
    "an equal object": EQUAL_TO_ALL.format(base="object") + "def order(xs): return X()",
    "an equal list": EQUAL_TO_ALL.format(base="list") + "def order(xs): return X()",
    "an equal float": EQUAL_TO_ALL.format(base="float") + "def order(xs): return X()",
    "an equal type": EQUAL_TO_ALL.format(base="object") + "order = X()",
    "equal items": EQUAL_TO_ALL.format(base="object") + "def order(xs): return [X()] * len(xs)",
    "patched builtins": "import builtins\nfor n in ('abs', 'sum', 'sorted', 'isinstance'):\n"
    "    setattr(builtins, n, lambda *a: 0)\ndef order(xs): return xs",
    "printed": "print('passed')\ndef order(xs):\n    print('passed')\n    raise SystemExit",
    "at exit": "import atexit, os\natexit.register(os._exit, 0)\ndef order(xs): print('passed')",
    "an excepthook": "import sys\nsys.excepthook = lambda *_: None\ndef order(xs): raise SystemExit(0)",
    "a forged channel": "import os\nfor _ in range(9): os.write(3, b'00000002n;')\nos._exit(0)",
    "forged values": "import os\nfor _ in range(9): os.write(3, b'0000001fTs76616c7565;t;)')\nos._exit(0)",
    "a closed channel": "import os\nos.close(3)\ndef order(xs): return xs",
    "another check": "def check(candidate): pass\ndef order(xs): return xs",
    "a lie about names": "def order(xs): return xs\ndef abs(x): return 0\ndef sum(xs): return 0.75\n__builtins__ = {}",
}


@pytest.mark.parametrize("cheat", CHEATS)
async def test_a_program_that_cheats_never_passes(both: Sandbox, cheat: str) -> None:
    judgement = await judged(both, CHEATS[cheat])
    assert judgement.verdict not in (Verdict.ACCEPTED, Verdict.INTERNAL_ERROR)
    assert judgement.trust == "outside"


@pytest.mark.parametrize(
    ("program", "verdict"),
    [
        ("def order(xs): return xs", Verdict.WRONG_ANSWER),
        ("def order(xs): return 1 / 0", Verdict.RUNTIME_ERROR),
        ("def order(xs): assert False", Verdict.RUNTIME_ERROR),
        ("def ordr(xs): return sorted(xs)", Verdict.RUNTIME_ERROR),
        ("1 / 0", Verdict.RUNTIME_ERROR),
        ("def order(", Verdict.COMPILATION_ERROR),
        ("def order(xs):\n    while True: pass", Verdict.TIME_LIMIT_EXCEEDED),
        ("while True: pass", Verdict.TIME_LIMIT_EXCEEDED),
        ("def order(xs): return bytearray(1 << 40)", Verdict.MEMORY_LIMIT_EXCEEDED),
        ("def order(xs): return sorted(xs)\nimport os\nos.kill(os.getpid(), 9)", Verdict.RUNTIME_ERROR),
        ("", Verdict.COMPILATION_ERROR),
    ],
)
async def test_each_way_to_fail_has_its_verdict(both: Sandbox, program: str, verdict: Verdict) -> None:
    judgement = await judged(both, program, cpu_seconds=0.3)
    assert judgement.verdict is verdict


async def test_an_assertion_that_failed_is_shown(both: Sandbox) -> None:
    stderr = (await judged(both, "def order(xs): return xs or None")).tests[0].execution.stderr
    assert "assert candidate" in stderr or "AssertionError" in stderr


async def test_each_test_case_is_code_and_the_test_code_is_one_more(both: Sandbox) -> None:
    tests = (TestCase("assert twice(1) == 2", ""), TestCase("assert twice(2) == 5", ""))
    execution = ExecutionSpec("assertions", "twice", "assert twice(0) == 0")
    given = Problem("p", private_tests=tests, execution=execution)
    judgement = (
        await Judge(both).for_problem(given).judge("def twice(x): return 2 * x", given.tests([TestType.PRIVATE]))
    )
    assert [test.verdict.value for test in judgement.tests] == ["accepted", "wrong_answer", "accepted"]
    assert given.tests([TestType.PUBLIC]) == ()


async def test_exceptions_cross_with_their_classes_and_texts(both: Sandbox) -> None:
    test = """
def raised(function, *arguments):
    try:
        function(*arguments)
    except Exception as error:
        return type(error).__name__, str(error)
assert raised(f, "value") == ("ValueError", "bad")
assert raised(f, "own") == ("Own", "mine")
assert raised(f, "strange") == ("Strange", "?")
assert raised(f, "key") == ("KeyError", "'k'")
"""
    program = """
class Own(ValueError): pass
class Strange(Exception): pass
def f(what):
    raise {"value": ValueError("bad"), "own": Own("mine"), "strange": Strange("?"), "key": KeyError("k")}[what]
"""
    assert (await judged(both, program, test, "f")).accepted


@pytest.mark.parametrize(
    "program", ["import os\ndef f(x): os._exit(0)", "import os\ndef f(x): os.close(3)", "def f(x): exit()"]
)
async def test_assertions_can_not_catch_the_end_of_the_program(both: Sandbox, program: str) -> None:
    test = "try:\n    f('bad')\n    assert False\nexcept BaseException as e:\n    pass"
    assert not (await judged(both, program, test, "f")).accepted
    assert (await judged(both, "def f(x): raise ValueError", test, "f")).accepted


async def test_objects_of_the_programs_own_are_made_passed_on_and_read_but_not_compared(both: Sandbox) -> None:
    program = """
class Node:
    def __init__(self, value): self.value, self.next = value, None
    def __eq__(self, other): return True
    def __len__(self): return 2
def total(node): return node.value + (total(node.next) if node.next else 0)
def squares(n):
    for i in range(n): yield i * i
"""
    test = """
first, second = Node(1), Node(2)
first.next = second
assert total(first) == 3
assert first.next.value == 2
assert len(first) == 2
assert total([Node(5)][0]) == 5
assert list(squares(3)) == [0, 1, 4]
"""
    judgement = await judged(both, program, test, "total")
    assert (judgement.verdict, judgement.trust) == (Verdict.ACCEPTED, "outside")
    assert not (await judged(both, program, "assert total(Node(1)) == 2", "total")).accepted


@pytest.mark.parametrize("test", ["f().issubset({1})", "f().isdigit()", "1 in f()", "f() in (1, 2)", "f().__eq__(1)"])
async def test_asking_the_programs_objects_to_compare_themselves_is_refused(both: Sandbox, test: str) -> None:
    program = EQUAL_TO_ALL.format(base="object") + "def f(): return X()"
    assert not (await judged(both, program, f"assert {test}", "f")).accepted


async def test_helpers_of_the_setup_code_can_not_be_replaced_by_the_program(both: Sandbox) -> None:
    setup = "def poly(xs, x):\n    return sum(c * x**i for i, c in enumerate(xs))\ndef root(xs): '''find it'''"
    test = "assert abs(poly([6, -5, 1], root([6, -5, 1]))) < 1e-6"
    assert (await judged(both, "def root(xs): return 2", test, "root", setup)).accepted
    assert not (await judged(both, "def poly(xs, x): return 0\ndef root(xs): return 7", test, "root", setup)).accepted


async def test_the_program_may_use_the_setup_code(both: Sandbox) -> None:
    setup = "from typing import List"
    assert (await judged(both, "def order(xs: List) -> List: return sorted(xs)", CHECK, "order", setup)).accepted


async def test_numpys_scalars_and_the_standard_collections_are_compared_as_values(both: Sandbox) -> None:
    program = "from collections import Counter, defaultdict, OrderedDict, deque\n"
    program += "def f(x): return [Counter('aab'), OrderedDict(a=1), deque([1]), defaultdict(int, {1: 2})]"
    test = "from collections import deque\nassert f(0) == [{'a': 2, 'b': 1}, {'a': 1}, deque([1]), {1: 2}]"
    assert (await judged(both, program, test, "f")).accepted


@pytest.mark.parametrize("code", ["assert f(", "x = 1", "pass"])
async def test_test_code_that_can_not_fail_is_not_the_programs_fault(both: Sandbox, code: str) -> None:
    judgement = await judged(both, "def f(): pass", code, "f")
    assert judgement.verdict is Verdict.INTERNAL_ERROR
    assert "code of the test" in judgement.message


async def test_a_problem_without_assertions_is_never_a_pass(both: Sandbox) -> None:
    assert (await judged(both, "def f(): pass", "  \n", "f")).verdict is Verdict.NO_TESTS


@pytest.mark.thorough
async def test_some_real_problems_are_solved_by_their_solutions_and_not_by_stubs(both: Sandbox) -> None:
    for line in shared_path("data/humaneval.jsonl").read_text().splitlines()[::8]:
        row = json.loads(line)
        given = problem(row["test"], row["entry_point"], row["prompt"])
        judge, tests = Judge(both).for_problem(given), given.tests([TestType.PRIVATE])
        assert (await judge.judge(row["prompt"] + row["canonical_solution"], tests)).accepted, row["task_id"]
        assert not (await judge.judge(row["prompt"] + "    pass\n", tests)).accepted, row["task_id"]
