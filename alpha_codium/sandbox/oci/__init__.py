"""The container backend: programs in containers of any engine, under any runtime that the engine knows."""

from alpha_codium.sandbox.oci.backend import OciSandbox

__all__ = ["OciSandbox"]
