"""Real sandboxes to judge in, one a module: the default, and the portable one that is there on every system."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from alpha_codium.sandbox import Sandbox, open_sandbox
from alpha_codium.sandbox.portable.isolation import namespaces_command
from tests.support import share_a_loop

# A process a test is slow. Of what takes longest, later tiers show that it is the same there.
LATER_WHERE_PORTABLE = {
    "test_assertion_batches.py": pytest.mark.slow,
    "test_assertion_code.py": pytest.mark.slow,
    "test_assertions.py": pytest.mark.slow,
    "test_assertions_as_python3.py": pytest.mark.slow,
    "test_assertions_cheats.py": pytest.mark.slow,
    "test_checker_programs.py": pytest.mark.slow,
    "test_cpp_checkers.py": pytest.mark.thorough,
}


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark them."""
    share_a_loop(items, Path(__file__).parent, {"sandbox", "both"})
    for item in items:
        callspec = getattr(item, "callspec", None)
        portable = callspec is not None and callspec.params.get("both") == "portable"
        if portable and item.path.name in LATER_WHERE_PORTABLE:
            item.add_marker(LATER_WHERE_PORTABLE[item.path.name])


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=["local", "portable"])
async def both(request: pytest.FixtureRequest) -> AsyncIterator[Sandbox]:
    async with open_sandbox(request.param, workers=2, isolation=bool(namespaces_command())) as opened:
        yield opened


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def sandbox() -> AsyncIterator[Sandbox]:
    async with open_sandbox("local", workers=2, isolation=bool(namespaces_command())) as opened:
        yield opened
