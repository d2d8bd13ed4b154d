"""Our own backends, metrics, rewards and service, asked what other graders are asked: they have no fault.

The service isolates programs itself, so that it is asked the attacks, too.
"""

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

import alpha_codium
from alpha_codium.audit.graders.asking import cases_to_ask
from alpha_codium.audit.graders.auditing import run_audit
from alpha_codium.audit.graders.finding import find_grader
from alpha_codium.audit.graders.process import Grader
from alpha_codium.audit.graders.report import FAULTS, Audit
from alpha_codium.audit.judge.examination import CaseFinding, CaseResult, examine
from alpha_codium.audit.kit.cases import SPOILT, load_cases, planted_secrets
from alpha_codium.judge import Judge, Rules
from alpha_codium.sandbox import open_sandbox
from alpha_codium.sandbox.conformance.differences import CLOCK, DEAR, FOLDER
from alpha_codium.verdict import Verdict
from tests.sandbox.backends import BACKENDS, ISOLATED
from tests.serve.serving import started

DIALECTS = ("judge", "judge0", "code_judge", "open_instruct", "piston", "sandbox_fusion")
METRIC = Path(alpha_codium.__file__).parent / "metrics" / "code_eval"
# Limits are CPU time, which a program gets late where other work has precedence.
DEADLINE = 600
# Sections without programs that wait for a time limit.
QUICK = ("comparison", "malformed tests")
# As Piston does, this dialect adds a line's end to an input without one: in that problem, an input is empty.
ADDS_A_LINE = ("piston", "lines")
# As APPS does, whose files wrap results in lists, these take the first item of an expected list for the list.
TAKE_THE_ITEM = [(name, "the only number instead of a list with it") for name in ("apps", "reward")]
# In this one, a program can read the host's files.
READABLE = "portable"
NO_PAIRS = "it runs no pairs of programs: assertions are decided in the program's own process"
# What a backend does otherwise by its own definition: the case -> why. So do programs that `code_contests` ends for a
# system call: threads, sleep, signals and children.
KNOWN = {
    "code_contests": {
        "stdin idioms: open('/dev/stdin')": FOLDER,
        "stdin idioms: open('/dev/stdout', 'w')": FOLDER,
        "stdin idioms: a temporary file": FOLDER,
        "stdin idioms: a file in the working folder": FOLDER,
        "stdin idioms: doctest": "the program is called code.py, which hides a module that doctest imports",
        "calls: a function that uses a file and the working folder": FOLDER,
        "assertions: a function that makes and removes a folder": FOLDER,
        "cheats: assertions: an object that is equal to everything": NO_PAIRS,
        "cheats: assertions: a list that is equal to everything": NO_PAIRS,
        "cheats: assertions: a number that is equal to everything": NO_PAIRS,
        "cheats: assertions: looks for the value in the frames below": NO_PAIRS,
        "cheats: assertions: reads the constants of the assertion": NO_PAIRS,
    },
    "gvisor": {
        "cheats: a child of a child does the work": CLOCK,
        "C++: an exception that is caught, and much on stderr": DEAR,
    },
}
KNOWN["oci"] = KNOWN["gvisor"]


def faults(audit: Audit) -> list[str]:
    return [f"{kind}: {each.line()}" for kind in FAULTS for each in audit.of(kind)]


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with started() as (found, _):
        yield found


@pytest.mark.thorough
async def test_our_service_compares_rightly(address: str) -> None:
    audit = await run_audit(find_grader(address, sys.executable), cases_to_ask(QUICK), parallel=4)
    assert faults(audit) == []
    assert len(audit.asked) > 40


@pytest.mark.slow
@pytest.mark.timeout(3000)
@pytest.mark.parametrize("dialect", DIALECTS)
async def test_our_service_is_right_on_the_whole_kit_in_every_dialect(address: str, dialect: str) -> None:
    grader = replace(find_grader(address, sys.executable, dialect=dialect), isolates=True)
    cases = [case for case in cases_to_ask() if (dialect, case.problem.name) != ADDS_A_LINE]
    audit = await run_audit(grader, cases, deadline=DEADLINE)
    assert faults(audit) == []
    assert len(audit.asked) > 300


def ours(name: str) -> Grader:
    """A metric or reward of ours, in an environment without isolation of the audit's."""
    if name == "code_eval":
        pytest.importorskip("evaluate")
        return replace(find_grader(f"metric:{METRIC}", sys.executable), isolates=True)
    grader = find_grader(str(Path(__file__).with_name("ours.py")), sys.executable)
    return replace(grader, isolates=True, variables={"GENCODE_AUDIT_TARGET": name})


@pytest.mark.slow
@pytest.mark.timeout(3000)
@pytest.mark.parametrize("name", ["code_eval", "code_contests", "apps", "reward"])
async def test_our_metrics_and_rewards_are_right_on_the_whole_kit(name: str) -> None:
    cases = [case for case in cases_to_ask() if (name, case.name) not in TAKE_THE_ITEM]
    audit = await run_audit(ours(name), cases, deadline=DEADLINE)
    assert faults(audit) == []
    assert len(audit.asked) > 90


def is_known(backend: str, wrong: CaseResult) -> bool:
    """Whether a wrong verdict is what this backend gives by its own definition."""
    if backend == "code_contests" and wrong.verdict is Verdict.SANDBOX_VIOLATION:
        return True
    if backend == READABLE and wrong.case.problem.name == "secret":
        return True
    return wrong.case.identity.removesuffix(SPOILT) in KNOWN.get(backend, {})


@pytest.mark.slow
@pytest.mark.timeout(3000)
@pytest.mark.parametrize("name", ISOLATED)
async def test_a_judge_on_every_backend_is_right_on_the_whole_kit(name: str) -> None:
    backend = BACKENDS[name]
    with planted_secrets() as secrets:
        cases = load_cases(secrets)
        async with open_sandbox(backend.name, workers=2, **backend.prepare()) as sandbox:
            examination = await examine(Judge(sandbox, Rules(time_limit_factor=1.0)), cases)
    wrong = [each for each in examination.results if each.finding not in (CaseFinding.RIGHT, CaseFinding.NOT_RUN)]
    assert [(each.case.identity, each.verdict, each.reason) for each in wrong if not is_known(name, each)] == []
