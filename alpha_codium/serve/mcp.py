"""The judge as tools of the Model Context Protocol, for agents that start `gencode mcp` and talk to it over stdio.

The tools take what `POST /v1/judge` takes, with the same limits, and have no other rights: programs run only in the
sandbox, and nothing of this machine is read or stored.
"""

import asyncio
import json
import os
import stat
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import Any

import mcp_types as types
from fastapi import HTTPException
from mcp.server import Server, ServerRequestContext
from mcp.server.stdio import stdio_server
from pydantic import BaseModel, ValidationError

from alpha_codium import __version__
from alpha_codium.config import Settings
from alpha_codium.errors import SandboxError, UserError
from alpha_codium.eval.failures import failure_of
from alpha_codium.hosting import Refused
from alpha_codium.judge import Judge
from alpha_codium.serve.answers import reasons_in
from alpha_codium.serve.hiding import Hiding
from alpha_codium.serve.judging import Judging, Prepared
from alpha_codium.serve.measuring import ServiceMetrics
from alpha_codium.serve.problems import Problems
from alpha_codium.serve.requests import JudgeAnswer, JudgeRequest
from alpha_codium.serve.server import LARGEST_REQUEST, isolated_judge
from alpha_codium.verdict import Judgement, Verdict
from alpha_codium.wording import counted, without_paths

# Fields of a request that tools don't have: an agent knows only the tests that it sends.
LEFT_OUT = ("id", "problem")
DESCRIPTIONS = {
    "judge": "Run a program on tests in a sandbox, without network, and return the verdict of each test.",
    "explain_failure": "Run a program on tests up to the first that it fails, and explain that one: the input, where "
    "the output differs from the expected one, the failing assertion, the end of stderr, the limit that was exceeded.",
}


async def serve_stdio(settings: Settings) -> None:
    """Offer the tools over stdin and stdout until stdin ends.

    Raises UserError if the sandbox doesn't isolate programs.
    """
    async with isolated_judge(settings) as (opened, load):
        sandbox, hiding = opened.judge.sandbox, await Hiding.of(opened.judge.sandbox)
        judging = Judging(opened.executor, sandbox, opened.judge.rules, load, ServiceMetrics(load), Problems(), hiding)
        server = server_of(Tools(judging))
        # The SDK's own reader is a thread, which would keep the process alive after a signal.
        lines: Any = await _lines_of_stdin()
        async with stdio_server(stdin=lines) as (incoming, outgoing):
            await server.run(incoming, outgoing, server.create_initialization_options())


async def _lines_of_stdin() -> AsyncIterator[str]:
    """Return the messages on stdin, each as long at most as a request of the service; raises UserError."""
    mode = os.fstat(sys.stdin.fileno()).st_mode
    if not (stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)):
        raise UserError("stdin must be a pipe: this command is started by an agent")
    reader = asyncio.StreamReader(limit=LARGEST_REQUEST)
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    return (line.decode("utf-8", "replace") async for line in reader)


class Tools:
    """The tools, by the judging of a server."""

    def __init__(self, judging: Judging) -> None:
        self.judging = judging
        self.by_name: Mapping[str, Callable[[JudgeRequest], Awaitable[BaseModel | str]]] = {
            "judge": self.judge,
            "explain_failure": self.explain_failure,
        }

    async def judge(self, item: JudgeRequest) -> JudgeAnswer:
        """Return the verdicts of all tests."""
        prepared, judgement = await self._judged(item)
        return prepared.answer(judgement)

    async def explain_failure(self, item: JudgeRequest) -> str:
        """Return why a program fails, in lines for a reader."""
        prepared, judgement = await self._judged(item.model_copy(update={"stop_on_first_failure": True}))
        task = prepared.task
        if judgement.verdict is Verdict.ACCEPTED:
            return f"the program passes {counted(len(task.tests), 'test')} of {len(task.tests)}"
        judge = Judge(self.judging.sandbox, task.rules).for_problem(task.problem)
        failure = failure_of(judge, task.tests, judgement, item.language)
        reason = failure.lines(len(task.tests)) if failure else [judgement.message]
        return "\n".join([judgement.verdict.value, *reason])

    async def _judged(self, item: JudgeRequest) -> tuple[Prepared, Judgement]:
        prepared = await self.judging.prepare(item)
        (judgement,) = await self.judging.judgements_for("mcp", [prepared.task])
        return prepared, judgement


def server_of(tools: Tools) -> Server[Any]:
    """Return a server of the protocol that offers the tools.

    What a tool refuses, or can't run, is an error of its call, with the reason.
    """

    async def list_tools(
        _context: ServerRequestContext[Any], _page: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        schema = _schema()
        return types.ListToolsResult(
            tools=[types.Tool(name=each, description=text, input_schema=schema) for each, text in DESCRIPTIONS.items()]
        )

    async def call_tool(
        _context: ServerRequestContext[Any], called: types.CallToolRequestParams
    ) -> types.CallToolResult:
        try:
            return _result(await _called(tools, called))
        except ValidationError as error:
            return _result(reasons_in(error.errors()), is_error=True)
        except HTTPException as error:
            return _result(error.detail, is_error=True)
        except (SandboxError, Refused) as error:
            return _result(without_paths(error), is_error=True)

    return Server("gencode", version=__version__, on_list_tools=list_tools, on_call_tool=call_tool)


async def _called(tools: Tools, called: types.CallToolRequestParams) -> BaseModel | str:
    if called.name not in tools.by_name:
        raise HTTPException(404, f"there is no tool {called.name!r}, but {' and '.join(tools.by_name)}")
    arguments = called.arguments or {}
    if unknown := [name for name in LEFT_OUT if name in arguments]:
        raise HTTPException(422, f"{unknown[0]}: this tool has no such argument")
    return await tools.by_name[called.name](JudgeRequest.model_validate(arguments))


def _result(found: BaseModel | str, *, is_error: bool = False) -> types.CallToolResult:
    if isinstance(found, str):
        text, structured = found, None
    else:
        # Outputs of programs may have lone surrogates, which can't be encoded.
        text = json.dumps(found.model_dump(), ensure_ascii=False).encode("utf-8", "replace").decode()
        structured = json.loads(text)
    content: list[types.ContentBlock] = [types.TextContent(type="text", text=text)]
    return types.CallToolResult(content=content, structured_content=structured, is_error=is_error)


def _schema() -> dict[str, Any]:
    """Return what the tools take: a request of the service."""
    schema = JudgeRequest.model_json_schema()
    for name in LEFT_OUT:
        del schema["properties"][name]
    return schema | {"required": ["program", "tests"]}
