"""`gencode` in processes of their own that are there at once: forked from one that has imported what takes seconds.

1. `python -m tests.gen.forked` imports the command line and litellm, then forks for each line of its stdin: the
   arguments and the file for stderr, in JSON. It has none of the threads, files and state of the tests.
2. The child runs `main`, as `python -m alpha_codium` does from its first line on. It leads no group and has no other
   parent than this server, which says the child's number, and reaps it when it is told to: the number stays its own.
3. Tests of the start itself and of Ctrl-C start a real interpreter.
"""

import contextlib
import importlib
import json
import os
import select
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.support import ROOT


class Forked:
    """One `gencode`: the part of `subprocess.Popen` that tests of killed runs use."""

    def __init__(self, server: "subprocess.Popen[str]", pid: int) -> None:
        self._server = server
        self._grip = os.pidfd_open(pid)
        self._status: int | None = None

    def ended(self) -> bool:
        """Whether it has come to its end."""
        return self._status is not None or bool(select.select([self._grip], [], [], 0)[0])

    def kill(self) -> None:
        """SIGKILL; nothing where it has ended."""
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(self._grip, signal.SIGKILL)

    def wait(self) -> int:
        """The status that it ends with, or the negative number of a signal."""
        if self._status is None:
            self._status = int(said(self._server, "reap"))
            os.close(self._grip)
        return self._status


def said(server: "subprocess.Popen[str]", line: str) -> str:
    """What the server answers to a line."""
    assert server.stdin is not None and server.stdout is not None
    server.stdin.write(line + "\n")
    server.stdin.flush()
    return server.stdout.readline()


class Forks:
    """A server of forks."""

    def __init__(self, server: "subprocess.Popen[str]") -> None:
        self._server = server

    @contextlib.contextmanager
    def gencode(self, *arguments: object, stderr: Path) -> Iterator[Forked]:
        """A `gencode` in a process of its own, killed at the end of the block if it still lives."""
        order = json.dumps([[str(argument) for argument in arguments], str(stderr)])
        child = Forked(self._server, int(said(self._server, order)))
        try:
            yield child
        finally:
            if not child.ended():
                child.kill()
            child.wait()


@contextlib.contextmanager
def forking() -> Iterator[Forks]:
    """A server with the environment and the folder of the test; ends with the block."""
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "tests.gen.forked"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment) as server:
        yield Forks(server)
        assert server.stdin is not None
        server.stdin.close()


def serve() -> None:
    """Fork for each line; reap where a line says so."""
    from alpha_codium.llm.litellm_loading import QUIET_ENVIRONMENT

    os.environ.update(QUIET_ENVIRONMENT)
    for module in ("litellm", "datasets", "alpha_codium.cli.gen"):
        importlib.import_module(module)
    assert threading.active_count() == 1, "only what has one thread can be forked"
    pid = 0
    while line := sys.stdin.readline():
        if line.strip() == "reap":
            print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)
            continue
        arguments, stderr = json.loads(line)
        pid = os.fork()
        if pid == 0:
            run(arguments, stderr)
        print(pid, flush=True)


def run(arguments: list[str], stderr: str) -> Any:
    """Be the command."""
    from alpha_codium.cli.main import main

    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    os.dup2(os.open(stderr, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), 2)
    main(arguments)


if __name__ == "__main__":
    serve()
