"""Problems whose known programs' outputs are written down, and small real ones to plant faults in."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import replace

from alpha_codium.audit.datasets.alternatives import alternatives_for
from alpha_codium.audit.datasets.assessment import Assessment, assess
from alpha_codium.audit.datasets.observation import Known, ObservedProblem, Wider, observe, places_of
from alpha_codium.audit.datasets.wording import several_answers
from alpha_codium.checkers import DEFAULT_CHECKER, Checker, make_checker
from alpha_codium.limits import Limits
from alpha_codium.problem import CheckerSpec, Problem, Solution, TestCase, TestType
from alpha_codium.verdict import Execution, Judgement, Status, TestResult, Verdict, first_failure

Said = str | Verdict
LIMITS = Limits(cpu_seconds=4.0, memory_bytes=2**30)


def case(
    expected: Sequence[str],
    correct: Mapping[str, Sequence[Said]],
    incorrect: Mapping[str, Sequence[Said]] | None = None,
    *,
    checker: CheckerSpec = DEFAULT_CHECKER,
    statement: str = "Print the number.",
    cpu_seconds: Mapping[str, Sequence[float]] | None = None,
    wider: Mapping[str, Mapping[int, Wider]] | None = None,
    accepts: Checker | None = None,
) -> ObservedProblem:
    """The case of programs: text -> what it prints, or how it ends, on each test; `accepts` stands for a program."""
    tests = tuple(TestCase(f"{number}\n", output) for number, output in enumerate(expected))
    problem = Problem("p", statement, private_tests=tests, checker=checker)
    accepts = accepts or make_checker(checker)

    def known(label: str, programs: Mapping[str, Sequence[Said]]) -> tuple[Known, ...]:
        found = []
        for index, (program, said) in enumerate(programs.items()):
            seconds = (cpu_seconds or {}).get(program, [0.1] * len(said))
            results = [_result(accepts, t, s, cpu) for t, s, cpu in zip(tests, said, seconds, strict=True)]
            judgement = Judgement(first_failure(r.verdict for r in results), tuple(results), len(results))
            seen = observe(
                tests, judgement, alternatives_for(problem), keep_outputs=label == "correct",
                wider=(wider or {}).get(program),
            )  # fmt: skip
            found.append(Known(label, index, program, seen))
        return tuple(found)

    return ObservedProblem(
        problem,
        tests,
        places_of(problem, tuple(TestType)),
        checker,
        LIMITS,
        alternatives_for(problem),
        known("correct", correct),
        known("incorrect", incorrect or {}),
        {},
        wording=several_answers(statement),
    )


def assessed(*arguments, **options) -> Assessment:
    """The assessment of `case(...)`."""
    return assess(case(*arguments, **options))


def reasons(assessment: Assessment) -> list[str]:
    """The reasons of its findings."""
    return [finding.reason.value for finding in assessment.findings]


def _result(accepts, test: TestCase, said: Said, cpu: float) -> TestResult:
    if isinstance(said, Verdict):
        rss = 2**31 if said is Verdict.MEMORY_LIMIT_EXCEEDED else 10 * 2**20
        return TestResult(said, Execution(Status(said.value), cpu_seconds=cpu, max_rss_bytes=rss))
    execution = Execution(Status.FINISHED, stdout=said, cpu_seconds=cpu, max_rss_bytes=10 * 2**20)
    right = accepts(test.input, test.output, said)
    return TestResult(Verdict.ACCEPTED if right else Verdict.WRONG_ANSWER, execution)


# Small tasks of our own: input -> output, three known-correct programs written differently, two known-incorrect ones.
NUMBERS = "a = list(map(int, input().split()))\n"
TASKS = {
    "sum": (
        sum,
        ("print(sum(a))", "t = 0\nfor x in a:\n    t += x\nprint(t)", "print(a[0] + sum(a[1:]))"),
        ("print(sum(set(a)))", "print(sum(a[:-1]))"),
    ),
    "largest": (
        max,
        ("print(max(a))", "print(sorted(a)[-1])", "a.sort(reverse=True)\nprint(a[0])"),
        ("print(a[-1])", "print(max(0, *a))"),
    ),
    "span": (
        lambda a: max(a) - min(a),
        ("print(max(a) - min(a))", "a.sort()\nprint(a[-1] - a[0])", "print(max(x - y for x in a for y in a))"),
        ("print(abs(a[0] - a[-1]))", "print(max(a))"),
    ),
    "distinct": (
        lambda a: len(set(a)),
        ("print(len(set(a)))", "print(len(dict.fromkeys(a)))", "print(sum(x not in a[:i] for i, x in enumerate(a)))"),
        ("print(len(a))", "print(sum(x != y for x, y in zip(a, a[1:])))"),
    ),
}  # fmt: skip
LISTS = ((3, 1, 3, -2), (5, 5, 1, 4), (-7, 2, 2, -9), (-4, -4, -1, -2))


def python(*programs: str) -> tuple[Solution, ...]:
    """Known programs in Python 3, which read a list of numbers."""
    return tuple(Solution("python3", NUMBERS + program) for program in programs)


def sound_problem(name: str, task: str) -> Problem:
    """A problem without a fault: its tests are right and catch both of its known-incorrect programs."""
    answer, correct, incorrect = TASKS[task]
    tests = tuple(TestCase(" ".join(map(str, a)) + "\n", f"{answer(list(a))}\n") for a in LISTS)
    return Problem(
        name,
        f"Print the {task}.",
        tests[:1],
        tests[1:],
        solutions=python(*correct),
        incorrect_solutions=python(*incorrect),
    )


def with_wrong_output(problem: Problem, chance: random.Random) -> tuple[Problem, int]:
    """A copy with one wrong expected output among the private tests, and its place."""
    place = chance.randrange(len(problem.private_tests))
    tests = list(problem.private_tests)
    tests[place] = TestCase(tests[place].input, f"{int(tests[place].output) + chance.choice([-10, 1, 100])}\n")
    return replace(problem, private_tests=tuple(tests)), place


def with_second_answer(problem: Problem) -> Problem:
    """A copy in which a known-correct program gives another answer to its first private test, as if that were right."""
    first, *_ = TASKS[_task(problem)][1]
    return replace(
        problem,
        solutions=(*problem.solutions, *python(f"if a == {list(LISTS[1])}:\n    print('another')\nelse:\n    {first}")),
    )


def with_slow_solution(problem: Problem) -> Problem:
    """A copy with half a second to a test, and a known-correct program that needs 0.9 s of CPU whatever the machine."""
    first, *_ = TASKS[_task(problem)][1]
    slow = f"import time\nwhile time.process_time() < 0.9:\n    pass\n{first}"
    return replace(
        problem, public_tests=(), private_tests=problem.private_tests[:1],
        solutions=(*problem.solutions, *python(slow)), time_limit_seconds=0.5,
    )  # fmt: skip


def with_weak_tests(problem: Problem) -> Problem:
    """A copy with one test that catches nothing: its list is one number."""
    answer = TASKS[_task(problem)][0]
    return replace(problem, public_tests=(), private_tests=(TestCase("6\n", f"{answer([6])}\n"),))


def _task(problem: Problem) -> str:
    return problem.name.split("-")[0]
