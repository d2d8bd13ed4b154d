import json
import os
import signal
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from alpha_codium.cli import repo
from tests.gen.running import run_cli
from tests.support import ROOT, gencode

GROUPS = ["data", "gen", "eval", "model", "sandbox", "settings", "demo"]


def test_help_names_every_command_in_the_order_of_the_work(home):
    done = run_cli("--help")
    assert done.returncode == 0
    places = [done.stdout.index(f"\n  {name} ") for name in GROUPS]
    assert places == sorted(places)


@pytest.mark.parametrize("command", [[], *([name] for name in GROUPS), ["gen", "solve_set"], ["gen", "ask"]])
def test_every_command_explains_itself(home, command):
    done = run_cli(*command, "--help")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("Usage: gencode")


def test_the_version_is_told(home):
    import alpha_codium

    assert run_cli("--version").stdout == f"gencode, version {alpha_codium.__version__}\n"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nonsense"], "No such command 'nonsense'"),
        (["langauges"], "No such command 'langauges' (did you mean 'languages'?)"),
        (["gen", "solve_sett"], "No such command 'solve_sett'"),
        (["gen", "solve_set", "--nonsense"], "No such option"),
        (["gen", "solve_set", "--samples", "0"], "0 is not in the range x>=1"),
        (["gen", "solve_set", "--sample_rate", "0"], "0.0 is not in the range"),
        (["gen", "ask"], "Missing argument 'QUESTION'"),
        (["settings", "--workers", "-1"], "-1 is not in the range"),
        (["serve", "--port", "99999"], "99999 is not in the range"),
        (["serve", "--port", "x"], "'x' is not a valid integer"),
        (["gen", "solve_set", "--sample_rate", "x"], "'x' is not a valid number"),
    ],
)
def test_a_mistyped_command_line_is_exit_status_2_and_says_why(home, arguments, words):
    done = run_cli(*arguments)
    assert done.returncode == 2
    assert words in done.stderr.splitlines()[-1]
    assert done.stdout == ""


def test_a_bug_of_ours_keeps_its_traceback_and_is_exit_status_1(home, tmp_path):
    (tmp_path / "sitecustomize.py").write_text(
        "import alpha_codium.cli.sandbox as s\ns.CommonOptions.settings = property(lambda self: 1 / 0)\n"
    )
    done = gencode("sandbox", "check", home=home, env={"PYTHONPATH": str(tmp_path)})
    assert done.returncode == 1
    assert "ZeroDivisionError" in done.stderr
    assert "Traceback" in done.stderr


@pytest.mark.parametrize(
    ("number", "status", "word"), [(signal.SIGINT, 130, "interrupted"), (signal.SIGTERM, 143, "terminated")]
)
def test_a_signal_that_ends_a_command_is_its_exit_status_without_a_traceback(home, tmp_path, number, status, word):
    fifo = tmp_path / "problem.json"
    os.mkfifo(fifo)
    command = [sys.executable, "-m", "alpha_codium", "settings", "--config", str(fifo)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as child:
        with fifo.open("w"):  # the child has opened its settings file, and waits for what is in it
            child.send_signal(number)
        # A signal just before the read doesn't end it, the end of the file does: that the signal came is known then.
        _, said = child.communicate(timeout=60)
    assert child.returncode == status
    assert word in said
    assert "Traceback" not in said


@pytest.mark.thorough
def test_a_reader_that_goes_away_is_no_traceback(home):
    command = f"{sys.executable} -m alpha_codium settings | head -c 1"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("arguments", ["settings", "--version", "cache stats"])
def test_a_disk_that_is_full_is_one_line_and_exit_status_2(home, arguments):
    command = f"{sys.executable} -m alpha_codium {arguments} > /dev/full"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr == "error: cannot write the output: No space left on device\n"


def test_a_command_that_is_done_does_not_look_for_garbage_once_more():
    # What is registered first is called last.
    code = "import atexit, gc\natexit.register(lambda: print(gc.get_freeze_count() > 0))\n"
    code += "from alpha_codium.cli.main import main\nmain(['--version'])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "True"


@pytest.mark.parametrize(
    ("command", "option", "ours"),
    [
        ("data etl", "--filter_languages", "--language"),
        ("data etl", "--train-sample", "--sample_rate"),
        ("data etl", "--input_dataset", "--dataset_name"),
        ("eval score", "--k_values", "--k"),
        ("gen solve_problem", "--prompt", "solve_problem --statement FILE"),
        ("gen ask", "--prompt", "`gen ask` takes the question as its argument"),
        ("gen solve_set", "--prompt", "see `gencode flows`"),
        ("data etl", "--translate-references", "leave it out; etl always adds the names of sources"),
    ],
)
def test_options_of_other_programs_are_answered_with_ours(command, option, ours):
    done = run_cli(*command.split(), option, "x")
    assert (done.returncode, ours in done.stderr.replace("'", "")) == (2, True), done.stderr


@pytest.mark.parametrize(
    ("name", "command"),
    [
        ("run-multiturn", "run"), ("run-multiturn-k8s", "run_k8s"), ("get-resources", "get_resources"),
        ("serve-vllm", "serve_vllm"), ("kill-vllm", "kill_vllm"),
    ],
)  # fmt: skip
def test_some_commands_are_programs_of_their_own(monkeypatch, name, command):
    called = []
    monkeypatch.setattr(repo, "main", called.append)
    monkeypatch.setattr(sys, "argv", [f"/usr/bin/{name}", "--help"])
    (entry,) = entry_points(group="console_scripts", name=name)
    entry.load()()
    assert called == [["repo", command, "--help"]]
    assert command in repo.COMMANDS


@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-"])
def test_a_command_works_where_a_stream_is_closed(closed: str, tmp_path: Path) -> None:
    out = tmp_path / "languages.json"
    command = f"{sys.executable} -m alpha_codium languages --json {out} {closed}"
    done = subprocess.run(command, shell=True, cwd=ROOT, check=False)
    assert done.returncode == 0
    assert json.loads(out.read_text())


def test_an_argument_that_is_not_utf_8_is_refused_in_one_line() -> None:
    command = [sys.executable, "-m", "alpha_codium", "gen", "ask", b"wh\xff"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, check=False)
    assert (done.returncode, done.stderr.decode()) == (2, "error: an argument isn't valid UTF-8: 'wh\\udcff'\n")
