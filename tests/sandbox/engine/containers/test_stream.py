"""Frames between host and agent, over real pipes, however they are cut; and links over real sockets."""

import contextlib
import os
import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from alpha_codium.sandbox.engine.containers.inside import frames
from alpha_codium.sandbox.engine.containers.inside.link import Link
from alpha_codium.sandbox.engine.containers.stream import AgentStream, StreamLost

KINDS = st.sampled_from([frames.RESULT, frames.LINK, frames.ENDED])
FRAMES = st.lists(st.tuples(KINDS, st.integers(0, 2**32 - 1), st.binary(max_size=300)), max_size=8)


@contextmanager
def pipes(largest: int = 1000) -> Iterator[tuple[AgentStream, int, int]]:
    """A stream, and the far ends of its pipes: what it says can be read from the first, what it hears be written."""
    (heard, writer), (reader, said) = os.pipe(), os.pipe()
    try:
        yield AgentStream(writer, reader, largest), heard, said
    finally:
        for fd in (heard, writer, reader, said):
            try:
                os.close(fd)
            except OSError:
                continue


def soon() -> float:
    return time.monotonic() + 10


@given(FRAMES, st.data())
def test_frames_come_whole_and_in_order_however_the_pipe_cuts_them(sent: list, data: st.DataObject) -> None:
    text = b"".join(frames.HEADER.pack(kind, number, len(body)) + body for kind, number, body in sent)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=6)))
    with pipes() as (stream, _, said):
        received = []
        for begin, end in zip([0, *cuts], [*cuts, len(text)], strict=True):
            os.write(said, text[begin:end])
            while (frame := stream.next(time.monotonic())) is not None:
                received.append(frame)
    assert received == sent


def test_a_frame_is_sent_as_it_is_parsed() -> None:
    with pipes() as (stream, heard, _):
        stream.send(frames.TEST, 7, b"ab", b"c", seconds=5)
        assert os.read(heard, 100) == frames.HEADER.pack(frames.TEST, 7, 3) + b"abc"


def test_no_frame_in_time_is_none_and_no_error() -> None:
    with pipes() as (stream, _, said):
        os.write(said, frames.HEADER.pack(frames.RESULT, 1, 10) + b"half")
        assert stream.next(time.monotonic() + 0.01) is None


@pytest.mark.parametrize("size", [1001, 2**32 - 1])
def test_who_announces_more_than_he_may_say_is_not_listened_to(size: int) -> None:
    with pipes(largest=1000) as (stream, _, said):
        os.write(said, frames.HEADER.pack(frames.RESULT, 1, size))
        with pytest.raises(StreamLost):
            stream.next(soon())


def test_the_end_of_a_container_is_said_after_its_last_frame() -> None:
    with pipes() as (stream, _, said):
        os.write(said, frames.HEADER.pack(frames.GONE, 1, 2) + b"so")
        os.close(said)
        assert stream.next(soon()) == (frames.GONE, 1, b"so")
        with pytest.raises(StreamLost):
            stream.next(soon())


def test_a_container_that_takes_nothing_is_lost_in_time() -> None:
    with pipes() as (stream, _, _), pytest.raises(StreamLost, match="read any more"):
        stream.send(frames.TEST, 1, b"x" * 1_000_000, seconds=0.2)


def test_both_may_say_much_at_once() -> None:
    """An agent that writes a large answer reads nothing meanwhile: the host has to take it while it writes itself."""
    large = b"x" * 3_000_000
    with pipes(largest=len(large)) as (stream, heard, said):

        def agent() -> None:
            view = memoryview(frames.HEADER.pack(frames.RESULT, 1, len(large)) + large)
            while view:
                view = view[os.write(said, view) :]
            left = frames.HEADER.size + len(large)
            while left:
                left -= len(os.read(heard, 1 << 16))

        thread = threading.Thread(target=agent)
        thread.start()
        stream.send(frames.TEST, 1, large, seconds=60)
        assert stream.next(soon()) == (frames.RESULT, 1, large)
        thread.join()


@pytest.mark.thorough
def test_who_writes_leaves_reading_to_who_waits_for_a_frame(monkeypatch: pytest.MonkeyPatch) -> None:
    """An order to end a test comes from another thread than the one that waits for the test's result."""
    readers: set[int] = set()
    read, waiting = os.read, threading.Event()

    def noted(fd: int, size: int) -> bytes:
        readers.add(threading.get_ident())
        waiting.set()
        return read(fd, size)

    monkeypatch.setattr("alpha_codium.sandbox.engine.containers.stream.os.read", noted)
    with pipes(largest=100_000) as (stream, _, said), ThreadPoolExecutor(1) as other:
        text = frames.HEADER.pack(frames.RESULT, 1, 90_000) + b"x" * 90_000
        os.write(said, text[:1])
        frame = other.submit(lambda: (threading.get_ident(), stream.next(soon())))
        assert waiting.wait(10)
        for begin in range(1, len(text), 10_000):
            os.write(said, text[begin : begin + 10_000])
            with contextlib.suppress(StreamLost):
                stream.send(frames.TEST, 1, b"x" * 100_000, seconds=0.1)
        reader, received = frame.result()
    assert received == (frames.RESULT, 1, b"x" * 90_000) and readers == {reader}


def test_a_closed_stream_does_not_write_to_who_has_its_numbers_now() -> None:
    with pipes() as (stream, heard, _):
        stream.close()
        os.close(stream.writer)
        os.close(heard)
        reader, writer = os.pipe()
        other = os.dup2(writer, stream.writer) if writer != stream.writer else writer
        with pytest.raises(StreamLost, match="closed"):
            stream.send(frames.KILL, 1, seconds=0.2)
        os.set_blocking(reader, False)
        with pytest.raises(BlockingIOError):
            os.read(reader, 100)
        for fd in {reader, writer, other}:
            os.close(fd)


class Wire:
    """Two links whose frames reach each other, each with a program's socket at its other end."""

    def __init__(self) -> None:
        self.programs, ends = zip(*(socket.socketpair() for _ in range(2)), strict=True)
        self.queues: list[list[tuple[bytes, bytes]]] = [[], []]
        self.links = [
            Link(end, lambda kind, data, to=1 - i: self.queues[to].append((kind, data))) for i, end in enumerate(ends)
        ]
        for program in self.programs:
            program.setblocking(False)

    def pump(self) -> None:
        """Carry until nothing moves any more."""
        moved = True
        while moved:
            moved = False
            for link, queue in zip(self.links, self.queues, strict=True):
                while queue:
                    link.receive(*queue.pop(0))
                    moved = True
                link.write()
                moved = (link.may_read and link.read()) or moved

    def received(self, side: int) -> bytes:
        """All that has come for a program."""
        found = b""
        while True:
            try:
                chunk = self.programs[side].recv(1 << 20)
            except BlockingIOError:
                return found
            if not chunk:
                return found
            found += chunk


@settings(max_examples=50)
@given(st.lists(st.tuples(st.integers(0, 1), st.binary(min_size=1, max_size=5000)), max_size=20))
def test_a_link_carries_both_ways_all_that_is_said_in_order(said: list[tuple[int, bytes]]) -> None:
    wire, sent, got = Wire(), [b"", b""], [b"", b""]
    for side, data in said:
        wire.programs[side].sendall(data)
        sent[side] += data
        wire.pump()
        got = [got[each] + wire.received(1 - each) for each in (0, 1)]
    assert got == sent


def test_who_does_not_read_holds_up_who_writes_and_nothing_grows() -> None:
    wire = Wire()
    written = 0
    try:
        while written < 1 << 26:
            written += wire.programs[0].send(b"x" * 100_000)
            wire.pump()
    except BlockingIOError:
        pass
    assert written < 1 << 24
    assert max(len(link.pending) for link in wire.links) <= frames.CHUNK


def test_the_end_of_one_side_comes_after_what_it_said() -> None:
    wire = Wire()
    wire.programs[0].sendall(b"last words")
    wire.programs[0].close()
    wire.pump()
    assert wire.received(1) == b"last words"
    assert wire.programs[1].recv(10) == b""
    assert [link.end for link in wire.links] == [None, None]
