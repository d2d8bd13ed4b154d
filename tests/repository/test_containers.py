"""The provider `oci`: the same results from containers as from jails of this machine."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
import pytest_asyncio

from alpha_codium.errors import SandboxError, UserError
from alpha_codium.repository.checkout import Checkout
from alpha_codium.repository.harness import Edit, SuiteRun
from alpha_codium.repository.providers import LocalProvider, TestProvider, open_provider
from tests.repository.shop import FILE, FREE, GROSS, NET, SKIPPED, SOURCE, task_of_shop
from tests.repository.test_hostile import ATTACKS, TASK, edit_with
from tests.sandbox.oci.environment import options

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.thorough]
# An edit of a method's body, which is swapped, and others, for which the file is imported again.
EDITS = {
    "the repository's own code": Edit(FILE, SOURCE, "Price.gross"),
    "the same, imported again": Edit(FILE, SOURCE),
    "a wrong body": Edit(FILE, SOURCE.replace("* RATE", "+ RATE"), "Price.gross"),
    "a wrong constant": Edit(FILE, SOURCE.replace("RATE = 2", "RATE = 3")),
    "an error of the library": Edit(FILE, SOURCE.replace("* RATE", "* __import__('json').loads('{')"), "Price.gross"),
    "a name of a temporary file": Edit(
        FILE, SOURCE.replace("* RATE", "* open(__import__('tempfile').mkdtemp() + '/a')"), "Price.gross"
    ),
    "a broken import": Edit(FILE, SOURCE.replace("functools", "funktools")),
    "an endless loop": Edit(FILE, SOURCE.replace("return cls(0)", "while True: pass"), "Price.free"),
}
TESTS = task_of_shop("Price.gross", (GROSS,), (FREE, SKIPPED, NET))


@pytest_asyncio.fixture(
    scope="module", loop_scope="module", params=["runsc", pytest.param("runc", marks=pytest.mark.slow)]
)
async def containers(request: pytest.FixtureRequest, checkout: Checkout) -> AsyncIterator[TestProvider]:
    with pytest.MonkeyPatch.context() as patch:
        for name, value in options(request.param).items():
            patch.setenv(f"GENCODE_SANDBOX__OCI__{name.upper()}", value)
        provider = open_provider("oci", checkouts=lambda _: checkout, workers=1)
        assert isinstance(provider, LocalProvider)
        provider.limits = replace(provider.limits, cpu_seconds=5.0)
        async with provider:
            yield provider


def outcomes(run: SuiteRun) -> tuple[list[tuple[str, str, str]], bool, bool]:
    return [(result.name, result.status, result.message) for result in run.results], run.swapped, bool(run.crash)


async def test_the_results_are_those_of_the_jails(containers: TestProvider, checkout: Checkout) -> None:
    async with LocalProvider(lambda _: checkout, workers=1, limits=containers.limits) as local:  # pyrefly: ignore
        for name, edit in EDITS.items():
            expected, found = await local.run(TESTS, edit), await containers.run(TESTS, edit)
            assert outcomes(found) == outcomes(expected), name


@pytest.mark.parametrize("name", ["the tests are emptied", "os._exit(0)", "every assertion", "a connection"])
async def test_a_hostile_answer_never_passes(containers: TestProvider, checkout: Checkout, name: str) -> None:
    before = checkout.digest()
    assert not (await containers.run(TASK, edit_with(ATTACKS[name]))).passed
    assert checkout.digest() == before
    assert (await containers.run(TASK, Edit(FILE, SOURCE))).passed


async def test_without_an_engine_nothing_is_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GENCODE_SANDBOX__OCI__ENGINE", "/nowhere/podman")
    with pytest.raises(SandboxError, match="no container engine responds"):
        await open_provider("oci").__aenter__()


async def test_an_image_with_another_python_is_refused(
    containers: TestProvider, checkout: Checkout, tmp_path: Path
) -> None:
    other = tmp_path / "python"
    other.write_text("#!/bin/sh\necho '[\"CPython 3.8.1\", []]'\n")
    other.chmod(0o755)
    moved = replace(checkout, interpreter=other)
    provider = open_provider("oci", checkouts=lambda _: moved)
    async with provider:
        with pytest.raises(
            UserError, match=r"has CPython 3\.11, but the requirements of shop are installed for CPython 3\.8\.1"
        ):
            await asyncio.wait_for(provider.run(TASK, Edit(FILE, SOURCE)), 60)
