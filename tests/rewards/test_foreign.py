"""Trainers and evaluation tools as they are published, with our rewards, each in an environment of its own.

`$GENCODE_FOREIGN` may name a folder with environments that stay: `NAME/bin/python`. Otherwise the test makes one.
"""

import json
import os
import subprocess
import sys
import venv
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.support import ROOT, gencode, shared_path

HERE = Path(__file__).parent / "foreign"
EXAMPLES = ROOT / "examples" / "trainers"
PACKAGES = {
    "trl": ["torch==2.13.0", "transformers==5.23.0", "trl==1.16.0"],
    "inspect": ["inspect_ai==0.3.285"],
    "verifiers": ["verifiers==0.4.0"],
    "lm_eval": ["lm_eval==0.4.13"],
    "verl": ["torch==2.13.0", "verl==0.9.1"],
    "openrlhf": ["torch==2.13.0", "aiohttp"],
}

# What OpenRLHF logs for each completion that was judged.
NO_FAULTS = {"judged": 1.0, "infra_failed": 0.0, "data_failed": 0.0}

pytestmark = [pytest.mark.slow, pytest.mark.timeout(3600)]


def python_with(name: str, folder: Path) -> str:
    """The python of an environment with these packages; skips the test if they can't be installed."""
    kept = Path(os.environ.get("GENCODE_FOREIGN", ""), name, "bin", "python")
    if kept.exists():
        return str(kept)
    venv.create(folder / name, with_pip=True)
    python = str(folder / name / "bin" / "python")
    install = [python, "-m", "pip", "install", "--quiet", "--no-compile", *PACKAGES[name], "-e", str(ROOT)]
    done = subprocess.run(install, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"{' '.join(PACKAGES[name])} can't be installed here: {done.stderr.strip()[-300:]}")
    return python


def printed(name: str, script: str | Path, folder: Path, arguments: Sequence[object] = ()) -> dict:
    """The JSON in the last line that a script prints."""
    done = subprocess.run(
        [python_with(name, folder), str(HERE / script), *map(str, arguments)],
        capture_output=True, text=True, check=False, cwd=folder,
        env=os.environ | {"HF_HUB_OFFLINE": "1", "HF_DATASETS_CACHE": str(folder / "cache"), "PYTHONPATH": str(ROOT),
                          "OMP_NUM_THREADS": "1"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-5000:]
    return json.loads(done.stdout.splitlines()[-1])


def test_trl_trains_two_steps_and_leaves_out_what_has_no_reward(tmp_path):
    found = printed("trl", "trl_steps.py", tmp_path)
    assert found["plain"]["rewards"] == [[1.0, 0.0, 0.0]] * 2
    assert found["plain"]["logged"] == pytest.approx([1 / 3] * 2)
    assert found["chat, async"]["rewards"] == [[1.0, 0.5, 0.0]] * 2
    assert found["no tests"]["rewards"] == [[None] * 3] * 2
    assert [found[name]["moved"] for name in found] == [True, True, False]


def test_verl_loads_the_function_by_its_configuration_and_its_managers_pass_on_the_scores(tmp_path):
    found = printed("verl", "verl_managers.py", tmp_path)
    assert [each["reward_score"] for each in found["naive"]] == [1.0, 0.5, 1.0, 0.0, None]
    assert [each["reward_extra_info"]["judged"] for each in found["naive"]] == [True] * 4 + [False]
    assert [each["reward_score"] for each in found["rate_limited"]] == [1.0, 0.5, 1.0, 0.0, 0.25]
    assert found["numbers"] == [1.0, 0.5]
    assert found["with None"] == "TypeError", "as the docstring says"


def test_openrlhf_gets_a_tensor_of_rewards_and_none_where_there_is_none(tmp_path):
    python = python_with("openrlhf", tmp_path)
    download = [python, "-m", "pip", "download", "--quiet", "--no-deps", "openrlhf==0.11.2", "--dest", str(tmp_path)]
    if (done := subprocess.run(download, capture_output=True, text=True, check=False)).returncode:
        pytest.skip(f"openrlhf can't be downloaded: {done.stderr.strip()[-300:]}")
    (wheel,) = tmp_path.glob("openrlhf*.whl")
    subprocess.run([sys.executable, "-m", "zipfile", "-e", str(wheel), str(tmp_path / "files")], check=True)
    (agent,) = (tmp_path / "files").rglob("openrlhf/utils/agent.py")
    found = printed("openrlhf", "openrlhf_agent.py", tmp_path, [agent])
    assert found["rewards"] == [[1.0], [0.0], None]
    assert found["logs"] == [{"tests_passed": share, **NO_FAULTS} for share in (1.0, 0.5)] + [{}]


def test_verifiers_scores_a_trace_and_records_an_error_where_there_is_no_reward(tmp_path):
    right, wrong, lost = printed("verifiers", "verifiers_score.py", tmp_path)
    assert right == {"passes": 1.0, "plugged": 1.0, "error": ""}
    assert wrong == {"passes": 0.5, "plugged": 0.0, "error": ""}
    assert (lost["passes"], lost["plugged"]) == (None, None)
    assert "couldn't be judged: there are no tests" in lost["error"]


def test_inspect_ai_scores_samples_leaves_out_unscored_ones_and_runs_python_in_the_sandbox(tmp_path):
    found = printed("inspect", "inspect_eval.py", tmp_path, [tmp_path])
    assert found["status"] == "success"
    assert found["example"] == [1.0]
    assert found["entry points"] == ["alpha_codium"]
    assert found["values"] == ["1.0", "0.0", "0.0", "nan"]
    assert found["metrics"] == {"code_scorer": [pytest.approx(1 / 3), 1], "by_exec": [1.0, 0]}, found["explained"]


def test_lm_eval_filters_and_aggregates_the_rewards(tmp_path):
    found = printed("lm_eval", "lm_eval_run.py", tmp_path)
    assert str(found["rewards"]) == "[[[1.0]], [[0.5]], [[nan]]]"
    assert list(found["results"].values()) == [0.75]


def test_the_example_for_trl_trains_20_steps_of_a_tiny_model(tmp_path):
    found = printed("trl", EXAMPLES / "trl_grpo.py", tmp_path)
    assert (found["steps"], found["code_reward/asked"], found["code_reward/judged_rate"]) == (20, 4, 1.0)


def test_the_recipe_for_verl_rewards_a_batch_in_a_worker_of_its_reward_loop(tmp_path):
    rows, parquet = EXAMPLES / "rows.jsonl", tmp_path / "train.parquet"
    check = gencode("data", "validate", rows, "--tests_column", "tests", home=tmp_path)
    assert check.stdout.startswith("4 rows, of which 0 can't be judged"), check.stderr
    prepare = [python_with("verl", tmp_path), str(EXAMPLES / "verl" / "prepare.py"), str(rows), str(parquet)]
    subprocess.run(prepare, check=True)
    found = printed("verl", "verl_loop.py", tmp_path, [parquet])
    assert found == {
        "scores": [1.0, 0.0, 1.0, 0.5],
        "logged": {"acc": [1.0, 0.0, 1.0, 0.0], "judged": [True] * 4, "infra_failed": [False] * 4},
    }


def test_the_runtime_for_verifiers_runs_programs_and_scores_a_task(tmp_path):
    found = printed("verifiers", "verifiers_runtime.py", tmp_path)
    assert found["ran"] == [[0, "42\n"], [3, ""], [0, "7\n"], [127, ""], [137, ""]]
    assert found["rewards"] == [1.0, 0.0]
    assert found["alive"] is True and found["missing"] == "SandboxError" and found["network"] == "PermissionError\n"


def test_the_tasks_for_lm_eval_judge_four_benchmarks(tmp_path):
    data = {name: shared_path(f"data/{name}.jsonl") for name in ("humaneval", "mbpp", "apps")}
    found = printed("lm_eval", "lm_eval_folder.py", tmp_path, [json.dumps({k: str(v) for k, v in data.items()})])
    # Of each, every second answer is a right one.
    assert found == {f"gencode_{name}": 0.5 for name in (*data, "livecodebench")}
