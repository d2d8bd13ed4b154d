"""Running programs: backends behind one protocol, found by name.

`open_sandbox(name)` gives an async context manager; a user's package adds a backend under the entry-point group
`alpha_codium.sandboxes`.
"""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from alpha_codium.plugins import find_plugin
from alpha_codium.sandbox.protocol import Isolation, Sandbox

if TYPE_CHECKING:
    from alpha_codium.config import CodeTesterSection

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
    them). Raises UserError where there is no such backend, and SandboxError where this machine can't give it.
    """
    return find_plugin("alpha_codium.sandboxes", name, BACKENDS)(**options)


def sandbox_of(settings: "CodeTesterSection") -> Sandbox:
    """The sandbox of `[code_tester]`; raises UserError where there is no such one."""
    return open_sandbox(
        settings.tester_type,
        workers=settings.workers,
        isolation=settings.sandbox,
        interpreter=settings.interpreter,
        preload=settings.preload,
    )
