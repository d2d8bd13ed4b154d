"""The suite's pytest plugin: its options and fixtures."""

import tomllib
import warnings
from collections.abc import AsyncIterator, Iterable
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from alpha_codium.errors import UserError
from alpha_codium.sandbox import Sandbox
from alpha_codium.sandbox.conformance.backend import Backend
from alpha_codium.sandbox.conformance.differences import FAILS, SKIPPED, Differences, reason_in

HERE = Path(__file__).parent
# A test that takes longer has hung; --timeout says otherwise.
TIMEOUT_SECONDS = 300.0
FIXTURES = ("backend", "jail")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options of the suite."""
    group = parser.getgroup("alpha_codium conformance suite")
    group.addoption("--backend", metavar="NAME", help="the backend under test: a built-in one or an entry point's")
    group.addoption(
        "--backend-option", metavar="KEY=VALUE", action="append", default=[],
        help="an option that it is opened with; VALUE is a TOML value, or else text; may be repeated",
    )  # fmt: skip
    group.addoption("--workers", metavar="N", type=int, default=2, help="how many programs it runs at a time (2)")


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Require a backend on the command line, and configure pytest for the suite."""
    if not config.option.backend:
        raise pytest.UsageError("--backend NAME is needed: the backend to be tested, such as local")
    try:
        _backend_of(config).open()
    except UserError as error:
        raise pytest.UsageError(str(error)) from error
    except TypeError as error:
        raise pytest.UsageError(f"{config.option.backend} can't be opened with these options: {error}") from error
    # pytest-asyncio warns if this isn't set. The suite sets its scopes explicitly.
    warnings.filterwarnings("ignore", message='.*"asyncio_default_fixture_loop_scope" is unset')
    config.addinivalue_line("markers", "thorough: takes several seconds")
    if config.option.timeout is None:
        config.option.timeout = TIMEOUT_SECONDS


def _backend_of(config: pytest.Config) -> Backend:
    """Return the backend that the command line names."""
    options = dict(_option(text) for text in config.option.backend_option)
    return Backend(config.option.backend, lambda: dict(options), config.option.workers)


def _option(text: str) -> tuple[str, Any]:
    key, equals, value = text.partition("=")
    if not (key and equals):
        raise pytest.UsageError(f"--backend-option {text}: KEY=VALUE is needed")
    try:
        return key, tomllib.loads(f"value = {value}")["value"]
    except tomllib.TOMLDecodeError:
        return key, value


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Parametrize the tests of the suite with the backend, so that its name is in their ids."""
    if metafunc.definition.path.is_relative_to(HERE):
        for name in FIXTURES:
            if name in metafunc.fixturenames:
                metafunc.parametrize(name, [metafunc.config.option.backend], indirect=True, scope="module")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests that one of our backends is known to fail."""
    mark_differences(item for item in items if item.path.is_relative_to(HERE))


def mark_differences(items: Iterable[pytest.Item], fails: Differences = FAILS, skipped: Differences = SKIPPED) -> None:
    """Mark the tests that one of our backends is known to fail or can't run."""
    for item in items:
        callspec = getattr(item, "callspec", None)
        if not isinstance(item, pytest.Function) or callspec is None:
            continue
        for name in {callspec.params[fixture] for fixture in FIXTURES if fixture in callspec.params}:
            if reason := reason_in(fails, item.originalname, callspec.id, name):
                item.add_marker(pytest.mark.xfail(reason=reason, strict=True))
            if reason := reason_in(skipped, item.originalname, callspec.id, name):
                item.add_marker(pytest.mark.skip(reason=reason))


@pytest.fixture(scope="module")
def backend(request: pytest.FixtureRequest) -> Backend:
    """The backend under test, for harmless programs."""
    return _backend_of(request.config)


@pytest.fixture(scope="module")
def jail(request: pytest.FixtureRequest) -> Backend:
    """The backend under test, for hostile programs; see `jailed`."""
    return _backend_of(request.config)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def sandbox(backend: Backend) -> AsyncIterator[Sandbox]:
    """An open sandbox, shared by all tests of a module, since programs don't affect each other."""
    async with backend.open() as opened:
        yield opened


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def jailed(jail: Backend) -> AsyncIterator[Sandbox]:
    """An open sandbox for hostile programs; skips the test if its identity names no layer of isolation."""
    async with jail.open() as opened:
        if not (await opened.identity()).isolation:
            pytest.skip(f"{jail.name} isolates nothing: its identity names no layer of isolation")
        yield opened


@pytest.fixture
def own_tmp(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A separate folder for temporary files."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return tmp_path
