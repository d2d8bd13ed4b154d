"""A service as trainers use them today: each request starts `python3 program.py`, without isolation.

It has the structure of SandboxFusion's runner for Python without isolation: a folder and a file for each request, a
command of a shell in a session of its own, its streams read to the end, its process group killed at the end. It is run
as `python -m benchmarks.service.plain PYTHON`, and prints its address.
"""

import asyncio
import os
import shlex
import signal
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

from fastapi import FastAPI
from pydantic import BaseModel

from alpha_codium.hosting import Guarded, host_app


class Request(BaseModel):
    """A program and its input."""

    code: str
    language: str
    stdin: str | None = None
    run_timeout: float = 10


class Result(BaseModel):
    """What the program did."""

    status: str
    execution_time: float
    return_code: int | None = None
    stdout: str = ""
    stderr: str = ""


class Answer(BaseModel):
    """Whether the program ended with 0, and what it did."""

    status: str
    run_result: Result


def application(python: str) -> FastAPI:
    """Return the service; programs run in `python`."""
    app = FastAPI()

    @app.post("/run_code")
    async def run_code(item: Request) -> Answer:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "program.py")
            path.write_text(item.code, "utf-8")  # noqa: ASYNC240 - as short as it is there
            result = await run(shlex.join([python, str(path)]), folder, item.stdin or "", item.run_timeout)
        return Answer(status="Success" if result.return_code == 0 else "Failed", run_result=result)

    return app


async def run(command: str, folder: str, text: str, seconds: float) -> Result:
    """Run a command of a shell."""
    pipe, start = asyncio.subprocess.PIPE, time.time()
    process = await asyncio.create_subprocess_shell(
        command, stdin=pipe, stdout=pipe, stderr=pipe, cwd=folder, executable="/bin/bash", start_new_session=True
    )
    try:
        stdout, stderr = await asyncio.wait_for(process.communicate(text.encode()), seconds)
    except TimeoutError:
        return Result(status="TimeLimitExceeded", execution_time=time.time() - start)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        await process.wait()
    return Result(
        status="Finished",
        execution_time=time.time() - start,
        return_code=process.returncode,
        stdout=stdout.decode(errors="replace"),
        stderr=stderr.decode(errors="replace"),
    )


if __name__ == "__main__":
    started = lambda address: print(f"listening at {address},", flush=True)  # noqa: E731
    app = Guarded(application(sys.argv[1]), token="", largest=sys.maxsize)
    asyncio.run(host_app(app, "127.0.0.1", 0, on_start=started))
