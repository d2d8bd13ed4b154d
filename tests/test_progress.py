"""Progress of long commands where stderr is no terminal."""

import re
import time

from alpha_codium import progress
from alpha_codium.progress import Progress


def test_while_one_step_takes_long_lines_say_what_is_being_done(monkeypatch, capsys):
    monkeypatch.setattr(progress, "PLAIN_WITHOUT_STEPS", 0.1)
    lines, end = "", time.monotonic() + 30
    with Progress("solving", 2, status=lambda: "asking the model"):
        while lines.count("solving: 0/2") < 2 and time.monotonic() < end:
            time.sleep(0.05)
            lines += capsys.readouterr().err
    assert lines.count("asking the model") >= 2


def test_after_the_end_nothing_is_said(monkeypatch, capsys):
    monkeypatch.setattr(progress, "PLAIN_WITHOUT_STEPS", 0.05)
    with Progress("solving", 2):
        pass
    capsys.readouterr()
    time.sleep(0.3)
    assert capsys.readouterr().err == ""


def test_the_time_left_is_estimated_without_the_steps_of_a_resumed_run(monkeypatch, capsys):
    monkeypatch.setattr(progress, "RESUMING_SECONDS", 0.2)
    monkeypatch.setattr(progress, "PLAIN_EVERY", 0.0)
    with Progress("judging", 1000) as shown:
        shown.advance(900)
        time.sleep(0.5)
        assert "left" not in capsys.readouterr().err
        time.sleep(1.5)
        shown.advance(10)
        found = re.search(r"910/1000 in (\d+) s, about (\d+) s left", capsys.readouterr().err)
    assert found is not None
    seconds, left = map(int, found.groups())
    assert 9 * (seconds - 1) <= left <= 9 * (seconds + 1)


def test_the_time_left_is_not_estimated_from_the_start_and_the_first_step(monkeypatch, capsys):
    monkeypatch.setattr(progress, "RESUMING_SECONDS", 0.1)
    monkeypatch.setattr(progress, "PLAIN_EVERY", 0.0)
    with Progress("judging", 1000) as shown:
        time.sleep(1.0)
        shown.advance()
        assert re.search(r"1/1000 in 1 s\n", capsys.readouterr().err)
        time.sleep(0.1)
        shown.advance(499)
        assert "left" not in capsys.readouterr().err, "the other half takes as long as this one, 0.1 s"
