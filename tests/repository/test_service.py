"""The server that runs tests for other programs, and the provider that asks it."""

import asyncio
import contextlib
import json
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from typing import Any

import httpx
import pytest
import pytest_asyncio

from alpha_codium.errors import DatasetError, UserError
from alpha_codium.hosting import listener
from alpha_codium.repository.checkout import Checkout, digest
from alpha_codium.repository.harness import Edit, edit_of
from alpha_codium.repository.methods import find_method, stubbed
from alpha_codium.repository.providers import LocalProvider, ProviderError, open_provider
from alpha_codium.repository.recipes import RECIPES, Recipe
from alpha_codium.repository.restapi import RestProvider, item_of
from alpha_codium.serve.repository import serve, service
from tests.repository.shop import FILE, FREE, GROSS, NET, SOURCE, task_of_shop

pytestmark = pytest.mark.asyncio(loop_scope="module")
METHOD = find_method(SOURCE, "Sale.net")
TASK = task_of_shop("Sale.net", (NET,), (GROSS, FREE))
STUB = edit_of(SOURCE, FILE, "Sale.net", stubbed(SOURCE, METHOD))
SERVE = """
import asyncio, sys
from pathlib import Path
from alpha_codium.serve.repository import serve
from tests.repository.shop import checkout_at
asyncio.run(serve(checkout_at(Path(sys.argv[1])), port=0, workers=2, on_start=lambda it: print(it, flush=True)))
"""


def item(**changes: Any) -> dict[str, Any]:
    """The request that an existing client sends for a method: its lines count from 1, the last is replaced, too."""
    return {
        "idx": 7,
        "dp_id": "a",
        "file_path": FILE,
        "replace_content": "    def net(self):\n        return self.amount * self.percent // 100",
        "method_name": "net",
        "start_line": METHOD.lines[0] + 1,
        "end_line": METHOD.lines[1],
        "tests": [NET, FREE],
        **changes,
    }


async def test_the_rows_of_our_datasets_have_the_lines_that_existing_clients_send() -> None:
    method = TASK.row(0)["method"]
    lines = method["global_method_declaration_index"][0] + 1, method["global_method_body_index"][1] + 1
    assert lines == (item()["start_line"], item()["end_line"])


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def client(checkout: Checkout) -> AsyncIterator[httpx.AsyncClient]:
    async with LocalProvider(workers=2) as provider:
        transport = httpx.ASGITransport(service(provider, checkout))
        async with httpx.AsyncClient(transport=transport, base_url="http://here") as client:
            yield client


async def test_an_edit_that_passes_has_the_report_and_the_edited_file(client: httpx.AsyncClient) -> None:
    response = await client.post("/run_item?do_edit=True", json=item())
    answer = response.json()
    assert response.status_code == 200
    assert (answer["idx"], answer["dp_id"], answer["status"]) == (7, "a", "OK")
    assert "Ran 2 tests in" in answer["test_output"] and answer["test_output"].endswith("\nOK\n")
    assert answer["edited_file"] == SOURCE.replace('        """Return the reduced amount."""\n', "")


async def test_an_edit_that_fails_has_the_traceback_and_an_edit_that_crashes_no_summary(
    client: httpx.AsyncClient,
) -> None:
    bad = item(replace_content="    def net(self):\n        raise ValueError('no')\n")
    answer = (await client.post("/run_item", json=bad)).json()
    assert answer["status"] == "FAILED" and "ValueError: no" in answer["test_output"]
    assert answer["test_output"].endswith("Ran 2 tests in " + answer["test_output"].rpartition("Ran 2 tests in ")[2])
    assert "FAILED (failures=1)" in answer["test_output"]
    answer = (await client.post("/run_item", json=item(replace_content="    def net("))).json()
    assert answer["status"] == "CRUSHED" and answer["test_output"].startswith("CRUSHED: compilation_error SyntaxError")


async def test_without_an_edit_the_tests_run_on_the_repository_as_it_is(client: httpx.AsyncClient) -> None:
    answer = (await client.post("/run_item?do_edit=false", json=item(replace_content="broken("))).json()
    assert (answer["status"], answer["edited_file"]) == ("OK", SOURCE)


async def test_decorators_may_be_replaced_with_a_method_and_a_class_with_its_methods(client: httpx.AsyncClient) -> None:
    gross = find_method(SOURCE, "Price.gross")
    lines = {"start_line": gross.lines[0] - gross.decorators + 1, "end_line": gross.lines[1], "tests": [GROSS]}
    text = "    @property\n    def gross(self):\n        return 6\n"
    answer = (await client.post("/run_item", json=item(**lines, method_name="gross", replace_content=text))).json()
    assert answer["status"] == "OK" and "@rounded" not in answer["edited_file"]
    start = SOURCE[: SOURCE.index("class Sale")].count("\n") + 1
    lines = {"start_line": start, "end_line": SOURCE.count("\n"), "method_name": "Sale", "tests": [NET]}
    text = (
        "class Sale:\n    def __init__(self, a):\n        self.a = a\n    def net(self):\n        return self.a // 2\n"
    )
    assert (await client.post("/run_item", json=item(**lines, replace_content=text))).json()["status"] == "OK"


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"start_line": 0}, "there are no lines 0 to"),
        ({"end_line": 400}, "which has 38"),
        ({"start_line": METHOD.lines[0]}, "are not the definition of 'net'; lines count from 1"),
        ({"method_name": "gross"}, "are not the definition of 'gross'"),
        ({"file_path": "test_prices.py"}, "'test_prices.py' is not a source file of shop 1"),
        ({"file_path": "../../etc/passwd"}, "is not a source file"),
        ({"file_path": "shop/../shop/prices.py"}, "is not a source file"),
        ({"file_sha256": "0"}, "shop/prices.py differs from that of shop 1 here"),
        ({"tests": ["x"] * 1001}, "at most 1000"),
        ({"tests": "x"}, "tests: Input should be a valid list"),
    ],
)
async def test_an_item_that_does_not_fit_the_repository_is_refused(
    client: httpx.AsyncClient, changes: dict[str, Any], reason: str
) -> None:
    response = await client.post("/run_item", json=item(**changes))
    assert response.status_code == 422
    assert reason in response.json()["detail"]


async def test_requests_that_are_too_large_or_not_json_are_refused(client: httpx.AsyncClient) -> None:
    assert (await client.post("/run_item", json=item(replace_content="#" * (5 << 20)))).status_code == 413

    async def parts() -> AsyncIterator[bytes]:
        for _ in range(5):
            yield b"#" * (1 << 20)

    json_in_parts = {"content-type": "application/json"}
    assert (await client.post("/run_item", content=parts(), headers=json_in_parts)).status_code == 413
    assert (await client.post("/run_item", content=b"{", headers={"content-type": "text/plain"})).status_code == 422
    assert (
        await client.post("/run_item", content=b"{", headers={"content-type": "application/json"})
    ).status_code == 422
    assert (await client.put("/run_item")).status_code == 405
    assert (await client.get("/health")).json() == {"status": "ok", "repository": "shop", "version": "1"}


async def test_the_server_tells_its_files(client: httpx.AsyncClient) -> None:
    answer = (await client.get("/run_item")).json()
    assert (answer["repository"], answer["version"]) == ("shop", "1")
    assert answer["files"][FILE] == digest(SOURCE) and "test_prices.py" not in answer["files"]


async def test_a_fault_of_the_sandbox_is_an_error_of_the_server_and_no_verdict(checkout: Checkout) -> None:
    class Broken(LocalProvider):
        async def run_tests(self, *_: Any) -> Any:
            raise ProviderError("the tests of x can't be run: the worker was lost")

    app = service(Broken(), checkout)
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://here") as client:
        response = await client.post("/run_item", json=item())
        assert response.status_code == 503
        assert response.json() == {"detail": "the tests of x can't be run: the worker was lost"}


async def test_with_a_token_requests_without_it_are_refused(checkout: Checkout) -> None:
    app = service(LocalProvider(), checkout, "sésame")
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://here") as client:
        for value in ("", "Bearer wrong", "sésame"):
            headers = {"authorization": value.encode()}
            assert (await client.post("/run_item", json=item(), headers=headers)).status_code == 401
        headers = {"authorization": "Bearer sésame".encode()}
        assert (await client.post("/run_item", json={}, headers=headers)).status_code == 422


async def test_only_loopback_needs_no_token_and_a_taken_port_is_one_line(checkout: Checkout) -> None:
    with pytest.raises(UserError, match=r"0\.0\.0\.0 can be reached by others: set SANDBOX_TOKEN, or give a `token`"):
        await serve(checkout, host="0.0.0.0")
    with listener("127.0.0.1", 0) as taken:
        with pytest.raises(UserError, match=r"cannot listen on 127.0.0.1, port \d+: Address already in use"):
            await serve(checkout, port=taken.getsockname()[1])


@contextlib.contextmanager
def server(checkout: Checkout) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A server in a process of its own, and its address."""
    command = [sys.executable, "-c", SERVE, str(checkout.folder)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield process, process.stdout.readline().strip()
        finally:
            process.kill()


@pytest.mark.thorough
async def test_the_rest_provider_returns_what_the_local_one_returns(
    checkout: Checkout, monkeypatch: pytest.MonkeyPatch
) -> None:
    with server(checkout) as (process, url):
        monkeypatch.setenv("SANDBOX_URL", url)
        async with open_provider("restapi") as rest, open_provider("local", checkouts=lambda _: checkout) as local:
            whole = Edit(FILE, SOURCE.replace("RATE = 2", "RATE = 3"))
            for edit in (Edit(FILE, SOURCE), STUB, whole, Edit(FILE, "def (")):
                here, there = await local.run(TASK, edit), await rest.run(TASK, edit)
                assert [(each.name, each.status) for each in here.results] == [
                    (each.name, each.status) for each in there.results
                ]
                assert (here.passed, here.swapped) == (there.passed, there.swapped)
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 0


@pytest.mark.thorough
async def test_a_request_in_progress_is_answered_before_the_server_ends(checkout: Checkout) -> None:
    body = json.dumps(item()).encode()
    head = f"POST /run_item HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\nExpect: 100-continue\r\n"
    with server(checkout) as (process, url):
        reader, writer = await asyncio.open_connection("127.0.0.1", int(url.rpartition(":")[2]))
        writer.write(f"{head}Content-Type: application/json\r\n\r\n".encode())
        assert b"100 Continue" in await reader.readuntil(b"\r\n\r\n"), "the server waits for the body"
        process.send_signal(signal.SIGTERM)
        writer.write(body)
        assert b"200 OK" in await reader.readuntil(b"\r\n\r\n")
        assert b'"status":"OK"' in await reader.read()
        writer.close()
        assert process.wait(30) == 0


async def test_an_edit_of_the_method_is_sent_as_its_lines_and_another_one_as_the_whole_file() -> None:
    sent = item_of(TASK, STUB)
    assert (sent["start_line"], sent["end_line"]) == (METHOD.lines[0] + 1, METHOD.lines[1])
    assert sent["replace_content"].splitlines()[0] == "    def net(self):"
    assert (sent["method_name"], sent["method"]) == ("net", "Sale.net")
    sent = item_of(TASK, Edit(FILE, "x = 1\n"))
    assert (sent["start_line"], sent["end_line"], sent["replace_content"]) == (1, 38, "x = 1")
    assert sent["method_name"] == ""


async def answering(*answers: tuple[int, bytes]) -> tuple[asyncio.Server, str, list[int]]:
    """A server that gives these answers, one each request; also the list of the statuses that it gave."""
    left, given = list(answers), list[int]()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        length = int(head.lower().partition(b"content-length:")[2].split()[0])
        await reader.readexactly(length)
        status, body = left.pop(0)
        given.append(status)
        if status:
            writer.write(
                f"HTTP/1.1 {status} x\r\nconnection: close\r\ncontent-length: {len(body)}\r\n\r\n".encode() + body
            )
        writer.close()

    listening = await asyncio.start_server(answer, "127.0.0.1", 0)
    return listening, f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}", given


OTHERS = b'{"test_output": "Ran 3 tests in 0.1s\\n\\nOK\\n", "edited_file": ""}'


async def test_faults_of_a_server_are_tried_again_and_then_raised() -> None:
    listening, url, given = await answering(
        (503, b"busy"), (0, b""), (200, OTHERS), *[(500, b"lost")] * 3, (422, b"no")
    )
    async with listening, RestProvider(url, pause_seconds=0) as provider:
        assert (await provider.run(TASK, STUB)).passed, "the answer of another server is read from its report"
        assert given == [503, 0, 200]
        with pytest.raises(ProviderError, match="returned status 500: lost"):
            await provider.run(TASK, STUB)
        with pytest.raises(ProviderError, match="returned status 422: no"):
            await provider.run(TASK, STUB)
        assert given[3:] == [500, 500, 500, 422], "an invalid request isn't repeated"


OTHER_TASK = replace(TASK, raw_file_content=SOURCE.replace("RATE = 2", "RATE = 3"))


async def test_a_task_of_other_files_than_the_servers_is_refused(
    client: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(RECIPES, "shop", Recipe("shop", "shop", "1", (), "unittest", (), url="https://x/shop"))
    async with RestProvider("http://here", pause_seconds=0) as provider:
        monkeypatch.setattr(provider, "_client", client)
        await provider.check([TASK])
        assert (await provider.run(TASK, Edit(FILE, SOURCE))).passed
        for refused in (provider.check([TASK, OTHER_TASK]), provider.run(OTHER_TASK, Edit(FILE, SOURCE))):
            with pytest.raises(DatasetError, match=r"differs from that of shop .*at http://here.* `checkout` DIR"):
                await refused


async def test_another_server_that_edits_other_files_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(RECIPES, "shop", Recipe("shop", "shop", "1", (), "unittest", ()))
    edited = [json.dumps(json.loads(OTHERS) | {"edited_file": text}).encode() for text in (STUB.text, "RATE = 3")]
    listening, url, _ = await answering(*((200, text) for text in edited))
    async with listening, RestProvider(url, pause_seconds=0) as provider:
        assert (await provider.run(TASK, STUB)).passed
        with pytest.raises(DatasetError, match="differs from that of shop"):
            await provider.run(TASK, STUB)


@pytest.mark.parametrize("suffix", ["", "/", "/run_item", "/run_item/"])
async def test_the_address_of_a_server_may_have_the_path(suffix: str, monkeypatch: pytest.MonkeyPatch) -> None:
    listening, url, given = await answering((200, OTHERS))
    monkeypatch.setenv("SANDBOX_URL", url + suffix)
    async with listening, RestProvider(pause_seconds=0) as provider:
        assert provider.url == f"{url}/run_item"
        assert (await provider.run(TASK, STUB)).passed and given == [200]


@pytest.mark.parametrize("body", [b"nothing", b"{}", b"[]", b'{"results": [{}]}'])
async def test_an_answer_without_results_is_no_verdict(body: bytes) -> None:
    listening, url, _ = await answering(*[(200, body)] * 3)
    async with listening, RestProvider(url, pause_seconds=0) as provider:
        with pytest.raises(ProviderError, match=r"has no results|returned no JSON"):
            await provider.run(TASK, STUB)


async def test_a_provider_without_an_address_says_what_to_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SANDBOX_URL", raising=False)
    with pytest.raises(UserError, match="set SANDBOX_URL=http://HOST:PORT"):
        open_provider("restapi")
