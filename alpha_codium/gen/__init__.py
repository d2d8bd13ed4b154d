"""The loop: problems x samples -> candidates."""

from importlib import import_module
from typing import Any

_HOMES = {
    "Job": "alpha_codium.gen.loop",
    "generate": "alpha_codium.gen.loop",
}
__all__ = list(_HOMES)


def __getattr__(name: str) -> Any:
    """Load a public name from the module that holds it."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
