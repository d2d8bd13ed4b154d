"""The gVisor backend: programs under a kernel of their own, by `runsc` alone, without an engine."""

from alpha_codium.sandbox.gvisor.backend import GvisorSandbox

__all__ = ["GvisorSandbox"]
