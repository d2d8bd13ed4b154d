"""Do the local backend and the C++ sandbox say the same of the same program, test by test? And if not, who is right?

1. Both run the programs on the CPython 3.9 that the C++ sandbox is made for.
2. What they disagree on stands in `KNOWN` with a minimal program, which is run by `python3` itself too: the local
   backend has to do what that does.
3. The slow tests do it for all programs of the real data. A disagreement that `KNOWN` doesn't explain fails them, and
   so does one where the portable backend, which runs a plain `python3 program.py`, doesn't side with the local one.
"""

import itertools
import subprocess
import sys
from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass
from pathlib import Path

import pytest

from alpha_codium.judge import Judge, Rules
from alpha_codium.problem import Problem
from alpha_codium.sandbox import Sandbox, open_sandbox
from alpha_codium.sandbox.conformance.running import run_one
from alpha_codium.sandbox.portable.isolation import namespaces_command
from alpha_codium.verdict import Status, TestResult
from tests.sandbox.code_contests.agreement import Agreement, Job, compare, jobs_of
from tests.sandbox.code_contests.environment import environment_folder, installed

pytestmark = pytest.mark.skipif(not namespaces_command(), reason="this machine gives no namespaces")
# The tests of a program that are run: the C++ sandbox starts an interpreter for each.
MOST_TESTS = {"codecontests_train": 12, "codecontests_test": 12}


@dataclass(frozen=True)
class Known:
    """Programs that the C++ sandbox ends for a system call: which one, why, and the smallest of them.

    `newest` is true where only the newer interpreters make the call.
    """

    call: str
    why: str
    program: str
    newest: bool = False


KNOWN = (
    Known(
        "435/",
        "recursion in a thread with a larger stack: glibc 2.34 starts threads by clone3, which isn't on the list",
        "import sys, threading\n"
        "sys.setrecursionlimit(10**6)\n"
        "threading.stack_size(2**27)\n"
        "def depth(n): return n and 1 + depth(n - 1)\n"
        "thread = threading.Thread(target=lambda: print(depth(int(input()))))\n"
        "thread.start()\nthread.join()",
    ),
    Known(
        "230/clock_nanosleep",
        "Python 3.11 and later sleep by a call that isn't on the list",
        "import time\ntime.sleep(0.001)\nprint(input())",
        newest=True,
    ),
    Known("110/getppid", "asking for the parent isn't allowed", "import os\nos.getppid()\nprint(input())"),
)


@pytest.fixture
async def both() -> AsyncIterator[tuple[Sandbox, Sandbox]]:
    """The local backend and the C++ sandbox, on the same CPython 3.9."""
    interpreter = str(environment_folder() / "bin" / "python")
    async with (
        open_sandbox("local", workers=1, interpreter=interpreter) as local,
        open_sandbox("code_contests", workers=1, interpreter=interpreter, **installed()) as theirs,
    ):
        yield local, theirs


@pytest.mark.thorough
@pytest.mark.parametrize("known", KNOWN, ids=lambda known: known.call)
async def test_where_they_disagree_the_local_backend_does_what_python3_does(known: Known, tmp_path: Path) -> None:
    python = sys.executable if known.newest else str(environment_folder() / "bin" / "python")
    file = tmp_path / "program.py"
    file.write_text(known.program)
    real = subprocess.run([python, file], input="5000\n", capture_output=True, text=True, check=True, timeout=60)
    async with open_sandbox("local", workers=1, interpreter=python) as local:
        ours = await run_one(local, known.program, "5000\n")
    async with open_sandbox("code_contests", workers=1, interpreter=python, **installed()) as sandbox:
        theirs = await run_one(sandbox, known.program, "5000\n")
    assert (ours.status, ours.stdout, ours.stderr) == (Status.FINISHED, real.stdout, real.stderr)
    assert (theirs.status, explained(theirs.stderr)) == (Status.SANDBOX_VIOLATION, known)


@pytest.mark.thorough
async def test_real_programs_get_the_same_verdict_from_both(both: tuple[Sandbox, Sandbox]) -> None:
    agreement = await compare(itertools.islice(jobs_of("codecontests_train", 3), 4), *both, Rules())
    assert sum(agreement.table.values()) == 12
    assert agreement.apart == [], "\n".join(agreement.lines())


@pytest.mark.slow
@pytest.mark.timeout(10_000)
@pytest.mark.parametrize("name", MOST_TESTS)
async def test_all_real_programs_get_the_same_verdict_but_for_known_reasons(
    name: str, both: tuple[Sandbox, Sandbox]
) -> None:
    jobs = list(jobs_of(name, MOST_TESTS[name]))
    agreement = await compare(jobs, *both, Rules())
    print(f"\n{name}", *agreement.lines(), sep="\n")
    assert sum(agreement.table.values()) > 100
    assert [each for each in agreement.apart if explained(each[3].execution.stderr) is None] == []
    assert await errors_of_ours(jobs, agreement) == []


async def errors_of_ours(jobs: Iterable[Job], agreement: Agreement) -> list[tuple[str, int]]:
    """The tests apart on which a plain `python3 program.py` gets another verdict than the local backend."""
    apart: dict[tuple[str, int], TestResult] = {(label, index): ours for label, index, ours, _ in agreement.apart}
    wrong = []
    interpreter = str(environment_folder() / "bin" / "python")
    async with open_sandbox("portable", workers=1, interpreter=interpreter) as plain:
        judge = Judge(plain).for_problem(Problem("agreement"))
        for job in jobs:
            for index, test in enumerate(job.tests):
                ours = apart.get((job.label, index))
                if ours and (await judge.judge(job.program, [test])).verdict is not ours.verdict:
                    wrong.append((job.label, index))
    return wrong


def explained(stderr: str) -> Known | None:
    """Which known difference the C++ sandbox's word on a test is."""
    violation = "sandbox: SYSCALL VIOLATION - Violating Syscall"
    last = stderr.strip().rpartition("\n")[2]
    if not last.startswith(violation):
        return None
    return next((known for known in KNOWN if known.call in last), None)
