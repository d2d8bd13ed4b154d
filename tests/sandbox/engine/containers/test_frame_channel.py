"""What a container says, as its channel hears it: over real pipes, with an agent that is played."""

import os
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from alpha_codium.limits import Limits
from alpha_codium.sandbox.engine.channel import UNCONNECTED, Result, RunnerLost
from alpha_codium.sandbox.engine.containers import frame_channel as module
from alpha_codium.sandbox.engine.containers.frame_channel import FrameChannel, largest_frame
from alpha_codium.sandbox.engine.containers.inside import frames
from alpha_codium.sandbox.engine.containers.launch import Launch
from alpha_codium.sandbox.engine.containers.stream import AgentStream
from alpha_codium.sandbox.engine.inside import wire
from alpha_codium.sandbox.engine.interpreter import inspect_interpreter
from alpha_codium.sandbox.engine.jail import Jail
from alpha_codium.sandbox.engine.outcome import Outputs, largest_file

LIMITS = Limits(output_bytes=1000, file_bytes=1000)
NUMBER = 0


class Played:
    """A channel, and the far ends of its pipes."""

    def __init__(self) -> None:
        (self.heard, writer), (reader, self.said) = os.pipe(), os.pipe()
        jail = Jail(inspect_interpreter(sys.executable), ThreadPoolExecutor(1))
        self.channel = FrameChannel(jail, 0, LIMITS.memory_bytes, lambda _: Launch((), lambda: None, 0))
        self.channel._stream = AgentStream(writer, reader, largest_frame(LIMITS))
        self.channel._limits = LIMITS
        self._all = [self.heard, writer, reader, self.said]

    def begin(self) -> None:
        self.channel.send(b"the input", UNCONNECTED)

    def say(self, kind: bytes, data: bytes = b"", number: int = NUMBER) -> None:
        os.write(self.said, frames.HEADER.pack(kind, number, len(data)) + data)

    def close(self) -> None:
        for fd in self._all:
            os.close(fd)


@pytest.fixture
def played() -> Iterator[Played]:
    found = Played()
    yield found
    found.close()


def outcome(stdout: bytes, stderr: bytes, sizes: tuple[int, int], cpu: float = 0.25, *, touched: bool = False) -> bytes:
    numbers = (9, cpu, 0.5, 1234, 1, touched, *sizes, len(stdout), len(stderr))
    return frames.OUTCOME.pack(*numbers) + stdout + stderr


def test_a_test_crosses_with_its_input(played: Played) -> None:
    played.begin()
    assert os.read(played.heard, 99) == frames.HEADER.pack(frames.TEST, NUMBER, 10) + b"\0the input"


def test_a_result_comes_with_what_the_test_has_written(played: Played) -> None:
    played.begin()
    played.say(frames.RESULT, outcome(b"out", b"the end", (3, 1000), touched=True))
    assert played.channel.result(10) == Result(9, 0.25, 0.5, 1234 * 1024, 1, touched=True)
    assert played.channel.outputs(LIMITS) == Outputs(b"out", b"the end", 3, 1000)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.tuples(st.integers(0, 2**64 - 1), st.integers(0, 2**64 - 1)), st.binary(max_size=50), st.binary(max_size=50))
def test_whatever_a_container_says_of_sizes_no_output_is_larger_than_its_limit(
    sizes: tuple[int, int], stdout: bytes, stderr: bytes
) -> None:
    played = Played()
    try:
        played.begin()
        played.say(frames.RESULT, outcome(stdout, stderr, sizes))
        assert played.channel.result(10) is not None
        found = played.channel.outputs(LIMITS)
        for text, told, size in zip(
            (found.stdout, found.stderr), (found.stdout_bytes, found.stderr_bytes), sizes, strict=True
        ):
            assert len(text) <= told <= largest_file(LIMITS)
            # What is too long is still seen to be.
            assert told == size or size > largest_file(LIMITS)
    finally:
        played.close()


def test_a_word_about_another_candidate_is_nobodys(played: Played) -> None:
    played.begin()
    played.say(frames.RESULT, outcome(b"other", b"", (5, 0)), number=NUMBER + 1)
    played.say(frames.GONE, b"gone", number=NUMBER + 2)
    assert played.channel.result(0.05) is None


@pytest.mark.parametrize("data", [b"", b"short"])
def test_a_result_that_is_none_loses_the_container(played: Played, data: bytes) -> None:
    played.begin()
    played.say(frames.RESULT, data)
    with pytest.raises(RunnerLost, match="malformed frame"):
        played.channel.result(10)


def test_a_container_that_ends_is_lost(played: Played) -> None:
    played.begin()
    os.close(played.said)
    played._all.remove(played.said)
    with pytest.raises(RunnerLost, match="the agent was lost: it has ended"):
        played.channel.result(10)


def test_a_runner_that_is_gone_leaves_its_last_words(played: Played) -> None:
    played.say(wire.COMPILING)
    played.say(frames.GONE, b"Fatal Python error")
    assert played.channel.answer(10) == wire.COMPILING
    assert played.channel.answer(10) == b""
    assert played.channel.errors() == b"Fatal Python error"


def test_a_test_that_can_not_be_ended_when_its_time_is_up_has_used_it_up(
    played: Played, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "END_SECONDS", 0.05)
    played.begin()
    assert played.channel.result(0.01) is None
    played.channel.end_test()
    assert played.channel.result(0.1) == Result(9, 0.0, 0.1, 0, 1, touched=True)
    with pytest.raises(ConnectionError, match="it didn't end a test"):
        played.channel.await_end()
    played.begin()
    assert played.channel.result(0.1) is None
