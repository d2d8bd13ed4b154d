"""The conformance suite on backends of ours: its hostile programs. `gvisor/test_hostile` runs them in gVisor."""

import pytest

from alpha_codium.sandbox.conformance.backend import Backend
from alpha_codium.sandbox.conformance.test_hostile import *  # noqa: F403
from alpha_codium.sandbox.conformance.test_hostile import pytestmark as marks
from tests.sandbox.backends import BACKENDS

pytestmark = [*marks, pytest.mark.slow]


@pytest.fixture(scope="module", params=["local", "portable"])
def jail(request: pytest.FixtureRequest) -> Backend:
    return BACKENDS[request.param]
