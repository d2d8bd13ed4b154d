"""The tests of several labels, each loaded once in a process that is kept for the edits to come.

At most `most` labels are open. To open another one, that which was used longest ago and isn't in use is closed; if all
are in use, the caller waits.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Hashable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from alpha_codium.repository.harness import RepositoryTests

K = TypeVar("K", bound=Hashable)


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
