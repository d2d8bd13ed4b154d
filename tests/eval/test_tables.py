"""The tables of an evaluation say what its result says."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

from alpha_codium.eval.failures import Failure
from alpha_codium.eval.results import CandidateResult, ProblemResult
from alpha_codium.eval.tables import CANDIDATES, EXECUTIONS, write_table, write_tables
from alpha_codium.verdict import Verdict

PASSED = {"verdict": "accepted", "cpu_seconds": 0.25, "wall_seconds": 0.5, "max_rss_bytes": 10}
FAILED = {"verdict": "wrong_answer", "cpu_seconds": 0.5, "wall_seconds": 1.0, "max_rss_bytes": 30}
FAILURE = Failure(1, Verdict.WRONG_ANSWER, "1\n", "2\n", "3\n", stderr="a 'quote' and \u2028")


def rows(path: Path) -> list[dict[str, Any]]:
    return parquet.read_table(path).to_pylist()


def test_a_program_and_its_tests_are_rows(tmp_path: Path) -> None:
    tests = (PASSED, FAILED | {"trust": "in_process", "near_limit": ["cpu", "wall"]})
    wrong = CandidateResult(0, "generated", Verdict.WRONG_ANSWER, 1, 3, tests, program="abc", failure=FAILURE)
    lost = CandidateResult(1, "generated", Verdict.INTERNAL_ERROR, 0, 3, error="no node", program="def")
    write_tables(tmp_path, [ProblemResult("one", (wrong, lost)), ProblemResult("two", ())])
    first, second = rows(tmp_path / CANDIDATES)
    assert first == {
        "problem": "one", "kind": "generated", "sample": 0, "program": "abc", "verdict": "wrong_answer",
        "tests_passed": 1, "tests_total": 3, "cpu_seconds": 0.75, "wall_seconds": 1.5, "max_rss_bytes": 30,
        "trust": "in_process", "near_limit": True, "rechecked": False, "error": None, "failed_test": 1,
        "input": "1\n", "expected": "2\n", "actual": "3\n", "assertion": None, "stderr": "a 'quote' and \u2028",
    }  # fmt: skip
    assert (second["verdict"], second["error"], second["failed_test"]) == ("internal_error", "no node", None)
    tests_of = rows(tmp_path / EXECUTIONS)
    assert [(row["program"], row["test"], row["verdict"], row["trust"], row["near_limit"]) for row in tests_of] == [
        ("abc", 0, "accepted", "outside", None),
        ("abc", 1, "wrong_answer", "in_process", "cpu,wall"),
    ]
    assert {path.name for path in tmp_path.iterdir()} == {CANDIDATES, EXECUTIONS}


@given(st.lists(st.fixed_dictionaries({"a": st.text(st.characters(codec="utf-8")), "b": st.integers(-9, 9)})))
def test_all_rows_are_read_back_in_their_order(tmp_path_factory: pytest.TempPathFactory, given_rows: list[Any]) -> None:
    path = tmp_path_factory.mktemp("tables") / "t.parquet"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("alpha_codium.eval.tables.ROWS_AT_ONCE", 3)
        write_table(path, {"a": "string", "b": "int64"}, given_rows)
    assert rows(path) == given_rows


def test_a_table_that_cannot_be_written_leaves_the_one_before(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    write_table(path, {"a": "int64"}, [{"a": 1}])

    def broken() -> Any:
        yield {"a": 2}
        raise OSError("no space")

    with pytest.raises(OSError, match="no space"):
        write_table(path, {"a": "int64"}, broken())
    assert rows(path) == [{"a": 1}]
    assert [each.name for each in tmp_path.iterdir()] == ["t.parquet"]
