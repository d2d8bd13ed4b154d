"""The sandbox that the settings ask for."""

from typing import TYPE_CHECKING

from alpha_codium.sandbox import Sandbox, open_sandbox

if TYPE_CHECKING:
    from alpha_codium.config import CodeTesterSection


def sandbox_of(settings: "CodeTesterSection") -> Sandbox:
    """The sandbox of `[code_tester]`; raises UserError where there is no such one."""
    return open_sandbox(
        settings.tester_type,
        workers=settings.workers,
        isolation=settings.sandbox,
        interpreter=settings.interpreter,
    )
