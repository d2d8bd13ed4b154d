"""The agent: the first process of a container. It starts a runner for each candidate and connects it to the host.

1. The host's pipes are moved to other descriptors first; a runner closes its copies before it does anything else.
2. For a runner, the agent plays the host's role in the local backend: it makes the files of a test, and the nonce,
   which stays unread in the runner's socket until all processes of the test are dead.
3. The host's clock decides when time is up; the agent only forwards signals, and only to a runner that isn't reaped.
4. When the host ends, the agent's stdin is closed; the agent exits, and the container ends with its first process.
"""

from __future__ import annotations

import _signal as signal  # pyrefly: ignore[missing-import] - the C module: `signal` loads enum
import _socket
import io
import marshal
import os
import select
import struct
import sys

from alpha_codium.sandbox.engine import files
from alpha_codium.sandbox.engine.containers.inside import container_jail, frames
from alpha_codium.sandbox.engine.containers.inside.host_stream import HostStream
from alpha_codium.sandbox.engine.containers.inside.link import Link
from alpha_codium.sandbox.engine.inside import program, walls, wire, zygote

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from alpha_codium.sandbox.engine.inside.jail import Config

    Started = tuple[Config, list[int], program.Driver | None, Config]

# gVisor counts CPU time in ticks of 10 ms; a test with a count of 0 is reported with half a tick.
HALF_TICK = 0.005


def serve(depth: int) -> Started:
    """Serve the host until it ends; return in a runner's process, with the arguments of `runner.make_ready`."""
    stream = HostStream()
    renew_streams()
    config = marshal.loads(stream.receive()[2])
    os.environ.clear()
    os.environ.update(config["environment"])
    zygote.settle(config, depth, container_jail.enter)
    stream.send(frames.READY, 0, bytes([config["nested"], config["proc"]]))
    while True:
        kind, number, data = stream.receive()
        # Ignore late frames about the previous candidate.
        if kind == frames.BEGIN:
            started = begin(stream, config, number, marshal.loads(data))
            if started is not None:
                return started


def renew_streams() -> None:
    """Replace Python's standard streams by streams of files: those made for pipes can't seek."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        old = getattr(sys, name)
        kept, file = os.dup(number), files.output_file(name)
        os.dup2(file, number)
        raw = io.FileIO(number, "w" if number else "r", closefd=False)
        raw.name = "<%s>" % name
        size = os.fstat(number).st_blksize
        buffer = io.BufferedWriter(raw, size) if number else io.BufferedReader(raw, size)
        text = io.TextIOWrapper(
            buffer, old.encoding, old.errors, "\n", line_buffering=old.line_buffering, write_through=old.write_through
        )
        text.mode = "w" if number else "r"  # pyrefly: ignore[read-only] - the interpreter sets it, too
        setattr(sys, name, text)
        setattr(sys, "__%s__" % name, text)
        os.dup2(kept, number)
        os.close(kept)
        os.close(file)


def begin(stream: HostStream, config: Config, number: int, message: list[Any]) -> Started | None:
    """Start a runner and serve it to its end; return something in the runner's process only."""
    source, driver, candidate = message
    candidate["rlimits"] = container_jail.settable(candidate["rlimits"])
    zygote.know_filter(candidate["filter"])
    code = zygote.driver_of(driver, config["folder"])
    ours, theirs = _socket.socketpair(_socket.AF_UNIX, _socket.SOCK_STREAM)
    # A runner expects a descriptor of the driver, although the driver is already compiled here.
    errors = files.output_file("stderr")
    fds = [files.input_file(source), files.output_file("none"), theirs.detach(), errors]
    pid = container_jail.fork_runner(config, candidate["guard"])
    if pid == 0:
        os.close(ours.detach())
        return candidate, fds, code, config
    for fd in fds[:3]:
        os.close(fd)
    Supervisor(stream, config, number, pid, ours, errors, candidate["output_bytes"]).serve()
    return None


class Supervisor:
    """Connects one runner and the host, from the runner's start to its end."""

    def __init__(
        self, stream: HostStream, config: Config, number: int, pid: int, runner: _socket.socket, errors: int, most: int
    ) -> None:
        self.stream, self.config, self.number, self.pid, self.runner = stream, config, number, pid, runner
        self.errors, self.output_bytes = errors, most
        self.outputs: list[int] = []
        self.nonce = b""
        self.link: Link | None = None
        self.compiled = self.ended = False
        self.untouched: list[Any] = []

    def serve(self) -> None:
        """Forward messages until the host ends the candidate."""
        while not self.ended:
            for fd, _ in self.poll():
                if fd == self.stream.reader:
                    self.handle(*self.stream.begin())
                elif fd == self.runner.fileno():
                    self.pass_on()
                elif self.link is not None:
                    self.link.carry()

    def poll(self) -> list[tuple[int, int]]:
        """Wait until there is something to read, or data for the link."""
        poll = select.poll()
        poll.register(self.stream.reader, select.POLLIN)
        if self.runner.fileno() >= 0:
            poll.register(self.runner.fileno(), select.POLLIN)
        for fd, events in (self.link.events() if self.link is not None else {}).items():
            poll.register(fd, events)
        return poll.poll()

    def send(self, kind: bytes, *parts: bytes) -> None:
        """Send the host a frame about this candidate."""
        self.stream.send(kind, self.number, *parts)

    def handle(self, kind: bytes, number: int, size: int) -> None:
        """Handle a frame of the host, whose header was read."""
        if kind == frames.TEST and number == self.number and self.runner.fileno() >= 0:
            self.begin_test(size)
            return
        data = self.stream.take(size)
        if number != self.number:
            return
        if kind == frames.END_TEST:
            os.kill(self.pid, signal.SIGUSR1)
        elif kind == frames.KILL:
            os.kill(self.pid, signal.SIGKILL)
        elif kind == frames.END:
            self.end()
        elif self.link is not None:
            self.link.receive(kind, data)

    def begin_test(self, size: int) -> None:
        """Start a test, whose frame has `size` bytes of data."""
        linked = self.stream.take(1) != b"\0"
        self.nonce = os.urandom(wire.NONCE_BYTES)
        self.outputs = [files.output_file("stdout"), files.output_file("stderr")]
        given = [container_jail.input_file(self.config, self.stream.chunks(size - 1))]
        if size > frames.LARGE_INPUT:
            self.send(frames.HELD)
        if linked:
            ours, theirs = _socket.socketpair(_socket.AF_UNIX, _socket.SOCK_STREAM)
            self.link = Link(ours, self.send)
            given.append(theirs.detach())
        fds = [given[0], *self.outputs, *given[1:]]
        handed = (_socket.SOL_SOCKET, zygote.SCM_RIGHTS, struct.pack("%di" % len(fds), *fds))
        try:
            self.runner.sendmsg([wire.TEST, self.nonce], [handed])
        except OSError:
            # It has ended; `pass_on` reports it.
            pass
        for fd in given:
            os.close(fd)

    def pass_on(self) -> None:
        """Forward a message of the runner."""
        try:
            said = self.runner.recv(wire.RESULT.size if self.compiled else 1)
        except OSError:
            said = b""
        if self.compiled and said[: wire.NONCE_BYTES] == self.nonce and len(said) == wire.RESULT.size:
            self.send_result(said)
        elif self.compiled or said not in (wire.COMPILING, wire.COMPILED, wire.NOT_COMPILED):
            self.lose()
        else:
            self.compiled = said == wire.COMPILED
            if self.compiled:
                self.untouched = container_jail.state(self.config)
            self.send(said, self.last_words() if said == wire.NOT_COMPILED else b"")

    def send_result(self, result: bytes) -> None:
        """Send the host the result of a test whose processes have all ended."""
        if self.link is not None:
            self.link.drain()
            self.link = None
        _, status, cpu, wall, peak, processes = wire.RESULT.unpack(result)
        self.nonce, outputs = b"", self.outputs
        sizes = [files.size_of(fd) for fd in outputs]
        stdout = files.beginning(outputs[0], sizes[0], self.output_bytes)
        stderr = files.end(outputs[1], sizes[1], frames.STDERR_KEPT)
        touched = container_jail.state(self.config) != self.untouched
        numbers = (status, cpu or min(wall, HALF_TICK), wall, peak, processes, touched, *sizes)
        self.forget()
        self.send(frames.RESULT, frames.OUTCOME.pack(*numbers, len(stdout), len(stderr)), stdout, stderr)

    def lose(self) -> None:
        """Clean up after a runner that died or sent an invalid message."""
        os.kill(self.pid, signal.SIGKILL)
        self.runner.close()
        self.send(frames.GONE, self.last_words())

    def last_words(self) -> bytes:
        """Return the end of stderr from compiling the program."""
        return files.end(self.errors, files.size_of(self.errors), frames.STDERR_KEPT)

    def forget(self) -> None:
        """Close the files of a test."""
        for fd in self.outputs:
            os.close(fd)
        self.outputs = []

    def end(self) -> None:
        """End the runner and everything that it runs, and renew its folders if they were changed."""
        os.kill(self.pid, signal.SIGKILL)
        self.runner.close()
        if self.link is not None:
            self.link.close()
        self.forget()
        os.close(self.errors)
        status = walls.await_end(self.pid)
        if self.config["uid"]:
            container_jail.uncover()
        if container_jail.state(self.config) != self.untouched:
            container_jail.renew(self.config)
        self.ended = True
        self.send(frames.ENDED, wire.WAIT_STATUS.pack(status))
