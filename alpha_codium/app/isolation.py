"""A probe of the configured sandbox: can programs reach the network, other processes, or the host's files?"""

import os
import socket
import tempfile
from collections.abc import Iterator
from typing import TypedDict

from alpha_codium.config import Settings, load_settings
from alpha_codium.coroutines import blocking
from alpha_codium.paths import bait_folder
from alpha_codium.sandbox import sandbox_of
from alpha_codium.verdict import Execution

# The program makes the attempt that its input names, and prints whether it succeeded; all must fail. GENCODE is the
# number of our own process; the others would be those of a pid namespace, which are numbered from 1.
ATTEMPTS = ("network", "other_processes", "host_files")
PROBE = """
import os, socket
def tried(action):
    try:
        return bool(action())
    except OSError:
        return False
def network():
    return tried(lambda: socket.create_connection(("127.0.0.1", PORT), 1))
def other_processes():
    others = {GENCODE, *range(2, 2000)} - {1, os.getpid(), os.getppid()}
    return any(tried(lambda: os.kill(number, 0) is None) for number in others)
def host_files():
    return tried(lambda: open(FILE).close() is None)
print(globals()[input()]())
"""


# A layer of isolation: whether it is used, what it is for, and how to get it.
ShownLayer = TypedDict("ShownLayer", {"name": str, "used": bool, "for": str, "how": str})


class Isolation(TypedDict):
    """What a program in the sandbox can reach ("YES", "no", or "?"), and the layers of its isolation."""

    tester_type: str
    sandbox: bool | str
    network: str
    other_processes: str
    host_files: str
    layers: list[ShownLayer]


async def probe_async(settings: Settings | None = None) -> Isolation:
    """Return what a program in the sandbox can reach, and the layers of its isolation."""
    settings = settings or load_settings()
    with socket.create_server(("127.0.0.1", 0)) as server, tempfile.NamedTemporaryFile(dir=bait_folder()) as file:
        names = {"PORT": server.getsockname()[1], "FILE": file.name, "GENCODE": os.getpid()}
        program = "".join(f"{name} = {value!r}\n" for name, value in names.items()) + PROBE
        async with sandbox_of(settings) as sandbox:
            report = await sandbox.run(program, ATTEMPTS)
            layers = sandbox.layers
    network, processes, files = [*map(reached, report.executions), "?", "?", "?"][: len(ATTEMPTS)]
    return {
        "tester_type": settings.code_tester.tester_type,
        "sandbox": settings.code_tester.sandbox,
        "network": network,
        "other_processes": processes,
        "host_files": files,
        "layers": [{"name": x.name, "used": x.used, "for": x.for_, "how": x.how} for x in layers],
    }


probe = blocking(probe_async)


def lines_of(facts: Isolation) -> Iterator[str]:
    """Yield what `probe` found as text, with how to get the layers of isolation that are missing."""
    for name in ("tester_type", "sandbox", *ATTEMPTS):
        yield f"{name:<16} {facts[name]}"
    for layer in facts["layers"]:
        yield f"{layer['name']:<16} {'yes' if layer['used'] else 'NO':<4} {layer['for']}"
        if not layer["used"]:
            yield f"{'':<21} to get it: {layer['how']}"


def reached(execution: "Execution") -> str:
    """Return "YES" if an attempt succeeded, "no" if it failed or the program was killed for it, else "?"."""
    if execution.status == "sandbox_violation":
        return "no"
    return {"True": "YES", "False": "no"}.get(execution.stdout.strip(), "?")
