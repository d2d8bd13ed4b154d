"""Which settings have a test: a test says so with `@changes("section.key")`."""

from collections.abc import Callable
from typing import TypeVar

Test = TypeVar("Test", bound=Callable[..., object])
TESTED: dict[str, list[str]] = {}


def changes(*settings: str) -> Callable[[Test], Test]:
    """Say that a test shows what these settings change."""

    def note(test: Test) -> Test:
        for name in settings:
            TESTED.setdefault(name, []).append(f"{test.__module__}::{test.__name__}")
        return test

    return note
