"""The three workloads that the contenders run, and batches of them on disk.

1. Workload `a` echoes a line, `b` is a small algorithmic program with the imports of such programs, `c` is `b` with
   numpy. Each input is about a hundred bytes.
2. Each is written twice: as a program that reads stdin, and as a function for the peers that call one.
3. A batch is a folder, so that any version of Python can read it. All candidates of a run are different, and so are
   the inputs of all batches, so that nothing can be answered from a cache.
"""

import random
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from alpha_codium.errors import UserError, nearest

ECHO = """\
def solve(text):
    return text.strip()
"""
ALGORITHMIC = """\
import bisect
import collections
import heapq
import itertools
import math
import sys


def solve(text):
    n, *values = map(int, text.split())
    heap = list(values)
    heapq.heapify(heap)
    smallest = [heapq.heappop(heap) for _ in range(3)]
    most = collections.Counter(values).most_common(1)[0][1]
    ordered = sorted(values)
    total = list(itertools.accumulate(ordered))[-1]
    return f"{n} {sum(smallest)} {math.gcd(*values)} {most} {bisect.bisect(ordered, 500)} {total}"
"""
WITH_NUMPY = ALGORITHMIC.replace("import sys\n", "import sys\n\nimport numpy\n").replace(
    "list(itertools.accumulate(ordered))[-1]", "int(numpy.cumsum(numpy.array(ordered))[-1])"
)
READ_AND_PRINT = "\n\nprint(solve(sys.stdin.read()))\n"


@dataclass(frozen=True, slots=True)
class Workload:
    """A program as a script and as a function `solve(text)`; `modules` are what a warm interpreter has imported."""

    name: str
    what: str
    program: str
    function: str
    modules: tuple[str, ...] = ()


STANDARD = ("sys", "math", "collections", "heapq", "itertools", "bisect")
WORKLOADS: Mapping[str, Workload] = {
    workload.name: workload
    for workload in (
        Workload("a", "print(input())", "print(input())\n", ECHO),
        Workload("b", "a small algorithmic program", ALGORITHMIC + READ_AND_PRINT, ALGORITHMIC, STANDARD),
        Workload("c", "b with numpy", WITH_NUMPY + READ_AND_PRINT, WITH_NUMPY, (*STANDARD, "numpy")),
    )
}


def find_workloads(names: str) -> list[Workload]:
    """The workloads of a list with commas; raises UserError where there is no such one."""
    wanted = [name.strip() for name in names.split(",")]
    for name in wanted:
        if name not in WORKLOADS:
            raise UserError(f"there is no workload {name!r}{nearest(name, WORKLOADS)}")
    return [WORKLOADS[name] for name in wanted]


@dataclass(frozen=True, slots=True)
class Batch:
    """`candidates` different texts of one workload and `tests` inputs for each; `number` makes it like no other."""

    workload: Workload
    candidates: int
    tests: int
    number: int = 0

    @property
    def total(self) -> int:
        """How many executions it asks for."""
        return self.candidates * self.tests

    @property
    def programs(self) -> list[str]:
        """The text of each candidate."""
        return [f"{self._mark(candidate)}{self.workload.program}" for candidate in range(self.candidates)]

    @property
    def cases(self) -> list[tuple[str, str]]:
        """The input and the expected output of each test."""
        inputs = (an_input(self.workload, f"{self.number}/{test}") for test in range(self.tests))
        return [(text, expected_output(self.workload, text)) for text in inputs]

    def write(self, folder: Path) -> None:
        """Write `programs/`, `functions/`, `inputs/` and `outputs/`, one numbered file for each."""
        for candidate, program in enumerate(self.programs):
            _put(folder / "programs" / f"{candidate:05}", program)
            _put(folder / "functions" / f"{candidate:05}", self._mark(candidate) + self.workload.function)
        for test, (text, output) in enumerate(self.cases):
            _put(folder / "inputs" / f"{test:05}", text)
            _put(folder / "outputs" / f"{test:05}", output)

    def _mark(self, candidate: int) -> str:
        return f"# candidate {candidate} of batch {self.number}\n"


def an_input(workload: Workload, seed: str) -> str:
    """An input of about a hundred bytes."""
    numbers = random.Random(seed).choices(range(1, 1000), k=25)
    separator = " " if workload.name == "a" else "\n"
    return f"{len(numbers)}{separator}{' '.join(map(str, numbers))}\n"


def expected_output(workload: Workload, text: str) -> str:
    """What the workload prints for `text`; `c` prints what `b` does, so nothing here needs numpy."""
    scope: dict[str, object] = {}
    exec(ECHO if workload.name == "a" else ALGORITHMIC, scope)
    solve = scope["solve"]
    assert callable(solve)
    return f"{solve(text)}\n"


def _put(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
