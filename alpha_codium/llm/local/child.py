"""The process that serves one GGUF file over OpenAI's protocol, on loopback.

1. It runs as a script and imports nothing from this package. The first line on stdin contains its settings and its key,
   since other users could read a key in the arguments or the environment.
2. When the model is loaded, it prints one line, `{"address": "http://127.0.0.1:PORT"}`. All other output, including
   that of llama.cpp, goes to stderr.
3. It ends when stdin has another line or is closed, as it is when the parent ends. Since a process forked by the parent
   may keep the pipe open, it also checks whether its parent is still the same.
"""

import json
import os
import select
import signal
from typing import Any

CHECK_SECONDS = 1.0
LOG_WARNINGS = 2


def cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def start(settings: dict[str, Any]) -> Any:
    """Load the model and return llama.cpp's server, which runs while the object exists."""
    from xllamacpp import CommonParams, Server  # pyrefly: ignore[missing-module-attribute] - compiled, without stubs

    params = CommonParams()
    params.model.path = settings["path"]
    params.model_alias = {settings["name"]}
    params.api_keys = [settings["api_key"]]
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.n_parallel = settings["slots"]
    params.n_ctx = settings["slots"] * settings["context"]  # divided among the slots
    params.cache_ram_mib = 256  # the default is 8 GiB
    params.fit_params = False  # the context is given; saves a second
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = cores()
    params.verbosity = LOG_WARNINGS
    params.ui = False
    params.endpoint_slots = False
    return Server(params)


def wait_for_end(parent: int) -> None:
    """Return when stdin has data or is closed, or the parent has ended."""
    while os.getppid() == parent:
        if select.select([0], [], [], CHECK_SECONDS)[0]:
            return


def main() -> None:
    """Serve the model named on stdin until stdin is closed."""
    signal.signal(signal.SIGTERM, signal.SIG_DFL)  # a parent that ignores it would pass that on
    announcement = os.dup(1)
    os.dup2(2, 1)
    settings = json.loads(open(0, "rb", buffering=0, closefd=False).readline())  # noqa: SIM115 - no byte beyond the line
    server = start(settings)
    with os.fdopen(announcement, "w") as out:
        out.write(json.dumps({"address": server.listening_address}) + "\n")
    wait_for_end(settings["parent"])
    os._exit(0)  # the server's destructor would wait for requests in flight


if __name__ == "__main__":
    main()
