"""The agent: the first process of a container. It starts a runner for each candidate and speaks for it to the host.

1. The host's pipes are moved out of the way at the start; a runner closes its copies before it does anything else.
2. The agent is to a runner what the host is in the local backend: it makes the files of a test, and the nonce, which
   is in the runner's socket, unread, until all processes of the test are dead.
3. The host's clock decides when time is up; the agent only passes signals on, and only to the runner it has not reaped.
4. Where the host goes, its stdin ends, and so does the agent; with the first process goes the container.
"""

from __future__ import annotations

import _signal as signal  # pyrefly: ignore[missing-import] - the C module: `signal` loads enum
import _socket
import gc
import marshal
import os
import select
import struct

from alpha_codium.sandbox.engine import files
from alpha_codium.sandbox.engine.containers.inside import container_jail, frames, streams
from alpha_codium.sandbox.engine.containers.inside.link import Link
from alpha_codium.sandbox.engine.inside import kernel as k
from alpha_codium.sandbox.engine.inside import program, walls, wire, zygote

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    Config = dict[str, Any]
    Started = tuple[Config, list[int], program.Driver | None, Config]

# gVisor counts CPU time in ticks of a hundredth of a second: a test shorter than one is said to have taken half of it.
HALF_TICK = 0.005


class HostStream:
    """The host, as the agent knows it; it ends the container where there is none any more."""

    def __init__(self) -> None:
        """Take stdin and stdout for it, and leave nothing in their place."""
        self.reader, self.writer = os.dup(0), os.dup(1)
        null = os.open(os.devnull, os.O_RDWR)
        os.dup2(null, 0)
        os.dup2(null, 1)
        os.close(null)

    def receive(self) -> tuple[bytes, int, bytes]:
        """A frame: its kind, its candidate's number, what it holds."""
        kind, number, size = self.begin()
        return kind, number, self.take(size)

    def begin(self) -> tuple[bytes, int, int]:
        """A frame's kind, its candidate's number, and the size of what it holds, which is to be taken next."""
        return frames.HEADER.unpack(self.take(frames.HEADER.size))

    def send(self, kind: bytes, number: int, *parts: bytes) -> None:
        """Send a frame."""
        data = memoryview(b"".join([frames.HEADER.pack(kind, number, sum(map(len, parts))), *parts]))
        try:
            while data:
                data = data[os.write(self.writer, data) :]
        except OSError:
            os._exit(0)

    def take(self, size: int) -> bytes:
        """So many bytes of a frame."""
        return b"".join(self.chunks(size))

    def chunks(self, size: int) -> Iterator[bytes]:
        """So many bytes of a frame, as they come."""
        while size:
            chunk = os.read(self.reader, min(size, 1 << 20))
            if not chunk:
                os._exit(0)
            size -= len(chunk)
            yield chunk


def serve(depth: int) -> Started:
    """Serve the host until it goes; comes back in a runner's process, with what `runner.make_ready` needs."""
    stream = HostStream()
    streams.renew()
    config = marshal.loads(stream.receive()[2])
    os.environ.clear()
    os.environ.update(config["environment"])
    zygote.prepare(config)
    zygote.allow_recursion(config["depth"] - depth)
    container_jail.enter(config)
    k.prctl(k.PR_SET_DUMPABLE, 0)
    k.warm_up()
    gc.collect()
    k.give_back()
    gc.freeze()
    stream.send(frames.READY, 0, bytes([config["nested"], config["proc"]]))
    while True:
        kind, number, data = stream.receive()
        # An order that came too late for the candidate before is nothing to anyone.
        if kind == frames.BEGIN:
            started = begin(stream, config, number, marshal.loads(data))
            if started is not None:
                return started


def begin(stream: HostStream, config: Config, number: int, order: list[Any]) -> Started | None:
    """Start a runner and serve it to its end; comes back with something in the runner only."""
    source, driver, candidate = order
    candidate["rlimits"] = container_jail.settable(candidate["rlimits"])
    zygote.know_filter(candidate["filter"])
    code = zygote.driver_of(driver, config["folder"])
    ours, theirs = _socket.socketpair(_socket.AF_UNIX, _socket.SOCK_STREAM)
    # The driver is compiled already: its place in what a runner is given is empty.
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
    """What stands between one runner and the host, from the runner's start to its end."""

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
        """Carry between both until the host says that it is over."""
        while not self.ended:
            for fd, _ in self.poll():
                if fd == self.stream.reader:
                    self.obey(*self.stream.begin())
                elif fd == self.runner.fileno():
                    self.hear()
                elif self.link is not None:
                    self.link.write()
                    if self.link.reads:
                        self.link.read()

    def poll(self) -> list[tuple[int, int]]:
        """Wait until there is something to do."""
        poll = select.poll()
        poll.register(self.stream.reader, select.POLLIN)
        if self.runner.fileno() >= 0:
            poll.register(self.runner.fileno(), select.POLLIN)
        link = self.link
        if link is not None and link.end is not None and (link.reads or link.writes):
            poll.register(link.end.fileno(), select.POLLIN * link.reads | select.POLLOUT * link.writes)
        return poll.poll()

    def say(self, kind: bytes, *parts: bytes) -> None:
        """Send the host a frame about this candidate."""
        self.stream.send(kind, self.number, *parts)

    def obey(self, kind: bytes, number: int, size: int) -> None:
        """Do what the host asks in a frame that has begun."""
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
            self.link.hear(kind, data)

    def begin_test(self, size: int) -> None:
        """Hand the runner a test, whose frame has so many bytes."""
        linked = self.stream.take(1) != b"\0"
        self.nonce = os.urandom(wire.NONCE_BYTES)
        self.outputs = [files.output_file("stdout"), files.output_file("stderr")]
        given = [container_jail.input_file(self.config, self.stream.chunks(size - 1))]
        if size > frames.LARGE_INPUT:
            self.say(frames.HELD)
        if linked:
            ours, theirs = _socket.socketpair(_socket.AF_UNIX, _socket.SOCK_STREAM)
            self.link = Link(ours, self.say)
            given.append(theirs.detach())
        fds = [given[0], *self.outputs, *given[1:]]
        handed = (_socket.SOL_SOCKET, zygote.SCM_RIGHTS, struct.pack("%di" % len(fds), *fds))
        try:
            self.runner.sendmsg([wire.TEST, self.nonce], [handed])
        except OSError:
            # It is gone, and `hear` will say so.
            pass
        for fd in given:
            os.close(fd)

    def hear(self) -> None:
        """Pass on what the runner says."""
        try:
            said = self.runner.recv(wire.RESULT.size if self.compiled else 1)
        except OSError:
            said = b""
        if self.compiled and said[: wire.NONCE_BYTES] == self.nonce and len(said) == wire.RESULT.size:
            self.tell(said)
        elif self.compiled or said not in (wire.COMPILING, wire.COMPILED, wire.NOT_COMPILED):
            self.lose()
        else:
            self.compiled = said == wire.COMPILED
            if self.compiled:
                self.untouched = container_jail.state(self.config)
            self.say(said, self.last_words() if said == wire.NOT_COMPILED else b"")

    def tell(self, result: bytes) -> None:
        """Tell the host what came of a test, of which nothing is left."""
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
        self.say(frames.RESULT, frames.OUTCOME.pack(*numbers, len(stdout), len(stderr)), stdout, stderr)

    def lose(self) -> None:
        """The runner has died, or says what it can't know: end it."""
        os.kill(self.pid, signal.SIGKILL)
        self.runner.close()
        self.say(frames.GONE, self.last_words())

    def last_words(self) -> bytes:
        """The end of what was said while the program was compiled."""
        return files.end(self.errors, files.size_of(self.errors), frames.STDERR_KEPT)

    def forget(self) -> None:
        """Close the files of a test."""
        for fd in self.outputs:
            os.close(fd)
        self.outputs = []

    def end(self) -> None:
        """End the runner, and with it all that it runs, and make its folders anew."""
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
        self.say(frames.ENDED, wire.WAIT_STATUS.pack(status))
