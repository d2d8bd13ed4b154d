"""What went wrong elsewhere and must not here: values of tests, state between tests, stdin, exits, empty scores."""

import pytest

from alpha_codium.judge import Judge
from alpha_codium.problem import Problem, TestCase
from alpha_codium.solution import ErrorKind
from alpha_codium.verdict import Judgement, Verdict, first_failure
from tests.flows.scripted_flow import ONE, SUM, answering, program
from tests.servers.scripted import Status


async def judged(bench, code, *pairs):
    tests = [TestCase(given, expected) for given, expected in pairs]
    return await Judge(bench.sandbox).for_problem(Problem("P")).judge(code, tests)


@pytest.mark.thorough
async def test_numbers_and_other_yaml_values_in_tests_stay_text(bench):
    asked = [("7", "7"), ("1_0", "yes"), ("007", "null"), ("1.50", "2024-01-01")]
    bare = "".join(f"- input: {i}\n  output: {o}\n  explanation: true\n" for i, o in asked)
    answers = {
        "generate_ai_tests": f"```yaml\ntests:\n{bare}```",
        "initial_code": program(answering({"1 2": 3})),
        "fix": program(answering({"1 2": 3})),
    }
    outcome = await bench.solve(ONE, answers)
    for call, (given, expected) in zip(outcome.of("fix"), asked, strict=True):
        assert f"Input:\n{given}\nExpected output:\n{expected}\n" in call.user


async def test_a_missing_section_of_an_answer_does_not_end_the_run(bench):
    outcome = await bench.solve(ONE, {"reflect": "```yaml\nself_reflection: |\n  only this\n```"})
    assert outcome.program == SUM, outcome.candidate


async def test_a_flaky_provider_makes_no_empty_solution_that_counts(bench):
    outcome = await bench.solve(ONE, {"initial_code": Status(500)}, {"config.max_retries": 0})
    assert outcome.candidate.error.kind is ErrorKind.PROVIDER
    assert not outcome.candidate.is_final
    assert not outcome.candidate.solved_public


async def test_an_empty_program_is_never_accepted(bench):
    for code in ("", "\n  \n"):
        judgement = await judged(bench, code, ("", ""))
        assert judgement.verdict is Verdict.COMPILATION_ERROR
        assert not judgement.accepted


async def test_no_test_is_never_a_pass(bench):
    assert (await judged(bench, "print(1)")).verdict is Verdict.NO_TESTS
    assert first_failure([]) is Verdict.NO_TESTS
    assert not Judgement(Verdict.NO_TESTS).accepted


async def test_a_program_that_is_killed_has_a_verdict_for_every_test(bench):
    judgement = await judged(bench, "import os; os.kill(os.getpid(), 9)", ("1", "1"), ("2", "2"))
    assert [test.verdict for test in judgement.tests] == [Verdict.RUNTIME_ERROR] * 2


async def test_one_test_sees_nothing_of_another(bench):
    code = "import os\nprint(os.path.exists('left'), len(os.listdir('.')))\nopen('left', 'w').write('x')"
    judgement = await judged(bench, code, ("", "False 1"), ("", "False 1"))
    assert judgement.accepted


@pytest.mark.parametrize(
    "code",
    [
        "print(open(0).read(), end='')",
        "import sys\nsys.stdout.buffer.write(sys.stdin.buffer.read())",
        "import sys\nsys.stdout.write(''.join(sys.stdin.readlines()))\nsys.exit(0)",
        "import os\nos.write(1, os.read(0, 1 << 16))",
        "import sys\nfor line in map(str.rstrip, sys.stdin):\n    print(line)\nexit()",
        "try:\n    while True:\n        print(input())\nexcept EOFError:\n    quit()",
        "print(input())\nprint(input())\nraise SystemExit",
    ],
)
async def test_every_usual_way_to_read_write_and_end_works(bench, code):
    assert (await judged(bench, code, ("one\ntwo\n", "one\ntwo\n"))).accepted


async def test_an_exit_with_another_status_is_a_failure(bench):
    judgement = await judged(bench, "print(1)\nraise SystemExit(1)", ("", "1"))
    assert judgement.verdict is Verdict.RUNTIME_ERROR


async def test_many_quick_tests_do_not_add_up_to_a_time_limit(bench):
    tests = [(str(n), str(n)) for n in range(30)]
    judge = Judge(bench.sandbox).for_problem(Problem("P", time_limit_seconds=0.1))
    judgement = await judge.judge("print(input())", [TestCase(*pair) for pair in tests])
    assert judgement.tests_passed == 30
