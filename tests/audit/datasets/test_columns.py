"""What is found stands beside the problems, in a dataset of its own."""

import json
from pathlib import Path

import pytest

from alpha_codium.audit.datasets.columns import check_output, columns_of, write_validated
from alpha_codium.data.catalogue import describe
from alpha_codium.data.etl import run_etl
from alpha_codium.data.filters import Filters
from alpha_codium.data.load import load_problems
from alpha_codium.data.schema import VALIDATION_COLUMNS
from alpha_codium.errors import DatasetError
from alpha_codium.problem import CheckerSpec
from tests.audit.datasets.cases import assessed
from tests.data.records import record, write_jsonl


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GENCODE_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def test_a_validated_dataset_holds_the_problems_and_what_was_found(tmp_path: Path) -> None:
    tests = {"input": ["0\n", "1\n"], "output": ["0.333", "7"]}
    rows = [record("a", private_tests=tests), record("b", private_tests=tests)]
    problems = load_problems(write_jsonl(tmp_path / "p.jsonl", rows))
    fault = assessed(["0.333", "7"], {"one": ["0.33300", "2"], "two": ["0.333", "2"]}, {"x": ["0.333", "2"]})
    nothing = assessed(["0.333", "7"], {})
    path = write_validated(problems, [fault, nothing], "checked", {"seed": 0})
    stored = load_problems("checked")
    assert [p.name for p in stored] == ["a", "b"]
    assert [p.private_tests for p in stored] == [p.private_tests for p in problems]
    first, second = stored.records[0], stored.records[1]
    assert (first["is_valid_problem"], first["multiple_answers"], first["undetected_incorrect"]) == (False, None, 1)
    assert first["is_valid_test"]["private_tests"] == [True, False]
    assert first["suggested_time_limit"] == 1.0
    name, arguments = first["suggested_checker"]["name"], json.loads(first["suggested_checker"]["arguments"])
    assert CheckerSpec(name, arguments) == fault.suggested_checker
    assert [f["reason"] for f in first["validation_findings"]] == [f.reason.value for f in fault.findings]
    assert json.loads(first["validation_findings"][0]["evidence"])[0]["got"] == "2"
    undecided = (
        "is_valid_problem",
        "multiple_answers",
        "suggested_checker",
        "suggested_time_limit",
        "undetected_incorrect",
    )
    assert [second[column] for column in undecided] == [None] * 5
    assert second["is_valid_test"]["private_tests"] == [None, None]
    (split,) = describe("checked")
    assert split.info["validation"] == {"seed": 0} and split.info["problems_out"] == 2
    assert path == tmp_path / "home" / "datasets" / "checked"


def test_columns_are_null_where_nothing_is_known() -> None:
    columns = columns_of(assessed(["1"], {}))
    assert [key for key, value in columns.items() if value is None] == [
        "is_valid_problem", "multiple_answers", "suggested_checker", "suggested_time_limit",
        "suggested_memory_limit_bytes", "undetected_incorrect",
    ]  # fmt: skip


def test_a_place_that_can_not_be_written_is_refused_beforehand(tmp_path: Path) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").touch()
    with pytest.raises(DatasetError, match="isn't a dataset"):
        check_output(str(tmp_path / "full"), "train")
    with pytest.raises(DatasetError, match="valid split name"):
        check_output("fine", "a/b")


def store_three(tmp_path: Path) -> None:
    """`checked`: a problem that is valid, one that isn't, and one that nothing is known of."""
    tests = {"input": ["0\n", "1\n"], "output": ["1", "2"]}
    rows = [record(name, private_tests=tests) for name in ("valid", "invalid", "unknown")]
    outputs = [{"one": ["1", "2"], "two": ["1", "2"]}, {"one": ["1", "3"], "two": ["1", "3"]}, {}]
    problems = load_problems(write_jsonl(tmp_path / "p.jsonl", rows))
    write_validated(problems, [assessed(["1", "2"], each) for each in outputs], "checked", {"seed": 0})


@pytest.mark.parametrize(
    ("validity", "kept"),
    [("", ["valid", "invalid", "unknown"]), ("valid", ["valid"]), ("not_invalid", ["valid", "unknown"])],
    ids=["all", "valid", "not_invalid"],
)
def test_an_etl_of_a_validated_dataset_keeps_what_was_found_and_what_is_asked_for(
    tmp_path: Path, validity: str, kept: list[str]
) -> None:
    store_three(tmp_path)
    before = {each["name"]: each for each in load_problems("checked").records}
    (report,) = run_etl("checked", "again", filters=Filters(validity=validity)).splits
    after = load_problems("again").records
    assert [each["name"] for each in after] == kept
    for each in after:
        assert {column: each[column] for column in VALIDATION_COLUMNS}.items() <= before[each["name"]].items()
    assert report.dropped_columns == ()
    (split,) = describe("again")
    assert split.info["validation"] == {"seed": 0}
    assert split.info["filters"] == ({"validity": validity} if validity else {})


def test_an_etl_can_not_ask_for_valid_problems_of_what_was_not_validated(tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "p.jsonl", [record("a") | {"is_valid_problem": "yes"}])
    with pytest.raises(DatasetError, match="gencode data validate"):
        run_etl(str(path), "out", filters=Filters(validity="valid"))
    with pytest.raises(DatasetError, match=r"unknown validity 'vaild' \(did you mean 'valid'"):
        Filters(validity="vaild")
    (report,) = run_etl(str(path), "out").splits
    assert report.dropped_columns == ("is_valid_problem",), "a column of another schema"
