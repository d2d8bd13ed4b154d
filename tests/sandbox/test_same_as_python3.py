"""A program in the sandbox behaves as `python3 program.py < input` does: each case runs in both."""

# ruff: noqa: E501 - a program stands on one line beside its name

import asyncio

import pytest

from tests.sandbox.backends import BACKENDS
from tests.sandbox.beside_python3 import CASES, Outcomes, Real, all_outcomes, neutral, real_ends, reports_of, same_end

__all__ = ["CASES", "EXECUTES", "KNOWN", "Outcomes", "all_outcomes", "neutral", "same_end"]  # gVisor's use them

# Without isolation it is the portable backend.
COMPARED = ("local", pytest.param("portable", marks=pytest.mark.slow))
# A jail runs no other program.
EXECUTES = {"a subprocess"}
# What needs more than one process, which a jail gives only where it can count what they use together.
FORKS = {
    "multiprocessing", "fork and wait", "a process of multiprocessing with a queue", "a pool of processes",
    "a pipe to a child", "what was not flushed before a fork is written twice",
}  # fmt: skip
# What is known to differ in the local backend, and why.
BELOW = "the script of the worker stands below the program, as its caller"
KNOWN = {
    "a finaliser after a KeyboardInterrupt": "it is ended by the signal before its variables go",
    "a generator after a KeyboardInterrupt": "it is ended by the signal before its variables go",
    "the frames below it": BELOW,
    "traceback.print_stack": BELOW,
    "faulthandler at an abort": BELOW,
    "faulthandler.dump_traceback": BELOW,
    "recursion in a thread": "the limit is corrected by what stands below the main thread",
    "the recursion that a limit of 100 leaves in a thread": "the limit is corrected by what stands below the main thread",
    "an atexit handler that recurses": "less stands below it than below the program",
}


def asked_for(request: pytest.FixtureRequest) -> list[str]:
    """The cases of the tests that are run."""
    items = (getattr(item, "callspec", None) for item in request.session.items)
    return sorted({item.params["name"] for item in items if item is not None and item.params.get("name") in CASES})


@pytest.fixture(scope="module")
def reals(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Real]:
    """What came of them under the real interpreter, once for every backend that is compared with it."""
    return asyncio.run(real_ends(asked_for(request), tmp_path_factory.mktemp("real")))


@pytest.fixture(scope="module", params=COMPARED)
def outcomes(request: pytest.FixtureRequest, reals: dict[str, Real]) -> Outcomes:
    """What came of them in one open sandbox, beside that."""
    left_out = EXECUTES if request.param == "local" else set()
    names = [name for name in asked_for(request) if name not in left_out]
    reports = asyncio.run(reports_of(BACKENDS[request.param], names))
    return {name: (reports[name], reals[name]) for name in names}


@pytest.mark.thorough
@pytest.mark.parametrize("name", CASES)
def test_same_as_python3(request: pytest.FixtureRequest, outcomes: Outcomes, name: str) -> None:
    if name in KNOWN and request.node.callspec.params["outcomes"] == "local":
        request.applymarker(pytest.mark.xfail(reason=KNOWN[name], strict=True))
    if name not in outcomes:
        pytest.skip("a jail runs no other program")
    report, real = outcomes[name]
    assert report.compiled, report.compilation
    execution = report.executions[0]
    if name in FORKS and "BlockingIOError" in execution.stderr:
        pytest.skip("this machine gives no cgroup that counts what processes use together")
    code, number = (real.returncode, None) if real.returncode >= 0 else (None, -real.returncode)
    assert neutral(execution.stdout) == neutral(real.stdout.decode("utf-8", "replace"))
    assert (execution.exit_code, execution.signal) == (code, number)
    assert same_end(execution.stderr, real.stderr)
