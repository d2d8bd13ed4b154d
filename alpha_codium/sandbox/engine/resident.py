"""Resident compilers: processes, each in a jail of its own, that compile one program after the other.

1. A resident compiler reads requests from a socket, and answers with the length and the bytes of the compiled program.
   If the answer is empty or late, or the process ends, the program is compiled by the ordinary compiler instead.
2. It is replaced after any fault, and after `MOST_PROGRAMS`. It ends when no request has come for `IDLE_SECONDS`: its
   reading from the socket fails then. The next program starts another one.
"""

import contextlib
import marshal
import os
import socket
import struct
import threading
import time
from collections.abc import Callable
from dataclasses import replace

from alpha_codium.limits import COMPILER_LIMITS
from alpha_codium.sandbox.engine.building import native_of
from alpha_codium.sandbox.engine.cancellation import Cancellation, WorkerLost
from alpha_codium.sandbox.engine.channel import RunnerLost, Wiring
from alpha_codium.sandbox.engine.descriptors import timeval
from alpha_codium.sandbox.engine.inside.wire import LINK
from alpha_codium.sandbox.engine.jail import RunnerProgram
from alpha_codium.sandbox.engine.runner_client import RunnerClient
from alpha_codium.sandbox.engine.worker import Worker

MOST_PROGRAMS = 200
# Seconds to wait for an answer.
PATIENCE = 10.0
# Seconds without a request after which it ends.
IDLE_SECONDS = 60.0
# For all programs that one process compiles.
LIMITS = replace(COMPILER_LIMITS, cpu_seconds=600.0, wall_seconds=86400.0)
# Runs a command with the socket, descriptor 3, as its stdin and stdout.
CONNECT = f'exec "$@" <&{LINK} >&{LINK} {LINK}<&-'
LENGTH = struct.Struct(">i")


class ResidentCompiler:
    """A resident compiler, which starts at once. Call `ask` and `close` from one thread only."""

    def __init__(self, worker: Worker, command: list[str]) -> None:
        self.left = MOST_PROGRAMS
        self._worker = worker
        self._socket, theirs = socket.socketpair()
        theirs.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, timeval(IDLE_SECONDS))
        native = native_of(["/bin/sh", "-c", CONNECT, "sh", *command], {}, writable=True)
        program = RunnerProgram(marshal.dumps({}, 2), native=native)
        self._thread = threading.Thread(target=self._run, args=(program, theirs.detach()), name="resident")
        self._thread.start()

    @property
    def running(self) -> bool:
        """Whether it hasn't ended."""
        return self._thread.is_alive()

    def ask(self, request: bytes) -> bytes | None:
        """Return the compiled program, empty if it doesn't compile; None if this compiler must be replaced."""
        self.left -= 1
        end = time.monotonic() + PATIENCE
        try:
            self._socket.settimeout(PATIENCE)
            self._socket.sendall(request)
            (size,) = LENGTH.unpack(self._receive(LENGTH.size, end))
            return self._receive(size, end) if 0 <= size <= COMPILER_LIMITS.output_bytes else None
        except OSError:
            return None

    def interrupt(self) -> None:
        """End the process. May be called from any thread."""
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._worker.interrupt()

    def close(self) -> None:
        """End the process, and wait until it has ended."""
        self.interrupt()
        self._thread.join()
        self._socket.close()

    def _receive(self, size: int, end: float) -> bytes:
        received = bytearray()
        while len(received) < size:
            self._socket.settimeout(max(end - time.monotonic(), 1e-3))
            part = self._socket.recv(min(size - len(received), 1 << 20))
            if not part:
                raise ConnectionError("the compiler has ended")
            received += part
        return bytes(received)

    def _run(self, program: RunnerProgram, link: int) -> None:
        """Run it until it ends."""
        try:
            with contextlib.ExitStack() as stack:
                stack.callback(os.close, link)
                client = RunnerClient(self._worker, program, LIMITS)
                stack.callback(client.close)
                client.compile()
                client.run(b"", Wiring(link=os.dup(link)))
        except (RunnerLost, WorkerLost, OSError):
            self._worker.discard()
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)


class Residents:
    """The resident compilers of one slot, by their commands; `worker_with` returns a worker whose jail has tools."""

    def __init__(self, worker_with: Callable[[tuple[str, ...]], Worker]) -> None:
        self._worker_with = worker_with
        self._running: dict[tuple[str, ...], ResidentCompiler] = {}

    def made(
        self, request: bytes, command: list[str], tools: tuple[str, ...], cancellation: Cancellation
    ) -> bytes | None:
        """Return the compiled program, None if the ordinary compiler has to be used. Raises Cancelled."""
        key = (*command, *tools)
        compiler = self._running.get(key)
        if compiler is not None and not compiler.running:
            compiler.close()
            compiler = None
        if compiler is None:
            compiler = self._running[key] = ResidentCompiler(self._worker_with(tools), command)
        with cancellation.calling(compiler.interrupt):
            made = compiler.ask(request)
        if made is None or not compiler.left:
            del self._running[key]
            compiler.close()
        cancellation.check()
        return made or None

    def close(self) -> None:
        """End all of them."""
        for compiler in self._running.values():
            compiler.close()
        self._running.clear()
