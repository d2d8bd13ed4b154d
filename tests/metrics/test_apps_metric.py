"""The metric of APPS on a small file in its schema: real programs, judged in the jail."""

import asyncio
import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import alpha_codium.metrics
from alpha_codium.errors import UserError
from alpha_codium.eval.results import CandidateResult
from alpha_codium.metrics.apps_metric import compute
from alpha_codium.metrics.apps_metric.scores import codes_of, errors, passes, scores
from alpha_codium.verdict import Verdict
from tests.metrics.evaluating import through_evaluate

pytestmark = pytest.mark.usefixtures("shared_sandbox")

FOLDER = Path(alpha_codium.metrics.__file__).parent / "apps_metric"
DOUBLE, SUM = (
    "print(2 * int(input()))",
    "class Solution:\n    def add(self, a: int, b: int) -> int:\n        return a + b",
)
CODES = st.sampled_from([True, False, -1, -2])


def record(number: int, level: str, tests: object, **fields: object) -> str:
    io = json.dumps(tests) if tests else ""
    return json.dumps(
        {"problem_id": number, "question": "?", "solutions": "", "input_output": io, "difficulty": level, **fields}
    )


@pytest.fixture(scope="module")
def dataset(tmp_path_factory):
    streams = {"inputs": ["1\n", "2\n", "3\n", "4\n"], "outputs": ["2\n", "4\n", "6\n", "8\n"]}
    calls = {"fn_name": "add", "inputs": [[1, 2], [3, 4]], "outputs": [[3], [7]]}
    path = tmp_path_factory.mktemp("apps") / "test.jsonl"
    lines = [record(0, "interview", streams), record(3000, "competition", calls), record(4000, "introductory", None)]
    path.write_text("\n".join(lines))
    return str(path)


def test_the_sandbox_is_that_of_the_argument_or_of_the_settings(dataset, monkeypatch):
    # Only a portable sandbox lets programs start others.
    other = f"import os\nassert os.system('exit 0') == 0\n{DOUBLE}"
    options = {"dataset": dataset, "level": "interview", "progress": False}
    accuracy = {"avg_accuracy": pytest.approx(1), "strict_accuracy": pytest.approx(1)}
    assert compute([[other]], **options)["strict_accuracy"] == 0
    assert accuracy.items() <= compute([[other]], tester_type="portable", **options).items()
    monkeypatch.setenv("GENCODE_CODE_TESTER__TESTER_TYPE", "portable")
    assert accuracy.items() <= compute([[other]], **options).items()


def test_one_program_a_problem_gives_accuracies_and_more_give_pass_at_k(dataset):
    half = "n = int(input())\nprint(2 * n if n < 3 else 0)"
    single = compute([[half], [SUM]][:1], level="interview", dataset=dataset, progress=False)
    assert (single["avg_accuracy"], single["strict_accuracy"], single["pass_at_k"]) == (0.5, 0.0, None)
    several = compute([[half, DOUBLE]], k_list=[1, 2, 3], level="interview", dataset=dataset, progress=False)
    assert several["pass_at_k"] == {"pass@1": 0.5, "pass@2": 1.0}
    assert several["avg_accuracy"] is None and several["strict_accuracy"] is None


@pytest.mark.thorough
def test_every_test_of_every_program_has_a_code(dataset):
    programs = ["print(", DOUBLE, "n = int(input())\nprint(2 * n // (n - 2) * (n - 2))", "while True: pass", ""]
    functions = ["def add(a, b): return [a + b]", "def add(a, b): return (a + b, 0)", "import nothing_of_that_name"]
    result = compute(
        [programs, functions, [DOUBLE]], k_list=[1], dataset=dataset, detailed=True, timeout=0.5, progress=False
    )
    assert result["results"][0] == [[-2], [True] * 4, [True, -1, True, True], [-1] * 4, [-2]]
    assert result["results"][1] == [[True, True], [False, False], [-1, -1]]
    assert result["results"][2] == [[]]
    assert result["names"] == ["apps/0", "apps/3000", "apps/4000"] and result["ambiguous"] == []
    assert (result["compile_errors"], result["runtime_errors"], result["total_tests"]) == (2, 7, 20)
    assert [len(row) for row in result["near_limit"]] == [5, 3, 1] and not result["near_limit"][2][0]
    assert result["pass_at_k"] == {"pass@1": pytest.approx((1 / 5 + 1 / 3 + 0) / 3)}


def test_errors_are_left_out_where_they_are_not_asked_for(dataset):
    result = compute([[DOUBLE]], level="interview", dataset=dataset, count_errors=False, progress=False)
    assert result == {"avg_accuracy": 1.0, "strict_accuracy": 1.0, "pass_at_k": None}


def test_a_problem_without_programs_counts_as_failed(dataset):
    result = compute([[DOUBLE, DOUBLE], [], []], k_list=[1, 2], dataset=dataset, progress=False)
    assert result["pass_at_k"] == {"pass@1": pytest.approx(1 / 3), "pass@2": pytest.approx(1 / 3)}


def test_a_header_runs_before_each_program(dataset):
    program = "from __future__ import annotations\nprint(twice(int(input())))"
    header = "def twice(n): return 2 * n"
    for code, strict in (("", 0.0), (header, 1.0)):
        result = compute([[program]], level="interview", dataset=dataset, header=code, progress=False)
        assert result["strict_accuracy"] == strict


def test_a_file_of_both_splits_gives_the_one_that_is_asked_for(tmp_path):
    tests = {"inputs": [""], "outputs": ["0"]}
    path = tmp_path / "mixed.jsonl"
    path.write_text("\n".join(record(0, "interview", tests, split=split) for split in ("train", "test")))
    result = compute([["print(0)"]], split="train", dataset=str(path), detailed=True, progress=False)
    assert result["names"] == ["apps/train/0"] and result["strict_accuracy"] == 1.0
    path.write_text(record(0, "interview", tests, split="train"))
    with pytest.raises(UserError, match="has no split 'test'"):
        compute([["print(0)"]], split="test", dataset=str(path))


@pytest.mark.parametrize(
    ("predictions", "arguments", "message"),
    [
        ([["x"]], {}, "there are 1 of them, and 3 problems in .*test.jsonl"),
        ([["x"]] * 2, {"level": "interview"}, "there are 2 of them, and 1 problem in .*level 'interview'"),
        ("x", {"level": "interview"}, "must be a list of lists of programs, not str"),
        (["x"], {"level": "interview"}, r"predictions\[0\] must be a list of programs"),
        ([[None]], {"level": "interview"}, r"predictions\[0\] must be a list of programs"),
        ([["x"]], {"level": "intervew"}, "did you mean 'interview'"),
        ([["x"]], {"level": "interview", "k_list": [0]}, "k must be a list of numbers above 0"),
    ],
)
def test_a_mistake_in_the_arguments_is_one_clear_line(dataset, predictions, arguments, message):
    with pytest.raises(UserError, match=message):
        compute(predictions, dataset=dataset, **arguments)


@pytest.mark.parametrize(
    ("k_list", "predictions", "said"),
    [
        ([1], [[DOUBLE], [SUM], []], ", pass@1 0.667"),
        ([1, 2], [[DOUBLE, SUM], [SUM, SUM], []], ", pass@1 0.500, pass@2 0.667"),
        ([1, 2], [[DOUBLE, SUM], [SUM], []], ", pass@1 0.500"),
    ],
)
def test_pass_at_k_so_far_is_said_on_stderr_and_nothing_on_stdout(dataset, capsys, k_list, predictions, said):
    compute(predictions, k_list=k_list, dataset=dataset)
    out, err = capsys.readouterr()
    assert (out, re.sub(r" in \d+ s", "", err.splitlines()[-1])) == ("", f"APPS problems: 3/3{said}")


async def test_it_works_where_an_event_loop_runs(dataset):
    await asyncio.sleep(0)
    assert compute([[DOUBLE]], level="interview", dataset=dataset, progress=False)["strict_accuracy"] == 1.0


@pytest.mark.parametrize(
    "cheat",
    [
        "import sys; sys.exit(0)",
        "import os; os._exit(0)",
        "class Lie:\n    def __eq__(s, o): return True\ndef add(a, b): return Lie()",
        "class Lie(int):\n    def __eq__(s, o): return True\ndef add(a, b): return Lie(0)",
        "def add(a, b):\n    import builtins; builtins.all = builtins.map = lambda *_: True\n    return 0",
        "def add(a, b):\n    import os; os.write(1, b'i3;'); os._exit(0)",
        "import atexit, os; atexit.register(os._exit, 0)\ndef add(a, b): return None",
        "print('[True, True]')",
    ],
)
def test_programs_that_cheat_never_pass(dataset, cheat):
    result = compute([[cheat]], level="competition", dataset=dataset, progress=False)
    assert result["strict_accuracy"] == 0.0 and result["avg_accuracy"] < 1.0


@pytest.mark.thorough
def test_evaluate_loads_it_and_gives_the_same(dataset, tmp_path):
    arguments = {"k_list": [1, 2], "level": "interview", "dataset": dataset, "progress": False}
    predictions = [[DOUBLE, "print(1)"]]
    given_by_evaluate = through_evaluate(FOLDER, tmp_path, predictions=predictions, **arguments)
    assert given_by_evaluate == compute(predictions, **arguments)
    assert given_by_evaluate["pass_at_k"] == {"pass@1": 0.5, "pass@2": 1.0}


def test_a_program_without_a_verdict_leaves_no_scores():
    lost = CandidateResult(0, "generated", Verdict.INTERNAL_ERROR, 0, 1, ({"verdict": "internal_error"},))
    result = scores([[codes_of(lost)], [[True]]], [1], count_errors=True)
    assert (result["avg_accuracy"], result["strict_accuracy"], result["pass_at_k"]) == (None, None, None)
    assert result["unjudged"] == 1 and codes_of(lost) == [None]


@pytest.mark.parametrize("verdict", Verdict)
def test_every_verdict_has_a_code_and_only_accepted_passes(verdict):
    codes = codes_of(CandidateResult(0, "generated", verdict, 0, 1, ({"verdict": verdict.value},)))
    assert passes(codes) == (verdict is Verdict.ACCEPTED)
    assert codes in ([True], [False], [-1], [-2], [None])


@given(st.lists(st.lists(CODES, max_size=4).map(lambda codes: [codes]), min_size=1))
def test_strict_accuracy_is_never_above_average_accuracy(codes):
    result = scores(codes, [1], count_errors=True)
    assert 0 <= result["strict_accuracy"] <= result["avg_accuracy"] <= 1
    assert result["strict_accuracy"] == pytest.approx(sum(passes(single) for (single,) in codes) / len(codes))
    assert errors(codes)["total_tests"] == sum(len(single) for (single,) in codes)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"header": "import ("}, "the header 'import \\(' isn't Python"),
        ({"timeout": -1}, "timeout must be a number of seconds above 0, not -1"),
        ({"timeout": "4"}, "timeout must be a number of seconds above 0, not '4'"),
        ({"num_workers": -1}, "num_workers must be 0"),
        ({"level": None}, "level None is unknown"),
        ({"predictions": None}, "predictions must be a list of lists of programs, not NoneType"),
        ({"predictions": [None] * 3}, r"predictions\[0\] must be a list of programs"),
    ],
)
def test_what_would_fail_every_program_or_judge_none_is_one_clear_line(dataset, arguments, message):
    with pytest.raises(UserError, match=message):
        compute(**{"predictions": [[DOUBLE], [SUM], [DOUBLE]], "dataset": dataset, "progress": False} | arguments)
