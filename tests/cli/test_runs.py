"""`gencode runs`: what a run's folder says of a failed sample, and the deletion of runs."""

import csv
import json
import os
import re
from pathlib import Path

import pytest

from alpha_codium import evaluate
from alpha_codium.runs import RunFolder
from tests.data.records import record, write_jsonl
from tests.eval.splits import RIGHT, WRONG, problem
from tests.gen.running import ECHO, assert_refused, model_arguments, run_cli, write_problems
from tests.servers.scripted import ScriptedServer, Text

DOUBLE = {"input": ["1\n", "2\n"], "output": ["2\n", "4\n"]}
NONE = {"input": [], "output": []}
NOISY = "import sys\nprint('\\x1b[31mred', file=sys.stderr)\n" + WRONG


@pytest.fixture
def scored(home, tmp_path):
    """A run `r` of three samples, of which one fails."""
    known = {"language": [3, 3], "solution": [RIGHT, WRONG]}
    tests = {"public_tests": NONE, "private_tests": DOUBLE, "solutions": known}
    problems = write_jsonl(tmp_path / "p.jsonl", [record(f"p/{n}", **tests) for n in (2, 10)])
    rows = [{"task_id": "p/2", "solution": RIGHT}, {"task_id": "p/10", "solution": [RIGHT, NOISY]}]
    samples = write_jsonl(tmp_path / "s.jsonl", rows)
    done = run_cli("eval", "score", samples, "--dataset_name", problems, "--k", 1, "--run", "r")
    assert done.returncode == 0, done.stderr
    return home / "runs" / "r"


def test_the_first_sample_that_failed_is_shown_with_its_program_and_the_difference(scored):
    done = run_cli("runs", "show", "r")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("p/10, sample 1: wrong_answer, 0 of 2 tests passed (program ")
    assert NOISY in done.stdout
    assert "first failing test: number 1 of 2, wrong_answer\ninput:\n  1\n" in done.stdout
    assert "difference (- expected, + actual):\n  - 2\n  + 0\n" in done.stdout
    assert done.stdout.endswith("end of stderr:\n  red\n"), "colours of the program aren't shown"
    assert (
        "1 of 3 samples of the run failed; show others with --problem NAME --sample I, list them with --failed"
        in done.stderr
    )


def test_all_samples_that_failed_are_listed_with_the_reason(home, tmp_path):
    problems = write_jsonl(tmp_path / "p.jsonl", [record("p/1", public_tests=NONE, private_tests=DOUBLE)])
    wrong = [RIGHT, WRONG, "[][1]", "print("]
    samples = write_jsonl(tmp_path / "s.jsonl", [{"task_id": "p/1", "solution": wrong}])
    done = run_cli("eval", "score", samples, "--dataset_name", problems, "--k", 1, "--run", "r")
    assert done.stderr.endswith("why programs failed: gencode runs show r --failed\n")
    done = run_cli("runs", "show", "r", "--failed", "--json", tmp_path / "o.json")
    assert done.stdout.splitlines()[1:] == [
        "p/1\t1\twrong_answer\ttest 1 of 2",
        "p/1\t2\truntime_error\tIndexError: list index out of range",
        "p/1\t3\tcompilation_error\tSyntaxError: '(' was never closed",
    ]
    assert "3 of 4 samples failed: 1 wrong_answer, 1 IndexError, 1 SyntaxError\n" in done.stderr
    assert [each["index"] for each in json.loads((tmp_path / "o.json").read_text())] == [1, 2, 3]
    done = run_cli("runs", "show", "r", "--failed", "--sample", 0)
    assert (done.stdout, done.stderr) == ("", "0 of 1 sample failed\n")


def test_a_sample_is_chosen_by_problem_and_index(scored, tmp_path):
    done = run_cli("runs", "show", "r", "--problem", "10", "--sample", 0, "--json", tmp_path / "o.json")
    assert done.stdout.startswith("p/10, sample 0: accepted, 2 of 2 tests passed")
    values = json.loads((tmp_path / "o.json").read_text())
    assert (values["source"], values["verdict"], values["index"]) == (RIGHT, "accepted", 0)
    for wrong, said in (
        (("--problem", "p/3"), "has no samples of 'p/3' (did you mean 'p/2'?)"),
        (("--sample", 7), "there is no sample 7: there are 0 to 1"),
    ):
        done = run_cli("runs", "show", "r", *wrong)
        assert (done.returncode, said in done.stderr) == (2, True), done.stderr


@pytest.mark.parametrize("chosen", [(), ("--problem", "p/2"), ("--sample", 0)])
def test_a_sample_is_found_by_the_table_and_without_one_it_is_the_same(scored, chosen):
    journal, table = scored / "journal.jsonl", scored / "candidates.parquet"
    by_table = run_cli("runs", "show", "r", *chosen)
    times = journal.stat().st_mtime_ns, table.stat().st_mtime_ns
    lines = journal.read_text()
    journal.write_text(f"what else is there isn't read\n{lines}")
    os.utime(journal, ns=times)
    assert run_cli("runs", "show", "r", *chosen).stdout == by_table.stdout
    os.utime(journal)
    assert run_cli("runs", "show", "r", *chosen).returncode == 2, "a table that is older than the journal isn't used"
    journal.write_text(lines)
    table.unlink()
    without = run_cli("runs", "show", "r", *chosen)
    assert (without.stdout, without.stderr) == (by_table.stdout, by_table.stderr)


def test_each_program_stands_once_in_the_folder_and_results_have_its_hash_and_failure(scored):
    programs = [json.loads(line) for line in (scored / "programs.jsonl").read_text().splitlines()]
    assert sorted(each["source"] for each in programs) == sorted([RIGHT, NOISY, WRONG])
    results = json.loads((scored / "results.json").read_text())["problems"][1]["candidates"]
    assert results[1]["program"] in {each["program"] for each in programs}
    assert results[1]["failure"]["stderr"] == "\x1b[31mred\n"
    for line in (scored / "journal.jsonl").read_text().splitlines():
        assert len(line) < 2000


def test_a_table_has_a_row_for_each_program(scored, tmp_path):
    table = ("--per_problem", "--csv", tmp_path / "t.csv", "--json", tmp_path / "o.json")
    done = run_cli("eval", "score", "--resume", "r", *table)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("p/2   1 of 1 passed (sample 0)\np/10  1 of 2 passed (sample 0)\n")
    rows = list(csv.DictReader((tmp_path / "t.csv").open(newline="")))
    assert [(row["problem"], row["index"], row["verdict"]) for row in rows] == [
        ("p/2", "0", "accepted"), ("p/10", "0", "accepted"), ("p/10", "1", "wrong_answer"),
    ]  # fmt: skip
    assert (rows[2]["failed_test"], rows[2]["expected"], rows[2]["actual"]) == ("0", "2\n", "0\n")
    assert run_cli("eval", "score", "--resume", "r", "--csv", tmp_path).returncode == 2


def test_python_gives_the_same_table(home):
    problems = [problem("a"), problem("b")]
    frame = evaluate([{"task_name": "a", "solution_candidates": [RIGHT, WRONG]}], problems, k=[1]).to_pandas()
    assert list(frame["verdict"]) == ["accepted", "wrong_answer"]
    assert list(evaluate([], problems, k=[1]).to_pandas().columns) == list(frame.columns)


def test_a_folder_of_an_earlier_version_is_still_shown_and_resumed(scored, tmp_path):
    (scored / "programs.jsonl").unlink()
    lines = [json.loads(line) for line in (scored / "journal.jsonl").read_text().splitlines()]
    for line in lines:
        line["result"].pop("failure", None)
    (scored / "journal.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    done = run_cli("runs", "show", "r")
    assert "(the run's folder doesn't have the program)" in done.stdout
    assert "it was written by an earlier version" in done.stdout
    again = run_cli(
        "eval", "score", tmp_path / "s.jsonl", "--dataset_name", tmp_path / "p.jsonl", "--k", 1, "--resume", "r"
    )
    assert again.returncode == 0, again.stderr
    assert NOISY in run_cli("runs", "show", "r").stdout


def test_a_human_solution_is_shown_from_its_dataset(scored, tmp_path):
    options = ("--dataset_name", tmp_path / "p.jsonl", "--evaluation_test_type", "private_tests", "--k", 1)
    assert run_cli("eval", "eval_cc_solutions", *options, "--run", "human").returncode == 0
    done = run_cli("runs", "show", "human")
    assert done.stdout.startswith("p/2, correct sample 1: wrong_answer, 0 of 2 tests passed")
    assert WRONG in done.stdout and "  - 2\n  + 0\n" in done.stdout
    assert not (scored.parent / "human" / "programs.jsonl").exists()


def test_a_run_of_a_model_shows_its_public_tests_and_then_what_compare_found(home, tmp_path):
    problems = write_problems(tmp_path, 1)
    wrong = ECHO.replace("input()", "0, input()")
    with ScriptedServer(lambda _: wrong) as server:
        at = ("--dataset_name", problems, "--flow", "baseline", *model_arguments(server))
        assert run_cli("gen", "solve_set", *at, "--run", "g").returncode == 0
    for test_type in ("public", "private"):
        done = run_cli("runs", "show", "g")
        assert done.returncode == 0, done.stderr
        assert "print(0, input())" in done.stdout
        assert "first failing test: number 1 of " in done.stdout
        assert "difference (- expected, + actual):\n  - " in done.stdout
        shown = run_cli("runs", "show", "g", "--transcript").stdout
        assert shown.startswith(done.stdout) and "\n== prompt " in shown and f"\n-- answer\n{wrong}" in shown
        both = run_cli("runs", "show", "g", "--transcript", "--failed")
        assert (both.returncode, "leave out --failed" in both.stderr) == (2, True)
        if test_type == "public":
            compared = run_cli("compare", "g")
            assert (compared.returncode, "0 of 1 sample accepted" in compared.stderr) == (0, True)


@pytest.mark.thorough
def test_a_run_of_a_model_that_was_not_judged_says_so_with_the_command_that_judges_it(home, tmp_path):
    problems = write_problems(tmp_path, 1)
    with ScriptedServer(lambda _: ECHO) as server:
        at = ("--dataset_name", problems, "--flow", "baseline", *model_arguments(server))
        assert run_cli("gen", "solve_set", *at, "--run", "g").returncode == 0
    for more in ((), ("--failed",)):
        said = run_cli("runs", "show", "g", *more).stderr
        assert "the programs of run 'g' weren't judged, only run on public tests" in said
        of_run = "" if more else " of the run"
        assert said.endswith(f"\n0 of 1 sample{of_run} failed the public tests\n")
    command = re.search(r"judge them: gencode (.*)", said)[1].split()
    judged = run_cli(*command, "--k", 1, "--run", "e")
    assert "pass@1   1.0000" in judged.stdout, judged.stderr
    assert "weren't judged" not in run_cli("runs", "show", "e").stderr
    assert run_cli("compare", "g").returncode == 0
    assert "weren't judged" not in run_cli("runs", "show", "g").stderr


def test_runs_are_listed_with_their_scores_and_deleted_unless_in_use(scored, home):
    done = run_cli("runs", "list")
    assert done.stdout.splitlines()[1].split("\t")[:2] == ["r", "score"]
    assert "pass@1 0.750" in done.stdout
    with RunFolder(scored):
        done = run_cli("runs", "rm", "r", "--yes")
        assert (done.returncode, "run 'r' is in use by another process" in done.stderr) == (2, True)
    assert scored.exists()
    assert run_cli("runs", "rm", "nonesuch", "--yes").returncode == 2
    done = run_cli("runs", "rm", "r")
    assert (done.returncode, "nothing was deleted: use --yes" in done.stderr, scored.exists()) == (2, True, True)
    assert run_cli("runs", "rm", "r", "--yes").returncode == 0
    assert not scored.exists()
    assert "no run is stored yet" in run_cli("runs", "list").stderr


def test_a_sample_without_a_program_is_shown_with_the_models_answer(home, tmp_path):
    problems = write_problems(tmp_path, 1)
    with ScriptedServer(lambda _: Text("I would rather not.")) as server:
        own = ("--flow", "baseline", "--no_cache", "--run", "r", *model_arguments(server))
        run_cli("gen", "solve_set", "--dataset_name", problems, *own)
    done = run_cli("runs", "show", "r")
    assert "(the sample has no program)" in done.stdout
    assert "the last answer of the model:\n  I would rather not.\n" in done.stdout
    assert "earlier version" not in done.stdout


def test_a_run_that_a_process_works_in_is_running(scored):
    with RunFolder(scored):
        assert run_cli("runs", "list").stdout.rstrip().endswith("running")
    assert run_cli("runs", "list").stdout.rstrip().endswith("pass@1 0.750")


def test_finished_evaluations_are_queried_in_sql(home: Path, tmp_path: Path) -> None:
    problems, samples = write_problems(tmp_path), tmp_path / "samples.jsonl"
    rows = [{"task_id": f"echo {n}", "solution": each} for n in range(2) for each in ("print(input())", "1 / 0")]
    samples.write_text("".join(json.dumps(row) + "\n" for row in rows))
    nothing = run_cli("runs", "query", "SELECT 1")
    assert_refused(nothing, "no finished evaluation is stored yet")
    for run in ("one", "two"):
        scored = run_cli("eval", "score", samples, "--dataset_name", problems, "--k", 1, "--run", run)
        assert scored.returncode == 0, scored.stderr
    sql = "SELECT run, verdict, count(*) AS n FROM candidates GROUP BY ALL ORDER BY ALL"
    assert run_cli("runs", "query", sql).stdout.splitlines() == [
        "run\tverdict\tn",
        *(f"{run}\t{verdict}\t2" for run in ("one", "two") for verdict in ("accepted", "runtime_error")),
    ]
    joined = "SELECT DISTINCT e.verdict FROM executions e JOIN candidates c USING (run, problem, kind, sample) " \
             "WHERE c.verdict = 'accepted'"  # fmt: skip
    assert run_cli("runs", "query", joined, "--run", "one").stdout.splitlines() == ["verdict", "accepted"]
    table = home / "runs/two/candidates.parquet"
    table.write_bytes(table.read_bytes()[:1000])
    rest = run_cli("runs", "query", "SELECT DISTINCT run FROM candidates")
    assert (rest.returncode, rest.stdout.split()) == (0, ["run", "one"]), rest.stderr
    assert "run two is left out" in rest.stderr
    assert_refused(run_cli("runs", "query", sql, "--run", "two"), "candidates.parquet can't be read as Parquet")
    as_json = tmp_path / "answer.json"
    assert (
        run_cli("runs", "query", "SELECT max(tests_passed) AS most FROM candidates", "--json", as_json).returncode == 0
    )
    assert json.loads(as_json.read_text())[0].keys() == {"most"}
    assert_refused(run_cli("runs", "query", "SELEC 1"), "the query can't be run: Parser Error")
    assert_refused(run_cli("runs", "query", "SELECT 1", "--run", "three"), "there is no run 'three'")


def test_a_run_that_can_not_be_read_is_listed_as_damaged(home: Path) -> None:
    for name, text in (("cut", 'command = "sco'), ("empty", "")):
        (home / "runs" / name).mkdir(parents=True)
        (home / "runs" / name / "run.toml").write_text(text)
    said = run_cli("runs", "list").stdout
    assert said.count("damaged") == 2 and "cut\t" in said


def test_a_run_with_a_very_large_result_is_listed_with_its_score(home: Path) -> None:
    run = home / "runs" / "large"
    run.mkdir(parents=True)
    (run / "run.toml").write_text('command = "score"\ndataset = "many"\n')
    (run / "results.json").write_text(
        '{\n "n_problems": 1,\n "pass_at_k": {\n  "pass@1": 0.25\n },\n "problems": [' + "0," * 10**6
    )
    assert "pass@1 0.250" in run_cli("runs", "list").stdout
