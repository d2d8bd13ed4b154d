"""Flows in other languages than Python: what they ask for, read from answers and run."""

import itertools
import shutil

import pytest

from alpha_codium.answers.extraction import extract_code
from alpha_codium.config import Settings, load_settings
from alpha_codium.errors import DatasetError, SandboxError, UserError
from alpha_codium.flows.loading import load_flow, shipped_flows
from alpha_codium.gen.choosing import check_problems
from alpha_codium.judge import Rules
from alpha_codium.problem import ExecutionSpec, Problem, TestCase
from alpha_codium.rendering import Prompt
from alpha_codium.sandbox import sandbox_of
from tests.flows.scripted_flow import ONE, settings_of
from tests.flows.switches import changes

# Programs are compiled; on a machine that is busy that takes minutes.
pytestmark = pytest.mark.timeout(900)
needs_gcc = pytest.mark.skipif(shutil.which("g++") is None, reason="there is no g++: apt-get install g++")
CPP = "#include <iostream>\nint main() { int sum = 0, n; while (std::cin >> n) sum += n; std::cout << sum; }"
WRONG = CPP.replace("sum += n", "sum -= n")
IN_CPP = {"solve.language": "cpp"}


def answered(code: str, tag: str = "cpp") -> str:
    return f"Here is the program:\n```{tag}\n{code}\n```\n"


@needs_gcc
@changes("solve.language")
async def test_a_program_is_asked_for_read_and_run_in_the_language_of_the_setting(bench):
    answers = {"code_contests_prompts_baseline": answered(CPP)}
    outcome = await bench.solve(ONE, answers, IN_CPP, flow="baseline")
    user = outcome.user("code_contests_prompts_baseline")
    assert "Write a short C++ program" in user and "```cpp\n" in user
    assert "ython" not in user
    assert (outcome.program, outcome.candidate.language) == (CPP, "cpp")
    assert outcome.candidate.solved_public
    python = await bench.solve(ONE, {"code_contests_prompts_baseline": answered("print(1)", "python")}, flow="baseline")
    assert "Python 3" in python.user("code_contests_prompts_baseline")
    assert python.candidate.language == "python3"


@needs_gcc
async def test_the_whole_flow_repairs_a_program_in_cpp_without_a_trace(bench):
    answers = {"initial_code": answered(WRONG), "fix": answered(CPP), "brute_force": answered(CPP)}
    settings = IN_CPP | {"initial_code_generation.max_attempts": 1, "code_tester.use_trace": True}
    outcome = await bench.solve(ONE, answers, settings)
    assert outcome.program == CPP
    assert "```cpp\n#include <iostream>" in outcome.user("fix")
    assert "The last lines that were executed" not in outcome.user("fix")
    assert not [call for call in outcome.calls if "ython" in call.user]


async def test_an_answer_in_another_language_holds_no_program(bench):
    outcome = await bench.solve(ONE, {"code_contests_prompts_baseline": "I can't do that."}, IN_CPP, flow="baseline")
    assert "there is no C++ program in it" in str(outcome.candidate.error)


OTHERS = [name for name, _ in Settings().languages]


@changes(*(f"languages.{name}.time_limit_factor" for name in OTHERS))
@pytest.mark.parametrize("name", OTHERS)
def test_time_limit_factor_multiplies_a_problems_own_limit_for_programs_in_its_language(name):
    settings = load_settings(overrides=[f"languages.{name}.time_limit_factor=7"], environment={})
    rules = Rules.of(settings.code_tester, settings.languages.time_limit_factors)
    limits = {each: rules.limits_for(Problem("P", time_limit_seconds=2.0), each).cpu_seconds for each in OTHERS}
    assert limits[name] == 14.0
    assert 14.0 not in [limit for each, limit in limits.items() if each != name]


@changes(*(f"languages.{name}.{key}" for name in OTHERS for key in ("compiler", "options")))
@pytest.mark.parametrize("name", OTHERS)
def test_another_compiler_and_other_options_of_a_language_are_those_of_the_sandbox(name):
    overrides = [f"languages.{name}.compiler=/nowhere/compiler", f"languages.{name}.options=--fast"]
    sandbox = sandbox_of(load_settings(overrides=overrides, environment={}))
    with pytest.raises(SandboxError, match="/nowhere/compiler"):
        sandbox.tool_version(name)


@needs_gcc
def test_the_options_of_a_compiler_are_part_of_its_version():
    plain, fast = (
        sandbox_of(load_settings(overrides=each, environment={})).tool_version("cpp")
        for each in ([], ["languages.cpp.options=-O3"])
    )
    assert fast == f"{plain}, options -O3"


def test_no_shipped_prompt_mentions_python_if_another_language_is_asked_for():
    test = TestCase("1 2\n", "3\n")
    shown = 0
    for name in shipped_flows():
        flow = load_flow(name)
        flows = list(flow.by_kind.values()) or [flow]
        stages = [stage for each in flows for stage in each.stages]
        prompts = [value for stage in stages for value in vars(stage).values() if isinstance(value, Prompt)]
        for prompt, kind in itertools.product(prompts, ("stdin", "assertions")):
            text = "\n".join(prompt.render(variables(kind, test)))
            assert "ython" not in text, (name, prompt.name, kind)
            assert "input()" not in text, (name, prompt.name, kind)
            shown += 1
    assert shown > 30


def variables(kind: str, test: TestCase) -> dict:
    return {
        "problem": Problem("P", "Add the numbers.", (test,)).statement, "kind": kind, "is_function": kind != "stdin",
        "beginning": "int f(int x) {\n" if kind != "stdin" else "", "language": "C++", "tag": "cpp", "tests": [test],
        "example": "[1]", "reflection": "", "explanations": [], "max_num_of_possible_solutions": 2, "plans": [],
        "plan": None, "number_of_ai_tests": 3, "ai_tests": [], "program": WRONG, "test": test, "actual": "-3",
        "verdict": "wrong_answer", "explanation": "", "trace": "", "lessons": [], "number": 2, "input": "1",
        "objection": "", "rejected": None,
        "first": "1", "second": "2", "analysis": {"what_went_wrong": "a sign", "fixed_flow": "add"},
    }  # fmt: skip


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (answered(CPP), CPP),
        (answered(CPP, "c++"), CPP),
        (answered(CPP, ""), CPP),
        (f"{answered('print(1)', 'python')}\nIn C++:\n{answered(CPP)}", CPP),
        (CPP, CPP),
    ],
    ids=["tagged", "another tag", "no tag", "beside Python", "no fence"],
)
def test_a_program_in_cpp_is_found_in_an_answer(answer, code):
    found = extract_code(answer, "cpp")
    assert found is not None
    assert found.code.strip() == code


@pytest.mark.parametrize(
    ("execution", "reason"),
    [
        (ExecutionSpec("call", "add"), "C\\+\\+ programs can't be run by tests that call a function"),
        (ExecutionSpec("assertions", "add", "assert add(1, 2) == 3"), "by assertions in Python"),
    ],
)
def test_problems_whose_tests_can_not_run_the_language_are_refused_before_anything_is_asked(execution, reason):
    problem = Problem("P", "def add(a, b):\n", execution=execution)
    with pytest.raises(DatasetError, match=f"the problem 'P' can't be solved in C\\+\\+: .*{reason}"):
        check_problems(load_flow("auto"), [problem], settings_of(IN_CPP))
    check_problems(load_flow("auto"), [problem], Settings())


def test_an_unknown_language_is_refused_with_the_nearest_one():
    with pytest.raises(UserError, match=r"unsupported language 'cppp' \(did you mean 'cpp'\?\)"):
        check_problems(load_flow("auto"), [ONE], settings_of({"solve.language": "cppp"}))
