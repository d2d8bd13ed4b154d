"""Stand-ins for vLLM: a small program with its protocol, and llama.cpp's server with a real model."""

import shlex
import sys
from pathlib import Path

# Answers /v1/models, and says what it was started with; with the argument `fails`, ends at once.
SCRIPT = """
import json, os, subprocess, sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

model, port, *arguments = sys.argv[1:]
if "fails" in arguments:
    print("loading ...", flush=True)
    sys.exit("RuntimeError: out of GPU memory")
child = subprocess.Popen([sys.executable, "-c", "import signal; signal.pause()"])

class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        self.answer({"data": [{"id": model}], "gpu": os.environ["CUDA_VISIBLE_DEVICES"], "arguments": arguments,
                     "child": child.pid})

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        message = {"role": "assistant", "content": os.environ["STAND_IN_ANSWER"]}
        choice = {"index": 0, "finish_reason": "stop", "message": message}
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        self.answer({"id": "1", "object": "chat.completion", "created": 1, "model": asked["model"],
                     "choices": [choice], "usage": usage})
        print("asked for", asked["model"], flush=True)

    def answer(self, value):
        allowed = self.headers["Authorization"] == "Bearer " + os.environ["VLLM_API_KEY"]
        body = json.dumps(value).encode()
        self.send_response(200 if allowed else 401)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

print("ready on GPU", os.environ["CUDA_VISIBLE_DEVICES"], flush=True)
ThreadingHTTPServer(("127.0.0.1", int(port)), Handler).serve_forever()
"""
# llama.cpp's server, whose key isn't among its arguments either.
LLAMA = """
import os, sys, threading
from xllamacpp import CommonParams, Server

params = CommonParams()
params.model.path, params.port = sys.argv[1], int(sys.argv[2])
params.hostnames, params.api_keys, params.model_alias = ["127.0.0.1"], [os.environ["VLLM_API_KEY"]], {"small"}
params.n_ctx, params.n_parallel, params.cache_ram_mib = 512, 1, 64
server = Server(params)
threading.Event().wait()
"""


def command(script: str, *arguments: str) -> str:
    """The template of a stand-in's command."""
    return (
        f"{shlex.quote(sys.executable)} -c {shlex.quote(script.replace('{', '{{').replace('}', '}}'))} {{model}} "
        + (" ".join(["{port}", *arguments]))
    )


def adapter(folder: Path, name: str, config: str) -> None:
    """Write a LoRA adapter, as far as its configuration goes."""
    (folder / name).mkdir(parents=True)
    (folder / name / "adapter_config.json").write_text(config)
