"""The API of Piston v2: `/api/v2/execute` executes a program, `/api/v2/runtimes` lists the languages.

Invalid requests get status 400 and a `message`; a fault of the server gets 500 and a `message`.
"""

from typing import Any

from fastapi import APIRouter, Request, Response

from alpha_codium.errors import SandboxError
from alpha_codium.serve.answers import AsciiResponse, json_of
from alpha_codium.serve.dialects.asking import Server
from alpha_codium.serve.dialects.jobs import CannotRun
from alpha_codium.serve.dialects.piston import codeforces, running
from alpha_codium.serve.dialects.piston.running import Execute
from alpha_codium.serve.dialects.piston.runtimes import find_runtime, runtimes_of
from alpha_codium.serve.hiding import without_paths

FIXED = "the languages of this server are fixed: packages can neither be installed nor removed"


def router(server: Server) -> APIRouter:
    """Return the addresses of the dialect."""
    routes = APIRouter(prefix="/api/v2", tags=["Piston"])

    @routes.get("/runtimes")
    async def list_runtimes() -> Response:
        """Return the languages of the server."""
        listed = [
            {"language": each.language, "version": each.version, "aliases": each.aliases}
            for each in runtimes_of(server)
        ]
        return AsciiResponse(listed)

    @routes.get("/packages")
    async def list_packages() -> Response:
        """Return the languages of the server, as packages that are installed."""
        packages = [
            {"language": each.language, "language_version": each.version, "installed": True}
            for each in runtimes_of(server)
        ]
        return AsciiResponse(packages)

    @routes.post("/packages")
    @routes.delete("/packages")
    async def change_packages() -> Response:
        """Refuse to change the languages."""
        return AsciiResponse({"message": FIXED}, 400)

    @routes.post("/execute")
    async def execute(request: Request) -> Response:
        """Execute a program."""
        try:
            item = Execute.of(await _body(request))
            runtime = find_runtime(runtimes_of(server), item.language, item.version)
            run = codeforces.run if runtime.codeforces else running.run
            stages = await run(server, request, item, runtime)
        except CannotRun as error:
            return AsciiResponse({"message": str(error)}, 400)
        except SandboxError as error:
            return AsciiResponse({"message": without_paths(error)}, 500)
        return AsciiResponse(stages | {"language": runtime.language, "version": runtime.version})

    return routes


async def _body(request: Request) -> dict[str, Any]:
    """Return the object in a request; raises ErrorAnswer, and CannotRun."""
    body = await json_of(request, "message")
    if not isinstance(body, dict):
        raise CannotRun("the request must be a JSON object")
    return body
