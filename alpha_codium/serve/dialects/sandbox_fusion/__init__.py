"""The API of SandboxFusion: `/run_code` executes a program, `/submit` judges an answer of a model."""

from fastapi import APIRouter

from alpha_codium.serve.dialects.asking import Server
from alpha_codium.serve.dialects.sandbox_fusion import common_oj, running


def router(server: Server) -> APIRouter:
    """Return the addresses of the dialect."""
    routes = APIRouter(tags=["SandboxFusion"], route_class=running.DetailedRoute)
    running.add_routes(routes, server)
    common_oj.add_routes(routes, server)

    @routes.get("/v1/ping")
    async def ping() -> str:
        """Whether the process answers."""
        return "pong"

    return routes
