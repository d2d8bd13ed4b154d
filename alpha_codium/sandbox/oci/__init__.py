"""The container backend: programs run in containers of docker or podman, under any runtime."""
