"""`gencode demo`, with a scripted model in place of the embedded one."""

import json
from pathlib import Path

import pytest

from tests.servers.scripted import ScriptedServer
from tests.support import gencode

SUM = "```python\nprint(int(input()) + int(input()))\n```"


@pytest.mark.thorough
def test_the_demo_solves_what_the_model_can_and_says_what_it_can_not(tmp_path: Path) -> None:
    with ScriptedServer([("Two jars", SUM), ("", "```python\nprint('Hello, World!')\n```")]) as server:
        model = ("--model", "openai/scripted", "--api_base", server.api_base)
        done = gencode("demo", *model, "--json", tmp_path / "demo.json", home=tmp_path, env={"OPENAI_API_KEY": "k"})
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert "  Hello                solved by 5 of 5" in lines
    assert "  Two Jars             solved by 5 of 5" in lines
    assert "  Lighthouse Signals   not solved (wrong_answer)" in lines
    assert "  pass@1 = 0.67, pass@5 = 0.67" in lines
    baseline, repair = json.loads((tmp_path / "demo.json").read_text())
    assert (baseline["flow"], repair["flow"]) == ("baseline", "write_and_repair")
    assert [line.split()[0] for line in lines[3:6]] == ["Hello", "Two", "Lighthouse"]
    for result in (baseline, repair):
        assert Path(result["summary"]["run_folder"], "results.json").exists()


@pytest.mark.thorough
def test_the_demo_shows_a_solved_program_a_repair_and_what_to_type_next(tmp_path: Path) -> None:
    right, wrong = "```python\nprint('Hello, World!')\n```", "```python\nprint('hello')\n```"
    with ScriptedServer(
        [("that fails", right), ("hello", right), ("prints Hello", wrong), ("", "```python\n1 / 0\n```")]
    ) as server:
        model = ("--model", "openai/scripted", "--api_base", server.api_base)
        done = gencode("demo", *model, home=tmp_path, env={"OPENAI_API_KEY": "k"})
    assert done.returncode == 0, done.stderr
    assert "Hello was solved by this program:\n\nprint('Hello, World!')\n" in done.stdout
    assert "a repair for Hello:\n\n--- wrong_answer\n+++ accepted\n" in done.stdout
    assert "-print('hello')\n+print('Hello, World!')\n" in done.stdout
    page = tmp_path / "demo.html"
    assert f"both runs as a page, to open in a browser: {page}\n" in done.stdout
    assert "pass@1" in page.read_text(), "the page has the verdicts by all tests"
    assert "next, a program that failed, and why:\n  gencode runs show " in done.stdout
    assert "--dataset_name jars --samples 5 --flow baseline --model openai/scripted\n" in done.stdout
    assert "gencode model get" not in done.stdout


@pytest.mark.thorough
@pytest.mark.parametrize(
    "model", [("openai/gpt-4o-mini",), ("openai/x", "--api_base", "http://127.0.0.1:9/v1"), ("local/none",)]
)
def test_a_demo_that_cannot_run_makes_no_run_folder(tmp_path: Path, model: tuple[str, ...]) -> None:
    options = ("-o", "config.max_retries=0")
    done = gencode(
        "demo", "--model", *model, *options, home=tmp_path, env={"OPENAI_API_KEY": "k" if len(model) > 1 else ""}
    )
    assert done.returncode == 2, done.stderr
    assert done.stderr.startswith("error: ")
    assert not (tmp_path / "runs").exists()


@pytest.mark.thorough
def test_without_a_key_many_samples_end_in_one_clear_line_and_no_warning(tmp_path: Path) -> None:
    done = gencode("demo", "--model", "openai/gpt-4o-mini", home=tmp_path, env={"OPENAI_API_KEY": ""})
    assert done.returncode == 2
    assert "Warning" not in done.stderr
    assert done.stderr.splitlines()[-1].startswith("error: openai/gpt-4o-mini: no API key is set")
