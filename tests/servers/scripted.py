"""A scripted model server: real HTTP on loopback, answers and faults that a test decides.

1. In a test: `with ScriptedServer(script, faults=[FaultOnce(Status(500))]) as server:` (or `async with`). It runs in a
   thread with an event loop of its own, so a test that blocks its own loop doesn't block the server.
2. In another process: `with scripted_process(FILE) as address:` runs `python -m tests.servers.scripted --script FILE`,
   which prints its address and lives until its stdin ends. FILE is Python with `script` (a callable or a table) and, if
   it likes, `faults`; or JSON: a list of [regular expression, text].
3. Every request is recorded in `server.requests`, in the order of arrival. A journal file, where one is given, gets
   a line before an answer's first byte is sent and another when all of it is sent: what a client that was killed
   may and must have received.
"""

import argparse
import contextlib
import json
import os
import runpy
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from tests.servers.replies import (
    Always,
    Cut,
    Delay,
    FaultOnce,
    Filtered,
    Hang,
    Malformed,
    OneOfOnce,
    OnNumbers,
    Reply,
    Rule,
    Seen,
    Status,
    Text,
    Truncated,
    When,
    WithProbability,
    digest_of,
    echo,
    last_user,
    table,
)
from tests.servers.server import ScriptedServer

__all__ = [
    "Always",
    "Cut",
    "Delay",
    "FaultOnce",
    "Filtered",
    "Hang",
    "Malformed",
    "OnNumbers",
    "OneOfOnce",
    "Reply",
    "Rule",
    "ScriptedServer",
    "Seen",
    "Status",
    "Text",
    "Truncated",
    "When",
    "WithProbability",
    "digest_of",
    "echo",
    "last_user",
    "scripted_process",
    "table",
]


@contextlib.contextmanager
def scripted_process(script: Path, *arguments: str) -> Iterator[str]:
    """A server in a child process; yields its address, without a path. It ends with the block."""
    command = [sys.executable, "-m", "tests.servers.scripted", "--script", str(script), "--until-eof", *arguments]
    root = Path(__file__).resolve().parents[2]
    environment = {**os.environ, "PYTHONPATH": str(root)}
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=root, env=environment
    ) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        try:
            address = child.stdout.readline().strip()
            if not address:
                raise RuntimeError(f"the scripted server ended with status {child.wait()}")
            yield address
        finally:
            child.stdin.close()


def main(arguments: Sequence[str] | None = None) -> None:
    """Serve until interrupted, or until stdin ends."""
    parser = argparse.ArgumentParser(description="A scripted model server on 127.0.0.1.")
    parser.add_argument("--script", type=Path, help=".py with `script` and `faults`, or .json with a table")
    parser.add_argument("--latency", type=float, default=0.0, help="seconds before each answer")
    parser.add_argument("--journal", type=Path, help="file to note each answer in")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--until-eof", action="store_true", help="end when stdin ends")
    given = parser.parse_args(arguments)
    script, faults = _load(given.script)
    with ScriptedServer(script, faults=faults, latency=given.latency, journal=given.journal, port=given.port) as server:
        print(server.url, flush=True)
        with contextlib.suppress(KeyboardInterrupt):
            if given.until_eof:
                sys.stdin.read()
            else:
                threading.Event().wait()


def _load(path: Path | None) -> tuple[Any, Sequence[Rule]]:
    if path is None:
        return echo, ()
    if path.suffix == ".json":
        return table(json.loads(path.read_text("utf-8"))), ()
    names = runpy.run_path(str(path))
    return names.get("script", echo), names.get("faults", ())


if __name__ == "__main__":
    main()
