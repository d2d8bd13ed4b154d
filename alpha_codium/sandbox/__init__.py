"""Running programs: backends behind one protocol, found by name.

`open_sandbox(name)` gives an async context manager; a user's package adds a backend under the entry-point group
`alpha_codium.sandboxes`.
"""

from collections.abc import Callable, Mapping
from inspect import signature
from typing import TYPE_CHECKING, Any

from alpha_codium.errors import SettingsError
from alpha_codium.plugins import find_plugin
from alpha_codium.sandbox.protocol import Isolation, Sandbox

if TYPE_CHECKING:
    from alpha_codium.config import Settings

__all__ = ["Sandbox", "open_sandbox", "sandbox_of"]


def _local(*, isolation: Isolation = True, **options: Any) -> Sandbox:
    if isolation is False:
        return _portable(isolation=False, **options)
    from alpha_codium.sandbox.local import LocalSandbox

    return LocalSandbox(isolation=isolation, **options)


def _portable(**options: Any) -> Sandbox:
    from alpha_codium.sandbox.portable.backend import PortableSandbox

    # Nothing is kept warm there, so nothing can be loaded beforehand.
    options.pop("preload", None)
    return PortableSandbox(**options)


def _code_contests(**options: Any) -> Sandbox:
    from alpha_codium.sandbox.code_contests.backend import CodeContestsSandbox

    # An interpreter is started for each test there.
    options.pop("preload", None)
    return CodeContestsSandbox(**options)


def _gvisor(**options: Any) -> Sandbox:
    from alpha_codium.sandbox.gvisor.backend import GvisorSandbox

    return GvisorSandbox(**options)


def _oci(**options: Any) -> Sandbox:
    from alpha_codium.sandbox.oci import OciSandbox

    return OciSandbox(**options)


BACKENDS: Mapping[str, Callable[..., Sandbox]] = {
    "local": _local,
    "portable": _portable,
    "code_contests": _code_contests,
    "gvisor": _gvisor,
    "oci": _oci,
}


def open_sandbox(name: str = "local", **options: Any) -> Sandbox:
    """The sandbox called `name`, to be used with `async with`.

    `options`: `workers` (programs running at a time; 0 is one a core), `isolation` (True, "strict", False),
    `interpreter` (the python that runs the programs) and `preload` (modules that are kept loaded for those who import
    them), and the backend's own, which are the keys of its section `[sandbox.NAME]` of the settings. Raises UserError
    where there is no such backend, and SandboxError where this machine can't give it.
    """
    return find_plugin("alpha_codium.sandboxes", name, BACKENDS)(**options)


def sandbox_of(settings: "Settings") -> Sandbox:
    """The sandbox that `[code_tester]` names, with its own settings `[sandbox.NAME]`.

    A plug-in may declare a pydantic model of these as its attribute `settings_model`. Raises UserError where there is
    no such sandbox, and SettingsError where it doesn't take its settings.
    """
    from alpha_codium.config import validated

    tester = settings.code_tester
    name, own = tester.tester_type, settings.sandbox.options_of(tester.tester_type)
    factory = find_plugin("alpha_codium.sandboxes", name, BACKENDS)
    model = getattr(factory, "settings_model", None)
    if model is not None:
        own = validated(model, own, {}, ("sandbox", name)).model_dump()
    shared = {
        "workers": tester.workers,
        "isolation": tester.sandbox,
        "interpreter": tester.interpreter,
        "preload": tester.preload,
    }
    try:
        signature(factory).bind(**shared | own)
    except TypeError as error:
        raise SettingsError(f"sandbox {name!r} doesn't take its settings: {error}") from error
    return factory(**shared | own)
