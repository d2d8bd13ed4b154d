"""Real sandboxes to judge in: the default one, and the portable one that is there on every system."""

from collections.abc import AsyncIterator

import pytest

from alpha_codium.sandbox import Sandbox, open_sandbox
from alpha_codium.sandbox.isolation import namespaces_command

# A process a test is slow: of what takes longest, the slow suite shows that it is the same there.
SLOW_WHERE_PORTABLE = {
    f"test_{name}.py" for name in ("assertion_batches", "assertions", "assertions_as_python3", "by_program")
}


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark them."""
    for item in items:
        callspec = getattr(item, "callspec", None)
        portable = callspec is not None and callspec.params.get("both") == "portable"
        if portable and item.path.name in SLOW_WHERE_PORTABLE:
            item.add_marker(pytest.mark.slow)


@pytest.fixture(params=["local", "portable"])
async def both(request: pytest.FixtureRequest) -> AsyncIterator[Sandbox]:
    async with open_sandbox(request.param, workers=2, isolation=bool(namespaces_command())) as opened:
        yield opened
