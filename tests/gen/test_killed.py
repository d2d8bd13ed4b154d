"""Runs that are cut off: a real `gencode` process against a server in another one."""

import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from alpha_codium.runs import AnswerStore, Journal
from tests.gen.forked import forking
from tests.gen.running import columns_of, run_cli, write_flow, write_problems
from tests.servers.scripted import scripted_process

SCRIPT = """
from tests.gen.running import signed as script
"""
PROBLEMS, SAMPLES, STEPS, CONCURRENCY = 4, 4, 4, 4
CALLS = PROBLEMS * SAMPLES * STEPS
# Kills, and how many notes of the server are waited for before each at most: of two for each answer some must be left.
FEW_KILLS, MANY_KILLS = (4, 24), (10, 14)
PATIENCE_SECONDS = 120


class Asked:
    """The answers that a server has noted in its journal."""

    def __init__(self, journal: Path) -> None:
        self.journal = journal

    def digests(self, event: str = "answering", after: int = 0) -> list[str]:
        """The requests of all notes of this kind after the first so many notes, in order."""
        return [note["digest"] for note in self._notes()[after:] if note["event"] == event]

    def __len__(self) -> int:
        return len(self._notes())

    def wait_for(self, count: int, ended: Callable[[], bool]) -> None:
        """Wait until the journal has so many notes, or the run has ended."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while len(self) < count and not ended():
            assert time.monotonic() < deadline, f"{len(self)} of {count} notes"
            time.sleep(0.005)  # the journal is another process's file: nothing tells us of its lines

    def _notes(self) -> list[dict]:
        text = self.journal.read_text() if self.journal.exists() else ""
        return [json.loads(line) for line in text.splitlines(keepends=True) if line.endswith("\n")]


@contextlib.contextmanager
def gencode_process(*arguments: object, stderr: Path) -> Iterator[subprocess.Popen]:
    """A `gencode` in a process of its own, killed at the end of the block if it still lives."""
    command = [sys.executable, "-m", "alpha_codium", *map(str, arguments)]
    with stderr.open("w") as errors, subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=errors) as child:
        try:
            yield child
        finally:
            if child.poll() is None:
                child.kill()


@pytest.fixture
def asked(tmp_path):
    return Asked(tmp_path / "asked.jsonl")


@pytest.fixture
def address(tmp_path, asked):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    with scripted_process(script, "--latency", "0.05", "--journal", str(asked.journal)) as url:
        yield f"{url}/v1"


@pytest.fixture
def job(home, address, tmp_path):
    """The options of a run of several calls a sample, which it has to ask for itself."""
    problems = write_problems(tmp_path, PROBLEMS)
    flow = write_flow(tmp_path / "steps", STEPS)
    model = ["--model", "openai/scripted", "--api_base", address, "--concurrency", CONCURRENCY]
    return ["--dataset_name", problems, "--flow", flow, "--samples", SAMPLES, "--no_cache", *model]


def stored_digests(run: Path) -> set[str]:
    """The requests whose answers a killed run had stored: the scripted programs name them."""
    import sqlite3

    if not (run / "answers.sqlite").exists():
        return set()
    with contextlib.closing(sqlite3.connect(run / "answers.sqlite")) as connection:
        try:
            rows = connection.execute("SELECT answer FROM answers").fetchall()
        except sqlite3.OperationalError:  # killed before the table was made
            return set()
    return {json.loads(answer)["text"].rpartition("# ")[2].split()[0] for (answer,) in rows}


@pytest.mark.thorough
@pytest.mark.timeout(900)
@pytest.mark.parametrize(
    ("kills", "most_notes"), [FEW_KILLS, pytest.param(*MANY_KILLS, marks=pytest.mark.slow)], ids=["four", "ten"]
)
def test_a_run_killed_many_times_gives_the_dataset_of_one_that_was_not(home, job, asked, tmp_path, kills, most_notes):
    done = run_cli("gen", "solve_set", *job, "--run", "whole")
    assert done.returncode == 0, done.stderr
    whole = columns_of(home / "runs" / "whole" / "solutions")
    assert len(asked.digests()) == len(set(asked.digests())) == CALLS

    run, instants = home / "runs" / "cut", random.Random(20260101)
    first_note = len(asked)
    killed = 0
    with forking() as forks:
        for _ in range(kills):
            noted, stored = len(asked), stored_digests(run)
            arguments = ["--resume", "cut"] if (run / "run.toml").exists() else [*job, "--run", "cut"]
            with forks.gencode("gen", "solve_set", *arguments, stderr=tmp_path / "stderr") as child:
                asked.wait_for(noted + instants.randint(1, most_notes), child.ended)
                time.sleep(instants.uniform(0, 0.06))  # anywhere between two answers
                child.kill()
                killed += child.wait() == -signal.SIGKILL
            assert not stored & set(asked.digests(after=noted)), "a stored answer was asked for again"
    noted, stored = len(asked), stored_digests(run)
    assert killed >= kills - kills // 5
    done = run_cli("gen", "solve_set", "--resume", "cut")
    assert done.returncode == 0, done.stderr
    assert not stored & set(asked.digests(after=noted))
    assert columns_of(run / "solutions") == whole
    times = Counter(asked.digests(after=first_note))
    assert len(times) == CALLS
    assert sum(times.values()) - CALLS <= killed * CONCURRENCY, "more than what was in flight was asked again"
    assert max(times.values()) <= 1 + killed
    entries = list(Journal(run / "journal.jsonl").entries())
    assert len({(e["task_name"], e["sample_index"]) for e in entries}) == len(entries) == PROBLEMS * SAMPLES
    with AnswerStore(run / "answers.sqlite") as store:
        assert len(store) == CALLS


@pytest.mark.thorough
@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_run_that_a_signal_ends_says_how_to_resume_it(home, job, asked, tmp_path, number, status):
    errors = tmp_path / "stderr"
    with gencode_process("gen", "solve_set", *job, "--run", "stopped", stderr=errors) as child:
        asked.wait_for(10, lambda: child.poll() is not None)
        os.kill(child.pid, number)
        assert child.wait(PATIENCE_SECONDS) == status
    said = errors.read_text()
    assert "resume this run with gencode gen solve_set --resume stopped\n" in said
    assert "Traceback" not in said
    noted, stored = len(asked), stored_digests(home / "runs" / "stopped")
    assert stored
    done = run_cli("gen", "solve_set", "--resume", "stopped")
    assert done.returncode == 0, done.stderr
    assert not stored & set(asked.digests(after=noted))
    assert len(set(asked.digests())) == CALLS
