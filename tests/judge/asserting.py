"""A problem with assertions, and programs judged by it."""

from collections.abc import Iterable

from alpha_codium.judge import Judge, Rules
from alpha_codium.judge.assertion_batches import AssertionRun, judge_batch
from alpha_codium.judge.assertions import AssertionResult, AssertionsKind
from alpha_codium.problem import ExecutionSpec, Problem, TestCase, TestType
from alpha_codium.program import PairJob, as_program
from alpha_codium.sandbox import Sandbox
from alpha_codium.sandbox.protocol import PairUnsupported
from alpha_codium.verdict import Judgement, PairReport
from tests.jobs import WrappedSandbox

CHECK = """
def check(candidate):
    assert candidate([3, 1, 2]) == [1, 2, 3]
    assert candidate([]) == [], "nothing"
    assert abs(sum(candidate([0.5, 0.25])) - 0.75) < 1e-6
"""
EQUAL_TO_ALL = """
class X({base}):
    def _yes(self, *_): return True
    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = __contains__ = __bool__ = __call__ = _yes
    def __hash__(self): return 0
    def __getattr__(self, name): return self
    def __sub__(self, other): return 0
    __rsub__ = __add__ = __radd__ = __abs__ = __sub__
    def __iter__(self): return iter([0.75])
"""


class Unpaired(WrappedSandbox):
    """A sandbox that has no pairs."""

    async def execute_pair(self, job: PairJob) -> PairReport:
        raise PairUnsupported("no pairs here")


def problem(test_code: str = CHECK, entry_point: str = "order", setup_code: str = "") -> Problem:
    return Problem("p", execution=ExecutionSpec("assertions", entry_point, test_code, setup_code))


async def judged(sandbox: Sandbox, program: str, *arguments: str, cpu_seconds: float = 1.0) -> Judgement:
    given, rules = problem(*arguments), Rules(cpu_seconds=cpu_seconds)
    return await Judge(sandbox, rules).for_problem(given).judge(program, given.tests(list(TestType)))


async def judged_in_batch(kind: AssertionsKind, cases: Iterable[tuple[str, str]]) -> list[AssertionResult]:
    """Judge programs, each by code with assertions, all in one batch."""
    runs = [AssertionRun(kind, as_program(program), [TestCase(test, "")]) for program, test in cases]
    return [results[0] for results in await judge_batch(runs)]
