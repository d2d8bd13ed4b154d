"""MultiPL-E and HumanEval-X in C++: records as published ones have them, but about functions of our own."""

import json
import shutil
from pathlib import Path

import pytest

from alpha_codium.data.benchmarks import benchmark_of
from alpha_codium.data.schema import problem_from_record, record_from_problem, stored_record
from alpha_codium.errors import DatasetError
from alpha_codium.judge.appended_tests import joined
from alpha_codium.problem import Problem, TestType
from alpha_codium.program import Program
from tests.data.benchmarks.judging import verdicts
from tests.data.records import write_jsonl
from tests.support import gencode

# Programs are compiled; on a machine that is busy that takes minutes.
pytestmark = pytest.mark.timeout(900)
needs_gcc = pytest.mark.skipif(shutil.which("g++") is None, reason="there is no g++: apt-get install g++")
BODY = "    long sum = 0;\n    for (long each : numbers) sum += each;\n    return sum;"
PROMPT = """#include<assert.h>
#include<bits/stdc++.h>
// Return the sum of the numbers.
// >>> total((std::vector<long>({(long)1, (long)2})))
// (3)
long total(std::vector<long> numbers) {
"""
MULTIPL_E = {
    "name": "Own_0_total", "language": "cpp", "prompt": PROMPT, "doctests": "transform", "original": "own_0.py",
    "prompt_terminology": "reworded", "stop_tokens": ["\n}"],
    "tests": "}\nint main() {\n    auto candidate = total;\n"
    "    assert(candidate((std::vector<long>({(long)1, (long)2, (long)4}))) == (7));\n"
    "    assert(candidate((std::vector<long>())) == (0));\n}\n",
}  # fmt: skip
X_PROMPT = """/*
Return the sum of the numbers.
>>> total({1, 2})
3
*/
#include<vector>
using namespace std;
long total(vector<long> numbers){
"""
HUMANEVAL_X = {
    "task_id": "CPP/0", "prompt": X_PROMPT, "canonical_solution": f"{BODY}\n}}\n\n", "declaration": X_PROMPT[60:],
    "test": "#undef NDEBUG\n#include<assert.h>\nint main(){\n    assert (total({1, 2, 4})==7);\n}\n",
    "example_test": "#undef NDEBUG\n#include<assert.h>\nint main(){\n    assert (total({1, 2})==3);\n}\n",
}  # fmt: skip
WHOLE = f"long total(std::vector<long> numbers) {{\n{BODY}\n}}\n"
WRONG = BODY.replace("+=", "-=")


def cpp(source: str) -> Program:
    return Program.from_source("cpp", source)


@needs_gcc
@pytest.mark.thorough
@pytest.mark.parametrize(
    "record", [MULTIPL_E, pytest.param(HUMANEVAL_X, marks=pytest.mark.slow)], ids=["MultiPL-E", "HumanEval-X"]
)
def test_completions_and_whole_functions_are_judged_by_the_tests_of_the_record(record: dict) -> None:
    prompt = record["prompt"]
    programs = [f"{prompt}{BODY}\n}}\n", WHOLE, f"{prompt}{WRONG}\n}}\n", WHOLE.replace("return", "retrun")]
    found = verdicts([(record, cpp(program)) for program in programs])
    assert found == ["accepted", "accepted", "wrong_answer", "compilation_error"]
    # As published completions of MultiPL-E: they end before the bracket that closes the function.
    cut = verdicts([(MULTIPL_E, cpp(f"{PROMPT}{BODY}")), (MULTIPL_E, cpp(f"{PROMPT}{BODY[:14]}"))])
    assert cut == ["accepted", "compilation_error"]


def test_the_known_solution_and_the_examples_of_humaneval_x_are_kept() -> None:
    problem = problem_from_record(HUMANEVAL_X)
    (solution,) = problem.solutions
    assert (solution.language, solution.code) == ("cpp", X_PROMPT + HUMANEVAL_X["canonical_solution"])
    assert problem.public_tests[0].input == HUMANEVAL_X["example_test"]
    assert problem.execution.language == "cpp"
    assert "#include <vector>\n" in problem.execution.setup_code


@pytest.mark.thorough
@needs_gcc
def test_the_known_solution_passes_the_examples_and_the_tests() -> None:
    program = cpp(X_PROMPT + HUMANEVAL_X["canonical_solution"])
    assert verdicts([(HUMANEVAL_X, program)], (TestType.PUBLIC, TestType.PRIVATE)) == ["accepted"]


def test_the_language_of_the_tests_survives_being_stored_and_python_is_stored_as_before() -> None:
    problem = problem_from_record(MULTIPL_E)
    assert problem_from_record(record_from_problem(problem)) == problem
    assert stored_record(MULTIPL_E)["execution"]["language"] == "cpp"
    python = record_from_problem(Problem("P"))
    assert set(stored_record(python)["execution"]) == {"kind", "entry_point", "test_code", "setup_code"}


@needs_gcc
def test_a_program_in_another_language_than_the_tests_gets_no_verdict() -> None:
    assert verdicts([(MULTIPL_E, Program.from_source("python3", "def total(xs): return sum(xs)"))]) == [
        "internal_error"
    ]


@pytest.mark.parametrize(
    ("record", "said"),
    [
        (MULTIPL_E | {"language": "lua"}, "language is 'lua': tests of MultiPL-E can be run in python3, cpp"),
        (HUMANEVAL_X | {"task_id": "Go/0"}, "task_id is 'Go/0': tests of HumanEval-X can be run in python3, cpp"),
    ],
)
def test_languages_whose_tests_need_more_than_a_compiler_are_refused(record: dict, said: str) -> None:
    assert benchmark_of(record) is not None
    with pytest.raises(DatasetError, match=said):
        problem_from_record(record)


@pytest.mark.parametrize(
    ("program", "test", "whole"),
    [
        ("int f() {\n", "}\nint main() {}", "int f() {\n\n}\nint main() {}"),
        ("int f() {\n}\n", "}\nint main() {}", "int f() {\n\n}\nint main() {}"),
        ("int f() {\n}\n", "int main() {}", "int f() {\n}\n\nint main() {}"),
        (
            "class P {\n  int f() {\n  }\n}\n",
            "  }\n  int g() {}\n}",
            "class P {\n  int f() {\n  \n  }\n  int g() {}\n}",
        ),
        ("char f() { return '}';\n} // {", "}\nint main() {}", "char f() { return '}';\n} // {\n}\nint main() {}"),
    ],
)
def test_brackets_that_the_test_closes_are_taken_from_the_program(program: str, test: str, whole: str) -> None:
    assert joined(program, test) == whole


@needs_gcc
@pytest.mark.thorough
def test_samples_of_both_benchmarks_are_scored_from_the_command_line(tmp_path: Path) -> None:
    problems = write_jsonl(tmp_path / "problems.jsonl", [MULTIPL_E, MULTIPL_E | {"name": "Own_1_total"}])
    rows = [
        {"task_id": "Own_0_total", "completion": BODY}, {"task_id": "Own_0_total", "completion": WRONG},
        {"task_id": "Own_1_total", "completion": f"{BODY}\n}}"},
    ]  # fmt: skip
    samples = write_jsonl(tmp_path / "samples.jsonl", rows)
    done = gencode(
        "eval", "score", samples, "--dataset_name", problems, "--k", "1", "--json", tmp_path / "out.json",
        home=tmp_path, timeout=600,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert json.loads((tmp_path / "out.json").read_text())["pass_at_k"] == {"pass@1": 0.75}
