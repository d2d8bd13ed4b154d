"""What the tests of replays share: a run, and its replay by the command line."""

import hashlib
import itertools
import json
import shutil

import pytest

from tests.gen.running import ECHO, model_arguments, run_cli, write_flow, write_problems
from tests.servers.scripted import ScriptedServer, Text


@pytest.fixture
def run(home, tmp_path):
    """Makes the run `r` of three problems and two samples, with a model that never answers twice the same."""

    def solve(*arguments, flow=None, faults=(), latency=0.0, status=(0,), answer=ECHO):
        numbers = itertools.count()
        reply = lambda _body: Text(answer.replace("\n```", f"  # {next(numbers)}\n```"))  # noqa: E731
        with ScriptedServer(reply, faults=faults, latency=latency) as server:
            job = ["--dataset_name", write_problems(tmp_path, 3), "--samples", 2, "--run", "r"]
            flow = flow or write_flow(tmp_path / "steps", 2)
            done = run_cli("gen", "solve_set", *job, "--flow", flow, *model_arguments(server), *arguments)
            assert done.returncode in status, done.stderr
        shutil.rmtree(home / "cache", ignore_errors=True)
        return home / "runs" / "r"

    return solve


def replay(*arguments):
    """Replays the run `r`; the status, what was said, and the result."""
    done = run_cli("replay", "r", "--json", "-", *arguments)
    return done.returncode, done.stderr, json.loads(done.stdout) if done.stdout else {}


def files_of(folder):
    """All files of a folder: their content, and when they were changed."""
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    return {str(path): (hashlib.sha256(path.read_bytes()).digest(), path.stat().st_mtime_ns) for path in paths}
