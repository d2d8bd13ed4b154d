"""Runs made before the judging rules had a version, at 73d934d: one of each kind, resumed with the rules of today."""

import asyncio
import json
import shutil
import tomllib
from pathlib import Path

import pytest

from alpha_codium.config import load_settings
from alpha_codium.eval import judging
from alpha_codium.eval.judging import open_judge
from alpha_codium.runs import RunFolder
from alpha_codium.sandbox.engine import pool
from alpha_codium.verdict import JUDGING_RULES, Identity
from tests.gen.running import Done, assert_refused, run_cli, write_problems

EARLIER = Path(__file__).parent / "runs_of_73d934d"
# The command that resumes a run, and its score, or what else its results say.
EVALUATIONS = {
    "evaluation": (["eval", "eval_gen_solutions"], {"pass@1": 1.0}),
    "human": (["eval", "eval_cc_solutions"], {"pass@1": 2 / 3}),
    "pass_at_k": (["eval", "pass_at_k"], {"pass@1": 1.0}),
    "score": (["eval", "score", "samples.jsonl"], {"pass@1": 0.5}),
}


async def judge_here() -> Identity:
    async with open_judge(load_settings()) as opened:
        return opened.identity


@pytest.fixture(scope="module")
def here() -> Identity:
    """The identity of the judge on this machine."""
    return asyncio.run(judge_here())


@pytest.fixture
def runs(home: Path, here: Identity) -> Path:
    """The earlier runs, as if made on this machine, and with false verdicts in their journals."""
    work = Path.cwd()
    for path in EARLIER.iterdir():
        shutil.copytree(path, home / "runs" / path.name) if path.is_dir() else shutil.copy(path, work)
    shutil.copytree(EARLIER / "flow", work / "flow")
    shutil.rmtree(home / "runs" / "flow")
    for path in (home / "runs").glob("*/run.toml"):
        described = RunFolder(path.parent)
        text = path.read_text().replace("/tmp/old/home", str(home)).replace("/tmp/old", str(work))
        path.write_text(text)
        values = described.description()
        same = {"version": here.version, "interpreter": here.interpreter, "isolation": list(here.isolation)}
        values["sandbox"] |= same
        described.describe(values)
    for path in (home / "runs").glob("*/*journal.jsonl"):
        path.write_text(path.read_text().replace('"verdict": "accepted"', '"verdict": "wrong_answer"'))
    return home / "runs"


def sandbox_of(run: Path) -> dict[str, object]:
    return tomllib.loads((run / "run.toml").read_text())["sandbox"]


def assert_judged_again(done: Done, run: Path, here: Identity) -> None:
    assert done.returncode == 0, done.stderr
    said = f"run '{run.name}' was made with an unrecorded version of the judging rules, not {JUDGING_RULES}"
    assert f"{said}: its programs are judged again" in " ".join(done.stderr.split())
    assert Identity.from_json(sandbox_of(run)) == here


@pytest.mark.parametrize("name", EVALUATIONS)
def test_an_evaluation_is_judged_again_by_other_rules(runs: Path, here: Identity, name: str) -> None:
    command, scores = EVALUATIONS[name]
    before = len((runs / name / "journal.jsonl").read_text().splitlines())
    done = run_cli(*command, "--resume", name, "--json", "found.json")
    assert_judged_again(done, runs / name, here)
    found = json.loads(Path("found.json").read_text())
    assert {key: found["pass_at_k"].get(key) for key in scores} == pytest.approx(scores)
    assert found["sandbox"]["rules"] == JUDGING_RULES
    lines = [json.loads(line) for line in (runs / name / "journal.jsonl").read_text().splitlines()]
    assert len(lines) == 2 * before
    assert {line["judged_by"] for line in lines[before:]} == {here.digest}
    again = run_cli(*command, "--resume", name)
    assert "judged again" not in again.stderr
    assert len((runs / name / "journal.jsonl").read_text().splitlines()) == 2 * before


def test_each_stored_program_names_its_judge(runs: Path, here: Identity) -> None:
    run_cli("eval", "eval_gen_solutions", "--resume", "evaluation")
    programs = [json.loads(line) for line in (runs / "evaluation" / "programs.jsonl").read_text().splitlines()]
    assert programs
    assert {(line["rules"], line["judged_by"]) for line in programs} == {(JUDGING_RULES, here.digest)}


def test_a_validation_is_judged_again_by_other_rules(runs: Path, here: Identity) -> None:
    observations = runs / "validation" / "observations.jsonl"
    before = len(observations.read_text().splitlines())
    done = run_cli("data", "validate", "problems.jsonl", "--resume", "validation")
    assert_judged_again(done, runs / "validation", here)
    assert len(observations.read_text().splitlines()) == 2 * before
    assert json.loads((runs / "validation" / "results.json").read_text())["n_problems"] == 2


def test_known_submissions_are_judged_again_by_other_rules(runs: Path, here: Identity) -> None:
    options = ["--known_verdicts", "known.jsonl", "--skip_kit"]
    done = run_cli("eval", "doctor", *options, "--resume", "doctor")
    assert_judged_again(done, runs / "doctor", here)


def test_a_generation_is_resumed_with_its_answers_and_samples(runs: Path) -> None:
    """No model answers here: the last sample is made of the stored answers."""
    journal = runs / "generation" / "journal.jsonl"
    lines = journal.read_text().splitlines(keepends=True)
    journal.write_text("".join(lines[:-1]))
    done = run_cli("gen", "solve_set", "--resume", "generation")
    assert done.returncode == 0, done.stderr
    assert "judging rules, not" in done.stderr
    assert "its finished samples are kept" in " ".join(done.stderr.split())
    again = [json.loads(line) for line in journal.read_text().splitlines()]
    assert [line["program"] for line in again] == [json.loads(line)["program"] for line in lines]


def test_a_comparison_uses_no_verdict_of_other_rules(runs: Path, here: Identity) -> None:
    judged = runs / "generation" / "evaluation.jsonl"
    judged.write_text(judged.read_text().replace('"verdict": "accepted"', '"verdict": "wrong_answer"'))
    before = len(judged.read_text().splitlines())
    done = run_cli("compare", "generation", "--json", "found.json")
    assert done.returncode == 0, done.stderr
    assert len(judged.read_text().splitlines()) == 2 * before
    (run,) = json.loads(Path("found.json").read_text())["runs"]
    assert run["pass_at_k"]["pass@1"] == 1.0


def test_other_packages_and_rules_are_named_when_programs_are_judged_again(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    solutions = {"language": [3], "solution": ["print(input())"]}
    problems = write_problems(Path.cwd())
    records = [json.loads(line) | {"solutions": solutions} for line in problems.read_text().splitlines()]
    problems.write_text("".join(json.dumps(record) + "\n" for record in records))
    command = ["eval", "pass_at_k", "--k", 1]
    assert run_cli(*command, "--dataset_name", problems, "--run", "r").returncode == 0
    monkeypatch.setattr(judging, "JUDGING_RULES", JUDGING_RULES + 1)
    monkeypatch.setattr(pool, "packages_of", lambda _: ("numpy==0.1",))
    again = run_cli(*command, "--resume", "r")
    assert again.returncode == 0, again.stderr
    said = " ".join(again.stderr.split())
    assert f"made with version {JUDGING_RULES} of the judging rules, not {JUDGING_RULES + 1}; " in said
    assert "other packages (" in said
    assert len((home / "runs" / "r" / "journal.jsonl").read_text().splitlines()) == 4


def test_another_isolation_is_still_refused(runs: Path) -> None:
    path = runs / "evaluation" / "run.toml"
    path.write_text(path.read_text().replace('backend = "local"', 'backend = "portable"'))
    assert_refused(run_cli("eval", "eval_gen_solutions", "--resume", "evaluation"), "sandbox.backend = 'portable'")
