import gzip
import json
import pickle

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from alpha_codium.data.samples.reading import COMPLETION, SOLUTION, Columns, read_samples
from alpha_codium.data.solutions import save_solutions
from alpha_codium.errors import DatasetError
from tests.data.records import write_jsonl
from tests.data.samples.humaneval import write_json
from tests.data.test_solutions import ROWS


def plain(path, columns=None):
    return [(row.task, row.texts, row.form, row.by_place) for row in read_samples(path, columns)]


@pytest.mark.parametrize(
    ("values", "texts", "form"),
    [
        ({"task_id": "a", "completion": "x"}, ("x",), COMPLETION),
        ({"task_id": "a", "solution": "x", "completion": "y"}, ("x",), SOLUTION),
        ({"task_id": "a", "code": "x", "canonical_solution": "y"}, ("x",), SOLUTION),
        ({"question_id": "a", "output_list": ["prose"], "code_list": ["x", "y"]}, ("x", "y"), SOLUTION),
        ({"task_name": "a", "solution_candidates": ["x", ""]}, ("x", ""), SOLUTION),
        ({"problem_id": "a", "generations": ["x"]}, ("x",), SOLUTION),
        ({"name": "a", "output": None}, ("",), SOLUTION),
    ],
)
def test_a_row_says_its_problem_and_its_programs_by_the_names_of_its_columns(values, texts, form, tmp_path):
    assert plain(write_jsonl(tmp_path / "s.jsonl", [values])) == [("a", texts, form, False)]


def test_a_column_and_a_form_may_be_named(tmp_path):
    path = write_jsonl(tmp_path / "s.jsonl", [{"task_id": 11, "solution": "x", "raw": "y"}])
    assert plain(path, Columns("raw", COMPLETION)) == [(11, ("y",), COMPLETION, False)]
    with pytest.raises(DatasetError, match=r"row 1: no column 'row' \(did you mean 'raw'"):
        read_samples(path, Columns("row"))


def test_gzipped_lines_parquet_and_a_json_list_hold_the_same_rows(tmp_path):
    from datasets import Dataset

    rows = [{"task_id": "HumanEval/0", "completion": "x"}, {"task_id": "HumanEval/1", "completion": "y"}]
    with gzip.open(tmp_path / "s.jsonl.gz", "wt") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)
    Dataset.from_list(rows).to_parquet(tmp_path / "s.parquet")
    write_json(tmp_path / "s.json", rows)
    found = [plain(tmp_path / name) for name in ("s.jsonl.gz", "s.parquet", "s.json")]
    assert found[0] == found[1] == found[2] == [(r["task_id"], (r["completion"],), COMPLETION, False) for r in rows]


def test_a_run_that_repeats_the_columns_of_its_benchmark_is_no_set_of_problems(tmp_path):
    row = {"task_id": 11, "text": "t", "code": "x", "test_list": ["assert f()"], "test_setup_code": ""}
    assert plain(write_jsonl(tmp_path / "s.jsonl", [row])) == [(11, ("x",), SOLUTION, False)]


def test_a_list_of_programs_stands_in_the_order_of_the_problems(tmp_path):
    assert plain(write_json(tmp_path / "s.json", [["x", "y"], [], "z"])) == [
        (0, ("x", "y"), SOLUTION, True), (1, (), SOLUTION, True), (2, ("z",), SOLUTION, True),
    ]  # fmt: skip


def test_a_json_object_has_problems_as_its_keys(tmp_path):
    codes = {"0": ["x", "y"], "1": {"code": ["z"], "prompt": "p"}, "2": [{"completion": "c"}]}
    assert plain(write_json(tmp_path / "all_codes.json", codes)) == [
        ("0", ("x", "y"), SOLUTION, False), ("1", ("z",), SOLUTION, False), ("2", ("c",), COMPLETION, False),
    ]  # fmt: skip


@pytest.mark.thorough
@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
@given(codes=st.dictionaries(st.integers(0, 5000), st.lists(st.text()), min_size=1))
@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_legacy_pickles_of_apps_are_read(protocol, codes, tmp_path):
    path = tmp_path / "codes.pkl"
    path.write_bytes(pickle.dumps(codes, protocol))
    assert plain(path) == [(task, tuple(texts), SOLUTION, False) for task, texts in codes.items()]


def test_a_pickled_list_stands_in_the_order_of_the_problems(tmp_path):
    path = tmp_path / "codes.pickle"
    path.write_bytes(pickle.dumps([["x"], ["y", "z"]]))
    assert plain(path) == [(0, ("x",), SOLUTION, True), (1, ("y", "z"), SOLUTION, True)]


class Attack:
    def __reduce__(self):
        return (print, ("run",))


def test_a_pickle_that_would_call_is_one_line_and_calls_nothing(tmp_path, capsys):
    path = tmp_path / "codes.pkl"
    path.write_bytes(pickle.dumps([["x"], Attack()]))
    with pytest.raises(DatasetError, match="would import or call"):
        read_samples(path)
    assert capsys.readouterr().out == ""


def test_a_solutions_dataset_is_read_by_name_and_from_parquet(tmp_path):
    save_solutions(ROWS, "mine")
    save_solutions(ROWS, tmp_path / "mine.parquet")
    assert [(row.task, row.texts) for row in read_samples("mine")] == [
        ("a", ("print(1)", "")),
        ("b", ()),
        ("c", ("x",)),
    ]
    assert plain("mine") == plain(tmp_path / "mine.parquet")


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([{"task_id": "a"}], "row 1: no column that holds programs, such as solution"),
        ([{"solution": "x"}], "row 1: no column identifies the problem .it has: 'solution'; name it task_id"),
        ([{"task_id": "a", "solution": 5}], "row 1: a program must be text, not int"),
        ([{"task_id": 1.5, "solution": "x"}], "task_id must be text or a whole number, not float"),
        ([{"task_id": True, "solution": "x"}], "task_id must be text or a whole number, not bool"),
    ],
)
def test_what_is_no_row_of_samples_is_said_with_its_number(rows, said, tmp_path):
    with pytest.raises(DatasetError, match=said):
        read_samples(write_jsonl(tmp_path / "s.jsonl", rows))


def test_a_column_problem_identifies_it_if_no_other_does(tmp_path):
    rows = [{"problem": "a", "solution": "x"}, {"problem": "What is 1 + 1?", "task_id": "b", "solution": "y"}]
    assert [row.task for row in read_samples(write_jsonl(tmp_path / "s.jsonl", rows))] == ["a", "b"]


@pytest.mark.parametrize("name", ["s.txt", "none.jsonl", "none"])
def test_what_is_no_file_of_samples_is_said(name, tmp_path):
    (tmp_path / "s.txt").write_text("x")
    with pytest.raises(DatasetError):
        read_samples(tmp_path / name)


@pytest.mark.thorough
@given(
    st.recursive(
        st.none() | st.integers() | st.text() | st.floats(allow_nan=False),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    )
)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_json_is_rows_or_one_clear_error(tmp_path, value):
    path = write_json(tmp_path / "s.json", value)
    try:
        rows = read_samples(path)
    except DatasetError as error:
        assert "\n" not in str(error)
    else:
        assert all(isinstance(text, str) for row in rows for text in row.texts)


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize("value", [{0: ["x"], 7: ["y", "z"]}, [["x"], ["y"]], {}])
def test_a_pickle_needs_no_suffix(tmp_path, value, protocol):
    named, bare = tmp_path / "codes.pkl", tmp_path / "generations_all_0.7"
    for path in (named, bare):
        path.write_bytes(pickle.dumps(value, protocol))
    assert plain(bare) == plain(named)


def test_a_file_of_another_format_without_a_known_suffix_is_refused(tmp_path):
    (tmp_path / "notes").write_text("hello")
    with pytest.raises(DatasetError, match=r"is not a file of samples: it must end in \.jsonl"):
        read_samples(tmp_path / "notes")
