import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from loguru import logger

from alpha_codium.data.etl import run_etl
from alpha_codium.data.filters import Filters, in_sample
from alpha_codium.data.origin import Origin
from alpha_codium.data.sources import find_source
from alpha_codium.errors import DatasetError
from tests.data.records import record, write_jsonl
from tests.support import shared_path

ROWS = [record(f"{number}_A", source=number % 3, cf_rating=800 + number) for number in range(40)]


class Given:
    """A source that gives what it was given."""

    any_split = False
    origin = Origin("given", "test", "given")

    def __init__(self, splits):
        self.by_split = splits

    def splits(self):
        return tuple(self.by_split)

    def records(self, split):
        yield from self.by_split[split]


def _load(path: Path):
    import datasets

    return datasets.load_from_disk(str(path))


def _info(path: Path) -> dict:
    return json.loads((path / "etl.json").read_text())["splits"]


def _left_over(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir() if path.name.startswith(".")]


@pytest.fixture
def log():
    lines: list[str] = []
    handler = logger.add(lambda message: lines.append(str(message)), format="{message}")
    yield lines
    logger.remove(handler)


def test_real_problems_are_stored_as_plain_datasets_reads_them(home, log):
    path = shared_path("data/codecontests_train.jsonl")
    raws = [json.loads(line) for line in path.open()]
    report = run_etl(str(path), "real")
    stored = _load(home / "datasets" / "real")
    assert list(stored) == ["train"]
    for raw, row in zip(raws, stored["train"], strict=True):
        for column in raw.keys() - {"x_meta", "solutions", "incorrect_solutions"}:
            assert row[column] == raw[column]
        assert row["solutions"]["solution"] == raw["solutions"]["solution"]
    assert report.splits[0].dropped_columns == ("x_meta",)
    assert len(log) == 1
    assert "x_meta" in log[0]


def test_an_etl_tells_where_its_records_come_from(tmp_path, home):
    path = write_jsonl(tmp_path / "p_test.jsonl", ROWS)
    run_etl(str(path), "told", filters=Filters(sources=("codeforces",)), sample_rate=0.5, seed=3)
    info = _info(home / "datasets" / "told")["test"]
    kept = [row for row in ROWS if row["source"] == 2 and in_sample(row["name"], 0.5, 3)]
    assert info["origin"] == {"text": str(path), "kind": "file", "location": str(path.resolve()), "revision": None}
    assert (info["records_in"], info["problems_out"]) == (40, len(kept))
    assert info["filters"] == {"sources": ["codeforces"]}
    assert info["sampling"] == {"rate": 0.5, "seed": 3}
    assert info["counts"]["sources"] == {"codeforces": len(kept)}
    assert _load(home / "datasets" / "told")["test"]["name"][:] == [row["name"] for row in kept]


def test_a_fingerprint_is_of_the_content(tmp_path):
    import gzip

    lines = write_jsonl(tmp_path / "a.jsonl", ROWS)
    (tmp_path / "b.jsonl.gz").write_bytes(gzip.compress(lines.read_bytes()))
    changed = write_jsonl(tmp_path / "c.jsonl", [*ROWS[:-1], ROWS[-1] | {"description": "Subtract."}])
    one, same, other = (
        run_etl(str(path), path.name).splits[0].fingerprint for path in (lines, tmp_path / "b.jsonl.gz", changed)
    )
    assert one == same != other
    again = run_etl("a.jsonl", "again").splits[0].fingerprint
    assert again == one, "storing what is stored changes nothing"


def test_new_splits_join_the_old_ones_or_take_their_place(home):
    run_etl(Given({"train": ROWS[:4], "test": ROWS[4:6]}), "grows")
    first = _info(home / "datasets" / "grows")
    valid = Given({"valid": ROWS[6:9], "test": ROWS[9:10]})
    with pytest.raises(DatasetError, match=r"has the split 'test' already: .* or use `overwrite`"):
        run_etl(valid, "grows")
    run_etl(valid, "grows", overwrite=True)
    stored = _load(home / "datasets" / "grows")
    assert {split: rows["name"][:] for split, rows in stored.items()} == {
        "train": ["0_A", "1_A", "2_A", "3_A"],
        "test": ["9_A"],
        "valid": ["6_A", "7_A", "8_A"],
    }
    assert _info(home / "datasets" / "grows")["train"] == first["train"]
    assert _left_over(home / "datasets") == []


def test_only_the_splits_asked_for_are_taken(home):
    run_etl(Given({"train": ROWS, "test": ROWS[:2]}), "part", ["test"])
    assert list(_load(home / "datasets" / "part")) == ["test"]


def test_an_etl_into_its_own_source_filters_it_in_place(tmp_path):
    run_etl(Given({"test": ROWS}), str(tmp_path / "d"))
    run_etl(str(tmp_path / "d"), str(tmp_path / "d"), filters=Filters(sources=("codeforces",)), overwrite=True)
    assert set(_load(tmp_path / "d")["test"]["source"][:]) == {2}


def test_an_interrupted_etl_leaves_what_was_there_and_nothing_else(home):
    run_etl(Given({"test": ROWS[:5]}), "kept")

    def interrupted():
        yield from ROWS[5:8]
        raise KeyboardInterrupt

    for name in ("kept", "new"):
        with pytest.raises(KeyboardInterrupt):
            run_etl(Given({"test": interrupted()}), name, overwrite=True)
    assert len(_load(home / "datasets" / "kept")["test"]) == 5
    assert [path.name for path in (home / "datasets").iterdir()] == ["kept"]


@pytest.mark.thorough
def test_an_etl_killed_at_work_leaves_what_was_there(home):
    run_etl(Given({"test": ROWS[:5]}), "kept")
    program = (
        "import sys\nfrom tests.data.test_etl import Given, ROWS, run_etl\n"
        "def slow():\n    yield from ROWS\n    print('at work', flush=True)\n    sys.stdin.read()\n"
        "run_etl(Given({'test': slow()}), 'kept', overwrite=True)\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=os.environ
    )
    with process:
        assert process.stdout.readline() == b"at work\n"
        process.send_signal(signal.SIGKILL)
    assert len(_load(home / "datasets" / "kept")["test"]) == 5
    run_etl(Given({"test": ROWS[:3]}), "kept", overwrite=True)
    assert len(_load(home / "datasets" / "kept")["test"]) == 3


def test_two_etls_into_one_dataset_at_a_time_keep_each_others_splits(home):
    together = threading.Barrier(2)

    def rows(part):
        together.wait()
        yield from part

    splits = {"one": ROWS[:3], "two": ROWS[3:7]}
    threads = [threading.Thread(target=run_etl, args=(Given({s: rows(part)}), "shared")) for s, part in splits.items()]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    stored = _load(home / "datasets" / "shared")
    assert {split: len(rows) for split, rows in stored.items()} == {"one": 3, "two": 4}


def test_all_columns_have_their_types_even_where_all_is_null_or_empty(home, log):
    run_etl(Given({"test": [{"name": "bare"}]}), "bare")
    row = _load(home / "datasets" / "bare")["test"]
    assert row.features["solutions"]["solution"].feature.dtype == "string"
    assert row.features["time_limit"]["seconds"].dtype == "int64"
    assert row[0]["time_limit"] is None
    assert row[0]["checker"] is None
    run_etl(Given({"test": ROWS, "valid": []}), "empty")
    assert len(_load(home / "datasets" / "empty")["valid"]) == 0
    assert "none of 0 problems is stored" in log[-1]


@pytest.mark.parametrize(
    ("rows", "chosen", "said"),
    [
        (ROWS, {"sample_rate": 0.0001}, "none of 40 problems .* left out by sample_rate 0.0001 with seed 0"),
        (ROWS, {"filters": Filters(tags=("none has it",))}, r"none of 40 problems .* by the filters \(tags\)"),
        ([], {}, "given has no problems"),
    ],
)
def test_a_dataset_without_problems_is_not_stored_and_the_cause_is_given(home, rows, chosen, said):
    with pytest.raises(DatasetError, match=said):
        run_etl(Given({"test": rows}), "empty", **chosen)
    assert not (home / "datasets" / "empty").exists()


def test_a_checker_and_a_way_of_execution_survive_storage(home):
    execution = {"kind": "assertions", "entry_point": "f", "test_code": "assert f(1)", "setup_code": ""}
    checker = {"name": "float", "arguments": {"abs": 1e-6}}
    run_etl(Given({"test": [record(checker=checker, execution=execution), record("2")]}), "kept")
    row = _load(home / "datasets" / "kept")["test"][0]
    assert row["execution"] == {**execution, "language": None}
    assert row["checker"] == {"name": "float", "arguments": '{"abs": 1e-06}'}


def test_a_date_is_filtered_by_the_column_that_is_there(home):
    import datetime

    dated = [row | {"contest_date": f"2024-01-{number + 1:02}T00:00:00"} for number, row in enumerate(ROWS[:10])]
    filters = Filters(date_from=datetime.date(2024, 1, 3), date_to=datetime.date(2024, 1, 5))
    run_etl(Given({"test": dated}), "dated", filters=filters)
    stored = _load(home / "datasets" / "dated")["test"]
    assert stored["contest_date"][:] == [row["contest_date"] for row in dated[2:5]]
    with pytest.raises(DatasetError, match="has no date column"):
        run_etl(Given({"test": ROWS}), "undated", filters=filters)


@pytest.mark.parametrize("date", ["yesterday", 20240101])
def test_a_date_that_is_none_is_named(date):
    with pytest.raises(DatasetError, match=r"given\[test\], record 1: date .* isn't a date"):
        run_etl(Given({"test": [record(date=date)]}), "x")


def test_a_malformed_record_is_named_and_nothing_is_stored(home):
    rows = [*ROWS[:3], record("4_B", public_tests={"input": ["1"], "output": []})]
    with pytest.raises(
        DatasetError, match=r"given\[test\], record 4 \('4_B'\): public_tests has 1 of input but 0 of output"
    ):
        run_etl(Given({"test": rows}), "x")
    assert list((home / "datasets").iterdir()) == []


def test_repeated_names_are_told(log):
    run_etl(Given({"test": [ROWS[0], ROWS[0]]}), "x")
    assert "1 problem with the name of an earlier one" in log[-1]


def test_progress_counts_the_records_read():
    seen: list[int] = []
    run_etl(Given({"test": ROWS[:3]}), "x", progress=seen.append)
    assert seen == [1, 2, 3]


def test_a_folder_that_is_no_dataset_is_not_touched(tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "precious").write_text("x")
    with pytest.raises(DatasetError, match="isn't a dataset: choose another name"):
        run_etl(Given({"test": ROWS}), str(tmp_path / "mine"))
    assert (tmp_path / "mine" / "precious").read_text() == "x"


@pytest.mark.parametrize("rate", [0, -1, 1.5])
def test_a_sample_rate_is_a_share(rate):
    with pytest.raises(DatasetError, match="sample rate"):
        run_etl(Given({"test": ROWS}), "x", sample_rate=rate)


@pytest.mark.parametrize("name", ["a b", "a:b", ""])
def test_a_name_that_can_be_no_folder_is_refused(name):
    with pytest.raises(DatasetError, match="isn't a valid dataset name"):
        run_etl(Given({"test": ROWS}), name)


def test_a_file_is_one_split(tmp_path):
    path = write_jsonl(tmp_path / "p.jsonl", ROWS)
    assert run_etl(str(path), "x", ["chosen"]).splits[0].split == "chosen"
    with pytest.raises(DatasetError, match="has only one split"):
        run_etl(str(path), "x", ["a", "b"])
    with pytest.raises(DatasetError, match="isn't a valid split name"):
        run_etl(str(path), "x", ["../up"])


def test_a_split_that_another_process_has_written_meanwhile_is_not_replaced(home: Path, tmp_path: Path) -> None:
    source = write_jsonl(tmp_path / "problems.jsonl", [record()])
    written: list[object] = []

    def progress(_records: int) -> None:
        if not written:
            written.append(None)
            written.append(run_etl(find_source(str(source)), "mine"))

    with pytest.raises(DatasetError, match="has the split 'train' already"):
        run_etl(find_source(str(source)), "mine", progress=progress)
    assert len(written) == 2
