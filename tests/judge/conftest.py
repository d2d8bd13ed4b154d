"""Real sandboxes to judge in: the default one, and the portable one that is there on every system."""

from collections.abc import AsyncIterator

import pytest

from alpha_codium.sandbox import Sandbox, open_sandbox
from alpha_codium.sandbox.isolation import namespaces_command


@pytest.fixture(params=["local", "portable"])
async def both(request: pytest.FixtureRequest) -> AsyncIterator[Sandbox]:
    async with open_sandbox(request.param, workers=2, isolation=bool(namespaces_command())) as opened:
        yield opened
