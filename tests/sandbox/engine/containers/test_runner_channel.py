"""What a container says, as `RunnerClient` hears it: over real pipes, with an agent that is played."""

import array
import os
import socket
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from alpha_codium.limits import Limits
from alpha_codium.sandbox.engine import files
from alpha_codium.sandbox.engine.containers import runner_channel as module
from alpha_codium.sandbox.engine.containers.inside import frames
from alpha_codium.sandbox.engine.containers.runner_channel import RunnerChannel, largest_frame
from alpha_codium.sandbox.engine.containers.stream import AgentStream
from alpha_codium.sandbox.engine.inside import wire
from alpha_codium.sandbox.engine.outcome import largest_file
from alpha_codium.sandbox.engine.runner_client import TIMEVAL

LIMITS = Limits(output_bytes=1000, file_bytes=1000)
NONCE = b"n" * wire.NONCE_BYTES


class Played:
    """A line, and the far ends of its pipes."""

    def __init__(self) -> None:
        (self.heard, writer), (reader, self.said) = os.pipe(), os.pipe()
        self.fds = [files.input_file(b"the input"), files.output_file("stdout"), files.output_file("stderr")]
        self.errors = files.output_file("errors")
        self.line = RunnerChannel(AgentStream(writer, reader, largest_frame(LIMITS)), 7, LIMITS, self.errors)
        self._all = [self.heard, writer, reader, self.said, *self.fds, self.errors]

    def begin(self) -> None:
        handed = (socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", self.fds))
        self.line.sendmsg([wire.TEST, NONCE], [handed])

    def wait(self, seconds: float) -> bytes:
        self.line.setsockopt(0, 0, TIMEVAL.pack(int(seconds), int(seconds % 1 * 1e6)))
        return self.line.recv(99)

    def say(self, kind: bytes, data: bytes = b"", number: int = 7) -> None:
        os.write(self.said, frames.HEADER.pack(kind, number, len(data)) + data)

    def close(self) -> None:
        for fd in self._all:
            try:
                os.close(fd)
            except OSError:
                continue


@pytest.fixture
def played() -> Iterator[Played]:
    found = Played()
    yield found
    found.close()


def outcome(stdout: bytes, stderr: bytes, sizes: tuple[int, int], cpu: float = 0.25, *, touched: bool = False) -> bytes:
    numbers = (9, cpu, 0.5, 1234, 1, touched, *sizes, len(stdout), len(stderr))
    return frames.OUTCOME.pack(*numbers) + stdout + stderr


def test_a_test_crosses_as_what_its_files_hold(played: Played) -> None:
    played.begin()
    assert os.read(played.heard, 99) == frames.HEADER.pack(frames.TEST, 7, 10) + b"\0the input"


def test_a_result_comes_with_the_nonce_of_who_asked_and_the_outputs_in_his_files(played: Played) -> None:
    played.begin()
    played.say(frames.RESULT, outcome(b"out", b"the end", (3, 5000), touched=True))
    assert played.wait(10) == wire.RESULT.pack(NONCE, 9, 0.25, 0.5, 1234, 1)
    assert played.line.touched
    assert files.beginning(played.fds[1], 99, 99) == b"out"
    assert (files.size_of(played.fds[2]), files.end(played.fds[2], 5000, 7)) == (5000, b"the end")


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.tuples(st.integers(0, 2**64 - 1), st.integers(0, 2**64 - 1)), st.binary(max_size=50), st.binary(max_size=50))
def test_whatever_a_container_says_of_sizes_no_file_of_ours_grows_beyond_its_limit(
    sizes: tuple[int, int], stdout: bytes, stderr: bytes
) -> None:
    played = Played()
    try:
        played.begin()
        played.say(frames.RESULT, outcome(stdout, stderr, sizes))
        assert played.wait(10)[: wire.NONCE_BYTES] == NONCE
        for fd, size in zip(played.fds[1:], sizes, strict=True):
            assert files.size_of(fd) <= largest_file(LIMITS)
            # What is too long is still seen to be.
            assert (files.size_of(fd) == size) or size > largest_file(LIMITS)
    finally:
        played.close()


def test_a_word_about_another_candidate_is_nobodys(played: Played) -> None:
    played.begin()
    played.say(frames.RESULT, outcome(b"other", b"", (5, 0)), number=6)
    played.say(frames.GONE, b"gone", number=8)
    with pytest.raises(BlockingIOError):
        played.wait(0.05)


@pytest.mark.parametrize("data", [b"", b"short"])
def test_a_result_that_is_none_loses_the_container(played: Played, data: bytes) -> None:
    played.begin()
    played.say(frames.RESULT, data)
    assert played.wait(10) == b""
    assert "malformed frame" in files.last_words(played.errors)


def test_a_runner_that_is_gone_leaves_its_last_words(played: Played) -> None:
    played.say(wire.COMPILING)
    played.say(frames.GONE, b"Fatal Python error")
    assert played.wait(10) == wire.COMPILING
    assert played.wait(10) == b""
    assert files.last_words(played.errors) == "Fatal Python error"


def test_a_test_that_can_not_be_ended_when_its_time_is_up_has_used_it_up(
    played: Played, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "END_SECONDS", 0.05)
    played.begin()
    with pytest.raises(BlockingIOError):
        played.wait(0.01)
    played.line.expire()
    answer = played.wait(0.1)
    assert answer[: wire.NONCE_BYTES] == NONCE and wire.RESULT.unpack(answer)[1] == 9
    assert played.line.lost, "its container must not be used again"
    played.begin()
    with pytest.raises(BlockingIOError):
        played.wait(0.1)
