"""A test's input by turns: its first line, and each other line only after the test has written a line.

So a program can't know a line before it has answered the one before: the input is read here, by the runner, after the
test's process was forked, and the process has nothing but two pipes.
"""

from __future__ import annotations

import os
import select

from alpha_codium.sandbox.engine.inside import wire

# Milliseconds after which a test that writes nothing is found to have ended, if it left a process with its pipe.
LOOK = 20
PIECE = 1 << 16


class Turns:
    """The pipes between the runner and a test, in place of the first two of its files `fds`."""

    def __init__(self, fds: list[int], most_bytes: int) -> None:
        self.input, self.output, *others = fds
        self.most_bytes = most_bytes
        theirs, self.writer = os.pipe()
        self.reader, written = os.pipe()
        # What the test gets, and what only it must have open.
        self.given = [theirs, written, *others]

    def carry(self, pid: int) -> bool:
        """Carry lines until the test has ended or closed its end; return False if it wrote too much."""
        for fd in self.given:
            os.close(fd)
        *whole, rest = wire.read_all(self.input).split(b"\n")
        lines = iter([*(line + b"\n" for line in whole), rest])
        kept: list[bytes] = []
        size, due = 0, 1
        poll = select.poll()
        poll.register(self.reader, select.POLLIN)
        try:
            while True:
                for _ in range(due):
                    self.send(next(lines, b""))
                due = 0
                if poll.poll(LOOK):
                    piece = os.read(self.reader, PIECE)
                    kept.append(piece)
                    size += len(piece)
                    if not piece or size > self.most_bytes:
                        return not piece
                    due = piece.count(b"\n")
                elif os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT | os.WNOHANG):
                    return True
        finally:
            wire.write_all(self.output, b"".join(kept)[: self.most_bytes])
            self.end_input()
            for fd in (self.input, self.output, self.reader):
                os.close(fd)

    def send(self, line: bytes) -> None:
        """Send a line, or after the last one the end of the input; a test that has ended needs none."""
        if not line:
            self.end_input()
        elif self.writer >= 0:
            try:
                sent = os.write(self.writer, line)
                if sent < len(line):
                    wire.write_all(self.writer, line[sent:])
            except BrokenPipeError:
                pass

    def end_input(self) -> None:
        """Close the end of the pipe that the test reads from; may be called again."""
        if self.writer >= 0:
            os.close(self.writer)
            self.writer = -1
