import pytest

from alpha_codium.data.load import load_problems
from alpha_codium.data.samples.programs import problems_for, solutions_of
from alpha_codium.data.samples.reading import read_samples
from alpha_codium.data.solutions import load_solutions
from alpha_codium.errors import DatasetError
from tests.data.records import record, write_jsonl
from tests.data.samples.humaneval import ADD, TWICE, humaneval, humaneval_file, mbpp_record, write_json


def programs(path, problems):
    return {row["task_name"]: row["solution_candidates"] for row in solutions_of(read_samples(path), problems)}


def test_a_completion_goes_on_from_the_prompt_and_a_solution_stands_alone(tmp_path):
    rows = [
        {"task_id": "HumanEval/2", "completion": "    return 2 * n\n"},
        {"task_id": "HumanEval/0", "solution": "def add(xs): ...", "completion": "    pass"},
        {"task_id": "HumanEval/2", "completion": " \n"},
    ]
    assert programs(write_jsonl(tmp_path / "s.jsonl", rows), humaneval(tmp_path)) == {
        "HumanEval/2": [TWICE + "    return 2 * n\n", " \n"],
        "HumanEval/0": ["def add(xs): ..."],
    }


def test_where_the_prompt_is_prose_a_completion_is_the_program(tmp_path):
    problems = load_problems(write_jsonl(tmp_path / "mbpp.jsonl", [mbpp_record(11)]))
    path = write_jsonl(tmp_path / "s.jsonl", [{"task_id": "MBPP/11", "completion": "def f11(n): return 2 * n"}])
    assert programs(path, problems) == {"Mbpp/11": ["def f11(n): return 2 * n"]}


def test_the_lists_of_a_file_follow_the_order_of_the_problems_and_are_as_many(tmp_path):
    problems = humaneval(tmp_path)
    assert list(programs(write_json(tmp_path / "s.json", [["x"], ["y", "z"], []]), problems).values()) == [
        ["x"], ["y", "z"], [],
    ]  # fmt: skip
    with pytest.raises(DatasetError, match=r"for 2 problems in their order, but .* has 3: name the split"):
        programs(write_json(tmp_path / "s.json", [["x"], ["y"]]), problems)


def test_keys_are_names_or_places(tmp_path):
    problems = humaneval(tmp_path)
    expected = {"HumanEval/0": ["x"], "HumanEval/2": ["y"]}
    assert programs(write_json(tmp_path / "s.json", {"0": ["x"], "2": "y"}), problems) == expected
    assert programs(write_json(tmp_path / "s.json", {"HumanEval/0": ["x"], "humaneval_2": ["y"]}), problems) == expected
    contests = load_problems(write_jsonl(tmp_path / "p.jsonl", [record("1_A. Sum"), record("1_B. Difference")]))
    assert programs(write_json(tmp_path / "s.json", {"1": ["x"]}), contests) == {"1_B. Difference": ["x"]}


def test_a_key_that_may_be_a_number_or_a_place_is_not_guessed(tmp_path):
    problems = load_problems(write_jsonl(tmp_path / "mbpp.jsonl", [mbpp_record(n) for n in (1, 2, 3)]))
    with pytest.raises(
        DatasetError, match="key '1' may be the problem 'Mbpp/1' or the problem at that index, 'Mbpp/2'"
    ):
        programs(write_json(tmp_path / "s.json", {"1": ["x"]}), problems)
    assert programs(write_json(tmp_path / "s.json", {"3": ["x"]}), problems) == {"Mbpp/3": ["x"]}


def test_an_unknown_problem_is_said_with_the_nearest_name(tmp_path):
    rows = [{"task_id": task, "solution": "x"} for task in ("HumanEval/0", "HumanEvil/2", "q")]
    with pytest.raises(
        DatasetError,
        match=r"row 2: 'HumanEvil/2' isn't a problem of .*\(did you mean 'HumanEval/2'\?\); other unknown ids: 1",
    ):
        programs(write_jsonl(tmp_path / "s.jsonl", rows), humaneval(tmp_path))


def test_finish_reasons_say_what_was_truncated(tmp_path):
    rows = [
        {"task_id": 0, "completion": "x", "finish_reason": "length"},
        {"task_id": 0, "completion": "y", "finish_reason": "stop"},
        {"task_id": 2, "completion": "z"},
    ]
    found = solutions_of(read_samples(write_jsonl(tmp_path / "s.jsonl", rows)), humaneval(tmp_path))
    assert [row.get("truncated_answers") for row in found] == [[1, 0], None]


def test_a_language_of_the_datasets_is_kept_and_any_other_word_says_nothing(tmp_path):
    rows = [{"task_id": at, "solution": "x", "language": said} for at, said in ((0, "cpp"), (0, "English"), (2, "py"))]
    found = solutions_of(read_samples(write_jsonl(tmp_path / "s.jsonl", rows)), humaneval(tmp_path))
    assert [row.get("language") for row in found] == [["cpp", "python3"], None]


def test_details_of_a_solutions_dataset_are_kept(tmp_path):
    row = {"task_name": "HumanEval/0", "solution_candidates": ["", "x"], "sample_errors": ["model: no code", ""]}
    found = solutions_of(read_samples(write_jsonl(tmp_path / "s.jsonl", [row])), humaneval(tmp_path))
    assert found == [row]


def test_a_file_of_one_split_of_several_is_not_scored_over_all_of_them_unasked(tmp_path):
    mbpp = str(write_jsonl(tmp_path / "mbpp.jsonl", [mbpp_record(n) for n in (1, 2, 11, 12, 601)]))
    rows = read_samples(write_jsonl(tmp_path / "s.jsonl", [{"task_id": n, "solution": "x"} for n in (11, 12)]))
    with pytest.raises(DatasetError, match=r"are of the split 'test' .* with `split` test, or over all splits \(5"):
        problems_for(rows, mbpp, None)
    assert len(problems_for(rows, mbpp, "test")) == 2
    assert len(problems_for(rows, mbpp, "all")) == 5
    more = read_samples(write_jsonl(tmp_path / "s.jsonl", [{"task_id": n, "solution": "x"} for n in (1, 12)]))
    assert len(problems_for(more, mbpp, None)) == 5
    one = read_samples(write_jsonl(tmp_path / "s.jsonl", [{"task_id": 0, "solution": ADD}]))
    assert len(problems_for(one, str(humaneval_file(tmp_path)), None)) == 3


def solutions_row(*programs, **more):
    return {"task_name": "HumanEval/0", "solution_candidates": list(programs)} | more


def test_what_our_rows_say_of_cut_off_answers_is_kept(tmp_path):
    row = solutions_row("x", "y", truncated_answers=[0, 3])
    assert solutions_of(read_samples(write_jsonl(tmp_path / "s.jsonl", [row])), humaneval(tmp_path)) == [row]


def test_two_rows_of_a_problem_are_joined_only_where_they_say_nothing_of_their_samples(tmp_path):
    path = write_jsonl(tmp_path / "s.jsonl", [solutions_row("x"), solutions_row("y")])
    assert solutions_of(read_samples(path), humaneval(tmp_path)) == [solutions_row("x", "y")]
    path = write_jsonl(tmp_path / "s.jsonl", [solutions_row("x"), solutions_row("", sample_errors=["provider: 503"])])
    with pytest.raises(DatasetError, match="row 2: the problem 'HumanEval/0' is repeated"):
        solutions_of(read_samples(path), humaneval(tmp_path))


def test_no_list_of_candidates_is_no_candidate(tmp_path):
    row = {"task_name": "HumanEval/0", "solution_candidates": None}
    assert programs(write_jsonl(tmp_path / "s.jsonl", [row]), humaneval(tmp_path)) == {"HumanEval/0": []}


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"truncated_answers": [1]}, "truncated_answers must be a list of 2, an entry for each candidate"),
        ({"sample_errors": "ab"}, "sample_errors must be a list of 2"),
        ({"sample_errors": [1, 2]}, "sample_errors can't hold 1"),
    ],
)
def test_what_stands_beside_candidates_must_be_of_each(tmp_path, more, message):
    path = write_jsonl(tmp_path / "s.jsonl", [solutions_row("x", "y", **more)])
    with pytest.raises(DatasetError, match=f"row 1: {message}"):
        solutions_of(read_samples(path), humaneval(tmp_path))
    with pytest.raises(DatasetError, match=f"row 1: {message}"):
        load_solutions(path)


def test_an_id_that_fills_a_page_is_told_in_a_line(tmp_path):
    path = write_jsonl(tmp_path / "s.jsonl", [{"task_id": "HumanEval/0" * 3000, "solution": "x"}])
    with pytest.raises(DatasetError) as told:
        programs(path, humaneval(tmp_path))
    assert len(str(told.value)) < 600
