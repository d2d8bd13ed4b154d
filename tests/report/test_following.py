"""A page that is written again while its run goes on."""

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.gen.running import model_arguments, run_cli, write_problems
from tests.servers.scripted import Delay, ScriptedServer, Text

ANSWER = "```python\nprint(input())\n```"


@pytest.mark.thorough
def test_a_followed_page_reloads_until_its_run_ends(home, page, tmp_path):
    problems = write_problems(tmp_path, 3)
    out = tmp_path / "followed.html"
    with ScriptedServer(lambda _body: Delay(2.0, Text(ANSWER))) as server:
        command = [
            *(sys.executable, "-m", "alpha_codium", "gen", "solve_set", "--dataset_name", str(problems)),
            *("--flow", "baseline", "--samples", "3", "--run", "live", "--concurrency", "1"),
            *("--output_dataset_name", str(tmp_path / "answers"), *model_arguments(server)),
        ]
        with subprocess.Popen(command, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL) as solving:
            wait_for(home / "runs" / "live" / "journal.jsonl")
            follow = [sys.executable, "-m", "alpha_codium", "report", "live", "--follow", "--output", str(out)]
            with subprocess.Popen(follow, stderr=subprocess.PIPE, text=True) as following:
                wait_for(out)
                page.open(out)
                assert "the run goes on" in page.text(".sub")
                assert page.page.locator("#live").is_visible()
                leave_a_page_that_does_not_reload(follow, tmp_path / "left.html")
                assert solving.wait(timeout=120) == 0
                assert following.wait(timeout=120) == 0
        page.page.wait_for_selector("#live", state="hidden", timeout=20_000)
        assert page.page.locator("#grid .cell").count() == 9, "the open page loaded the last state by itself"


def test_a_run_that_has_ended_is_written_once(home, tmp_path):
    from tests.report.conftest import RIGHT, score

    del home
    score(tmp_path, "one", {"p/1": [RIGHT]})
    done = run_cli("report", "one", "--follow")
    assert done.returncode == 0, done.stderr
    assert "the run goes on" not in Path(done.stdout.strip()).read_text()


def leave_a_page_that_does_not_reload(follow: list[str], out: Path) -> None:
    """Interrupt a command that follows a run."""
    with subprocess.Popen([*follow[:-1], str(out)], stderr=subprocess.PIPE, text=True) as following:
        wait_for(out)
        assert "the run goes on" in out.read_text()
        following.send_signal(signal.SIGINT)
        assert following.wait(timeout=60) == 130
    assert "the run goes on" not in out.read_text()


def wait_for(path: Path, seconds: float = 60) -> None:
    """Wait until a file has a content."""
    end = time.monotonic() + seconds
    while not (path.exists() and path.stat().st_size):
        assert time.monotonic() < end, f"{path} wasn't written"
        time.sleep(0.1)
