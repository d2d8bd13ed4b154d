"""Judgements of single programs, for reward functions and other callers that have programs and tests at hand."""

from collections.abc import Callable, Iterable
from typing import Any

from alpha_codium.app.tests_of import Shape, problem_of
from alpha_codium.config import Settings, load_settings
from alpha_codium.coroutines import blocking, in_thread
from alpha_codium.eval.judging import open_judge
from alpha_codium.eval.prepare import parse_test_types
from alpha_codium.judge import Rules
from alpha_codium.judge.executors import Task
from alpha_codium.judge.many import judge_all
from alpha_codium.languages import language_named
from alpha_codium.problem import Problem, TestType
from alpha_codium.program import PYTHON, Program
from alpha_codium.sandbox.blocking import AnySandbox
from alpha_codium.values import shown
from alpha_codium.verdict import Judgement


async def judge_program_async(
    program: str | Program,
    tests: Shape,
    *,
    language: str = PYTHON,
    test_type: str | Iterable[str] = tuple(TestType),
    rules: Rules | None = None,
    sandbox: str | AnySandbox | None = None,
    settings: Settings | None = None,
) -> Judgement:
    """Judge one program by its tests.

    `program` is the source of a program in `language`, or a `Program`. `tests` are pairs of an input and the output
    that is expected for it; or code with assertions, each a test; or in another shape of `alpha_codium.app.tests_of`,
    such as a column of a dataset for training; or a `Problem`, which has its own kind of tests, limits and checker,
    and of which `test_type` chooses the tests (all by default). `rules` are limits and tolerances in place of those of
    the settings. `sandbox` is a backend's name, or a sandbox; one that is open stays open. `settings` default to
    `load_settings()`.

    A test that can't be judged gives `internal_error`, with the reason in `message`. Raises TypeError if an argument
    has the wrong type, and UserError if the sandbox isn't available.
    """
    task = _task(program, tests, language)
    (judgement,) = await judge_programs_async(
        [task], language=language, test_type=test_type, rules=rules, sandbox=sandbox, settings=settings
    )
    return judgement


judge_program = blocking(judge_program_async)


async def judge_programs_async(
    programs: Iterable[tuple[str | Program, Shape]],
    *,
    language: str = PYTHON,
    test_type: str | Iterable[str] = tuple(TestType),
    rules: Rules | None = None,
    sandbox: str | AnySandbox | None = None,
    settings: Settings | None = None,
    on_judgement: Callable[[int, Judgement], object] = lambda *_: None,
) -> list[Judgement]:
    """Judge many programs at once, each by its own tests; the judgements are in the order of the programs.

    `programs` are pairs of a program and its tests, such as `zip(programs, tests)`. `on_judgement` is called with the
    index of a program as soon as it is judged. For the other arguments and for errors, see `judge_program`.
    """
    kinds = parse_test_types(test_type)
    language_named(language)
    pairs = [_task_of_pair(place, pair, language) for place, pair in enumerate(programs)]
    settings = settings or load_settings()
    if isinstance(sandbox, str):
        settings, sandbox = settings.changed("code_tester", tester_type=sandbox), None
    async with open_judge(settings, sandbox, rules) as opened:
        for name in {program.language for program, _ in pairs} - {PYTHON}:
            await in_thread(opened.judge.sandbox.tool_version, name)  # raises if they can't be run
        tasks = [Task(program, problem, problem.tests(kinds), opened.judge.rules) for program, problem in pairs]
        return await judge_all(tasks, opened.executor, on_judgement=on_judgement)


judge_programs = blocking(judge_programs_async)


def _task_of_pair(place: int, pair: Any, language: str) -> tuple[Program, Problem]:
    if not isinstance(pair, tuple | list) or len(pair) != 2:
        raise TypeError(f"programs[{place}] must be a pair (program, tests), not {shown(pair)}")
    try:
        program, tests = pair
        return _task(program, tests, language)
    except TypeError as error:
        raise TypeError(f"programs[{place}]: {error}") from None


def _task(program: Any, tests: Any, language: str) -> tuple[Program, Problem]:
    if not isinstance(program, str | Program):
        raise TypeError(f"a program must be a str or a Program, not {shown(program)}")
    return Program.from_source(language, program) if isinstance(program, str) else program, problem_of(tests)
