"""Our own service, in each of its dialects, and our metric, asked what other graders are asked."""

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

import alpha_codium
from alpha_codium.audit.graders.asking import cases_to_ask
from alpha_codium.audit.graders.auditing import run_audit
from alpha_codium.audit.graders.finding import DIALECTS, find_grader
from alpha_codium.audit.graders.report import FAULTS, Audit
from tests.serve.serving import started

METRIC = Path(alpha_codium.__file__).parent / "metrics" / "code_eval"
# Sections without programs that wait for a time limit.
QUICK = ("comparison", "malformed tests")


def faults(audit: Audit) -> list[str]:
    return [f"{kind}: {each.line()}" for kind in FAULTS for each in audit.of(kind)]


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with started() as (found, _):
        yield found


@pytest.mark.parametrize(
    "dialect", [pytest.param(d, marks=pytest.mark.thorough if d == "judge" else pytest.mark.slow) for d in DIALECTS]
)
async def test_our_service_compares_rightly_in_every_dialect(address: str, dialect: str) -> None:
    audit = await run_audit(find_grader(address, sys.executable, dialect=dialect), cases_to_ask(QUICK), parallel=4)
    assert faults(audit) == []
    assert len(audit.asked) > 40


@pytest.mark.slow
@pytest.mark.timeout(3000)
@pytest.mark.parametrize("dialect", DIALECTS)
async def test_our_service_is_right_on_the_whole_kit_in_every_dialect(address: str, dialect: str) -> None:
    audit = await run_audit(find_grader(address, sys.executable, dialect=dialect), cases_to_ask(), deadline=120)
    assert faults(audit) == []
    assert len(audit.asked) > 250


@pytest.mark.slow
@pytest.mark.timeout(3000)
async def test_our_metric_is_right_on_all_assertions() -> None:
    pytest.importorskip("evaluate")
    grader = replace(find_grader(f"metric:{METRIC}", sys.executable), isolates=True)
    audit = await run_audit(grader, cases_to_ask(), deadline=120)
    assert faults(audit) == []
    assert len(audit.asked) > 90
