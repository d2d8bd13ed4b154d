"""The tests of several labels, each loaded once in a process that is kept for the edits to come.

At most `most` labels are open. To open another one, that which was used longest ago and isn't in use is closed; if all
are in use, the caller waits.
"""

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Hashable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from alpha_codium.limits import Limits
from alpha_codium.repository.checkout import Checkout
from alpha_codium.repository.harness import LIMITS, Edit, RepositoryTests, SuiteRun
from alpha_codium.repository.recipes import label_of

K = TypeVar("K", bound=Hashable)
# Labels whose tests are loaded at a time; those of Django take about 100 MB each.
MOST_LABELS = 4


@dataclass(slots=True)
class Loaded:
    """The tests of a label, how many callers use them, and whether they are open."""

    tests: RepositoryTests
    users: int = 0
    is_open: bool = False
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def open(self) -> RepositoryTests:
        """Load the tests unless another caller did; raises SandboxError."""
        async with self.lock:
            if not self.is_open:
                await self.tests.__aenter__()
                self.is_open = True
        return self.tests

    async def close(self) -> None:
        """End their process, if there is one."""
        async with self.lock:
            if self.is_open:
                self.is_open = False
                await self.tests.__aexit__(None, None, None)


class WarmTests(Generic[K]):
    """Tests by a key, such as their label; `make` returns those of a key, which aren't open yet."""

    def __init__(self, make: Callable[[K], RepositoryTests], most: int) -> None:
        self._make, self._most = make, most
        self._loaded: dict[K, Loaded] = {}
        self._changed = asyncio.Condition()

    @asynccontextmanager
    async def using(self, key: K) -> AsyncIterator[RepositoryTests]:
        """Yield open tests; if an error leaves the context, they are loaded again for the next caller.

        Raises SandboxError if they can't be loaded.
        """
        loaded = await self._taken(key)
        try:
            yield await loaded.open()
        except Exception:
            if self._loaded.get(key) is loaded:
                del self._loaded[key]
            raise
        finally:
            await self._give_back(key, loaded)

    async def close(self) -> None:
        """Close all; nobody may use them any more."""
        loaded, self._loaded = list(self._loaded.values()), {}
        for each in loaded:
            await each.close()

    async def _taken(self, key: K) -> Loaded:
        async with self._changed:
            await self._changed.wait_for(
                lambda: key in self._loaded or len(self._loaded) < self._most or self._idle() is not None
            )
            loaded = self._loaded.pop(key, None)
            if loaded is None:
                loaded, idle = Loaded(self._make(key)), self._idle()
                if len(self._loaded) >= self._most and idle is not None:
                    await self._loaded.pop(idle).close()
            # Last in the dictionary: used last.
            self._loaded[key] = loaded
            loaded.users += 1
            return loaded

    def _idle(self) -> K | None:
        """The key of the tests that were used longest ago and aren't in use."""
        return next((key for key, loaded in self._loaded.items() if not loaded.users), None)

    async def _give_back(self, key: K, loaded: Loaded) -> None:
        async with self._changed:
            loaded.users -= 1
            if not loaded.users and self._loaded.get(key) is not loaded:
                await loaded.close()
            self._changed.notify_all()


class TestsOfLabels:
    """Tests of several labels on edits that don't try to forge results, up to `processes` at a time.

    To be used with `aclosing`. `running` is how many run, `cpu_seconds` what all took so far.
    """

    __test__ = False

    def __init__(self, checkout: Checkout, processes: int, limits: Limits = LIMITS) -> None:
        self.checkout, self.running, self.cpu_seconds = checkout, 0, 0.0
        self._warm = WarmTests[str](lambda label: RepositoryTests(checkout, label, processes, limits), 2 * MOST_LABELS)
        self._free = asyncio.Semaphore(processes)

    async def aclose(self) -> None:
        """End all processes."""
        await self._warm.close()

    async def run(
        self, labels: Sequence[str], edit: Edit, names: Iterable[str], *, fail_fast: bool = False, **options: Any
    ) -> SuiteRun:
        """Return the results of tests, which are of these labels, or those up to the first that fails.

        The other options are those of `RepositoryTests.run_trusted`. Raises SandboxError if tests can't be run.
        """
        runs = []
        async with self._free:
            self.running += 1
            try:
                for label, own in by_label(self.checkout, labels, names).items():
                    async with self._warm.using(label) as tests:
                        runs.append(await tests.run_trusted(edit, own, fail_fast=fail_fast, **options))
                    if fail_fast and runs[-1].failed:
                        break
            finally:
                self.running -= 1
        run = merged(runs)
        self.cpu_seconds += run.cpu_seconds
        return run


def by_label(checkout: Checkout, labels: Sequence[str], names: Iterable[str]) -> Mapping[str, Sequence[str]]:
    """Return the names of tests by the label with which each is loaded."""
    found = defaultdict(list)
    for name in names:
        found[label_of(checkout.recipe, name, labels)].append(name)
    return found


def merged(runs: Sequence[SuiteRun]) -> SuiteRun:
    """Return the results of several runs as those of one."""
    return SuiteRun(
        tuple(result for run in runs for result in run.results),
        sum(run.cpu_seconds for run in runs),
        bool(runs) and all(run.swapped for run in runs),
        "\n".join(run.crash for run in runs if run.crash),
    )
