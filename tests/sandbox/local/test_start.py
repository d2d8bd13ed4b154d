"""How the sandbox `local` starts."""

import pytest

from alpha_codium.errors import SandboxError
from alpha_codium.sandbox import open_sandbox
from alpha_codium.sandbox.engine import worker
from alpha_codium.sandbox.portable.isolation import namespaces_command


async def test_a_machine_that_is_too_slow_is_not_taken_for_one_without_isolation(
    monkeypatch: pytest.MonkeyPatch, warnings: list[str]
) -> None:
    if not namespaces_command():
        pytest.skip("this machine gives no namespaces: run as root or allow user namespaces")
    monkeypatch.setattr(worker, "START_SECONDS", 1e-4)
    with pytest.raises(SandboxError, match=r"isn't ready after 0\.0001 s: is the machine overloaded"):
        async with open_sandbox("local", workers=1):
            pass
    assert warnings == []
