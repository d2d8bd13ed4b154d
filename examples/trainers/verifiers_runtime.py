"""A `vf.Runtime` of verifiers v1 that runs Python programs in the sandbox of gencode: no container, no root, 1 to 2 ms.

Each `run` is one program, in a folder of its own and without network: `python FILE`, `python -c CODE`, or one of them
in a shell. Other commands aren't found, so it is for tasks that run and grade code, not for agents with a shell.

    runtime = GencodeRuntime(GencodeConfig(cpu_seconds=5))
    await runtime.start()
    trace = await agent.run(task, runtime=runtime)
"""

import asyncio
from functools import partial
from typing import Literal

import verifiers.v1 as vf
from pydantic_config import BaseConfig
from verifiers.v1.errors import SandboxError
from verifiers.v1.runtimes import BaseRuntimeInfo, ProgramResult

from alpha_codium.limits import Limits
from alpha_codium.rewards.commands import NOT_FOUND, PythonFiles, exit_code_of
from alpha_codium.sandbox.blocking import shared_sandbox
from alpha_codium.verdict import Status


class GencodeConfig(BaseConfig):
    """The limits of a program."""

    type: Literal["gencode"] = "gencode"
    cpu_seconds: float = 30.0
    memory_bytes: int = 1 << 30


class GencodeRuntimeInfo(GencodeConfig, BaseRuntimeInfo):
    """What a trace says of the runtime."""


class GencodeRuntime(vf.Runtime):
    """Files in memory, and programs in the sandbox that this process shares."""

    def __init__(self, config: GencodeConfig, name: str | None = None) -> None:
        super().__init__(name)
        self.config, self.info = config, GencodeRuntimeInfo(**config.model_dump())
        self.files = PythonFiles()

    async def start(self) -> None:
        """Open the sandbox, or find it open."""
        await asyncio.to_thread(shared_sandbox)

    async def run(self, argv: list[str], env: dict[str, str]) -> ProgramResult:
        """Run a program; raises SandboxError if the sandbox failed, for which the program isn't to blame."""
        if argv == ["true"]:  # `alive` asks for it
            return ProgramResult(0, "", "")
        source, _ = self.files.program(argv)
        if source is None:
            return ProgramResult(NOT_FOUND, "", f"{argv[0]}: this runtime only runs programs in Python\n")
        limits = Limits(cpu_seconds=self.config.cpu_seconds, memory_bytes=self.config.memory_bytes)
        sandbox = await asyncio.to_thread(shared_sandbox)
        execution = (await asyncio.to_thread(partial(sandbox.run, source, [""], limits=limits))).last
        if execution.status is Status.INTERNAL_ERROR:
            raise SandboxError(f"the sandbox failed: {execution.stderr}")
        return ProgramResult(exit_code_of(execution), execution.stdout, execution.stderr)

    async def _read(self, path: str, max_bytes: int | None = None) -> bytes:
        try:
            return self.files.read(path)[:max_bytes]
        except FileNotFoundError as error:
            raise SandboxError(f"read {path!r}: there is no such file") from error

    async def write(self, path: str, data: bytes) -> None:
        """Keep a file."""
        self.files.write(path, data)
