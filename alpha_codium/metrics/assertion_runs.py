"""The common part of metrics with assertions: from candidates and their tests to verdicts and pass@k.

    require_permission()                     # HF_ALLOW_CODE_EVAL=1, or ValueError
    settings = RunSettings(timeout=3.0, num_workers=4, output_variable="output")
    outcomes = run_samples(predictions, references, settings, program_of=wrap)  # a list of CandidateOutcome a reference
    pass_at_k, results = pass_at_k_and_results(outcomes, k=[1, 10, 100])

1. `program_of` turns a candidate's text into the program that runs (for metrics that wrap candidates). The program is
   loaded as a module on the right of a pair; the reference runs on the left (`judge.assertions`). Names that the
   reference uses and doesn't define are looked up in the program's module.
2. `output_variable` names a variable of the reference, or else of the program. Its final value, or its repr if it can't
   be sent, is `CandidateOutcome.output`.
3. Each task's reference is checked before anything runs.
"""

import itertools
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from loguru import logger

from alpha_codium.coroutines import run_blocking
from alpha_codium.errors import UserError
from alpha_codium.eval.metric import checked_ks
from alpha_codium.judge import Rules, kind_of
from alpha_codium.judge.assertions import AssertionResult
from alpha_codium.judge.executors import LocalPool, Task
from alpha_codium.judge.many import judge_all
from alpha_codium.metrics.shared import backend_of, check_options, check_programs, warn_near_limit
from alpha_codium.problem import ExecutionSpec, Problem, TestCase
from alpha_codium.program import PYTHON, Program
from alpha_codium.statistics import mean_pass_at_k
from alpha_codium.verdict import IN_PROCESS, OUTSIDE, Judgement, Status, TestResult, Verdict
from alpha_codium.wording import counted

# pass@k by name, and each candidate's number and result by task: what `code_eval` returns.
ScoresAndResults = tuple[dict[str, float | None], dict[int, list[tuple[int, dict[str, Any]]]]]
PERMISSION = "HF_ALLOW_CODE_EVAL"
WARNING = (
    "This metric runs programs that a model wrote. They run in a sandbox, but such programs may try to do harm. "
    f"If you accept that, set the environment variable {PERMISSION}=1, in Python by "
    f'os.environ["{PERMISSION}"] = "1".'
)
PASSED, TIMED_OUT = "passed", "timed out"


@dataclass(frozen=True, slots=True)
class RunSettings:
    """How programs run: `timeout` CPU seconds each, `num_workers` at a time (at most one a core is used).

    `tester_type` names the sandbox (None: that of the settings), `sandbox_options` are settings of `code_tester`.
    """

    timeout: float = 3.0
    num_workers: int = 4
    setup_code: str = ""
    output_variable: str = ""
    sandbox_options: dict[str, Any] = field(default_factory=dict)
    tester_type: str | None = None


@dataclass(frozen=True, slots=True)
class CandidateOutcome:
    """The outcome of one candidate; `result` is `passed`, `timed out` or `failed: ` and why.

    `near_limit` names the limits of which it used between 80 % and 120 %: its verdict may depend on the load.
    """

    result: str
    verdict: Verdict
    trust: str = OUTSIDE
    output: Any = None
    near_limit: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        """Whether the reference passed."""
        return self.verdict is Verdict.ACCEPTED


def require_permission() -> None:
    """Raise ValueError, with instructions, unless the environment permits running generated programs."""
    if os.getenv(PERMISSION, "0") != "1":
        raise ValueError(WARNING)


def run_samples(
    predictions: Sequence[Sequence[str]],
    references: Sequence[str],
    settings: RunSettings | None = None,
    *,
    program_of: Callable[[str], str] = str,
) -> list[list[CandidateOutcome]]:
    """The outcomes of the candidates of each task, in order. May be called inside a running event loop, too.

    Raises UserError if the two lists don't pair up, or a reference isn't Python or asserts nothing.
    """
    settings = settings or RunSettings()
    _check(predictions, references, settings)
    return run_blocking(_run_all(predictions, references, settings, program_of))


def pass_at_k_and_results(outcomes: Sequence[Sequence[CandidateOutcome]], k: Iterable[int]) -> ScoresAndResults:
    """`(pass_at_k, results)` as `code_eval` documents them.

    A k above the number of samples of a task that has some is left out. A task without any scores 0. If a program got
    no verdict through a fault of gencode, the values are None, and a warning is logged.
    """
    results = {
        task: [(i, _result_of(task, i, outcome)) for i, outcome in enumerate(row)] for task, row in enumerate(outcomes)
    }
    lost = sum(outcome.verdict is Verdict.INTERNAL_ERROR for row in outcomes for outcome in row)
    if lost:
        logger.warning(f"{counted(lost, 'program')} got no verdict because of sandbox errors: pass@k is not computed")
    forgeable = sum(outcome.passed and outcome.trust == IN_PROCESS for row in outcomes for outcome in row)
    if forgeable:
        logger.warning(
            f"{counted(forgeable, 'program')} passed in a process shared with the reference, as that requires; a "
            "program can forge such a pass"
        )
    warn_near_limit(sum(bool(outcome.near_limit) for row in outcomes for outcome in row))
    counts = [(len(row), sum(outcome.passed for outcome in row)) for row in outcomes]
    estimates = [mean_pass_at_k(counts, each) for each in checked_ks(k)]
    scores = {f"pass@{e.k}": None if lost else e.value for e in estimates if e.value is not None}
    return scores, results


def _check(predictions: Any, references: Any, settings: RunSettings) -> None:
    if isinstance(predictions, str) or isinstance(references, str) or len(predictions) != len(references):
        raise UserError(
            f"predictions must be one list of programs for each reference: the numbers are {len(predictions)} "
            f"and {len(references)}"
        )
    if not references:
        raise UserError("there is no reference: nothing can be scored")
    check_options(settings.timeout, settings.num_workers)
    check_programs(predictions)
    kind = kind_of(Problem("", execution=ExecutionSpec("assertions", setup_code=settings.setup_code)))
    for task, reference in enumerate(references):
        fault = kind.fault_of(TestCase(reference, "")) if isinstance(reference, str) else "it is not a text"
        if fault:
            raise UserError(f"references[{task}] can't be judged by: {fault}")


async def _run_all(
    predictions: Sequence[Sequence[str]],
    references: Sequence[str],
    settings: RunSettings,
    program_of: Callable[[str], str],
) -> list[list[CandidateOutcome]]:
    cores = os.cpu_count() or 1
    workers = min(settings.num_workers or cores, cores)
    rules = Rules(cpu_seconds=settings.timeout)
    output = settings.output_variable
    asked = (
        Task(_program(program_of(candidate)), problem, problem.private_tests, rules, output)
        for problem, candidates in zip(_problems(references, settings), predictions, strict=True)
        for candidate in candidates
    )
    async with backend_of(settings.tester_type, workers, **settings.sandbox_options) as sandbox:
        outcomes = iter(map(_outcome_of, await judge_all(asked, LocalPool(sandbox, workers))))
    return [list(itertools.islice(outcomes, len(candidates))) for candidates in predictions]


def _program(text: str) -> Program:
    """Return a candidate's program; one without text runs, as an empty module."""
    return Program.from_source(PYTHON, text if text.strip() else "pass")


def _problems(references: Sequence[str], settings: RunSettings) -> Iterator[Problem]:
    """Yield a problem for each reference, which is its test."""
    execution = ExecutionSpec("assertions", setup_code=settings.setup_code)
    for task, reference in enumerate(references):
        yield Problem(f"task {task}", private_tests=(TestCase(reference, ""),), execution=execution)


def _outcome_of(judgement: Judgement) -> CandidateOutcome:
    result = judgement.tests[0]
    output = result.output if isinstance(result, AssertionResult) else None
    return CandidateOutcome(result_text(result), result.verdict, result.trust, output, result.near_limit)


def result_text(result: TestResult) -> str:
    """`passed`, `timed out`, or `failed: ` and the text of the exception that ended it, or what stopped it."""
    execution, verdict = result.execution, result.verdict
    if verdict is Verdict.ACCEPTED:
        return PASSED
    if verdict is Verdict.TIME_LIMIT_EXCEEDED:
        return TIMED_OUT
    if execution.status is Status.COMPILATION_ERROR:
        return f"failed: {compile_message(execution.stderr)}"
    if isinstance(result, AssertionResult) and result.failure is not None:
        return f"failed: {result.failure}"
    return f"failed: {verdict.value.replace('_', ' ')}"


def compile_message(stderr: str) -> str:
    """A compiler's message in the form of `str` of its exception: `invalid syntax (<string>, line 1)`."""
    lines = stderr.strip().splitlines() or ["it doesn't compile"]
    message = re.sub(r"^\w+: ", "", lines[-1])
    places = re.findall(r'^ *File "([^"]*)", line (\d+)', stderr, re.MULTILINE)
    return f"{message} (<string>, line {places[-1][1]})" if places else message


def _result_of(task: int, index: int, outcome: CandidateOutcome) -> dict[str, Any]:
    near = {"near_limit": list(outcome.near_limit)} if outcome.near_limit else {}
    return {"task_id": task, "passed": outcome.passed, "result": outcome.result, "completion_id": index} | near
