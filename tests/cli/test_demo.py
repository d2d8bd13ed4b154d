"""`gencode demo`, with a scripted model in place of the embedded one."""

import json
from pathlib import Path

import pytest

from tests.servers.scripted import ScriptedServer
from tests.support import gencode

SUM = "```python\nprint(int(input()) + int(input()))\n```"


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
def test_without_a_key_many_samples_end_in_one_clear_line_and_no_warning(tmp_path: Path) -> None:
    done = gencode("demo", "--model", "openai/gpt-4o-mini", home=tmp_path, env={"OPENAI_API_KEY": ""})
    assert done.returncode == 2
    assert "Warning" not in done.stderr
    assert done.stderr.splitlines()[-1].startswith("error: openai/gpt-4o-mini: no API key is set")
