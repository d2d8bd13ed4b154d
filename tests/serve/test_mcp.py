"""The tools of `gencode mcp`, asked for by the protocol's own SDK over stdio."""

import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

mcp = pytest.importorskip("mcp", reason="the SDK isn't installed: pip install mcp")

from mcp import Client, StdioServerParameters, stdio_client  # noqa: E402

from tests.serve.serving import START  # noqa: E402
from tests.support import ROOT  # noqa: E402

ADD = "print(sum(map(int, input().split())))"
TESTS = [{"input": "1 2", "output": "3"}, {"input": "4 5", "output": "9"}]
PING = b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}\n'
pytestmark = pytest.mark.thorough


@asynccontextmanager
async def agent(home: object, *options: str) -> AsyncIterator[Client]:
    arguments = ["-c", START, "mcp", "--workers", "1", *options]
    server = StdioServerParameters(
        command=sys.executable, args=arguments, env={"GENCODE_HOME": str(home), "PYTHONPATH": str(ROOT)}
    )
    async with Client(stdio_client(server)) as client:
        yield client


async def called(client: Client, tool: str, **arguments: Any) -> tuple[bool, str, Any]:
    """Whether the call is an error, its text, and its structured content."""
    result = await client.call_tool(tool, arguments)
    return bool(result.is_error), result.content[0].text, result.structured_content


async def test_an_agent_finds_two_tools_and_judges_programs_and_learns_why_they_fail(tmp_path):
    async with agent(tmp_path) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert tools.keys() == {"judge", "explain_failure"}
        for tool in tools.values():
            assert tool.input_schema["required"] == ["program", "tests"]
            assert "problem" not in tool.input_schema["properties"]

        failed, text, answer = await called(client, "judge", program=ADD, tests=TESTS)
        assert (failed, answer["verdict"], answer["tests_passed"]) == (False, "accepted", 2)
        assert '"verdict": "accepted"' in text

        wrong = ADD.replace("sum", "max")
        _, text, _ = await called(client, "explain_failure", program=wrong, tests=TESTS)
        lines = text.splitlines()
        assert lines[:2] == ["wrong_answer", "first failing test: number 1 of 2, wrong_answer"]
        assert "  - 3" in lines and "  + 2" in lines
        _, text, _ = await called(client, "explain_failure", program=ADD, tests=TESTS)
        assert text == "the program passes 2 tests of 2"
        _, text, _ = await called(client, "explain_failure", program="print(", tests=TESTS)
        assert text.startswith("compilation_error\n") and "SyntaxError" in text

        endless = {"program": "while True: pass", "tests": TESTS, "time_limit_seconds": 0.3}
        _, text, _ = await called(client, "explain_failure", **endless)
        assert "time_limit_exceeded" in text and "of 0.3 s" in text


async def test_what_the_service_refuses_is_an_error_of_the_call_and_programs_have_no_other_rights(tmp_path):
    (tmp_path / "secret").write_text("secret")
    async with agent(tmp_path) as client:
        for arguments, reason in [
            ({"program": ADD, "tests": TESTS, "time_limit_seconds": 601}, "time_limit_seconds: "),
            ({"program": ADD, "tests": TESTS * 5001}, "tests: "),
            ({"program": ADD, "tests": TESTS, "language": "cobol"}, "language: there is no 'cobol'"),
            ({"program": ADD, "problem": "1575_A"}, "problem: this tool has no such argument"),
            ({"program": ADD, "tests": TESTS, "file": "x"}, "file: "),
        ]:
            failed, text, _ = await called(client, "judge", **arguments)
            assert failed and text.startswith(reason), text
        failed, text, _ = await called(client, "shell", program=ADD, tests=TESTS)
        assert failed and text == "there is no tool 'shell', but judge and explain_failure"

        spy = f"import socket\nfor act in (lambda: open({str(tmp_path / 'secret')!r}), lambda: socket.create_connection"
        spy += "(('127.0.0.1', 1))):\n  try: act(); print('reached')\n  except OSError as error: print('refused')"
        _, _, answer = await called(client, "judge", program=spy, tests=[{"input": ""}])
        assert answer["tests"][0]["stdout"] == "refused\nrefused\n"

        noisy = "import os; os.write(1, b'\\xff\\xed\\xa0\\x80'); print('{\"jsonrpc\": \"2.0\"}')"
        _, text, answer = await called(client, "judge", program=noisy, tests=[{"input": ""}])
        assert answer["tests"][0]["stdout"].endswith('{"jsonrpc": "2.0"}\n')


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (("-o", "code_tester.sandbox=false"), "a server runs programs only in a sandbox: remove code_tester.sandbox"),
        ((), "stdin must be a pipe: this command is started by an agent"),
    ],
)
def test_a_server_does_not_start_without_isolation_or_without_an_agent(options, reason, tmp_path):
    command = [sys.executable, "-c", START, "mcp", *options]
    environment = os.environ | {"GENCODE_HOME": str(tmp_path)}
    refused = subprocess.run(
        command, env=environment, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL
    )
    assert refused.returncode == 2
    assert refused.stderr.startswith(f"error: {reason}") and refused.stderr.count("\n") == 1


@pytest.mark.parametrize(("ends", "status"), [("stdin", 0), ("signal", 143)])
def test_a_server_ends_with_its_stdin_and_at_a_signal(ends, status, tmp_path):
    command, environment = [sys.executable, "-c", START, "mcp"], os.environ | {"GENCODE_HOME": str(tmp_path)}
    with subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None and process.stdout is not None
        process.stdin.write(PING)
        process.stdin.flush()
        assert b'"id":1' in process.stdout.readline()
        if ends == "stdin":
            process.stdin.close()
        else:
            process.send_signal(signal.SIGTERM)
        assert process.wait(30) == status
