"""The gVisor backend: programs run on gVisor's kernel, by `runsc` alone, without a container engine."""

from alpha_codium.sandbox.gvisor.backend import GvisorSandbox

__all__ = ["GvisorSandbox"]
