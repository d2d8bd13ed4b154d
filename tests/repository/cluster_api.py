"""A server that behaves as the API of a Kubernetes cluster does, as far as one Job needs it."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import kubernetes_validate
import yaml

VERSION = "1.31"


@dataclass
class ClusterApi:
    """What was created. `polls` are the phases of the pod, one for each request."""

    url: str = ""
    objects: dict[str, dict[str, Any]] = field(default_factory=dict)
    requests: list[str] = field(default_factory=list)
    polls: list[str] = field(default_factory=lambda: ["Pending", "Running"])
    log: bytes = b"started\nitem 1 passed\nthe end, without a line break"
    end: str = "Complete"
    refused: str = ""
    waiting: str = ""
    token: str = "a-token"
    ended: bool = False

    def create(self, path: str, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        """Validate an object as the API does, and keep it."""
        kind = body["kind"]
        try:
            kubernetes_validate.validate(body, VERSION, strict=True)
        except kubernetes_validate.ValidationError as error:
            return failure(422, str(error))
        if kind == self.refused:
            return failure(403, f"{kind.lower()}s is forbidden: exceeded quota")
        key = f"{path}/{body['metadata']['name']}"
        if key in self.objects:
            return failure(409, f"{kind} exists already")
        body["metadata"]["uid"] = f"uid-of-{kind}"
        self.objects[key] = body
        return 201, body

    def answer(self, method: str, path: str, body: Any) -> tuple[int, Any]:
        """Return the status and the answer to a request."""
        if method == "POST":
            return self.create(path, body)
        if path.endswith("/log"):
            self.ended = True
            return 200, self.log
        if path.endswith("/status"):
            done = [{"type": self.end, "status": "True", "reason": "Because", "message": "it ended"}]
            return 200, {"status": {"conditions": done if self.ended else []}}
        if path.endswith("/pods"):
            return 200, {"items": [self.pod(self.polls.pop(0) if len(self.polls) > 1 else self.polls[0])]}
        if path not in self.objects:
            return failure(404, f"{path} not found")
        if method == "PATCH":
            self.objects[path]["metadata"] |= body["metadata"]
        if method == "DELETE":
            del self.objects[path]
            return 200, {"kind": "Status", "status": "Success"}
        return 200, self.objects[path]

    def pod(self, phase: str) -> dict[str, Any]:
        waiting = {"reason": self.waiting, "message": "no such image"} if self.waiting else None
        state = {"name": "run", "image": "i", "imageID": "", "ready": False, "restartCount": 0}
        statuses = [{**state, "state": {"waiting": waiting} if waiting else {}}]
        return {"metadata": {"name": "the-pod"}, "status": {"phase": phase, "containerStatuses": statuses}}


def failure(status: int, message: str) -> tuple[int, dict[str, Any]]:
    return status, {"kind": "Status", "status": "Failure", "message": message, "code": status}


@contextmanager
def cluster_api() -> Iterator[ClusterApi]:
    """Serve the API on loopback."""
    api = ClusterApi()

    class Handler(BaseHTTPRequestHandler):
        def do(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            body = json.loads(self.rfile.read(length)) if length else None
            path = self.path.partition("?")[0]
            api.requests.append(f"{self.command} {path}")
            allowed = self.headers["Authorization"] == f"Bearer {api.token}"
            status, answer = api.answer(self.command, path, body) if allowed else failure(401, "Unauthorized")
            data = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("Content-Type", "text/plain" if isinstance(answer, bytes) else "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        do_GET = do_POST = do_PATCH = do_DELETE = do

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    api.url = f"http://127.0.0.1:{server.server_address[1]}"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield api
    finally:
        server.shutdown()
        server.server_close()


def kubeconfig(api: ClusterApi, token: str = "a-token") -> str:
    """The file of kubectl for the API; its current context has the namespace `ours`."""
    context = {"cluster": "here", "user": "me", "namespace": "ours"}
    return yaml.safe_dump(
        {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": "one",
            "clusters": [{"name": "here", "cluster": {"server": api.url}}],
            "users": [{"name": "me", "user": {"token": token}}],
            "contexts": [
                {"name": "one", "context": context},
                {"name": "two", "context": {**context, "namespace": "b"}},
            ],
        }
    )
