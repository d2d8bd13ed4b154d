"""A small Hugging Face hub on loopback: it serves datasets to `huggingface_hub` and `datasets` over real HTTP."""

import hashlib
import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, unquote, urlsplit

COMMIT = "0123456789abcdef0123456789abcdef01234567"


@dataclass
class Hub:
    """Datasets by id, each a mapping of paths to contents; `requests` is what was asked for, in order.

    The connection of the next `cut_downloads` downloads is cut halfway.
    """

    datasets: dict[str, dict[str, bytes]]
    requests: list[str] = field(default_factory=list)
    cut_downloads: int = 0
    url: str = ""


@contextmanager
def running_hub(datasets: dict[str, dict[str, bytes]]) -> Iterator[Hub]:
    """A hub at `hub.url`, to be given to a process as HF_ENDPOINT."""
    hub = Hub(datasets)

    class Handler(_Handler):
        pass

    Handler.hub = hub
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    hub.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield hub
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    hub: Hub

    def do_GET(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        path = unquote(urlsplit(self.path).path)
        self.hub.requests.append(f"{self.command} {path}")
        api = re.fullmatch(r"/api/datasets/([^/]+/[^/]+)(?:/(revision|tree|paths-info)/([^/]+)(?:/(.*))?)?", path)
        file = re.fullmatch(r"/datasets/([^/]+/[^/]+)/resolve/[^/]+/(.*)", path)
        match = api or file
        if match is None:
            return self.answer(404, {"error": "Not Found"})
        files = self.hub.datasets.get(match[1])
        if files is None:
            return self.answer(404, {"error": "Repository not found"}, {"X-Error-Code": "RepoNotFound"})
        if file:
            return self.send_file(files, file[2])
        if api[2] == "tree":
            return self.answer(200, [entry for entry in _tree(files) if entry["path"].startswith(api[4] or "")])
        if api[2] == "paths-info":
            wanted = _wanted(body)
            return self.answer(200, [entry for entry in _tree(files) if entry["path"] in wanted])
        siblings = [{"rfilename": name} for name in files]
        return self.answer(200, {"id": match[1], "sha": COMMIT, "private": False, "tags": [], "siblings": siblings})

    do_HEAD = do_POST = do_GET

    def send_file(self, files: dict[str, bytes], name: str) -> None:
        if name not in files:
            return self.answer(
                404, {"error": "Entry not found"}, {"X-Error-Code": "EntryNotFound", "X-Repo-Commit": COMMIT}
            )
        content = files[name]
        headers = {"X-Repo-Commit": COMMIT, "ETag": f'"{_etag(content)}"', "Accept-Ranges": "bytes"}
        asked = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range") or "")
        if asked is None:
            return self.send(200, content, headers)
        start, end = int(asked[1]), min(int(asked[2] or len(content) - 1), len(content) - 1)
        return self.send(
            206, content[start : end + 1], headers | {"Content-Range": f"bytes {start}-{end}/{len(content)}"}
        )

    def answer(self, status: int, value: object, headers: dict[str, str] | None = None) -> None:
        self.send(status, json.dumps(value).encode(), {"Content-Type": "application/json"} | (headers or {}))

    def send(self, status: int, content: bytes, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if self.command == "HEAD":
            return
        if self.hub.cut_downloads and status == 206:
            self.hub.cut_downloads -= 1
            self.wfile.write(content[: len(content) // 2])
            self.close_connection = True
            return
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        pass


def _etag(content: bytes) -> str:
    return hashlib.sha1(content).hexdigest()


def _tree(files: dict[str, bytes]) -> list[dict]:
    folders = {name.rpartition("/")[0] for name in files} - {""}
    return [{"type": "directory", "oid": "0" * 40, "size": 0, "path": folder} for folder in sorted(folders)] + [
        {"type": "file", "oid": _etag(content), "size": len(content), "path": name} for name, content in files.items()
    ]


def _wanted(body: bytes) -> list[str]:
    """The paths of a request, which comes as JSON or as a form."""
    text = body.decode()
    if text.startswith("{"):
        return json.loads(text)["paths"]
    return parse_qs(text).get("paths", [])
