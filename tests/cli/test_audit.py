"""`gencode audit` and `gencode rejudge` as commands."""

import json
from pathlib import Path

import pytest

from alpha_codium.audit.graders.enclosure import enclosing_command
from tests.cli.here import gencode
from tests.support import ROOT
from tests.test_docs import blocks

PAGE = ROOT / "docs" / "audit.md"


@pytest.mark.thorough
def test_the_grader_of_the_page_is_audited_as_the_page_says(tmp_path: Path) -> None:
    (tmp_path / "grader.py").write_text(blocks(PAGE, "python")[0])
    out = tmp_path / "audit.json"
    done = gencode(
        "audit", tmp_path / "grader.py", "--section", "comparison", "--json", out, "--parallel", "4", home=tmp_path
    )
    assert done.returncode == 1, done.stderr
    shown = [
        line
        for block in blocks(PAGE, "text")
        for line in block.splitlines()
        if line.startswith(("stdin  ", "  stdin:"))
    ]
    assert len(shown) == 2
    assert [line for line in shown if line not in done.stdout.splitlines()] == []
    found = json.loads(out.read_text())
    assert {each["idiom"] for each in found["false_accepts"]} >= {"the last line is missing", "only the first line"}
    assert found["false_rejects"] == found["hangs"] == found["crashes"] == []
    known = tmp_path / "known.txt"
    known.write_text("\n".join(each["case"] for each in found["false_accepts"]))
    page = tmp_path / "audit.html"
    command = ("audit", tmp_path / "grader.py", "--section", "comparison", "--known", known, "--output", page)
    again = gencode(*command, home=tmp_path)
    assert again.returncode == 0, again.stdout
    assert "right on every case" in page.read_text() and str(tmp_path) not in page.read_text()


def test_no_such_grader_or_section_is_one_line_and_status_2(tmp_path: Path) -> None:
    for arguments in (("humaneval",), ("plain", "--section", "compare"), ("none.py",)):
        done = gencode("audit", *arguments, home=tmp_path)
        assert done.returncode == 2
        assert len(done.stderr.strip().splitlines()) == 1


PROBLEM = {
    "task_id": "Own/0",
    "prompt": "def double(x):\n",
    "entry_point": "double",
    "canonical_solution": "    return 2 * x\n",
    "test": "def check(candidate):\n    assert candidate(2) == 4\n    assert candidate('a') == 'aa'\n",
}
RIGHT, WRONG = "def double(x):\n    return 2 * x\n", "def double(x):\n    return x ** 2\n"


@pytest.mark.thorough
@pytest.mark.skipif(not enclosing_command([]), reason="this machine gives no namespaces")
def test_published_verdicts_are_compared_with_ours_and_with_python3(tmp_path: Path) -> None:
    problems, samples, out = tmp_path / "own.jsonl", tmp_path / "samples.jsonl", tmp_path / "out.json"
    problems.write_text(json.dumps(PROBLEM) + "\n")
    rows = [("a", RIGHT, True), ("a", WRONG, True), ("b", RIGHT, False), ("b", WRONG, None)]
    samples.write_text(
        "".join(
            json.dumps({"task_id": "Own/0", "run": run, "solution": program, "passed": verdict}) + "\n"
            for run, program, verdict in rows
        )
    )
    command = ("rejudge", samples, "--dataset_name", problems, "--run", "mine", "--json", out)
    done = gencode(*command, home=tmp_path)
    assert done.returncode == 0, done.stderr
    found = json.loads(out.read_text())
    assert gencode(*command, home=tmp_path).returncode == 0
    assert json.loads(out.read_text()) == found
    journals = [(tmp_path / f"runs/mine-{number}/journal.jsonl").read_text() for number in (1, 2)]
    assert [len(journal.splitlines()) for journal in journals] == [2, 2]
    flips = {(flip["run"], flip["published"], flip["here"], flip["plain"]) for flip in found["flips"]}
    assert flips == {("a", "passed", "runtime_error", "rejected"), ("b", "failed", "accepted", "accepted")}
    assert [(run["published"]["pass@1"], run["here"]["pass@1"]) for run in found["runs"]] == [(1.0, 0.5), (0.0, 1.0)]
    assert [run["without_verdict"] for run in found["runs"]] == [0, 1]
    assert [(each["published"], each["here"]) for each in found["ranks"]] == [(["a", "b"], ["b", "a"])]
    assert "TypeError" in done.stdout


@pytest.mark.thorough
@pytest.mark.skipif(not enclosing_command([]), reason="this machine gives no namespaces")
def test_files_of_one_name_are_told_apart_and_their_verdicts_are_read_first(
    tmp_path: Path,
) -> None:
    problems, out = tmp_path / "own.jsonl", tmp_path / "out.json"
    problems.write_text(json.dumps(PROBLEM) + "\n")
    files = [tmp_path / folder / "samples.jsonl" for folder in ("one", "two")]
    for file, passed in zip(files, (True, False), strict=True):
        file.parent.mkdir()
        file.write_text(json.dumps({"task_id": "Own/0", "solution": RIGHT, "passed": passed}) + "\n")
    command = ("rejudge", *files, "--dataset_name", problems)
    assert gencode(*command, "--json", out, home=tmp_path).returncode == 0
    found = json.loads(out.read_text())
    assert [run["run"] for run in found["runs"]] == list(map(str, files))
    assert [flip["run"] for flip in found["flips"]] == [str(files[1])]
    files[1].write_text(json.dumps({"task_id": "Own/0", "solution": RIGHT, "passed": "perhaps"}) + "\n")
    done = gencode(*command, "--run", "r", home=tmp_path)
    assert (done.returncode, "must be true or false" in done.stderr) == (2, True)
    assert not (tmp_path / "runs/r-1").exists(), "a program was judged first"
    twice = gencode("rejudge", files[0], files[0], "--dataset_name", problems, home=tmp_path)
    assert (twice.returncode, "twice: give it once" in twice.stderr) == (2, True)


def test_a_file_without_verdicts_is_an_error_that_names_the_option(tmp_path: Path) -> None:
    samples = tmp_path / "samples.jsonl"
    samples.write_text(json.dumps({"task_id": "Own/0", "solution": RIGHT}) + "\n")
    done = gencode("rejudge", samples, "--dataset_name", samples, home=tmp_path)
    assert done.returncode == 2
    assert "--verdict_column" in done.stderr
    samples.write_text(json.dumps({"task_id": "Own/0", "mine": RIGHT, "passed": True}) + "\n")
    for options, said in ([], "name one as --column"), (["--column", "mne"], "no column 'mne' (did you mean 'mine'?)"):
        done = gencode("rejudge", samples, "--dataset_name", samples, *options, home=tmp_path)
        assert (done.returncode, said in done.stderr) == (2, True)
