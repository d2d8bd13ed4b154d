"""The process that serves one GGUF file over OpenAI's protocol, on loopback.

1. It is run as a script, so that it needs nothing of this package. Its first line on stdin says what to serve and
   under which key: a key in the arguments or the environment could be read by others.
2. When the model is loaded it prints one line, `{"address": "http://127.0.0.1:PORT"}`. All else that it or
   llama.cpp says goes to stderr.
3. It ends when stdin brings anything more or is closed, that is when its parent ends in whatever way. A process
   that the parent forked may hold the other end open, so it also looks whether it still has the same parent.
"""

import json
import os
import select
import signal
from typing import Any

LOOK_SECONDS = 1.0
LOG_WARNINGS = 2


def cores() -> int:
    """The number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def start(order: dict[str, Any]) -> Any:
    """Load the model and serve it; returns llama.cpp's server, which lives as long as the object."""
    from xllamacpp import CommonParams, Server  # pyrefly: ignore[missing-module-attribute] - compiled, without stubs

    params = CommonParams()
    params.model.path = order["path"]
    params.model_alias = {order["name"]}
    params.api_keys = [order["api_key"]]
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.n_parallel = order["slots"]
    params.n_ctx = order["slots"] * order["context"]  # it is shared out among the slots
    params.cache_ram_mib = 256  # the default is 8 GiB
    params.fit_params = False  # nothing to fit: the context is given; a second less to wait
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = cores()
    params.verbosity = LOG_WARNINGS
    params.ui = False
    params.endpoint_slots = False
    return Server(params)


def wait_for_the_end(parent: int) -> None:
    """Return when stdin brings anything or is closed, or the parent is gone."""
    while os.getppid() == parent:
        if select.select([0], [], [], LOOK_SECONDS)[0]:
            return


def main() -> None:
    """Serve what stdin says, until it is closed."""
    signal.signal(signal.SIGTERM, signal.SIG_DFL)  # a parent that ignores it would have passed that on
    announcement = os.dup(1)
    os.dup2(2, 1)
    order = json.loads(open(0, "rb", buffering=0, closefd=False).readline())  # noqa: SIM115 - no byte beyond the line
    server = start(order)
    with os.fdopen(announcement, "w") as out:
        out.write(json.dumps({"address": server.listening_address}) + "\n")
    wait_for_the_end(order["parent"])
    os._exit(0)  # the server's destructor would wait for the answers in flight


if __name__ == "__main__":
    main()
