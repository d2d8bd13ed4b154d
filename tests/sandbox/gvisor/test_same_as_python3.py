"""Programs that are compared with `python3` itself, in gVisor; see `tests/sandbox/test_same_as_python3`."""

import asyncio

import pytest

from alpha_codium.sandbox.conformance.running import run_one
from tests.judge.pythons import OTHER_PYTHONS
from tests.sandbox.backends import BACKENDS
from tests.sandbox.test_same_as_python3 import CASES, EXECUTES, KNOWN, Outcomes, all_outcomes, neutral, same_end


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> Outcomes:
    names = sorted(set(CASES) - EXECUTES - set(KNOWN))
    return asyncio.run(all_outcomes(BACKENDS["gvisor"], names, tmp_path_factory.mktemp("real")))


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(set(CASES) - EXECUTES - set(KNOWN)))
def test_same_as_python3(outcomes: Outcomes, name: str) -> None:
    report, real = outcomes[name]
    execution = report.executions[0]
    code, number = (real.returncode, None) if real.returncode >= 0 else (None, -real.returncode)
    assert neutral(execution.stdout) == neutral(real.stdout.decode("utf-8", "replace"))
    assert (execution.exit_code, execution.signal) == (code, number)
    assert same_end(execution.stderr, real.stderr)


@pytest.mark.thorough
@pytest.mark.parametrize("python", OTHER_PYTHONS or ["none"])
async def test_every_python_that_is_supported_runs_programs(python: str) -> None:
    if python == "none":
        pytest.skip("no other CPython of pyenv's on this machine")
    program = "import sys\nprint(sys.executable, input())\ndef f(n): return f(n + 1) if n < 950 else n\nprint(f(0))"
    async with BACKENDS["gvisor"].open(workers=1, interpreter=python) as sandbox:
        execution = await run_one(sandbox, program, "x\n")
    assert execution.stdout == f"{python} x\n950\n", execution
