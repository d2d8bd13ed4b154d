"""The metric `code_eval`: its documented examples and shapes, what it refuses, and through `evaluate`."""

import asyncio
import json
from pathlib import Path

import pytest

from alpha_codium.errors import UserError
from alpha_codium.metrics.code_eval import compute
from tests.metrics.evaluating import through_evaluate
from tests.support import ROOT, shared_path

pytestmark = pytest.mark.usefixtures("shared_sandbox")

ADD = "assert add(2, 3) == 5"
WRONG, RIGHT = "def add(a, b): return a * b", "def add(a, b): return a + b"
FOLDER = ROOT / "alpha_codium" / "metrics" / "code_eval"


def texts(programs: list[str], reference: str = ADD, **options: float | str) -> list[str]:
    """The result of each program."""
    _, results = compute([programs], [reference], k=[1], **options)  # type: ignore[arg-type]
    return [result["result"] for _, result in results[0]]


@pytest.mark.parametrize(
    ("programs", "k", "scores"),
    [
        ([RIGHT], [1], {"pass@1": 1.0}),
        ([WRONG], [1], {"pass@1": 0.0}),
        ([WRONG, RIGHT], [1, 2], {"pass@1": 0.5, "pass@2": 1.0}),
    ],
)
def test_the_documented_examples_give_what_is_documented(
    programs: list[str], k: list[int], scores: dict[str, float]
) -> None:
    assert compute([programs], [ADD], k=k)[0] == scores


@pytest.mark.thorough
def test_the_sandbox_is_that_of_the_argument_or_of_the_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    # Only a portable sandbox lets programs start others.
    shows = "import os\nadd = lambda a, b: a + b + os.system('exit 0')"
    assert texts([shows], tester_type="local") == texts([shows]) != ["passed"]
    assert texts([shows], tester_type="portable") == ["passed"]
    monkeypatch.setenv("GENCODE_CODE_TESTER__TESTER_TYPE", "portable")
    assert texts([shows]) == ["passed"]
    with pytest.raises(UserError, match="did you mean 'local'"):
        texts([shows], tester_type="locl")


def test_a_program_near_a_limit_is_marked_and_counted(warnings: list[str]) -> None:
    slow = f"import time\nwhile time.process_time() < 0.47: pass\n{RIGHT}"
    _, results = compute([[slow, RIGHT]], [ADD], k=[1], timeout=0.5)
    assert "cpu" in results[0][0][1]["near_limit"] and "near_limit" not in results[0][1][1]
    assert warnings == ["1 verdict within 20% of a limit, which the load may change: see near_limit\n"]


def test_results_hold_each_candidate_by_task() -> None:
    pass_at_k, results = compute([[WRONG, RIGHT], [RIGHT]], [ADD, "assert add(1, 1) == 3, 'three'"], k=[1, 2, 100])
    assert pass_at_k == {"pass@1": 0.25}
    assert results == {
        0: [
            (0, {"task_id": 0, "passed": False, "result": "failed: ", "completion_id": 0}),
            (1, {"task_id": 0, "passed": True, "result": "passed", "completion_id": 1}),
        ],
        1: [(0, {"task_id": 1, "passed": False, "result": "failed: three", "completion_id": 0})],
    }


@pytest.mark.thorough
def test_the_result_is_the_text_of_the_exception() -> None:
    programs = ["def add(", "1 / 0", "import sys\nsys.exit('over')", "def sub(a, b): pass", "while True: pass", ""]
    assert texts(programs, timeout=0.5) == [
        "failed: '(' was never closed (<string>, line 1)",
        "failed: division by zero",
        "failed: over",
        "failed: name 'add' is not defined",
        "timed out",
        "failed: name 'add' is not defined",
    ]


def test_one_program_and_many_are_told_the_same() -> None:
    programs = [
        "def add(",
        "1 / 0",
        "import sys\nsys.exit('over')",
        "def sub(a, b): pass",
        "def add(a, b): return {}[a]",
    ]
    assert texts(programs) == [text for program in programs for text in texts([program])]


@pytest.mark.thorough
def test_a_program_that_waits_is_timed_out_by_the_clock() -> None:
    assert texts(["import time\ntime.sleep(1e6)"], timeout=0.2) == ["timed out"]


def test_a_reference_may_be_the_whole_test_of_a_benchmark() -> None:
    rows = [json.loads(line) for line in shared_path("data/humaneval.jsonl").read_text().splitlines()[:6]]
    references = [f"{row['test']}\ncheck({row['entry_point']})" for row in rows]
    given = [[row["prompt"] + row["canonical_solution"], row["prompt"] + "    pass\n"] for row in rows]
    assert compute(given, references, k=[1, 2])[0] == {"pass@1": 0.5, "pass@2": 1.0}


def test_a_reference_may_be_code_beyond_assertions() -> None:
    reference = "from random import randint\n\ndef expected(a, b):\n    return a + b\n\nfor _ in range(9):\n"
    reference += (
        "    a, b = randint(0, 9), randint(0, 9)\n    if add(a, b) != expected(a, b):\n        raise SystemError(a)\n"
    )
    assert texts([RIGHT], reference) == ["passed"]
    assert texts([WRONG, "add = max", "add = 1"], reference)[2] == "failed: 'int' object is not callable"


def test_a_task_without_candidates_scores_zero_and_stays() -> None:
    pass_at_k, results = compute([[RIGHT], []], [ADD, ADD], k=[1])
    assert (pass_at_k, results[1]) == ({"pass@1": 0.5}, [])


def test_without_permission_nothing_runs_and_what_to_do_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_ALLOW_CODE_EVAL", "0")
    with pytest.raises(ValueError, match=r'os.environ\["HF_ALLOW_CODE_EVAL"\] = "1"'):
        compute([[RIGHT]], [ADD])


@pytest.mark.parametrize(
    "reference", ["", "# nothing", "x = 1", "def helper():\n    assert add(1, 1) == 2", "assert add(", "pass"]
)
def test_a_reference_that_no_program_can_fail_is_an_error_and_no_pass(reference: str) -> None:
    with pytest.raises(UserError, match=r"references\[1\] can't be judged by"):
        compute([[RIGHT], [RIGHT]], [ADD, reference])


def test_functions_of_pytest_that_a_reference_does_not_call_are_run() -> None:
    reference = "from solution import add\n\ndef test_add():\n    assert add(1, 1) == 2"
    (pass_at_k, results) = compute([[RIGHT, RIGHT.replace("+", "-")]], [reference], k=[1])
    assert pass_at_k == {"pass@1": 0.5}
    assert [outcome["passed"] for _, outcome in results[0]] == [True, False]


@pytest.mark.parametrize(
    ("predictions", "references", "options", "said"),
    [
        ([[RIGHT]], [ADD, ADD], {}, "the numbers are 1 and 2"),
        ([RIGHT], [ADD], {}, r"predictions\[0\] must be a list of programs"),
        ([[None]], [ADD], {}, r"predictions\[0\] must be a list of programs"),
        ([[RIGHT]], [None], {}, r"references\[0\] can't be judged by: it is not a text"),
        (RIGHT, ADD, {}, "must be one list of programs for each reference"),
        ([], [], {}, "there is no reference"),
        ([[RIGHT]], [ADD], {"k": [0]}, "k must be a list of numbers above 0"),
        ([[RIGHT]], [ADD], {"k": 1}, "k must be a list of numbers above 0"),
        ([[RIGHT]], [ADD], {"timeout": 0}, "timeout must be a number of seconds above 0"),
        (
            [[RIGHT]],
            [ADD],
            {"num_workers": -1},
            r"num_workers must be 0 \(one per core\) or more, not -1",
        ),
    ],
)
def test_what_is_asked_wrongly_is_said_in_one_line(
    predictions: list[list[str]], references: list[str], options: dict[str, int], said: str
) -> None:
    with pytest.raises(UserError, match=said) as raised:
        compute(predictions, references, **options)
    assert "\n" not in str(raised.value)


async def test_it_works_inside_a_running_event_loop() -> None:
    assert compute([[RIGHT]], [ADD], k=[1])[0] == {"pass@1": 1.0}
    await asyncio.sleep(0)


async def test_what_is_raised_inside_a_running_event_loop_comes_out() -> None:
    with pytest.raises(UserError, match="not a text"):
        compute([[RIGHT]], [3], k=[1])  # type: ignore[list-item]


@pytest.mark.thorough
def test_through_evaluate_it_is_the_same(tmp_path: Path) -> None:
    pytest.importorskip("evaluate", reason="evaluate isn't installed: pip install alpha_codium[metrics]")
    pass_at_k, results = through_evaluate(
        FOLDER, tmp_path, predictions=[[WRONG, RIGHT]], references=[ADD], k=[1, 2], num_workers=2, timeout=2.0
    )
    assert pass_at_k == {"pass@1": 0.5, "pass@2": 1.0}
    assert [result["passed"] for _, result in results["0"]] == [False, True]
