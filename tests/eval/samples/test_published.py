"""Published runs, sample by sample: what is judged here is what was published, and each difference has its reason.

The files, their figures and where they come from: `data/README.md` of the shared folder.
"""

import gzip
import json
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.cli.here import gencode
from tests.support import shared_path

IMPORTS = "from typing import *; import math, re, heapq, itertools, collections"
# Where MBPP's own tests are others than those that stand in the run's file, and one run's test calls itself.
MBPP_436 = "MBPP/436: its asserts read `== -1,-6`, a comparison with a message; the run's file has a tuple there"
MBPP_349 = "MBPP/349: the program is called check, and so was the function of the run's own test, which called itself"

# run -> how many are accepted here, and the tasks where that is not what was published.
HUMANEVAL = {
    "mapcoder/ChatGPT/HumanEval/ChatGPT-CoT*": (113, {}),
    "mapcoder/ChatGPT/HumanEval/ChatGPT-MapCoder*": (132, {}),
    "mapcoder/GPT4/HumanEval/GPT4-Turbo-SelfPlanning*": (140, {}),
    "mapcoder/GPT4/HumanEval/humaneval-py*": (140, {"HumanEval/133": "math isn't imported by the program"}),
    "ldb/humaneval/seed/codellama/*": (81, {}),
    "ldb/humaneval/seed/gpt-3.5-turbo-0613/*": (121, {}),
    "ldb/humaneval/seed/gpt-4-1106-preview/*": (143, {}),
}
MBPP = {
    "ldb/mbpp/seed/gpt-3.5-turbo-0613/*": ("test", 329, {}),
    "ldb/mbpp/seed/starcoder/*": ("test", 258, {"MBPP/436": MBPP_436, "MBPP/349": MBPP_349}),
    "mapcoder/ChatGPT/MBPP/ChatGPT-Analogical*": ("", 286, {}),
    "mapcoder/GPT4/MBPP/GPT4-Turbo-Analogical*": ("", 232, {}),
    "mapcoder/GPT4/MBPP/GPT4-Turbo-CoT*": ("", 321, {}),
    "mapcoder/GPT4/MBPP/GPT4-Turbo-MapCoder*": ("", 326, {}),
    "mapcoder/GPT4/MBPP/GPT4-Turbo-SelfPlanning*": ("", 297, {}),
}  # fmt: skip


def samples_of(run: str) -> tuple[Path, list[dict]]:
    """The file that holds a run, and the run's rows."""
    source, benchmark = run.partition("/")[0], "mbpp" if "mbpp" in run.lower() else "humaneval"
    file = shared_path(f"data/samples_{benchmark}_{source}.jsonl")
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    return file, [row for row in rows if row["run"].startswith(run.rstrip("*"))]


def problems_of(run: str) -> Path:
    if "mbpp" not in run.lower():
        return shared_path("data/humaneval.jsonl")
    return shared_path("data/mbpp.jsonl" if run.startswith("ldb") else "data/mbpp_multiple_py397.jsonl")


def accepted(home: Path, run: str, *more: object, file: Path | None = None) -> dict[str, bool]:
    """Which problems' samples are accepted, by name."""
    done = gencode(
        "eval", "score", file or samples_of(run)[0], "--dataset_name", problems_of(run), "--select", f"run={run}",
        "--k", 1, "--json", home / "out.json", *more, home=home,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    problems = json.loads((home / "out.json").read_text())["problems"]
    return {p["name"].lower(): p["candidates"][0]["verdict"] == "accepted" for p in problems if p["candidates"]}


def other_than(rows: list[dict], judged: dict[str, bool], column: str) -> set[str]:
    """The tasks whose verdict is another than the file's."""
    return {row["task_id"] for row in rows if judged[row["task_id"].lower()] != row[column]}


@pytest.mark.thorough
@pytest.mark.parametrize("run", HUMANEVAL)
def test_published_runs_of_humaneval_get_the_published_counts(run: str, tmp_path: Path) -> None:
    _, rows = samples_of(run)
    count, reasons = HUMANEVAL[run]
    judged = accepted(tmp_path, run)
    assert (len(judged), sum(judged.values())) == (164, count)
    assert other_than(rows, judged, "published_passed") == set(reasons)


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("run", MBPP)
def test_published_runs_of_mbpp_get_the_verdicts_that_a_careful_rerun_gave(run: str, tmp_path: Path) -> None:
    _, rows = samples_of(run)
    split, count, reasons = MBPP[run]
    judged = accepted(tmp_path, run, *(["--split_name", split] if split else []))
    assert sum(judged.values()) == count
    assert other_than(rows, judged, "observed_passed") == set(reasons)


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_a_header_gives_the_counts_of_a_rerun_with_that_header(tmp_path: Path) -> None:
    run = "ldb/mbpp/seed/gpt-3.5-turbo-0613/*"
    judged = accepted(tmp_path, run, "--split_name", "test", "--header", IMPORTS)
    assert sum(judged.values()) == 340
    assert other_than(samples_of(run)[1], judged, "observed_passed_with_imports") == set()


@pytest.mark.slow
@pytest.mark.timeout(3000)
def test_16400_completions_give_the_pass_at_k_that_was_measured(tmp_path: Path) -> None:
    """Some import packages that weren't there (numpy, pandas, boto3), and pass where they are."""
    file = shared_path("data/samples_humaneval_codet_codegen16b_n100.jsonl.gz")
    rows = [json.loads(line) for line in gzip.decompress(file.read_bytes()).splitlines()]
    done = gencode(
        "eval", "score", file, "--dataset_name", shared_path("data/humaneval.jsonl"), "--k", "1,2,10,100",
        "--json", tmp_path / "out.json", home=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    values = json.loads((tmp_path / "out.json").read_text())
    verdicts = {p["name"]: [c["verdict"] for c in p["candidates"]] for p in values["problems"]}
    other = [r for r in rows if (verdicts[r["task_id"]][r["sample"]] == "accepted") != r["observed_passed"]]
    assert all(row["observed"].startswith("ModuleNotFoundError") for row in other), other
    assert all(find_spec(row["observed"].split("'")[1].partition(".")[0]) for row in other), other
    pass_at_k = {k: round(value, 3) for k, value in values["pass_at_k"].items()}
    assert pass_at_k.pop("pass@100") in (0.738, 0.744)
    assert pass_at_k == {"pass@1": 0.221, "pass@2": 0.308, "pass@10": 0.504}
