"""The agent of plain processes: it starts one for each test, one at a time, and serves the frames about it.

It is small and started by exec, so that the peak memory of a program doesn't include that of gencode. Each test gets
new folders with its program in them. When gencode ends, so does the agent, and with it the program.
"""

from __future__ import annotations

import marshal
import os
import select
import signal
import socket
import time
from typing import Any

from alpha_codium.sandbox.engine.containers.inside import frames
from alpha_codium.sandbox.engine.containers.inside.host_stream import HostStream
from alpha_codium.sandbox.engine.containers.inside.link import Link
from alpha_codium.sandbox.engine.inside import wire
from alpha_codium.sandbox.portable.inside.process import Process
from alpha_codium.sandbox.portable.inside.rooms import PrivateRooms, Rooms, rooms_of

IMAGE = "program"


def serve() -> None:
    """Serve the host until it ends."""
    # With Python's own handler, a program could end the agent.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    stream = HostStream()
    rooms = rooms_of(marshal.loads(stream.receive()[2]))
    stream.send(frames.READY, 0, bytes([os.getpid() == 1, isinstance(rooms, PrivateRooms)]))
    while True:
        kind, number, data = stream.receive()
        # Ignore late frames about the previous candidate.
        if kind == frames.BEGIN:
            source, _, request = marshal.loads(data)
            Candidate(stream, rooms, number, source, request).serve()


class Candidate:
    """A program, and the frames about it; `request` is that of `plain_request`."""

    def __init__(self, stream: HostStream, rooms: Rooms, number: int, source: bytes, request: dict[str, Any]) -> None:
        self.stream, self.rooms, self.number, self.request = stream, rooms, number, request
        self.native = native = request["native"]
        folder = rooms.folder if native["writable"] else rooms.program_folder
        files = {IMAGE: source} if native["image"] else marshal.loads(source)
        self.files = {f"{folder}/{path}": data for path, data in files.items()}
        arguments = [f"{folder}/{IMAGE}"] if native["image"] else native["command"]
        self.command = [argument.replace("{folder}", folder) for argument in arguments]
        self.link: Link | None = None
        # Whether the host wants its process, or all of it, to end.
        self.ending = self.ended = False
        # Whether it is gone, by its wait status if a signal was the reason.
        self.gone, self.status = False, 0

    def serve(self) -> None:
        """Check the program, and run it until the host ends the candidate."""
        if "check" in self.native:
            self.check(**self.native["check"])
        else:
            self.send(wire.COMPILING)
            self.send(wire.COMPILED)
        while not self.ended:
            kind, number, data = self.stream.receive()
            if kind == frames.TEST and number == self.number and not self.gone:
                self.test(data)
            else:
                self.handle(kind, number, data)
        self.rooms.leave()
        self.send(frames.ENDED, wire.WAIT_STATUS.pack(self.status))

    def send(self, kind: bytes, *parts: bytes) -> None:
        """Send the host a frame about this candidate."""
        self.stream.send(kind, self.number, *parts)

    def lose(self, reason: str = "", status: int = 0) -> None:
        """Tell the host, once, that there will be no result."""
        if not self.gone:
            self.gone, self.status = True, status
            self.send(frames.GONE, reason.encode())

    def handle(self, kind: bytes, number: int, data: bytes) -> None:
        """Handle a frame of the host other than a test."""
        if number != self.number:
            return
        self.ending = self.ending or kind in (frames.END_TEST, frames.KILL, frames.END)
        self.ended = self.ended or kind == frames.END
        if kind == frames.KILL:
            self.lose(status=signal.SIGKILL)
        elif self.link is not None:
            self.link.receive(kind, data)

    def check(self, command: list[str], text: bytes, rlimits: dict[str, int], output_bytes: int) -> None:
        """Run the command that checks a Python program, which is its input, and say whether it compiles."""
        process = Process(self.rooms, command, {}, rlimits)
        if not self.start(process, text):
            return
        # From here on it may be the program's fault.
        self.send(wire.COMPILING)
        if not self.finish(process, output_bytes):
            return
        if process.status == signal.SIGKILL:
            # Not by one of our limits; the host knows whether it was for memory.
            self.lose(status=process.status)
        else:
            self.send(wire.NOT_COMPILED if process.status else wire.COMPILED, bytes(process.stderr))

    def test(self, data: bytes) -> None:
        """Run the program on one input; a byte before the input says whether it has a link."""
        theirs = -1
        if data[:1] != b"\0":
            ours, end = socket.socketpair()
            self.link, theirs = Link(ours, self.send), end.detach()
        request, started = self.request, time.monotonic()
        process = Process(
            self.rooms, self.command, self.native["environment"], request["rlimits"], compiled=self.native["image"]
        )
        succeeded = self.start(process, data[1:], theirs)
        if succeeded:
            if len(data) > frames.LARGE_INPUT:
                self.send(frames.HELD)
            succeeded = self.finish(process, request["output_bytes"])
        link, self.link = self.link, None
        if link is not None:
            link.drain()
        if succeeded:
            self.report(process, time.monotonic() - started)

    def start(self, process: Process, data: bytes, link: int = -1) -> bool:
        """Start a process in new folders; return whether that succeeded."""
        self.ending = False
        try:
            self.rooms.renew(len(data) + sum(map(len, self.files.values())))
            self.write_files()
            process.start(data, link)
        except OSError as error:
            self.lose(str(error))
            return False
        finally:
            if link >= 0:
                os.close(link)
        return True

    def finish(self, process: Process, most: int) -> bool:
        """Wait until a process ends, or has to end; return whether the host wants to know how."""
        process.watch(self.events, self.act, most)
        process.end(most)
        return not self.gone

    def write_files(self) -> None:
        """Write the program's files in their folder; raises OSError."""
        for path, data in self.files.items():
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "wb") as file:
                file.write(data)
                if self.native["image"]:
                    os.fchmod(file.fileno(), 0o755)

    def events(self) -> dict[int, int]:
        """Return what to wait for while a process runs: events by descriptor."""
        return {self.stream.reader: select.POLLIN, **(self.link.events() if self.link is not None else {})}

    def act(self, ready: set[int]) -> bool:
        """Handle what has come; return whether the process may go on."""
        if self.stream.reader in ready:
            self.handle(*self.stream.receive())
        if self.link is not None:
            self.link.carry()
        return not self.ending

    def report(self, process: Process, wall_seconds: float) -> None:
        """Send the result of a test."""
        kept, stderr = bytes(process.stdout[: self.request["output_bytes"]]), bytes(process.stderr)
        used = (process.status, process.cpu_seconds, wall_seconds, process.peak, process.count)
        sizes = (len(process.stdout), len(stderr), len(kept), len(stderr))
        # No test is touched by the one before: its folders are new.
        self.send(frames.RESULT, frames.OUTCOME.pack(*used, False, *sizes), kept, stderr)
