"""Exception classes of httpx and of httpx2, which newer releases of huggingface_hub and openai use in its place."""

import sys


def http_errors(*names: str) -> tuple[type[Exception], ...]:
    """Return the classes of these names, such as `HTTPError`, in those of the two packages that are imported."""
    imported = [sys.modules[package] for package in ("httpx", "httpx2") if package in sys.modules]
    return tuple(getattr(package, name) for package in imported for name in names)
