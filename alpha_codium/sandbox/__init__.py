"""Sandboxes that run programs: backends with a common protocol, opened by name.

`open_sandbox(name)` returns an async context manager. Packages can add backends with an entry point in the group
`alpha_codium.sandboxes`.
"""

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

from alpha_codium.errors import SettingsError
from alpha_codium.plugins import find_plugin
from alpha_codium.sandbox.protocol import Isolation, Sandbox

if TYPE_CHECKING:
    from alpha_codium.config import Settings

__all__ = ["Sandbox", "open_sandbox", "sandbox_of"]

GROUP = "alpha_codium.sandboxes"


def _backend(module: str, name: str, *, preloads: bool = True) -> Callable[..., Sandbox]:
    """Return a function that imports a backend when called; with `preloads=False` it ignores `preload`."""

    def create(**options: Any) -> Sandbox:
        if not preloads:
            options.pop("preload", None)
        return getattr(import_module(f"alpha_codium.sandbox.{module}"), name)(**options)

    return create


_jails = _backend("local.backend", "LocalSandbox")
_portable = _backend("portable.backend", "PortableSandbox")


def _local(*, isolation: Isolation = True, **options: Any) -> Sandbox:
    return (_portable if isolation is False else _jails)(isolation=isolation, **options)


BACKENDS: Mapping[str, Callable[..., Sandbox]] = {
    "local": _local,
    "portable": _portable,
    "code_contests": _backend("code_contests.backend", "CodeContestsSandbox", preloads=False),
    "gvisor": _backend("gvisor.backend", "GvisorSandbox"),
    "oci": _backend("oci.backend", "OciSandbox"),
    "remote": _backend("remote.backend", "RemoteSandbox", preloads=False),
}


def open_sandbox(name: str = "local", **options: Any) -> Sandbox:
    """Return the sandbox called `name`, to be used with `async with`.

    `options`: `workers` (programs that run at a time; 0: one per core), `isolation` (True, "strict", False),
    `interpreter` (the python that runs the programs), `preload` (modules that are kept loaded for programs that import
    them), `languages` (by language, its `compiler` and `options`, as in `[languages.NAME]` of the settings), and the
    backend's own, which are the keys of its section `[sandbox.NAME]`. Raises UserError if there is no such backend,
    and, when it is opened, SandboxError if this machine can't provide it.
    """
    return find_plugin(GROUP, name, BACKENDS)(**options)


def sandbox_of(settings: "Settings") -> Sandbox:
    """Return the sandbox that `[code_tester]` names, with its own settings `[sandbox.NAME]`.

    A plug-in may declare a pydantic model of these as its attribute `settings_model`. Raises UserError if there is no
    such sandbox, and SettingsError if it doesn't accept its settings or lacks a method.
    """
    from alpha_codium.config.base import validated

    tester = settings.code_tester
    name, own = tester.tester_type, settings.sandbox.options_of(tester.tester_type)
    create = find_plugin(GROUP, name, BACKENDS)
    model = getattr(create, "settings_model", None)
    if model is not None:
        own = validated(model, own, {}, ("sandbox", name)).model_dump()
    options = {
        "workers": tester.workers,
        "isolation": tester.sandbox,
        "interpreter": tester.interpreter,
        "preload": tester.preload,
        **own,
    }
    # Not every backend runs other languages than Python.
    if tools := settings.languages.tools:
        options["languages"] = tools
    try:
        return create(**options)
    except TypeError as error:
        raise SettingsError(f"sandbox {name!r} doesn't accept its settings or is incomplete: {error}") from error
