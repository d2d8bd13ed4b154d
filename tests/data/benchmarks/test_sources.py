"""A benchmark by its name: from the hub (on loopback), from a file, and what ETL says of it."""

import io
import json

import pytest
from loguru import logger

from alpha_codium.data.etl import run_etl
from alpha_codium.data.hub import HubSource
from alpha_codium.data.load import load_problems
from alpha_codium.data.sources import find_source
from alpha_codium.errors import DatasetError
from tests.data.benchmarks.rows import humaneval_row, mbpp_row, sanitized_row
from tests.data.benchmarks.test_livecodebench import record as livecodebench_record
from tests.data.records import record, write_jsonl
from tests.servers.hub import running_hub
from tests.support import gencode

SANITIZED = [sanitized_row(task_id=task) for task in (602, 603)]
README = """---
configs:
- config_name: full
  default: true
  data_files:
  - split: train
    path: full/train-*
  - split: test
    path: full/test-*
- config_name: sanitized
  data_files:
  - split: train
    path: sanitized/train-*
---
"""
APPS = [
    {
        "problem_id": number,
        "question": "Print the sum.",
        "solutions": "[]",
        "input_output": json.dumps({"inputs": ["1 2\n"], "outputs": ["3\n"]}),
        "difficulty": "interview",
        "url": "",
        "starter_code": "",
    }
    for number in range(5)
]


def parquet(rows):
    import pyarrow as pa
    from pyarrow import parquet

    file = io.BytesIO()
    parquet.write_table(pa.Table.from_pylist(rows), file)
    return file.getvalue()


def lines(rows):
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


@pytest.fixture
def hub():
    plain = b"---\nlicense: mit\n---\n"
    humaneval = {"README.md": plain, "openai_humaneval/test-00000-of-00001.parquet": parquet([humaneval_row()])}
    mbpp = {
        "README.md": README.encode(),
        "full/train-00000-of-00001.parquet": parquet([mbpp_row(task_id=task) for task in (601, 602)]),
        "full/test-00000-of-00001.parquet": parquet([mbpp_row(task_id=11)]),
        "sanitized/train-00000-of-00001.parquet": parquet(SANITIZED),
    }
    apps = {"README.md": plain, "apps.py": b"raise SystemExit('the script was run')\n"}
    apps |= {"train.jsonl": lines(APPS[:3]), "test.jsonl": lines(APPS[3:])}
    plus = {"README.md": plain, "data/test-00000-of-00001.parquet": parquet([humaneval_row()])}
    script = {"README.md": plain, "only.py": b"raise SystemExit('the script was run')\n"}
    releases = {"README.md": plain, "code_generation_lite.py": b"raise SystemExit('the script was run')\n"}
    releases |= {f"test{n}.jsonl": lines([livecodebench_record(question_id=f"q{n or 1}")]) for n in ("", 2, 3, 4, 5, 6)}
    ids = {
        "openai/openai_humaneval": humaneval,
        "google-research-datasets/mbpp": mbpp,
        "codeparrot/apps": apps,
        "evalplus/humanevalplus": plus,
        "someone/only": script,
        "livecodebench/code_generation_lite": releases,
    }
    with running_hub(ids) as running:
        yield running


@pytest.fixture
def etl(home, hub, tmp_path):
    """`gencode data etl` in a process of its own; the names of all problems stored, by split."""
    env = {"HF_ENDPOINT": hub.url, "HF_HOME": str(tmp_path / "hf"), "HF_HUB_OFFLINE": "0", "HF_TOKEN": ""}

    def run(source, *arguments):
        done = gencode(
            "data", "etl", "--source", source, "--output_dataset_name", "stored", *arguments, home=home, env=env
        )
        if done.returncode:
            return done.stderr
        import datasets

        return {s: d["name"][:] for s, d in datasets.load_from_disk(str(home / "datasets" / "stored")).items()}

    return run


@pytest.mark.thorough
@pytest.mark.parametrize("source", ["humaneval", "openai_humaneval", "openai/openai_humaneval"])
def test_humaneval_comes_from_the_hub_under_each_of_its_names(etl, source):
    assert etl(source) == {"test": ["HumanEval/900"]}


@pytest.mark.thorough
def test_mbpp_comes_with_its_splits_and_in_either_configuration(etl):
    assert etl("mbpp") == {"train": ["Mbpp/601", "Mbpp/602"], "test": ["Mbpp/11"]}
    assert etl("mbpp:sanitized", "--split_name", "train", "--overwrite")["train"] == ["Mbpp/602", "Mbpp/603"]
    assert "'sanitised' not found. Available: ['full', 'sanitized']" in etl("google-research-datasets/mbpp:sanitised")


@pytest.mark.thorough
def test_apps_is_read_without_running_its_script(etl):
    assert etl("codeparrot/apps") == {"train": ["apps/0", "apps/1", "apps/2"], "test": ["apps/3", "apps/4"]}


@pytest.mark.thorough
def test_a_release_of_livecodebench_is_read_by_its_name(etl):
    assert etl("livecodebench:v5") == {"test": ["livecodebench/q5"]}
    assert etl("livecodebench:release_v2", "--overwrite") == {"test": ["livecodebench/q1", "livecodebench/q2"]}


def test_a_release_that_is_not_there_is_told_those_that_are():
    with pytest.raises(DatasetError, match=r"no configuration 'v7' .there is: release_v1, "):
        find_source("livecodebench:v7")


@pytest.mark.thorough
def test_a_dataset_that_only_a_script_makes_is_one_line(etl):
    said = etl("someone/only")
    assert (
        said
        == "error: someone/only needs a script, which gencode doesn't run: download its files and give their path\n"
    )


@pytest.mark.parametrize(
    ("text", "repository"),
    [
        ("mbpp", "google-research-datasets/mbpp"),
        ("humanevalplus", "evalplus/humanevalplus"),
        ("evalplus/humanevalplus", "evalplus/humanevalplus"),
        ("mbppplus", "evalplus/mbppplus"),
        ("apps", "codeparrot/apps"),
        ("livecodebench", "livecodebench/code_generation_lite"),
        ("codeforces", "open-r1/codeforces"),
    ],
)
def test_a_benchmark_has_a_short_name(text, repository):
    source = find_source(text)
    assert isinstance(source, HubSource)
    assert (source.repository, source.configuration) == (repository, "")


def test_a_configuration_is_stored_beside_the_default_and_not_in_its_place():
    assert find_source("mbpp").dataset_id == "google-research-datasets/mbpp"
    assert find_source("mbpp:sanitized").dataset_id == "google-research-datasets/mbpp+sanitized"


def test_a_stored_dataset_wins_over_the_name_of_a_benchmark(home, tmp_path):
    run_etl(str(write_jsonl(tmp_path / "mine.jsonl", [record("1_A")])), "mbpp")
    assert load_problems("mbpp").names == ("1_A",)


def test_a_mistyped_benchmark_is_told_the_nearest():
    with pytest.raises(DatasetError, match=r"no dataset 'humanevil' \(did you mean 'humaneval'\?\)"):
        find_source("humanevil")


@pytest.fixture
def log():
    told: list[str] = []
    handler = logger.add(lambda message: told.append(str(message)), format="{message}")
    yield told
    logger.remove(handler)


def test_problems_without_tests_are_counted_and_told(home, tmp_path, log):
    rows = [humaneval_row(), humaneval_row(task_id="HumanEval/901", test=""), record("1_A", public_tests=None)]
    path = write_jsonl(tmp_path / "some.jsonl", [*rows, record("2_A", public_tests=None, private_tests=None)])
    report = run_etl(str(path), "some")
    assert report.splits[0].without_tests == 2
    assert log == [f"{path}[test]: 2 problems without tests, which no program can pass\n"]
    info = json.loads((home / "datasets" / "some" / "etl.json").read_text())["splits"]["test"]
    assert info["without_tests"] == 2


def test_converted_columns_are_not_told_as_left_out(home, tmp_path, log):
    report = run_etl(str(write_jsonl(tmp_path / "he.jsonl", [humaneval_row()])), "he")
    assert report.splits[0].dropped_columns == ()
    assert log == []
