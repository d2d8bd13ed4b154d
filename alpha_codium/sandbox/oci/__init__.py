"""The container backend: programs run in containers of docker or podman, under any runtime."""

from alpha_codium.sandbox.oci.backend import OciSandbox

__all__ = ["OciSandbox"]
