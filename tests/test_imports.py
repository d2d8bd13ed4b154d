"""What is imported at start: importing the package and asking for help cost next to nothing."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

import alpha_codium

HEAVY = {
    "aiohttp", "datasets", "httpx", "jinja2", "litellm", "numpy", "openai", "pandas", "pyarrow", "pydantic", "rich",
    "yaml",
}  # fmt: skip
LIST_MODULES = """
import atexit, json, sys
atexit.register(lambda: print(json.dumps(sorted({name.partition(".")[0] for name in sys.modules})), file=sys.stderr))
"""


def imported_by(code: str) -> set[str]:
    """The top-level modules that a fresh interpreter has imported after the code."""
    done = subprocess.run([sys.executable, "-c", LIST_MODULES + code], capture_output=True, text=True, check=True)
    return set(json.loads(done.stderr.splitlines()[-1]))


@pytest.mark.parametrize(
    "code",
    [
        "import alpha_codium",
        "from alpha_codium.cli.main import main; main(['--help'])",
        "from alpha_codium.cli.main import main; main(['--version'])",
        "from alpha_codium.cli.main import main; main(['gen', '--help'])",
        "from alpha_codium.cli.main import main; main(['gen', 'solve_set', '--help'])",
        "from alpha_codium.cli.main import main; main(['eval', '--help'])",
        "from alpha_codium.cli.main import main; main(['data', '--help'])",
        "from alpha_codium.cli.main import main; main(['repo', '--help'])",
    ],
)
def test_nothing_heavy_is_imported_for(code):
    assert imported_by(code) & HEAVY == set()


def test_a_missing_key_is_found_before_litellm_is_imported(tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "")
    code = "from alpha_codium.cli.main import main; main(['gen', 'ask', 'hi', '--model', 'openai/gpt-4o-mini'])"
    script = [sys.executable, "-c", LIST_MODULES + code]
    done = subprocess.run(script, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith("error: openai/gpt-4o-mini: no API key is set; set the environment variable OPENAI_")
    assert set(json.loads(done.stderr.splitlines()[-1])) & {"litellm", "openai"} == set()


@pytest.mark.thorough
def test_a_dry_run_tells_prices_without_importing_litellm(tmp_path):
    problem = {"name": "echo", "description": "Print the line.", "public_tests": {"input": ["1"], "output": ["1"]}}
    (tmp_path / "p.jsonl").write_text(json.dumps(problem))
    job = ["--dataset_name", "p.jsonl", "--flow", "baseline", "--model", "openai/gpt-4o-mini", "--dry_run"]
    script = LIST_MODULES + f"from alpha_codium.cli.main import main; main(['gen', 'solve_set', *{job!r}])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=tmp_path)
    assert "cost" in done.stdout and "cost unknown" not in done.stdout
    assert set(json.loads(done.stderr.splitlines()[-1])) & {"litellm", "openai"} == set()


def test_settings_need_neither_a_model_nor_a_dataset():
    assert (
        imported_by("import alpha_codium; alpha_codium.load_settings()") & {"litellm", "datasets", "pyarrow"} == set()
    )


def test_a_file_of_problems_is_loaded_without_the_datasets_package():
    loaded = imported_by("import alpha_codium; alpha_codium.load_problems('examples/humaneval.jsonl')[0]")
    assert loaded & {"datasets", "pandas", "pyarrow"} == set()


def test_the_metrics_print_what_evaluate_loads():
    done = subprocess.run([sys.executable, "-m", "alpha_codium.metrics"], capture_output=True, text=True, check=True)
    path = Path(alpha_codium.__file__).parents[1]
    first, *calls = done.stdout.splitlines()
    assert first == f"PATH is {path}"
    assert f'evaluate.load("{path}/alpha_codium/metrics/code_contests")' in calls and len(calls) == 4
