"""Programs in other languages than Python: which are judged, by which limits, and whose verdicts may be reused."""

import json
import re
import shutil
from pathlib import Path

import pytest

from alpha_codium.errors import SandboxError, UserError
from alpha_codium.eval.languages import Languages
from alpha_codium.eval.prepare import human_solutions
from alpha_codium.judge import Rules
from alpha_codium.problem import ExecutionSpec, Problem, Solution, TestCase
from alpha_codium.sandbox.code_contests.backend import CodeContestsSandbox
from tests.data.records import record, write_jsonl
from tests.eval.test_prepare import row
from tests.support import gencode

# Programs are compiled; on a machine that is busy that takes minutes.
pytestmark = pytest.mark.timeout(900)
needs_gcc = pytest.mark.skipif(shutil.which("g++") is None, reason="there is no g++: apt-get install g++")
DOUBLE = "#include <iostream>\nint main() { long n; std::cin >> n; std::cout << 2 * n; }\n"
TRIPLE = DOUBLE.replace("2 *", "3 *")
PYTHON = "print(2 * int(input()))"
NO_COMPILER = "C++ programs need g++, which isn't in /nowhere: apt-get install g++"
PYTHON_ONLY = "the C++ sandbox runs python3, not cpp: use `ac.open_sandbox('local')`"


def problem(**fields: object) -> Problem:
    solutions = (Solution("cpp", DOUBLE), Solution("python3", PYTHON), Solution("unknown", "x"))
    return Problem("double", private_tests=(TestCase("2", "4"),), solutions=solutions, **fields)  # type: ignore[arg-type]


def judged_and_skipped(languages: Languages, given: Problem) -> tuple[list[str], dict]:
    (task,) = human_solutions([given], "correct", "private_tests", languages=languages)
    return [entry.language for entry in task.entries], dict(task.skipped)


@needs_gcc
def test_solutions_in_all_languages_that_can_be_run_are_judged_and_the_others_are_counted_with_the_reason() -> None:
    assert judged_and_skipped(Languages(), problem()) == (["cpp", "python3"], {("unknown", "not supported"): 1})


def test_only_the_languages_that_are_asked_for_are_judged() -> None:
    languages, skipped = judged_and_skipped(Languages(["python3"]), problem())
    assert languages == ["python3"]
    assert skipped == {(name, "another language was asked for"): 1 for name in ("cpp", "unknown")}


def test_a_sandbox_that_runs_python_only_skips_the_others_with_its_reason() -> None:
    languages, skipped = judged_and_skipped(Languages(sandbox=CodeContestsSandbox()), problem())
    assert languages == ["python3"]
    assert skipped["cpp", PYTHON_ONLY] == 1
    with pytest.raises(SandboxError, match=re.escape(PYTHON_ONLY)):
        Languages(["cpp"], CodeContestsSandbox())
    with pytest.raises(UserError, match="unsupported language 'ada'"):
        Languages(["ada"])


def test_without_a_compiler_its_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("alpha_codium.languages.tools.PATH", "/nowhere")
    languages, skipped = judged_and_skipped(Languages(), problem())
    assert languages == ["python3"]
    assert skipped["cpp", NO_COMPILER] == 1


@needs_gcc
@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"execution": ExecutionSpec("call", "f")}, "C++ programs can't be run by tests that call a function"),
        ({"execution": ExecutionSpec("assertions", "f")}, "C++ programs can't be run by assertions in Python"),
        (
            {"input_file": "in.txt"},
            "C++ programs can't be run by tests that use files in place of stdin and stdout",
        ),
    ],
)
def test_solutions_that_the_tests_of_their_problem_can_not_run_are_skipped(fields: dict, reason: str) -> None:
    languages, skipped = judged_and_skipped(Languages(), problem(**fields))
    assert languages == ["python3"]
    assert skipped["cpp", reason] == 1


def test_a_problems_own_time_limit_is_multiplied_by_the_factor_of_the_language() -> None:
    limited, rules = problem(time_limit_seconds=2.0), Rules(time_limit_factor=5.0, time_limit_factors={"cpp": 1.5})
    assert [rules.limits_for(limited, name).cpu_seconds for name in ("python3", "cpp")] == [10.0, 3.0]
    assert Rules(cpu_seconds=7.0).limits_for(limited, "cpp").cpu_seconds == 7.0


@pytest.fixture
def contest(tmp_path: Path) -> Path:
    solutions = {"language": [2, 3, 4], "solution": [DOUBLE, PYTHON, "class Main {}"]}
    tests = {"input": ["2\n", "5\n"], "output": ["4\n", "10\n"]}
    wrong = {"language": [2], "solution": [TRIPLE]}
    one = record("double", private_tests=tests, solutions=solutions, incorrect_solutions=wrong)
    return write_jsonl(tmp_path / "contest.jsonl", [one])


def evaluated(home: Path, contest: Path, *more: object) -> tuple[dict, str]:
    done = gencode(
        "eval", "eval_cc_solutions", "--dataset_name", contest, "--solutions", "both", "--json", home / "out.json",
        *more, home=home, timeout=600,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads((home / "out.json").read_text()), done.stdout


@pytest.mark.thorough
@needs_gcc
def test_the_solutions_of_a_language_are_judged_and_the_output_says_what_was_left_out(
    tmp_path: Path, contest: Path
) -> None:
    values, shown = evaluated(tmp_path, contest, "--language", "c++")
    assert values["agreement"] == {
        "correct_accepted": 1, "correct_total": 1, "incorrect_rejected": 1, "incorrect_total": 1,
    }  # fmt: skip
    assert values["skipped_solutions"] == 2
    assert "not run                       1 in python3: another language was asked for" in shown


@pytest.mark.thorough
@needs_gcc
def test_verdicts_of_two_compilers_are_never_mixed(tmp_path: Path, contest: Path) -> None:
    samples = write_jsonl(tmp_path / "samples.jsonl", [row("double", DOUBLE, language=["cpp"])])
    command = ("eval", "eval_gen_solutions", "--solution_dataset", samples, "--dataset_name", contest, "--k", "1")
    done = gencode(*command, "--run", "first", home=tmp_path, timeout=600)
    assert done.returncode == 0, done.stderr
    described = tmp_path / "runs" / "first" / "run.toml"
    text = described.read_text()
    assert "[languages.cpp]" in text and "g++" in text
    assert gencode("eval", "eval_gen_solutions", "--resume", "first", home=tmp_path, timeout=600).returncode == 0
    # As if the compiler had been updated since.
    described.write_text(text.replace("g++ (", "g++ 1 ("))
    again = gencode("eval", "eval_gen_solutions", "--resume", "first", home=tmp_path, timeout=600)
    assert again.returncode == 2
    assert "run 'first' was made with languages.cpp.version = 'g++ 1 (" in again.stderr
