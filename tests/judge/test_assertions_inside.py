"""Assertions that must run in the program's process: it is said, and nothing leads there in disguise."""

import pytest

from alpha_codium.sandbox import Sandbox
from alpha_codium.verdict import Verdict
from tests.judge.asserting import Unpaired, judged
from tests.judge.test_assertions import CHEATS


async def test_assertions_that_compare_what_they_make_run_in_the_programs_process_and_the_verdict_says_so(
    both: Sandbox,
) -> None:
    program = "class P:\n    def __init__(self, x): self.x = x\n    def __eq__(self, o): return self.x == o.x\n"
    program += "def double(p): return P(2 * p.x)"
    judgement = await judged(both, program, "assert double(P(1)) == P(2)", "double")
    assert (judgement.verdict, judgement.trust) == (Verdict.ACCEPTED, "in_process")
    wrong = await judged(both, program, "assert double(P(1)) == P(3)", "double")
    assert (wrong.verdict, wrong.trust) == (Verdict.WRONG_ANSWER, "in_process")


WARNS = "import warnings\ndef call(x):\n    warnings.warn('old', UserWarning)\n    return x"
LOGS = "import logging\ndef call(x): logging.getLogger('a').warning('low')"
POINT = "from dataclasses import dataclass\n@dataclass\nclass Point:\n    x: int\ndef call(x): return Point(x)"
SHAPE = "from abc import ABC, abstractmethod\nclass Shape(ABC):\n    @abstractmethod\n    def area(self): ..."
IN_CLASS = "import unittest\nclass TestIt(unittest.TestCase):\n    def test_it(self):\n        with self."


@pytest.mark.parametrize(
    ("program", "test"),
    [
        (WARNS, "import pytest\ndef test_it():\n    with pytest.warns(UserWarning):\n        assert call(1) == 1"),
        (WARNS, f"{IN_CLASS}assertWarns(UserWarning): call(1)"),
        (LOGS, f"{IN_CLASS}assertLogs('a', level='WARNING') as logs: call(1)\n        assert 'low' in logs.output[0]"),
        (
            POINT,
            "from dataclasses import asdict, is_dataclass\nassert asdict(call(1)) == {'x': 1} and is_dataclass(Point)",
        ),
        (SHAPE, "import inspect\nfrom abc import ABC\nassert inspect.isabstract(Shape) and issubclass(Shape, ABC)"),
        (
            "from enum import Enum\nclass Colour(Enum):\n    RED = 1",
            "from enum import Enum\nassert isinstance(Colour.RED, Enum)",
        ),
    ],
)
async def test_assertions_that_see_what_only_the_programs_process_shows_run_in_it(
    both: Sandbox, program: str, test: str
) -> None:
    right, wrong = await judged(both, program, test, "call"), await judged(both, "def call(x): return x", test, "call")
    assert (right.verdict, right.trust) == (Verdict.ACCEPTED, "in_process")
    assert wrong.verdict in (Verdict.WRONG_ANSWER, Verdict.RUNTIME_ERROR)


async def test_assertions_that_replace_what_a_program_reads_run_in_its_process_and_the_verdict_says_so(
    both: Sandbox,
) -> None:
    test = "import io, sys\nsys.stdin = io.StringIO('2')\nassert call() == 3"
    judgement = await judged(both, "def call(): return int(input()) + 1", test, "call")
    assert (judgement.verdict, judgement.trust) == (Verdict.ACCEPTED, "in_process")


@pytest.mark.parametrize(
    ("program", "verdict"),
    [
        ("def order(xs): return sorted(xs)", Verdict.ACCEPTED),
        ("def order(xs): return xs", Verdict.WRONG_ANSWER),
        ("def order(xs): return 1 / 0", Verdict.RUNTIME_ERROR),
        ("def order(", Verdict.COMPILATION_ERROR),
        (CHEATS["exit"], Verdict.WRONG_ANSWER),
        (CHEATS["_exit when called"], Verdict.WRONG_ANSWER),
        (CHEATS["patched builtins"], Verdict.WRONG_ANSWER),
        (CHEATS["at exit"], Verdict.WRONG_ANSWER),
    ],
)
async def test_without_pairs_the_assertions_run_in_the_programs_process_and_the_verdict_says_so(
    both: Sandbox, program: str, verdict: Verdict
) -> None:
    judgement = await judged(Unpaired(both), program)
    assert judgement.verdict is verdict
    assert verdict is Verdict.COMPILATION_ERROR or judgement.trust == "in_process"


LIAR = """
class Yes:
    def __eq__(self, other): return True
def f(x):
    if x == 3:
        deep = []
        for _ in range({depth}): deep = [deep]
        return deep
    return Yes()
g = f
"""


@pytest.mark.parametrize("depth", [10, 197, 198, 199])
async def test_a_value_too_deep_to_cross_does_not_move_the_assertions_into_the_programs_process(
    both: Sandbox, depth: int
) -> None:
    code = "def check(candidate):\n    assert candidate(candidate(3)) == 3\n    assert candidate(candidate(4)) == 4\n"
    judgement = await judged(both, LIAR.format(depth=depth), code, "f")
    assert (judgement.accepted, judgement.trust) == (False, "outside")


@pytest.mark.parametrize("entry_point", ["", "f"])
@pytest.mark.parametrize("code", ["assert f(1) == 1\n", "assert f(1) == 1\nassert g(2) == 2\n"])
async def test_objects_that_equal_everything_do_not_lead_into_the_programs_process(
    both: Sandbox, code: str, entry_point: str
) -> None:
    judgement = await judged(both, LIAR.format(depth=1), code, entry_point)
    assert (judgement.accepted, judgement.trust) == (False, "outside")
