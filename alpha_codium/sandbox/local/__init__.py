"""The local backend: programs in jails on this machine, the strongest that it gives."""

from alpha_codium.sandbox.local.backend import LocalSandbox

__all__ = ["LocalSandbox"]
