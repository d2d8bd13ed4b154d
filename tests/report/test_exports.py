"""Results of runs in the formats of others: what they say, and what they never say."""

import getpass
import hashlib
import json
import os
import shutil
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from alpha_codium.report.exports.inspect_log import fenced
from tests.gen.running import assert_refused, run_cli
from tests.report.conftest import CRASH, RIGHT, WRONG, score, solve
from tests.rewards.test_foreign import python_with

CORRECT = {"solutions": {"language": [3], "solution": [RIGHT]}, "incorrect_solutions": {"language": [], "solution": []}}
PROGRAMS = {"p/1": [WRONG, RIGHT], "p/2": [CRASH, WRONG], "p/3": [RIGHT, RIGHT]}
HUB = ("--format", "hf", "--dataset", "openai/openai_humaneval", "--task", "openai_humaneval")

EEE = ("--format", "eee", "--organization", "Us", "--model", "lab/model")


def export(run: str, *options: object) -> list[Path]:
    """Export a run; returns the files."""
    done = run_cli("runs", "export", run, *options)
    assert done.returncode == 0, done.stderr
    return [Path(line) for line in done.stdout.splitlines()]


def evaluation(aggregate: Path, samples: Path) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Both files of Every Eval Ever, whose sums and names agree."""
    whole, lines = json.loads(aggregate.read_text()), list(map(json.loads, samples.read_text().splitlines()))
    detailed = whole["detailed_evaluation_results"]
    assert str(samples).endswith(detailed["file_path"]) and detailed["total_rows"] == len(lines)
    assert detailed["checksum"] == hashlib.sha256(samples.read_bytes()).hexdigest()
    assert {line["evaluation_id"] for line in lines} == {whole["evaluation_id"]}
    return whole, lines


def solve_and_judge(folder: Path) -> None:
    """Make the run `made` of one problem and one sample, and `judged`, which judges it."""
    problems = solve(folder, [RIGHT])
    arguments = ("--solution_dataset", folder / "answers", "--dataset_name", problems, "--k", 1, "--run", "judged")
    assert run_cli("eval", "eval_gen_solutions", *arguments).returncode == 0


def log_text(run: str, folder: Path) -> str:
    """What inspect_ai itself reads in the log of a run, as JSON; inspect_ai has an environment of its own."""
    python = Path(python_with("inspect", folder))
    options = ("--format", "inspect", "--model", "lab/model")
    commands = [[python, "-m", "alpha_codium", "runs", "export", run, *options]]
    commands.append([python.with_name("inspect"), "log", "dump", f"{run}.eval"])
    for command in commands:
        done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
    return done.stdout


def lose_a_verdict(home: Path, folder: Path) -> None:
    """Make the run `one`, in which the sandbox couldn't judge the first program."""
    score(folder, "one", {"p/1": [RIGHT], "p/2": [RIGHT]})
    journal = home / "runs" / "one" / "journal.jsonl"
    first, *others = map(json.loads, journal.read_text().splitlines())
    first["result"]["verdict"] = "internal_error"
    journal.write_text("".join(json.dumps(line) + "\n" for line in (first, *others)))


def assert_of_nobody(text: str, *folders: Path) -> None:
    """Check that a text names neither this machine, nor its user, nor a folder."""
    assert socket.gethostname() not in text
    assert f"/{getpass.getuser()}/" not in text and f"/home/{getpass.getuser()}" not in text
    assert not [folder for folder in folders if str(folder) in text]


def test_the_hub_gets_the_score_with_its_interval_judge_error_judge_and_subset(home, tmp_path):
    score(tmp_path, "one", PROGRAMS, "--sample_rate", "1", **CORRECT)
    (path,) = export("one", *HUB, "--source_url", "https://example.org/one")
    (entry,) = yaml.safe_load(path.read_text())
    assert path.name == "one.yaml"
    assert entry["dataset"] == {"id": "openai/openai_humaneval", "task_id": "openai_humaneval"}
    assert entry["value"] == 0.5 and entry["source"]["url"] == "https://example.org/one"
    notes = entry["notes"]
    assert notes.startswith("pass@1, 95 % interval 0.0000 to 1.0000, by bootstrap over problems; ")
    assert "judge backend: " in notes and "judge isolation: " in notes and "problems judged: 3" in notes
    assert "Wrong on 0 of 3 programs with known verdicts" in notes
    assert_of_nobody(path.read_text(), home, tmp_path)


def test_a_part_of_the_problems_is_named_as_one(home, tmp_path):
    del home
    score(tmp_path, "part", PROGRAMS, "--problems", "p/1", "--problems", "p/2")
    (path,) = export("part", *HUB)
    assert "part of the problems: 2 of 3 (" in yaml.safe_load(path.read_text())[0]["notes"]


def test_every_eval_ever_gets_scores_with_intervals_and_a_line_for_each_sample(home, tmp_path):
    score(tmp_path, "one", PROGRAMS, **CORRECT)
    aggregate, lines = evaluation(*export("one", *EEE))
    first, second = aggregate["evaluation_results"]
    assert first["score_details"]["score"] == 0.5 and second["metric_config"]["metric_parameters"] == {"k": 2}
    assert first["score_details"]["uncertainty"]["confidence_interval"]["upper"] == 1
    assert "of 3 programs with known verdicts" in first["score_details"]["details"]["judge_error"]
    assert [line["evaluation"]["is_correct"] for line in lines] == [False, True, False, False, True, True]
    assert {line["evaluation_result_id"] for line in lines} == {first["evaluation_result_id"]}
    crashed = lines[2]
    assert crashed["sample_id"] == "p/2" and crashed["output"]["raw"] == [CRASH] and "ValueError" in crashed["error"]
    assert_of_nobody(json.dumps([aggregate, lines]), home, tmp_path)


def test_both_schemas_of_every_eval_ever_accept_what_is_exported(home, tmp_path):
    del home
    jsonschema = pytest.importorskip("jsonschema", reason="jsonschema isn't installed")
    folder = Path(os.environ.get("EVERY_EVAL_EVER", "")) / "every_eval_ever" / "schemas"
    if not (folder / "eval.schema.json").exists():
        pytest.skip("EVERY_EVAL_EVER isn't a checkout of evaleval/every_eval_ever")
    whole, single = (
        jsonschema.Draft7Validator(json.loads((folder / f"{name}.schema.json").read_text()))
        for name in ("eval", "instance_level_eval")
    )
    score(tmp_path, "one", PROGRAMS, **CORRECT)
    score(tmp_path, "alike", {"p/1": [RIGHT], "p/2": [RIGHT]})
    solve_and_judge(tmp_path)
    for run, *more in (("one", "--dataset", "a/b"), ("alike",), ("judged",)):
        aggregate, lines = evaluation(*export(run, *EEE, *more))
        assert not [error.message for error in whole.iter_errors(aggregate)]
        assert not [error.message for line in lines for error in single.iter_errors(line)]
        assert not whole.is_valid(aggregate | {"schema_version": 1}) and not single.is_valid(lines[0] | {"input": {}})


def test_a_run_of_solve_set_is_exported_with_the_verdicts_model_and_tokens_of_its_samples(home, tmp_path):
    del home
    solve_and_judge(tmp_path)
    aggregate, (line,) = evaluation(*export("made", "--format", "eee", "--organization", "Us"))
    assert aggregate["model_info"]["name"] and aggregate["evaluation_results"][0]["score_details"]["score"] == 1
    assert line["token_usage"]["total_tokens"] > 0 and line["metadata"]["tests_passed"] == "2 of 2"


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_inspect_ai_reads_a_log_with_the_verdicts_programs_and_reasons(home, tmp_path):
    score(tmp_path, "one", PROGRAMS, **CORRECT)
    text = log_text("one", tmp_path)
    log = json.loads(text)
    (scores,) = log["results"]["scores"]
    assert log["status"] == "success" and log["eval"]["model"] == "lab/model"
    assert [scores["metrics"][name]["value"] for name in ("pass@1", "pass@2")] == [0.5, 2 / 3]
    assert "of 3 programs with known verdicts" in log["eval"]["metadata"]["judge_error"]
    assert log["eval"]["metadata"]["pass@1"].startswith("95 % interval 0.0000 to 1.0000")
    found = {(sample["id"], sample["epoch"]): sample["scores"]["gencode"] for sample in log["samples"]}
    assert [found[key]["value"] for key in sorted(found)] == ["I", "C", "I", "I", "C", "C"]
    assert found["p/2", 1]["answer"] == CRASH and "ValueError" in found["p/2", 1]["explanation"]
    assert not found["p/1", 2].get("explanation")
    assert_of_nobody(text, home, tmp_path)


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_a_program_without_a_verdict_has_no_score_in_a_log(home, tmp_path):
    lose_a_verdict(home, tmp_path)
    log = json.loads(log_text("one", tmp_path))
    assert [bool(sample["scores"]) for sample in log["samples"]] == [False, True]
    assert log["results"]["scores"][0]["unscored_samples"] == 1 and "without_a_verdict" in log["eval"]["metadata"]


def test_a_run_in_which_a_program_has_no_verdict_has_no_score_to_export(home, tmp_path):
    lose_a_verdict(home, tmp_path)
    for options in (EEE, HUB):
        assert_refused(run_cli("runs", "export", "one", *options), "the score of run 'one' isn't known: ")


def test_texts_that_are_not_unicode_are_exported(home, tmp_path):
    del home
    score(tmp_path, "one", {"p/1": ["print('\ud800')"]})
    _, (line,) = evaluation(*export("one", *EEE))
    assert line["output"]["raw"] == ["print('?')"]


def test_an_answer_by_several_models_needs_a_name(home, tmp_path):
    solve_and_judge(tmp_path)
    journal = home / "runs" / "made" / "journal.jsonl"
    model = json.loads(journal.read_text().splitlines()[0])["model"]
    journal.write_text(journal.read_text().replace(f'"{model}"', '"a, b"'))
    options = ("runs", "export", "made", "--format", "eee", "--organization", "Us")
    assert_refused(run_cli(*options), "by several models (a, b): name the model by --model")


@pytest.mark.parametrize("name", ["problems.jsonl", "data/problems.jsonl"])
def test_a_file_of_problems_is_not_taken_for_a_dataset_of_the_hub(home, tmp_path, name):
    del home
    Path("data").mkdir()
    score(tmp_path, "one", {"p/1": [RIGHT]})
    shutil.move(tmp_path / "one-problems.jsonl", name)
    samples = tmp_path / "one-samples.jsonl"
    assert run_cli("eval", "score", samples, "--dataset_name", name, "--k", 1, "--run", "two").returncode == 0
    aggregate, _ = evaluation(*export("two", *EEE))
    assert aggregate["evaluation_results"][0]["source_data"]["source_type"] == "other"


def test_a_log_without_inspect_ai_says_what_to_install(home, tmp_path, monkeypatch):
    del home
    score(tmp_path, "one", {"p/1": [RIGHT]})
    monkeypatch.setitem(sys.modules, "inspect_ai.log", None)
    assert_refused(run_cli("runs", "export", "one", "--format", "inspect", "--model", "m"), "pip install inspect_ai")


@given(st.text(alphabet="`a\n", max_size=30))
def test_no_text_ends_its_block_of_markdown(text):
    fence, *_, last = fenced(text).split("\n")
    assert fence == last and fence not in text


@pytest.mark.parametrize(
    ("model", "found"), [("m", "unknown/m"), ("lab/m", "lab/m"), ("hosted_vllm/lab/m", "lab/m"), ("../..", "../..")]
)
def test_models_are_named_by_developer_and_name_and_paths_stay_in_the_folder(home, tmp_path, model, found):
    del home
    score(tmp_path, "one", {"p/1": [RIGHT]})
    path, _ = export("one", "--format", "eee", "--organization", "Us", "--model", model)
    assert json.loads(path.read_text())["model_info"]["id"] == found
    assert (
        path.resolve().is_relative_to(Path("one.eee/data").resolve())
        and len(path.relative_to(Path("one.eee").resolve()).parts) == 5
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--format", "hf", "--task", "t"), "give it as --dataset"),
        (("--format", "hf", "--dataset", "a/b"), "as --task"),
        (("--format", "inspect"), "were made elsewhere: name the model by --model"),
        (("--format", "eee", "--model", "m"), "as --organization"),
        (("--format", "eee", "--organization", "Us"), "were made elsewhere: name the model by --model"),
        (("--format", "xml"), "'xml' is not one of"),
        ((), "Missing option '--format'"),
        (HUB, "one.yaml exists: remove it, or choose another --output"),
    ],
)
def test_what_is_missing_is_named_in_one_line_and_nothing_is_overwritten(home, tmp_path, options, message):
    del home
    score(tmp_path, "one", {"p/1": [RIGHT]})
    Path("one.yaml").write_text("mine")
    assert_refused(run_cli("runs", "export", "one", *options), message)
    assert Path("one.yaml").read_text() == "mine" and {p.name for p in Path().iterdir()} == {"one.yaml", "one.html"}


def test_a_run_without_verdicts_on_a_model_is_refused(home, tmp_path):
    problems = solve(tmp_path, [RIGHT])
    assert_refused(run_cli("runs", "export", "made", *HUB), "only ran on public tests")
    assert run_cli("data", "validate", problems, "--run", "valid").returncode == 0
    assert_refused(run_cli("runs", "export", "valid", *HUB), "no score to export")
    assert_refused(run_cli("runs", "export", "none", *HUB), "there is no run 'none'")
    score(tmp_path, "begun", {"p/1": [RIGHT]})
    (home / "runs" / "begun" / "results.json").unlink()
    assert_refused(run_cli("runs", "export", "begun", *HUB), "it isn't finished")
