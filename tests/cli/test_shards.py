"""Parts of runs, as tasks of an array job make them, merged: the same bytes as one run's, but for what was measured."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from alpha_codium.data.schema import record_from_problem
from tests.audit.datasets.cases import sound_problem, with_second_answer, with_weak_tests
from tests.data.records import write_jsonl
from tests.gen.running import ECHO, assert_refused, model_arguments, run_cli, write_problems
from tests.servers.scripted import ScriptedServer

# What depends on the load of the machine, in results and journals: docs/runs.md lists it.
MEASURED = {"wall_seconds", "cpu_seconds", "max_rss_bytes", "near_limit", "rechecked", "used"}
ROOT = Path(__file__).parents[2]
RIGHT, WRONG = "print(input())", "print(8)"


def unmeasured(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: unmeasured(inner) for key, inner in value.items() if key not in MEASURED}
    return [unmeasured(inner) for inner in value] if isinstance(value, list) else value


def results(run: Path) -> str:
    return json.dumps(unmeasured(json.loads((run / "results.json").read_text())))


def journal(run: Path) -> list[str]:
    return sorted(json.dumps(unmeasured(json.loads(line))) for line in (run / "journal.jsonl").read_text().splitlines())


@pytest.fixture
def samples(home: Path, tmp_path: Path) -> tuple[Path, Path]:
    """Problems, and samples of them, some of which occur twice."""
    problems = write_problems(tmp_path, 6)
    rows = [
        {"task_id": f"echo {n}", "solution": each} for n in range(6) for each in (RIGHT, WRONG, f"{RIGHT} # {n}", RIGHT)
    ]
    path = tmp_path / "samples.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path, Path(problems)


def score(samples: tuple[Path, Path], *arguments: object) -> Any:
    return run_cli("eval", "score", samples[0], "--dataset_name", samples[1], "--k", "1,2", *arguments)


def test_parts_of_an_evaluation_are_merged_to_what_one_run_gives(samples: tuple[Path, Path], home: Path) -> None:
    runs = home / "runs"
    whole = score(samples, "--run", "whole")
    assert whole.returncode == 0, whole.stderr
    for number in (3, 1, 2):
        done = score(samples, "--run", "part", "--shard", f"{number}/3")
        assert done.returncode == 0, done.stderr
        assert "pass@" not in done.stdout
        assert f"part {number}/3; when all parts are judged: gencode runs merge part" in done.stderr
    # The same command again judges nothing, and one that was killed goes on.
    lines = (runs / "part-2-of-3" / "journal.jsonl").read_text().splitlines(keepends=True)
    (runs / "part-2-of-3" / "journal.jsonl").write_text("".join(lines[1:]) + lines[0][:20])
    (runs / "part-2-of-3" / "results.json").unlink()
    assert_refused(run_cli("runs", "merge", "part"), "run 'part-2-of-3' isn't finished")
    assert score(samples, "--run", "part", "--shard", "2/3").returncode == 0
    merged = run_cli("runs", "merge", "part")
    assert (merged.returncode, merged.stdout) == (0, whole.stdout), merged.stderr
    assert results(runs / "part") == results(runs / "whole")
    assert journal(runs / "part") == journal(runs / "whole")
    for name in ("programs.jsonl", "run.toml"):
        assert (runs / "part" / name).read_bytes() == (runs / "whole" / name).read_bytes()
    assert score(samples, "--resume", "part").stdout == whole.stdout
    assert_refused(run_cli("runs", "merge", "part"), "run 'part' exists already")
    paths = [runs / f"part-{number}-of-3" for number in (1, 2, 3)]
    by_path = run_cli("runs", "merge", *paths, "--run", "again")
    assert (by_path.returncode, by_path.stdout) == (0, whole.stdout), by_path.stderr


def test_what_is_no_whole_is_not_merged(samples: tuple[Path, Path], home: Path) -> None:
    runs = home / "runs"
    for number in (1, 2):
        assert score(samples, "--run", "r", "--shard", f"{number}/2").returncode == 0
    shutil.copytree(runs / "r-1-of-2", runs / "twin")
    assert_refused(run_cli("runs", "merge", "r-1-of-2", "twin", "r-2-of-2"), "are both part 1/2")
    assert_refused(run_cli("runs", "merge", "r-2-of-2"), "1 part of 2 missing: 1")
    assert_refused(run_cli("runs", "merge", "nothing"), "there is no run 'nothing'", "nothing-1-of-2")
    assert score(samples, "--run", "alone").returncode == 0
    assert_refused(run_cli("runs", "merge", "alone", "r-1-of-2"), "run 'alone' isn't a part")
    assert score(samples, "--run", "s", "--shard", "1/3").returncode == 0
    assert_refused(run_cli("runs", "merge", "r-1-of-2", "s-1-of-3"), "is part 1/3")
    toml = (runs / "r-2-of-2" / "run.toml").read_text()
    (runs / "r-2-of-2" / "run.toml").write_text(toml.replace("time_limit_factor = ", "time_limit_factor = 1"))
    assert_refused(run_cli("runs", "merge", "r"), "'r-2-of-2' was made with code_tester.time_limit_factor")
    (runs / "r-2-of-2" / "run.toml").write_text(toml.replace('interpreter = "CPython', 'interpreter = "PyPy'))
    assert_refused(run_cli("runs", "merge", "r"), "'r-2-of-2' was made with sandbox.interpreter")
    assert not (runs / "r").exists()


def test_parts_anywhere_are_merged_and_what_to_type_is_said(
    samples: tuple[Path, Path], home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for number in (1, 2):
        done = score(samples, "--run", "./my parts", "--shard", f"{number}/2")
        assert f"gencode runs merge '{tmp_path}/my parts'" in done.stderr, done.stderr
    merged = run_cli("runs", "merge", "./my parts")
    assert merged.returncode == 0, merged.stderr
    assert f"look at it: gencode report '{tmp_path}/my parts'" in merged.stderr


def test_a_part_needs_a_name_that_all_have_in_common(samples: tuple[Path, Path]) -> None:
    assert_refused(score(samples, "--shard", "1/2"), "--shard needs --run NAME, the same for all parts")
    assert_refused(score(samples, "--run", "r", "--shard", "3/2"), "--shard '3/2' is part 3/2")
    assert_refused(score(samples, "--run", "r", "--shard", "auto"), "neither SLURM_ARRAY_TASK_ID nor")


@pytest.mark.thorough
@pytest.mark.parametrize("command", ["eval_cc_solutions", "pass_at_k"])
def test_parts_of_human_solutions_are_merged(command: str, home: Path, tmp_path: Path) -> None:
    problems = write_problems(tmp_path, 5)
    records = [json.loads(line) for line in Path(problems).read_text().splitlines()]
    for record in records:
        record["solutions"] = {"language": [3, 3], "solution": [RIGHT, f"{RIGHT} # 2"]}
        record["incorrect_solutions"] = {"language": [3], "solution": [WRONG]}
    Path(problems).write_text("".join(json.dumps(record) + "\n" for record in records))
    job = ("eval", command, "--dataset_name", problems, "--solutions", "correct", "--k", 1)
    whole = run_cli(*job, "--run", "whole")
    assert whole.returncode == 0, whole.stderr
    for number in (1, 2):
        assert run_cli(*job, "--run", "p", "--shard", f"{number}/2").returncode == 0
    assert run_cli("runs", "merge", "p").stdout == whole.stdout
    assert results(home / "runs/p") == results(home / "runs/whole")


@pytest.mark.thorough
def test_parts_of_a_set_are_merged_to_the_same_solutions(home: Path, tmp_path: Path) -> None:
    import datasets

    runs, problems = home / "runs", write_problems(tmp_path, 7)
    with ScriptedServer(lambda _body: ECHO) as server:
        job = ("gen", "solve_set", "--dataset_name", problems, "--flow", "baseline", "--samples", 2, "--no_cache",
               *model_arguments(server))  # fmt: skip
        assert run_cli(*job, "--run", "whole").returncode == 0
        for number in (1, 2, 3):
            done = run_cli(*job, "--run", "p", "--shard", f"{number}/3")
            assert done.returncode == 0, done.stderr
            assert f"part {number}/3; when all parts are done: gencode runs merge p" in done.stderr
        asked = len(server.requests)
        answers = runs / "p-2-of-3/answers.sqlite"
        kept = answers.read_bytes()
        answers.write_bytes(b"no database")
        assert_refused(run_cli("runs", "merge", "p"), "answers.sqlite")
        assert not (runs / "p").exists(), "a part of the work is no run"
        answers.write_bytes(kept)
        merged = run_cli("runs", "merge", "p")
        assert merged.returncode == 0, merged.stderr
        assert len(server.requests) == asked == 28
        named = run_cli(*job, "--run", "o", "--shard", "1/1", "--output_dataset_name", "mine")
        assert named.returncode == 0, named.stderr
        assert not (home / "datasets/mine").exists()
        assert run_cli("runs", "merge", "o").returncode == 0
        assert (home / "datasets/mine").exists()
        shutil.rmtree(runs / "o")
        assert_refused(run_cli("runs", "merge", "o"), "exists already", "--overwrite")
        assert run_cli("runs", "merge", "o", "--overwrite").returncode == 0
    found = [datasets.load_from_disk(str(runs / name / "solutions")).to_list() for name in ("whole", "p")]
    assert found[0] == found[1]
    assert (runs / "p/run.toml").read_bytes() == (runs / "whole/run.toml").read_bytes()
    assert {path.name for path in (runs / "p").iterdir()} == {path.name for path in (runs / "whole").iterdir()}
    replayed = run_cli("replay", "p")
    assert "14 of 14 samples replayed, 14 compared with the journal" in replayed.stdout, replayed.stderr


@pytest.mark.thorough
def test_the_script_for_slurm_judges_the_part_of_its_task(home: Path) -> None:
    examples, path = ROOT / "examples", f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    options = ("--dataset_name", examples / "humaneval.jsonl", "--k", "1")
    job = [str(part) for part in ("r", examples / "samples.jsonl", "humaneval", *options)]
    for task in ("0", "1"):
        env = os.environ | {"SLURM_ARRAY_TASK_ID": task, "PARTS": "2", "PATH": path}
        command = ["bash", str(examples / "arrays/score.sbatch"), *job]
        done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
    merged = run_cli("runs", "merge", "r")
    assert "3 problems, 4 programs" in merged.stdout, merged.stderr


@pytest.mark.thorough
def test_parts_of_a_validation_are_merged_to_what_one_run_gives(home: Path, tmp_path: Path) -> None:
    kinds = [
        sound_problem("sum-0", "sum"),
        with_second_answer(sound_problem("span-1", "span")),
        with_weak_tests(sound_problem("largest-2", "largest")),
    ]
    problems = write_jsonl(tmp_path / "known.jsonl", list(map(record_from_problem, kinds)))
    whole = run_cli("data", "validate", problems, "--run", "whole")
    assert whole.returncode == 0, whole.stderr
    for number in (2, 1):
        done = run_cli("data", "validate", problems, "--run", "part", "--shard", f"{number}/2")
        assert done.returncode == 0, done.stderr
        assert f"part {number}/2; when all parts are judged: gencode runs merge part" in done.stderr
    merged = run_cli("runs", "merge", "part")
    assert merged.returncode == 0, merged.stderr
    assert findings(home / "runs" / "part") == findings(home / "runs" / "whole")
    assert merged.stdout.splitlines()[:8] == whole.stdout.splitlines()[:8]
    stored = run_cli("data", "validate", "--resume", "part", "--output_dataset_name", tmp_path / "checked")
    assert stored.returncode == 0 and (tmp_path / "checked").is_dir(), stored.stderr
    again = ("data", "validate", problems, "--run", "x", "--shard", "1/2", "--output_dataset_name", "y")
    assert_refused(run_cli(*again), "a part has no --output_dataset_name")


def findings(run: Path) -> list[Any]:
    """What a validation found of each problem, without what was measured."""
    return [
        (problem["name"], problem["findings"]) for problem in json.loads((run / "results.json").read_text())["problems"]
    ]
