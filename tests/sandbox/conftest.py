"""An open sandbox of each backend, the same for all tests of a module: what one program does is nothing to the next."""

from pathlib import Path
from typing import Any

import pytest

from alpha_codium.sandbox.conformance.backend import Backend
from alpha_codium.sandbox.conformance.plugin import FIXTURES, jailed, mark_differences, own_tmp, sandbox
from tests.sandbox.backends import BACKENDS, FAILS, ISOLATED, SKIPPED
from tests.support import share_a_loop

__all__ = ["jailed", "own_tmp", "sandbox"]  # fixtures of the suite, which runs here on each backend of ours


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what a backend is known to fail, and what is slow."""
    here = [item for item in items if item.path.is_relative_to(Path(__file__).parent)]
    share_a_loop(here, Path(__file__).parent, {"sandbox", "jailed"})
    mark_differences(here)
    mark_differences(here, FAILS, SKIPPED)
    for item in here:
        callspec = getattr(item, "callspec", None)
        backends = [name for fixture in FIXTURES if callspec and (name := callspec.params.get(fixture))]
        # Compilers take most of the time, and are the same on other backends.
        compiles = item.path.name == "test_languages.py" and backends != ["local"]
        if any(BACKENDS[name].slow for name in backends) or (compiles and "cpp" not in item.name):
            item.add_marker(pytest.mark.slow)


def tiers(names: list[str]) -> list[Any]:
    """Return backends as parameters: the quick tier has the suite on `local` only, the thorough one on all."""
    return [name if name == "local" else pytest.param(name, marks=pytest.mark.thorough) for name in names]


@pytest.fixture(scope="module", params=tiers(list(BACKENDS)))
def backend(request: pytest.FixtureRequest) -> Backend:
    """Every backend: for programs that do no harm."""
    return BACKENDS[request.param]


@pytest.fixture(params=["portable", "local-unsafe"])
def portable(request: pytest.FixtureRequest) -> Backend:
    """The backends that start an interpreter for each test, with a folder of the host's."""
    return BACKENDS[request.param]


@pytest.fixture(scope="module", params=tiers(ISOLATED))
def jail(request: pytest.FixtureRequest) -> Backend:
    """The backends that keep a program from the machine: hostile programs run in these only."""
    return BACKENDS[request.param]
