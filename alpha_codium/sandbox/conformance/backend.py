"""The backend that the suite runs on."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from alpha_codium.sandbox import Sandbox, open_sandbox


@dataclass(frozen=True)
class Backend:
    """One way to open a sandbox: its name, and `prepare`, which returns the options that it is opened with."""

    name: str
    prepare: Callable[[], dict[str, Any]] = dict
    workers: int = 2

    @property
    def options(self) -> dict[str, Any]:
        """Return the options for opening it."""
        return self.prepare()

    def open(self, **options: Any) -> Sandbox:
        """Return a sandbox of this backend, to be used with `async with`."""
        return open_sandbox(self.name, **{"workers": self.workers, **self.options, **options})
