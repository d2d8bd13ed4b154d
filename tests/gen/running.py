"""What the tests of the loop share: small problems, a flow of a few calls, the command line in this process."""

import contextlib
import io
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import pytest

from alpha_codium.cli.main import main
from tests.json_results import check_json
from tests.servers.scripted import ScriptedServer, Text, digest_of

KEY = "sk-scripted-0123456789"
ECHO = "```python\nprint(input())\n```"


@dataclass(frozen=True)
class Done:
    """How a command ended."""

    returncode: int
    stdout: str
    stderr: str


def run_cli(*arguments: object) -> Done:
    """The command line in this process: litellm is imported once for all tests, not once a test."""
    out, err = io.StringIO(), io.StringIO()
    status: Any = 0
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main([str(argument) for argument in arguments])
        except SystemExit as ended:
            status = ended.code
    assert click.get_current_context(silent=True) is None
    check_json([str(argument) for argument in arguments], out.getvalue())
    return Done(status or 0, out.getvalue(), err.getvalue())


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A GENCODE_HOME and a working folder of the test's own, with a key for the scripted server."""
    folder = tmp_path / "home"
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    monkeypatch.setenv("GENCODE_HOME", str(folder))
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("COLUMNS", "200")
    for name in ("ANTHROPIC_API_KEY", "GEMINI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    return folder


def problem_record(number: int) -> dict[str, Any]:
    """A problem that the program `print(input())` solves."""
    test = {"input": [f"{number}\n"], "output": [f"{number}\n"]}
    return {
        "name": f"echo {number}",
        "description": f"Problem number {number}: print the line that you read.",
        "public_tests": test,
        "private_tests": {"input": ["7\n", "8\n"], "output": ["7\n", "8\n"]},
    }


def write_problems(folder: Path, count: int = 2) -> Path:
    """A file of so many problems, called `echo 0`, `echo 1`, ..."""
    path = folder / "problems.jsonl"
    path.write_text("".join(json.dumps(problem_record(number)) + "\n" for number in range(count)))
    return path


def write_flow(folder: Path, steps: int = 3) -> Path:
    """A flow whose samples make so many calls, each of which writes the program anew."""
    folder.mkdir(parents=True)
    flow = "".join(f'[[stages]]\nkind = "write_code"\nprompt = "step{step}"\n' for step in range(steps))
    (folder / "flow.toml").write_text(f'description = "Writes the program {steps} times."\n{flow}')
    for step in range(steps):
        (folder / f"step{step}.toml").write_text(
            f'code = true\ntemperature = 0.1\nuser = "Step {step}. {{{{ problem.description }}}}"\n'
        )
    return folder


def signed(body: dict[str, Any]) -> Text:
    """A right program, another one for each request: its comment holds the request's digest."""
    return Text(f"```python\nprint(input())  # {digest_of(body)}\n```")


def model_arguments(server: ScriptedServer) -> list[str]:
    """The options that point at a scripted server."""
    return ["--model", "openai/scripted", "--api_base", server.api_base]


def columns_of(path: Path) -> dict[str, list[Any]]:
    """All columns of a saved dataset."""
    import datasets

    return datasets.load_from_disk(str(path)).to_dict()


def candidates_in(path: Path) -> Iterator[tuple[str, int, str, str]]:
    """(problem, sample, program, error) of a Solutions dataset, in order."""
    columns = columns_of(path)
    for place, name in enumerate(columns["task_name"]):
        lists = (columns[c][place] for c in ("sample_index", "solution_candidates", "sample_errors"))
        yield from ((name, *entry) for entry in zip(*lists, strict=True))


def assert_refused(done: Done, *words: str) -> None:
    """Status 2 and one clear line, which holds the words."""
    assert done.returncode == 2, done.stderr
    assert "Traceback" not in done.stderr
    lines = [line for line in done.stderr.splitlines() if line.startswith("error: ")]
    assert len(lines) == 1, done.stderr
    assert done.stderr.splitlines()[-1] == lines[0]
    for word in words:
        assert word in lines[0]
