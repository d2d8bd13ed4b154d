import io
import json
import os
import socket
import subprocess
import sys

import pytest

from tests.cli.here import gencode as gencode_here
from tests.data.records import record
from tests.servers.hub import COMMIT, running_hub
from tests.support import gencode

ID = "deepmind/code_contests"
README = b"---\nlicense: cc-by-4.0\n---\n"
ROWS = [record(f"{number}_A") for number in range(30)]


def _parquet(rows: list[dict]) -> bytes:
    import pyarrow as pa
    from pyarrow import parquet

    file = io.BytesIO()
    parquet.write_table(pa.Table.from_pylist(rows), file, row_group_size=4)
    return file.getvalue()


@pytest.fixture
def hub():
    files = {
        "README.md": README,
        "data/train-00000-of-00002-0a1b.parquet": _parquet(ROWS[:10]),
        "data/train-00001-of-00002-2c3d.parquet": _parquet(ROWS[10:20]),
        "data/test-00000-of-00001-4e5f.parquet": _parquet(ROWS[20:]),
    }
    with running_hub({ID: files}) as hub:
        yield hub


@pytest.fixture
def environment(tmp_path, hub):
    return {"HF_ENDPOINT": hub.url, "HF_HOME": str(tmp_path / "hf"), "HF_HUB_OFFLINE": "0", "HF_TOKEN": ""}


@pytest.fixture
def etl_here(home, tmp_path, monkeypatch):
    """`gencode data etl` here; the libraries have read HF_ENDPOINT and HF_HUB_OFFLINE long ago, so they are told."""
    import datasets
    from huggingface_hub import constants

    def run(source, endpoint, offline=False):
        monkeypatch.setattr(constants, "ENDPOINT", endpoint)
        monkeypatch.setattr(constants, "HF_HUB_OFFLINE", offline)
        monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "hf")
        return gencode_here("data", "etl", "--source", source, "--output_dataset_name", "x", home=home)

    return run


@pytest.mark.thorough
def test_a_dataset_of_the_hub_is_streamed_and_stored(home, environment):
    done = gencode("data", "etl", "--source", ID, "--output_dataset_name", "101", home=home, env=environment)
    assert done.returncode == 0, done.stderr
    import datasets

    stored = datasets.load_from_disk(str(home / "datasets" / "101"))
    assert {split: rows["name"][:] for split, rows in stored.items()} == {
        "train": [row["name"] for row in ROWS[:20]],
        "test": [row["name"] for row in ROWS[20:]],
    }
    info = json.loads((home / "datasets" / "101" / "etl.json").read_text())["splits"]["train"]
    assert info["origin"] == {"text": ID, "kind": "hub", "location": ID, "revision": COMMIT}


@pytest.mark.thorough
def test_only_the_split_asked_for_is_fetched(home, hub, environment):
    done = gencode(
        "data",
        "etl",
        "--source",
        ID,
        "--output-dataset-name",
        "101",
        "--split-name",
        "test",
        home=home,
        env=environment,
    )
    assert done.returncode == 0, done.stderr
    assert not any("train-00001" in request for request in hub.requests)


@pytest.mark.thorough
def test_a_cut_download_is_tried_again(home, hub, environment):
    hub.cut_downloads = 1
    done = gencode("data", "etl", "--source", ID, "--output_dataset_name", "101", home=home, env=environment)
    assert done.returncode == 0, done.stderr
    assert "test: 10, train: 20" in _listed(home) or "train: 20, test: 10" in _listed(home)


def _listed(home) -> str:
    return gencode("data", "list", home=home).stdout


@pytest.mark.thorough
def test_problems_of_the_hub_are_stored_on_the_way_and_need_no_hub_again(home, hub, environment):
    program = f"from alpha_codium.data.load import load_problems as load; print(load({ID!r}, 'test').names[0])"
    env = os.environ | environment | {"GENCODE_HOME": str(home)}
    for _ in range(2):
        done = subprocess.run([sys.executable, "-c", program], env=env, capture_output=True, text=True, check=False)
        assert done.stdout == "20_A\n", done.stderr
        env = env | {"HF_ENDPOINT": "http://127.0.0.1:9"}


@pytest.mark.thorough
def test_a_split_that_the_hub_does_not_have_is_told_the_nearest(home, environment):
    done = gencode(
        "data", "etl", "--source", ID, "--output_dataset_name", "x", "--split_name", "trian", home=home, env=environment
    )
    assert (done.returncode, done.stderr) == (2, f"error: {ID} has no split 'trian' (did you mean 'train'?)\n")


def test_a_dataset_that_the_hub_does_not_have_is_one_line(etl_here, hub):
    done = etl_here("no/such", hub.url)
    assert done.returncode == 2
    assert done.stderr.startswith("error: there is no dataset 'no/such'")
    assert f"{hub.url} has none of that id" in done.stderr and hub.requests
    assert done.stderr.count("\n") == 1


def test_a_hub_that_can_not_be_reached_is_one_line(etl_here):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound, not listening: connections are refused
        done = etl_here(ID, f"http://127.0.0.1:{taken.getsockname()[1]}")
    assert done.returncode == 2
    assert "can't be read from the hub http://127.0.0.1" in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.thorough
def test_a_hub_that_does_not_answer_is_given_up(home, tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        env = {
            "HF_ENDPOINT": f"http://127.0.0.1:{silent.getsockname()[1]}",
            "HF_HOME": str(tmp_path),
            "HF_HUB_OFFLINE": "0",
            "HF_HUB_ETAG_TIMEOUT": "1",
        }
        done = gencode("data", "etl", "--source", ID, "--output_dataset_name", "x", home=home, env=env, timeout=60)
    assert done.returncode == 2
    assert "Timeout" in done.stderr


def test_without_the_hub_it_is_said_so(etl_here, hub):
    done = etl_here(ID, hub.url, offline=True)
    said = f"error: {ID} is on the hub, not in the cache of `datasets`, and HF_HUB_OFFLINE is set\n"
    assert (done.returncode, done.stderr, hub.requests) == (2, said, [])


@pytest.mark.thorough
@pytest.mark.parametrize("offline", ["0", "1"])
def test_a_dataset_in_the_cache_of_datasets_needs_no_hub(home, tmp_path, environment, hub, offline):
    code = f"import datasets; datasets.load_dataset({ID!r})"
    subprocess.run([sys.executable, "-c", code], env=os.environ | environment, check=True, capture_output=True)
    asked = len(hub.requests)
    env = environment | {"HF_HUB_OFFLINE": offline}
    done = gencode("data", "etl", "--source", ID, "--output_dataset_name", "101", home=home, env=env)
    assert done.returncode == 0, done.stderr
    assert "all splits are read from the cache: train, test; --split_name chooses one" in done.stderr
    assert len(hub.requests) == asked
    info = json.loads((home / "datasets" / "101" / "etl.json").read_text())["splits"]
    assert [(split["records_in"], split["origin"]["revision"]) for split in info.values()] == [
        (20, COMMIT),
        (10, COMMIT),
    ]
    (cut,) = (tmp_path / "hf").rglob("code_contests-train.arrow")
    cut.unlink()
    done = gencode("data", "etl", "--source", ID, "--output_dataset_name", "102", home=home, env=env)
    assert done.returncode == (2 if offline == "1" else 0), done.stderr
