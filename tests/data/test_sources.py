import gzip
import json
import sys
from pathlib import Path

import pytest

from alpha_codium.data.etl import run_etl
from alpha_codium.data.files import guess_split
from alpha_codium.data.hub import HubSource
from alpha_codium.data.load import load_problems
from alpha_codium.data.origin import choose_split
from alpha_codium.data.sources import find_source
from alpha_codium.errors import DatasetError, UserError
from tests.data.records import record, write_jsonl

ROWS = [record(f"{number}_A") for number in range(40)]


def _names(text: object, split: str = "test") -> list[str]:
    return [row["name"] for row in find_source(str(text)).records(split)]


def _parquet(path: Path, rows: list[dict]) -> Path:
    import pyarrow as pa
    from pyarrow import parquet

    path.parent.mkdir(exist_ok=True)
    parquet.write_table(pa.Table.from_pylist(rows), path)
    return path


def test_every_kind_of_file_gives_the_same_records(tmp_path):
    lines = write_jsonl(tmp_path / "a.jsonl", ROWS)
    (tmp_path / "a.jsonl.gz").write_bytes(gzip.compress(lines.read_bytes()))
    (tmp_path / "a.json").write_text(json.dumps(ROWS))
    _parquet(tmp_path / "a.parquet", ROWS)
    for suffix in ("jsonl", "jsonl.gz", "json", "parquet"):
        assert list(find_source(str(tmp_path / f"a.{suffix}")).records("any")) == ROWS


def test_a_folder_of_parquet_files_has_the_splits_of_their_names(tmp_path):
    _parquet(tmp_path / "d" / "train-00000-of-00002-0abc.parquet", ROWS[:3])
    _parquet(tmp_path / "d" / "train-00001-of-00002-1def.parquet", ROWS[3:5])
    _parquet(tmp_path / "d" / "test.parquet", ROWS[5:7])
    source = find_source(str(tmp_path / "d"))
    assert set(source.splits()) == {"train", "test"}
    assert list(source.records("train")) == ROWS[:5]
    assert source.dataset("train")["name"][:] == [row["name"] for row in ROWS[:5]]


def test_saved_datasets_are_read_with_and_without_splits(tmp_path):
    from datasets import Dataset, DatasetDict

    dataset = Dataset.from_list(ROWS)
    dataset.select(range(5, 10)).save_to_disk(tmp_path / "one")
    DatasetDict({"train": dataset, "test": dataset.select([7])}).save_to_disk(tmp_path / "several")
    assert _names(tmp_path / "one", "anything") == [row["name"] for row in ROWS[5:10]]
    assert list(find_source(str(tmp_path / "several")).records("train")) == ROWS
    assert _names(tmp_path / "several") == ["7_A"]


def test_a_folder_of_json_lines_has_the_splits_of_its_files(tmp_path):
    write_jsonl(tmp_path / "train.jsonl", ROWS[:3])
    (tmp_path / "test.jsonl.gz").write_bytes(gzip.compress(json.dumps(ROWS[7]).encode()))
    write_jsonl(tmp_path / "notes.jsonl", ROWS)
    assert find_source(str(tmp_path)).splits() == ("train", "test")
    assert load_problems(tmp_path, "train").names == ("0_A", "1_A", "2_A")
    assert load_problems(tmp_path, "test").names == ("7_A",)
    with pytest.raises(DatasetError, match="choose one of train, test"):
        load_problems(tmp_path)
    report = run_etl(str(tmp_path), str(tmp_path / "stored"))
    assert [(split.split, split.problems_out) for split in report.splits] == [("train", 3), ("test", 1)]
    with pytest.raises(DatasetError, match="exists and isn't a dataset"):
        run_etl(str(tmp_path / "train.jsonl"), str(tmp_path))


def test_a_folder_without_problems_does_not_hide_the_hubs_dataset_of_that_id(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "codeparrot" / "apps").mkdir(parents=True)
    assert isinstance(find_source("codeparrot/apps"), HubSource)
    write_jsonl(tmp_path / "codeparrot" / "apps" / "test.jsonl", ROWS)
    assert find_source("codeparrot/apps").splits() == ("test",)


def test_names_in_a_message_stand_there_once(home):
    from datasets import Dataset, DatasetDict

    DatasetDict({"test": Dataset.from_list(ROWS[:1])}).save_to_disk(home / "datasets" / "apps")
    with pytest.raises(DatasetError) as caught:
        find_source("zzzzz")
    assert str(caught.value).count("apps") == 1


def test_a_folder_of_statements_is_a_dataset_with_their_examples_as_public_tests(tmp_path):
    (tmp_path / "b.md").write_text("# Double\n\nPrint 2n.\n\n## Example\n\nInput: 3\nOutput: 6\n")
    (tmp_path / "a.txt").write_text("Print nothing.\n")
    for other in ("README.md", "notes.rst"):
        (tmp_path / other).write_text("Not a problem.")
    problems = load_problems(str(tmp_path))
    assert [(each.name, [test.output for test in each.public_tests]) for each in problems] == [
        ("a", []),
        ("Double", ["6\n"]),
    ]
    assert [each.name for each in load_problems(str(tmp_path / "b.md"))] == ["Double"]


def test_a_broken_line_is_named_by_file_and_number(tmp_path):
    path = tmp_path / "broken.jsonl"
    path.write_text('{"name": "a"}\n\n{"name": "b"\n')
    with pytest.raises(DatasetError, match=r"broken\.jsonl, line 3: not valid JSON: Expecting ',' delimiter"):
        list(find_source(str(path)).records("train"))


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b'{"name": "\xff"}\n', "line 1: not valid JSON: 'utf-8' codec"),
        (b"[1]\n", "line 1: a record must be a JSON object"),
    ],
)
def test_a_line_that_is_no_record_is_named(tmp_path, content, complaint):
    (tmp_path / "x.jsonl").write_bytes(content)
    with pytest.raises(DatasetError, match=complaint):
        list(find_source(str(tmp_path / "x.jsonl")).records("train"))


def test_a_cut_gzip_file_gives_an_error_that_says_so(tmp_path):
    whole = gzip.compress("".join(json.dumps(row) + "\n" for row in ROWS * 50).encode())
    (tmp_path / "x.jsonl.gz").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(DatasetError, match="is not a complete gzip file, after line"):
        list(find_source(str(tmp_path / "x.jsonl.gz")).records("train"))


@pytest.mark.parametrize("name", ["x.parquet", "x.json"])
def test_a_file_that_is_not_what_its_name_says_is_an_error(tmp_path, name):
    (tmp_path / name).write_text("hello")
    with pytest.raises(DatasetError, match=name):
        list(find_source(str(tmp_path / name)).records("train"))


@pytest.mark.parametrize(
    ("name", "split"),
    [
        ("codecontests_train.jsonl", "train"),
        ("codecontests_test.jsonl", "test"),
        ("code_contests-valid-00000.parquet", "valid"),
        ("contests.json", "train"),
    ],
)
def test_the_split_of_a_file_is_a_word_of_its_name(name, split):
    assert guess_split(name) == split


def test_a_path_wins_over_a_stored_name_and_a_stored_name_over_the_hub(tmp_path, home, monkeypatch):
    from datasets import Dataset, DatasetDict

    monkeypatch.chdir(tmp_path)
    DatasetDict({"test": Dataset.from_list(ROWS[:1])}).save_to_disk(home / "datasets" / "both")
    assert _names("both") == ["0_A"]
    (tmp_path / "both").mkdir()
    assert _names("both") == ["0_A"], "a folder that is no dataset hides none"
    (tmp_path / "both").rmdir()
    DatasetDict({"test": Dataset.from_list(ROWS[1:2])}).save_to_disk("both")
    assert _names("both") == ["1_A"]
    assert find_source("deepmind/code_contests").any_split is False


def test_a_mistyped_name_is_told_the_nearest(home):
    from datasets import Dataset, DatasetDict

    DatasetDict({"test": Dataset.from_list(ROWS[:1])}).save_to_disk(home / "datasets" / "101_test")
    with pytest.raises(DatasetError, match=r"did you mean '101_test'\?"):
        find_source("101_tset")


def test_a_mistyped_split_is_told_the_nearest_and_several_are_listed(tmp_path):
    from datasets import Dataset, DatasetDict

    dataset = Dataset.from_list(ROWS)
    DatasetDict({"train": dataset, "test": dataset}).save_to_disk(tmp_path / "d")
    source = find_source(str(tmp_path / "d"))
    with pytest.raises(DatasetError, match=r"no split 'tset' \(did you mean 'test'\?\)"):
        choose_split(source, "tset")
    with pytest.raises(DatasetError, match="choose one of train, test"):
        choose_split(source, None)


@pytest.mark.parametrize("text", ["./missing", "missing.jsonl", "/no/such/folder", "~/no/such.json"])
def test_a_path_that_is_not_there_is_said_so(text):
    with pytest.raises(DatasetError, match="there is no file or folder"):
        find_source(text)


def test_a_file_or_folder_of_another_kind_is_said_so(tmp_path):
    (tmp_path / "x.csv").write_text("")
    with pytest.raises(DatasetError, match="must end in"):
        find_source(str(tmp_path / "x.csv"))
    with pytest.raises(DatasetError, match="is not a dataset"):
        find_source(str(tmp_path))


def test_a_users_package_adds_a_source(tmp_path, monkeypatch):
    (tmp_path / "my_source.py").write_text(
        "class Echo:\n"
        "    any_split = False\n"
        "    def __init__(self, text): self.text = text\n"
        "    def splits(self): return ('only',)\n"
        "    def records(self, split): yield {'name': self.text}\n"
    )
    info = tmp_path / "my_source-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: my_source\nVersion: 1\n")
    (info / "entry_points.txt").write_text("[alpha_codium.sources]\necho = my_source:Echo\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert list(find_source("echo:hello").records("only")) == [{"name": "hello"}]
    sys.modules.pop("my_source")
    (info / "entry_points.txt").write_text("[alpha_codium.sources]\nbroken = my_source:nothing\n")
    with pytest.raises(UserError, match=r"the source 'broken' \(my_source:nothing\) can't be loaded: AttributeError: "):
        find_source("broken:hello")
    sys.modules.pop("my_source")
