"""Real model files for tests, kept over runs in one models folder, and a small hub on loopback."""

import hashlib
import importlib.util
import os
import select
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from alpha_codium.errors import ModelNotFound
from alpha_codium.llm.local.fetching import fetch
from alpha_codium.llm.local.registry import BEST, SMALLEST, KnownModel, StoredModel, add, find
from tests.support import shared_path

needs_xllamacpp = pytest.mark.skipif(not importlib.util.find_spec("xllamacpp"), reason="xllamacpp isn't installed")
FILE_BYTES = b"GGUF" + bytes(range(256)) * 5000


def kept_models_folder() -> Path:
    """A models folder that outlives the tests."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return cache / "gencode-test-models"


def smallest_model() -> StoredModel:
    """The real 135M model; skips the test where it can't be had."""
    try:
        return fetch(SMALLEST, kept_models_folder())
    except ModelNotFound as error:
        pytest.skip(str(error))


def best_model() -> StoredModel:
    """The real 0.5B model; skips the test where it can't be had."""
    folder = kept_models_folder()
    try:
        return find(BEST.name, folder)
    except ModelNotFound:
        tool = shared_path("tools/get_test_model")
        done = subprocess.run([sys.executable, tool], capture_output=True, text=True, check=False)
        if done.returncode:
            pytest.skip(done.stderr.strip())
        return add(BEST.name, Path(done.stdout.strip()), folder)


def small_known_model(content: bytes = FILE_BYTES) -> KnownModel:
    """A model that the loopback hub can serve."""
    digest = hashlib.sha256(content).hexdigest()
    return KnownModel("tiny", "tiny.gguf", len(content), digest, repository="someone/tiny-GGUF")


@dataclass
class Hub:
    """What the hub serves: `content` under every address; each of `cuts` ends one download after so many bytes.

    `requests` are those for the file itself; huggingface_hub asks for other things, too.
    """

    url: str = ""
    content: bytes = FILE_BYTES
    status: int = 200
    cuts: list[int] = field(default_factory=list)
    silent: bool = False
    released: threading.Event = field(default_factory=threading.Event)
    requests: list[tuple[str, str]] = field(default_factory=list)  # path, Range


@contextmanager
def hub_on_loopback() -> Iterator[Hub]:
    """A hub as far as fetching one file needs it, with ranges."""
    hub = Hub()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            wanted = self.headers.get("Range", "")
            of_file = self.command == "GET" and "/resolve/" in self.path
            if of_file:
                hub.requests.append((self.path, wanted))
            if hub.silent:
                hub.released.wait(60)
                return
            start = int(wanted.removeprefix("bytes=").rstrip("-")) if wanted else 0
            body = hub.content[start:]
            self.send_response(206 if wanted and hub.status == 200 else hub.status)
            self.send_header("Content-Length", str(len(body)))
            if wanted:
                self.send_header("Content-Range", f"bytes {start}-{len(hub.content) - 1}/{len(hub.content)}")
            self.end_headers()
            if self.command == "GET":
                self.wfile.write(body[: hub.cuts.pop(0) if of_file and hub.cuts else None])

        do_HEAD = do_GET

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    hub.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield hub
    finally:
        hub.released.set()
        server.shutdown()
        thread.join()
        server.server_close()


def ends_within(pid_handle: int, seconds: float) -> bool:
    """Whether the process ends in that time; the handle is woken by its end."""
    return bool(select.select([pid_handle], [], [], seconds)[0])
