"""Providers: where the tests of tasks run, `inference.sandbox_provider` of a run's configuration.

- `local`: in jails of this machine, see `harness`; one warm process for each label and worker.
- `oci`: the same in containers of docker or podman, see `sandbox/oci`, whose settings it has.
- `restapi`: at a server with the protocol of `serve/repository`, such as `gencode repo serve`.

A provider returns what the tests say about an edit. If it can't, for reasons other than the edit, it tries again, and
then raises ProviderError.
"""

import asyncio
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, Protocol, Self

from loguru import logger

from alpha_codium.config import load_settings
from alpha_codium.errors import SandboxError, UserError, nearest
from alpha_codium.limits import Limits
from alpha_codium.repository.checkout import Checkout, check_out
from alpha_codium.repository.controls import Control
from alpha_codium.repository.harness import LIMITS, Edit, RepositoryTests, SuiteRun
from alpha_codium.repository.recipes import recipe_of
from alpha_codium.repository.tasks import RepositoryTask
from alpha_codium.repository.warm import MOST_LABELS, WarmTests, by_label, merged
from alpha_codium.sandbox.engine.interpreter import version_of
from alpha_codium.sandbox.oci.backend import OciSandbox

TRIES = 3
# The limit of CPU time for a task's tests: this many times that of its certificate, but at least so many seconds.
TIME_FACTOR, LEAST_SECONDS = 5, 5.0
# Within this, the tests of older datasets were certified, which don't say the time.
CERTIFIED_WITHIN = 10.0


class ProviderError(UserError):
    """The tests couldn't be run, for reasons other than the edit: this says nothing about it."""


class TestProvider(Protocol):
    """Runs the tests of tasks on edited files; open within `async with`."""

    # For pytest, which takes classes of such names for tests.
    __test__: ClassVar = False

    async def check(self, tasks: Iterable[RepositoryTask]) -> None:
        """Raise UserError unless the files of these tasks are those of the repository on which their tests run."""
        ...

    async def run(self, task: RepositoryTask, edit: Edit) -> SuiteRun:
        """Return the results of the task's tests; raises ProviderError if they can't be run, and as `check` does."""
        ...

    async def __aenter__(self) -> Self:
        """Open nothing yet."""
        return self

    async def __aexit__(self, *_exc: object) -> None: ...


class LocalProvider(TestProvider):
    """Runs tests in jails of this machine, `workers` at a time, with at most `most_labels` labels loaded.

    `checkouts` returns the repository of a task; by default, it is fetched from PyPI if it isn't there.
    """

    def __init__(
        self,
        checkouts: Callable[[RepositoryTask], Checkout] | None = None,
        *,
        workers: int = 0,
        most_labels: int = MOST_LABELS,
        limits: Limits = LIMITS,
        tries: int = TRIES,
    ) -> None:
        self.workers = workers or os.cpu_count() or 1
        self.limits, self.tries = limits, tries
        self._find = checkouts or checkout_of
        self._checkouts: dict[tuple[str, str], Checkout] = {}
        self._known: dict[tuple[Checkout, str], list[str]] = {}
        self._finding = asyncio.Lock()
        self._busy = asyncio.Semaphore(self.workers)
        self._warm = WarmTests(self._tests_of, most_labels)

    async def __aexit__(self, *_exc: object) -> None:
        """End all processes."""
        await self._warm.close()

    async def check(self, tasks: Iterable[RepositoryTask]) -> None:
        """See `TestProvider`."""
        for task in tasks:
            await self._checkout(task)

    async def run(self, task: RepositoryTask, edit: Edit) -> SuiteRun:
        """See `TestProvider`."""
        checkout = await self._checkout(task)
        return await self.run_tests(checkout, task.labels, task.tests, edit, time_limit(task), task.controls)

    async def run_tests(
        self,
        checkout: Checkout,
        labels: Sequence[str],
        names: Sequence[str],
        edit: Edit,
        cpu_seconds: float = LIMITS.cpu_seconds,
        controls: Sequence[Control] = (),
    ) -> SuiteRun:
        """Run tests of a repository, which may be of several labels; see `label_of`.

        Those of one label have this limit of CPU time. Raises ProviderError.
        """
        async with self._busy:
            runs = [
                await self._run(checkout, label, edit, own, cpu_seconds, controls)
                for label, own in by_label(checkout, labels, names).items()
            ]
        return merged(runs)

    async def _run(
        self,
        checkout: Checkout,
        label: str,
        edit: Edit,
        names: Sequence[str],
        cpu_seconds: float,
        controls: Sequence[Control],
    ) -> SuiteRun:
        reason = SandboxError("")
        for number in range(self.tries):
            try:
                async with self._warm.using((checkout, label)) as tests:
                    if (checkout, label) not in self._known:
                        self._known[checkout, label] = await tests.names()
                    known = list(meant(names, self._known[checkout, label]))
                    return await tests.run(edit, known, cpu_seconds, controls)
            except SandboxError as error:
                reason = error
                logger.warning(f"try {number + 1} of {self.tries} to run the tests of {label} failed: {error}")
        raise ProviderError(f"the tests of {label} can't be run: {reason}") from reason

    async def _checkout(self, task: RepositoryTask) -> Checkout:
        key = (task.repository, task.version)
        async with self._finding:
            if key not in self._checkouts:
                self._checkouts[key] = await asyncio.to_thread(self._find, task)
        checkout = self._checkouts[key]
        await asyncio.to_thread(checkout.require, task.file_path, task.raw_file_content, task.version)
        return checkout

    def _tests_of(self, key: tuple[Checkout, str]) -> RepositoryTests:
        return RepositoryTests(*key, self.workers, self.limits)


class ContainerProvider(LocalProvider):
    """Runs tests in containers, one for each label and worker; see `LocalProvider`."""

    async def __aenter__(self) -> Self:
        """Raise SandboxError unless there are an engine and an image with an interpreter."""
        self._options = load_settings().sandbox.options_of("oci")
        self._version = (await asyncio.to_thread(OciSandbox(**self._options).inspect)).version
        return await super().__aenter__()

    def _tests_of(self, key: tuple[Checkout, str]) -> RepositoryTests:
        self._require_same_version(key[0])
        return RepositoryTests(*key, self.workers, self.limits, self._options)

    def _require_same_version(self, checkout: Checkout) -> None:
        """Raise UserError unless packages that were installed for the one interpreter can be used by the other."""
        installed = version_of(str(checkout.interpreter))
        wanted = ".".join(map(str, self._version))
        if not f"{installed}.".startswith(f"CPython {wanted}."):
            raise UserError(
                f"the image {self._options['image']!r} has CPython {wanted}, but the requirements of "
                f"{checkout.recipe.name} are installed for {installed}: name an image with the same version, "
                "GENCODE_SANDBOX__OCI__IMAGE=..."
            )


def checkout_of(task: RepositoryTask) -> Checkout:
    """Return the repository of a task, which is fetched if it isn't there; raises UserError."""
    recipe = recipe_of(task.repository)
    return check_out(recipe, task.version or recipe.commit)


def time_limit(task: RepositoryTask) -> float:
    """Return the limit for a task's tests, in seconds of CPU time."""
    if task.cpu_seconds:
        return max(LEAST_SECONDS, TIME_FACTOR * task.cpu_seconds)
    return CERTIFIED_WITHIN if task.labels else LIMITS.cpu_seconds


def meant(names: Sequence[str], known: Sequence[str]) -> Iterator[str]:
    """Yield the tests that are meant: a name may be that of a test, or of a module or class of tests."""
    tests = set(known)
    for name in names:
        within = [] if name in tests else [each for each in known if each.startswith((f"{name}.", f"{name}::"))]
        yield from within or [name]


def open_provider(name: str = "local", **options: Any) -> TestProvider:
    """Return the provider of that name, to be used with `async with`; the options are those of its class.

    Raises UserError if there is none.
    """
    if name not in PROVIDERS:
        raise UserError(f"there is no sandbox_provider {name!r}{nearest(name, PROVIDERS)}")
    return PROVIDERS[name](**options)


def _rest(**options: Any) -> TestProvider:
    from alpha_codium.repository.restapi import RestProvider

    return RestProvider(**options)


PROVIDERS: Mapping[str, Callable[..., TestProvider]] = {
    "local": LocalProvider,
    "oci": ContainerProvider,
    "restapi": _rest,
}
