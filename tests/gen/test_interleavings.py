"""Whatever fails, and whenever a run is killed: gone on with, it comes to the same samples. Real processes."""

import contextlib
import dataclasses
import json
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from alpha_codium.runs import AnswerStore, Journal
from tests.gen.cut_off import CONCURRENCY, PROBLEMS, SAMPLES, Plan
from tests.gen.running import write_flow
from tests.support import ROOT

STEPS = 2
CALLS = PROBLEMS * SAMPLES * STEPS
KILLED = -9
# A part of a run that dies at the n-th step, or ends by itself where there are fewer; and the calls that fail in it.
PART = st.tuples(st.integers(1, 130), st.frozensets(st.integers(1, CALLS), max_size=3))
PARTS = st.lists(PART, min_size=1, max_size=4)


class Runs:
    """A server of forks, and the flow of their runs."""

    def __init__(self, server: "subprocess.Popen[str]", flow: Path) -> None:
        self.server, self.flow = server, flow

    def part(self, root: Path, kill_at: int = 0, faults: frozenset[int] = frozenset()) -> int:
        """Run one part to its end; its status."""
        assert self.server.stdin is not None and self.server.stdout is not None
        plan = Plan(str(root), str(self.flow), kill_at, tuple(faults))
        self.server.stdin.write(json.dumps(dataclasses.asdict(plan)) + "\n")
        self.server.stdin.flush()
        return int(self.server.stdout.readline())


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runs]:
    flow = write_flow(tmp_path_factory.mktemp("flow") / "steps", STEPS)
    command = [sys.executable, "-m", "tests.gen.cut_off"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT) as server:
        yield Runs(server, flow)
        assert server.stdin is not None
        server.stdin.close()


@pytest.fixture(scope="module")
def undisturbed(runs: Runs, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The samples of a run to which nothing happened."""
    root = tmp_path_factory.mktemp("undisturbed")
    assert runs.part(root) == 0
    assert len(set(asked(root))) == len(asked(root)) == CALLS
    return journalled(root)


def asked(root: Path) -> list[str]:
    """The requests that were answered, in all parts of a run."""
    lines = (root / "asked").read_text().splitlines() if (root / "asked").exists() else []
    return [line for line in lines if not line.startswith("steps")]


def journalled(root: Path) -> list[str]:
    """The final samples of a run's journal, sorted; a sample that is there twice is here twice."""
    entries = Journal(root / "r" / "journal.jsonl").entries()
    return sorted(json.dumps(entry, sort_keys=True) for entry in entries if not entry["error"])


def stored(root: Path) -> int:
    """How many answers the run holds; none where it was killed before there was a file."""
    with contextlib.suppress(FileNotFoundError), AnswerStore((root / "r" / "answers.sqlite").resolve(True)) as store:
        return len(store)
    return 0


def check(runs: Runs, undisturbed: list[str], parts: list[tuple[int, frozenset[int]]]) -> int:
    """Run the parts and then to the end; how many of them were killed."""
    with tempfile.TemporaryDirectory() as place:
        root, killed = Path(place), 0
        for kill_at, faults in parts:
            status = runs.part(root, kill_at, faults)
            assert status in (0, KILLED)
            killed += status == KILLED
        assert runs.part(root) == 0
        assert journalled(root) == undisturbed
        assert stored(root) == len(set(asked(root))) == CALLS
        times = Counter(asked(root))
        assert max(times.values()) <= 1 + killed, "an answer that was kept was asked for again"
        assert sum(times.values()) - CALLS <= killed * CONCURRENCY, "more was lost than was in flight"
        assert len(list((root / "r" / "transcripts").rglob("*.json"))) == PROBLEMS * SAMPLES
    return killed


FEW = settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.mark.thorough
@FEW
@given(PARTS)
def test_any_interleaving_of_faults_kills_and_resumes_gives_the_same_samples(runs, undisturbed, parts):
    check(runs, undisturbed, parts)


@pytest.mark.slow
@settings(FEW, max_examples=600)
@given(PARTS)
def test_many_interleavings_of_faults_kills_and_resumes_give_the_same_samples(runs, undisturbed, parts):
    check(runs, undisturbed, parts)


@pytest.mark.thorough
def test_a_run_that_is_killed_at_every_tenth_remaining_step_finishes(runs, undisturbed):
    """The kills do happen: the property would hold of runs that no kill ever meets, too."""
    assert check(runs, undisturbed, [(10 * n, frozenset()) for n in range(1, 9)]) >= 4
