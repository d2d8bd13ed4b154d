"""`gencode eval doctor`, and the judge's error beside a score, as a user types them."""

import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.audit.judge.test_known_verdicts import ROWS, contest, submission
from tests.cli.here import gencode
from tests.cli.test_eval import double, eval_gen, eval_humans, of_json, row, solutions_file
from tests.data.records import write_jsonl
from tests.eval.splits import ALSO_WRONG, RIGHT, WRONG
from tests.gen.running import Done
from tests.support import gencode as gencode_process
from tests.support import shared_path

ERROR = {
    "backend": "local",
    "correct_rejected": 1,
    "correct_total": 2,
    "incorrect_accepted": 0,
    "incorrect_total": 2,
    "not_judged": 0,
}


def doctor(home: Path, *more: object) -> Done:
    """The command without the kit, here."""
    return gencode("eval", "doctor", *more, home=home)


def doctor_with_kit(home: Path, *more: object, timeout: float = 500) -> subprocess.CompletedProcess[str]:
    """The command in a process of its own: the programs of the kit attack the one that runs them."""
    return gencode_process("eval", "doctor", *more, home=home, timeout=timeout)


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_the_default_backend_is_as_it_should_be_on_the_kit_and_on_a_file(tmp_path: Path) -> None:
    known = write_jsonl(tmp_path / "known.jsonl", [contest("a", submission("a.py", "AC", RIGHT))])
    done = doctor_with_kit(tmp_path, "--known_verdicts", known, "--run", "mine", "--json", tmp_path / "out.json")
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines()[0] == "judge: local"
    assert done.stdout.splitlines()[-1] == "judge check passed"
    values = of_json(tmp_path / "out.json")
    assert set(values) == {"backend", "isolation", "kit", "by_expected", "submissions", "confirmed", "not_run"}
    assert (values["backend"], values["by_expected"]) == ("local", {"AC": {"accepted": 1}})
    assert values["kit"]["faultless"] is True and values["kit"]["findings"]["right"] > 150
    assert of_json(tmp_path / "runs/mine/results.json")["submissions"] == values["submissions"]


@pytest.mark.thorough
def test_a_file_with_disagreements_is_tabulated_and_gone_on_with(tmp_path: Path) -> None:
    known = write_jsonl(tmp_path / "known.jsonl", ROWS)
    done = doctor(tmp_path, "--known_verdicts", known, "--skip_kit", "--run", "mine", "--json", "-")
    assert done.returncode == 1, done.stderr
    values = json.loads(done.stdout)
    assert "judge check FAILED" in done.stderr
    assert "not judged: checked: any.py (AC)" in done.stderr
    assert (values["confirmed"]["class_right"], values["confirmed"]["class_total"]) == (5, 6)
    journal = tmp_path / "runs/mine/journal.jsonl"
    lines = journal.read_text().splitlines()
    journal.write_text("\n".join(lines[:-2]) + "\n")
    out = tmp_path / "again.json"
    again = doctor(tmp_path, "--known_verdicts", known, "--skip-kit", "--resume", "mine", "--json", out)
    assert again.returncode == 1
    assert of_json(out)["kit"] is None
    assert of_json(out)["by_expected"] == values["by_expected"]
    assert len(journal.read_text().splitlines()) <= len(lines) + 1, "only what was lost, and what got no verdict"


def test_a_file_that_shows_nothing_is_not_as_it_should_be(tmp_path: Path) -> None:
    rows = [contest("a", submission("a.py", "AC", "print 1", language=0), submission("b.py", "AC", RIGHT, agrees=None))]
    done = doctor(tmp_path, "--known_verdicts", write_jsonl(tmp_path / "known.jsonl", rows), "--skip_kit")
    assert done.returncode == 1
    assert "no submission with a confirmed label can be run: nothing was shown" in done.stdout.splitlines()
    assert "judge check FAILED" in done.stderr


def test_what_is_amiss_with_a_run_is_said_before_the_kit_runs(tmp_path: Path) -> None:
    one = contest("a", submission("a.py", "AC", RIGHT))
    known = write_jsonl(tmp_path / "known.jsonl", [one])
    twins = write_jsonl(tmp_path / "twins.jsonl", [one, one])
    checker = write_jsonl(tmp_path / "checker.jsonl", [one | {"checker": 3}])
    for options, said in (
        (["--known_verdicts", known, "--resume", "none"], "there is no run 'none'"),
        (["--known_verdicts", known, "--run", ".."], "'..' isn't a valid name for a run"),
        (["--known_verdicts", twins], "two problems of the split are called 'a'"),
        (["--known_verdicts", checker], "checker"),
    ):
        done = doctor(tmp_path, *options)
        assert done.returncode == 2, done.stderr
        assert said in done.stderr.splitlines()[-1]
        assert "kit" not in done.stdout


def test_an_unknown_backend_takes_no_name_of_a_run(tmp_path: Path) -> None:
    known = write_jsonl(tmp_path / "known.jsonl", [contest("a", submission("a.py", "AC", RIGHT))])
    options = ("--known_verdicts", known, "--skip_kit", "--run", "mine")
    assert doctor(tmp_path, *options, "--backend", "locl").returncode == 2
    assert not (tmp_path / "runs").exists()
    assert doctor(tmp_path, *options).returncode == 0


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_without_isolation_what_is_not_held_is_said(tmp_path: Path) -> None:
    options = ("-o", "code_tester.sandbox=false", "--json", tmp_path / "out.json")
    done = doctor_with_kit(tmp_path, *options)
    assert done.returncode == 1
    assert done.stdout.splitlines()[0] == "judge: local, without isolation"
    assert "not held: cheats: kills its parent: not run: nothing here would hold it" in done.stdout
    assert "not held: cheats: reads a file of the host: accepted, not a rejection" in done.stdout
    findings = of_json(tmp_path / "out.json")["kit"]["findings"]
    assert (findings["wrong"], findings["not judged"]) == (0, 0)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--backend", "locl"], "did you mean 'local'"),
        (["--known_verdicts", "none.jsonl"], "none.jsonl"),
        (["--resume", "mine"], "need --known_verdicts FILE"),
        (["--skip_kit"], "need --known_verdicts FILE"),
        (["--time_limit_factor", "0"], "0.0 is not in the range"),
    ],
)
def test_a_mistake_of_the_user_is_one_line_and_exit_status_2(tmp_path: Path, options: list[str], said: str) -> None:
    done = doctor(tmp_path, *options)
    assert (done.returncode, "Traceback" in done.stderr) == (2, False)
    assert said in done.stderr


@pytest.fixture
def problems(tmp_path: Path) -> Path:
    """A problem with solutions called right (one isn't) and wrong, in two languages, and one without any."""
    correct = {"language": [3, 0, 3], "solution": [RIGHT, "print 1", WRONG]}
    incorrect = {"language": [3, 3], "solution": ["print(", ALSO_WRONG]}
    return write_jsonl(
        tmp_path / "problems.jsonl", [double("a", solutions=correct, incorrect_solutions=incorrect), double("b")]
    )


def test_the_judges_error_stands_beside_a_score_and_never_in_it(tmp_path: Path, problems: Path) -> None:
    solutions = solutions_file(tmp_path, row("a", RIGHT), row("b", WRONG))
    done = eval_gen(tmp_path, solutions, problems, "--k", 1, "--run", "mine", "--json", tmp_path / "out.json")
    assert done.returncode == 0, done.stderr
    values = of_json(tmp_path / "out.json")
    assert (values["judge_error"], values["pass_at_k"]) == (ERROR, {"pass@1": 0.5})
    assert {c["group"] for p in values["problems"] for c in p["candidates"]} == {"generated"}
    assert "2 problems, 2 programs" in done.stdout
    line = "judge error  1 of 2 known-correct rejected, 0 of 2 known-incorrect accepted (local)"
    assert line in done.stdout.splitlines()
    journal = (tmp_path / "runs/mine/journal.jsonl").read_text().splitlines()
    groups = Counter(json.loads(entry)["result"]["group"] for entry in journal)
    assert groups == {"generated": 2, "known_correct": 2, "known_incorrect": 2}
    assert eval_gen(tmp_path, solutions, problems, "--k", 1, "--resume", "mine").returncode == 0
    assert (tmp_path / "runs/mine/journal.jsonl").read_text().splitlines() == journal


def test_the_judges_error_can_be_turned_off(tmp_path: Path, problems: Path) -> None:
    solutions = solutions_file(tmp_path, row("a", RIGHT))
    done = eval_gen(tmp_path, solutions, problems, "--k", 1, "-o", "code_tester.known_solutions=0")
    assert "judge error  n/a (turned off: known_solutions = 0)" in done.stdout.splitlines()


@pytest.mark.parametrize("command", ["eval_cc_solutions", "pass_at_k"])
def test_human_solutions_tell_the_judges_error_themselves(tmp_path: Path, problems: Path, command: str) -> None:
    options = ("--solutions", "both", "--run", "mine", "--json", tmp_path / "out.json")
    done = eval_humans(tmp_path, problems, *options, command=command)
    assert done.returncode == 0, done.stderr
    assert of_json(tmp_path / "out.json")["judge_error"] == ERROR
    assert len((tmp_path / "runs/mine/journal.jsonl").read_text().splitlines()) == 4, "nothing is judged twice"


@contextmanager
def busy_cores() -> Iterator[None]:
    """Every core kept busy by a process of ours."""
    loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(os.cpu_count() or 1)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


def contest_verdicts(home: Path, run: str) -> dict:
    out = home / f"{run}.json"
    path = shared_path("data/icpc_known_verdict.jsonl")
    done = doctor(home, "--known_verdicts", path, "--skip_kit", "--run", run, "--json", out, "-q")
    print(done.stdout)
    assert done.returncode == 0, done.stderr
    return of_json(out)


@pytest.mark.slow
@pytest.mark.timeout(6000)
def test_real_submissions_get_their_verdict_on_three_runs_and_under_load(tmp_path: Path) -> None:
    records = map(json.loads, shared_path("data/icpc_known_verdict.jsonl").read_text().splitlines())
    agrees = {(r["name"], s["file"]): s["agrees"] for r in records for s in r["submissions"]}
    first, second = (contest_verdicts(tmp_path, run) for run in ("first", "second"))
    with busy_cores():
        third = contest_verdicts(tmp_path, "busy")
    verdicts = [{(s["problem"], s["file"]): s["verdict"] for s in run["submissions"]} for run in (first, second, third)]
    assert verdicts[0] == verdicts[1] == verdicts[2]
    told = [s for s in first["submissions"] if agrees[s["problem"], s["file"]]]
    assert [s for s in told if s["verdict"] == "internal_error"] == []
    assert [s for s in told if (s["expected_verdict"] == "AC") != (s["verdict"] == "accepted")] == []
    right, total = first["confirmed"]["class_right"], first["confirmed"]["class_total"]
    assert right >= 0.95 * total > 0
    assert {s["verdict"] for s in first["submissions"] if s["language"] != 3} == {None}
