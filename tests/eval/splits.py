"""A small split with known answers, and a sandbox that loses what it is told to lose."""

from collections.abc import Sequence

from alpha_codium.limits import Limits
from alpha_codium.problem import Problem, Solution, TestCase
from alpha_codium.verdict import Execution, Report, Status
from tests.jobs import FakeSandbox

RIGHT, WRONG, BROKEN = "print(2 * int(input()))", "print(0)", "print("
ALSO_WRONG = "print(0) # as well"
LOST = "# the sandbox loses this one\n" + RIGHT


def problem(name: str, tests: int = 2, **fields: object) -> Problem:
    """A problem that `RIGHT` solves, with private tests only."""
    cases = tuple(TestCase(f"{n}\n", f"{2 * n}\n") for n in range(1, tests + 1))
    return Problem(name, private_tests=cases, **fields)  # type: ignore[arg-type]


def labelled(name: str) -> Problem:
    """A problem with right, wrong and wrongly labelled human solutions, some in other languages."""
    return problem(
        name,
        solutions=(Solution("unknown", "main"), Solution("python3", RIGHT), Solution("python3", WRONG)),
        incorrect_solutions=(Solution("python3", BROKEN), Solution("unknown", "x"), Solution("python3", ALSO_WRONG)),
    )


class Arithmetic(FakeSandbox):
    """A sandbox without processes: it knows `RIGHT`, `WRONG`, `BROKEN` and loses `LOST`. Counts its runs."""

    def __init__(self, *, lose: bool = True) -> None:
        self.lose = lose
        self.runs: list[str] = []

    async def report(self, program: str, inputs: Sequence[str], limits: Limits) -> Report:
        self.runs.append(program)
        if program == BROKEN:
            return Report(Execution(Status.COMPILATION_ERROR))
        return Report(Execution(Status.FINISHED), tuple(self._execution(program, text) for text in inputs))

    def _execution(self, program: str, text: str) -> Execution:
        if program == LOST and self.lose:
            return Execution(Status.INTERNAL_ERROR)
        return Execution(Status.FINISHED, stdout="0\n" if program in (WRONG, ALSO_WRONG) else f"{2 * int(text)}\n")
