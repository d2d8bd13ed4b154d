"""The planted secrets exist while the cases run, and at no other time."""

import os
import socket
from pathlib import Path

import pytest

from alpha_codium.audit.kit.cases import VARIABLE, planted_secrets


def test_the_answer_can_be_had_on_the_host_in_every_way_that_a_program_tries() -> None:
    with planted_secrets() as secrets:
        answer = secrets["answer"]
        assert Path(secrets["file"]).read_text() == answer
        assert os.environ[VARIABLE] == answer
        for _ in range(2):
            with socket.create_connection(("127.0.0.1", int(secrets["port"])), 5) as connection:
                assert connection.recv(100).decode() == answer
        assert int(secrets["pid"]) == os.getpid()


def test_nothing_of_it_is_left_even_after_a_failure() -> None:
    with pytest.raises(RuntimeError), planted_secrets() as secrets:
        dropped = Path("/tmp") / secrets["token"]
        dropped.write_text("x")
        raise RuntimeError
    assert not dropped.exists() and not Path(secrets["file"]).exists()
    assert VARIABLE not in os.environ
    with pytest.raises(OSError):
        socket.create_connection(("127.0.0.1", int(secrets["port"])), 1)


def test_each_run_has_another_answer() -> None:
    with planted_secrets() as first:
        pass
    with planted_secrets() as second:
        assert not {first["answer"], first["token"]} & {second["answer"], second["token"]}
