"""The filter that keeps a test from ending its runner: every verdict, evaluated as the kernel does."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alpha_codium.sandbox.engine.policy import ALLOW, refuse
from alpha_codium.sandbox.engine.seccomp import AUDIT_ARCH, SIGNALLING, build_guard
from alpha_codium.sandbox.engine.syscalls import MACHINES, numbers_of
from tests.sandbox.engine.test_seccomp import evaluate


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("name", SIGNALLING)
def test_a_signal_to_process_1_is_said_to_be_sent_and_is_not(machine: str, name: str) -> None:
    guard, number = build_guard(machine), numbers_of(machine)[name]
    assert evaluate(guard, AUDIT_ARCH[machine], number, (1, 9, 0, 0, 0, 0)) == refuse(0)
    for other in (2, 0, 2**32 - 1, 4711):
        assert evaluate(guard, AUDIT_ARCH[machine], number, (other, 9, 0, 0, 0, 0)) == ALLOW


@given(st.sampled_from(MACHINES), st.integers(0, 500), st.integers(0, 2**32 - 1))
def test_nothing_else_is_touched(machine: str, number: int, argument: int) -> None:
    signals = {numbers_of(machine)[name] for name in SIGNALLING}
    verdict = evaluate(build_guard(machine), AUDIT_ARCH[machine], number, (argument, 0, 0, 0, 0, 0))
    assert (verdict == ALLOW) == (number not in signals or argument != 1)
