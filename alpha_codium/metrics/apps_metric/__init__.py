"""The usual metric of APPS: accuracy over tests, accuracy over problems, pass@k; judged in our sandbox.

    compute(predictions=[["print(1)"], ["def solve(n): return n"], ...], level="introductory", split="test")

1. `predictions` holds the programs of each problem, in the order that the split has after `level` is applied.
2. If each problem has one program, `avg_accuracy` is the mean over problems of the share of tests passed, and
   `strict_accuracy` the share of problems with all tests passed; `pass_at_k` is None. Else it is the other way round.
3. A test's code is True (passed), False (a wrong answer), -1 (an error or a limit at run time) or -2 (it doesn't
   compile, once for a program). None is no verdict, after a fault of gencode; then all scores are None.
4. A problem without tests is never passed, one without programs counts as failed.

`evaluate.load` of this folder gives the same as a module of `evaluate`. docs/metrics.md says where its verdicts
differ from those of `codeparrot/apps_metric`, and why.
"""

from collections.abc import Sequence
from typing import Any

from loguru import logger

from alpha_codium.coroutines import run_blocking
from alpha_codium.data.benchmarks.apps import AMBIGUOUS, DIFFICULTIES, HUB_ID
from alpha_codium.data.load import ProblemSet, load_problems
from alpha_codium.errors import UserError, nearest
from alpha_codium.eval.metric import checked_ks
from alpha_codium.eval.prepare import GENERATED, Entry, EvaluationSet
from alpha_codium.eval.results import CandidateResult, ProblemResult
from alpha_codium.eval.running import run_evaluation
from alpha_codium.judge import Judge, Rules
from alpha_codium.languages.python.prelude import check_header
from alpha_codium.metrics.apps_metric.scores import codes_of, scores
from alpha_codium.metrics.shared import DEFAULT_KS, backend_of, check_options, check_programs, warn_near_limit
from alpha_codium.problem import TestType
from alpha_codium.progress import Progress
from alpha_codium.sandbox import Sandbox
from alpha_codium.statistics import mean_pass_at_k
from alpha_codium.verdict import Verdict
from alpha_codium.wording import counted

ALL = "all"
# Seconds a test, as APPS has it.
TIMEOUT = 4.0


def compute(
    predictions: Sequence[Sequence[str]],
    k_list: Sequence[int] = DEFAULT_KS,
    count_errors: bool = True,
    level: str = "all",
    split: str = "test",
    debug: bool = False,
    *,
    dataset: str = HUB_ID,
    detailed: bool = False,
    num_workers: int = 0,
    timeout: float = TIMEOUT,
    header: str = "",
    progress: bool = True,
    tester_type: str | None = None,
) -> dict[str, Any]:
    """`{"avg_accuracy", "strict_accuracy", "pass_at_k"}` of the programs of each problem.

    `level` is `introductory`, `interview`, `competition` or `all`; `dataset` a stored dataset, a path, or an id of the
    hub. `count_errors` adds `compile_errors` (programs), `runtime_errors` and `total_tests` (codes in all). `detailed`
    adds `results`, for each problem a list of codes for each program, `names`, the problems in that order,
    `ambiguous`, those of them whose tests were rebuilt by guessing types, and `near_limit`, whether the verdict of each
    program depends on tests that used between 80 % and 120 % of a limit. `timeout` is in CPU seconds a test, `header`
    code that runs before each program, `num_workers` how many run at a time (0: one a core). `debug` logs each
    program's codes. pass@k so far is shown on stderr, unless `progress` is False. `tester_type` is
    the name of a sandbox, by default that of the settings. May be called in a notebook.

    Raises UserError if the number of predictions isn't that of the problems, or an argument is invalid.
    """
    ks = checked_ks(k_list)
    check_options(timeout, num_workers)
    check_header(header)
    problems = _of_level(load_problems(dataset, split), level)
    _check(predictions, problems, f"{dataset}[{split}], level {level!r}")
    rules = Rules(cpu_seconds=timeout, header=header)
    backend = backend_of(tester_type, num_workers)
    judged = run_blocking(_judged(predictions, problems, rules, backend, ks, progress))
    codes = [[codes_of(candidate) for candidate in problem.candidates] for problem in judged]
    for problem, of_problem in zip(judged, codes, strict=True) if debug else ():
        for index, of_program in enumerate(of_problem):
            logger.info("{} program {}: {}", problem.name, index, list(of_program))
    result = scores(codes, ks, count_errors=count_errors)
    near = [[candidate.near_limit for candidate in problem.candidates] for problem in judged]
    warn_near_limit(sum(map(sum, near)))
    if detailed:
        ambiguous = [problem.name for problem in problems if AMBIGUOUS in problem.tags]
        result |= {"results": codes, "names": [problem.name for problem in judged], "ambiguous": ambiguous}
        result["near_limit"] = near
    return result


def _of_level(problems: ProblemSet, level: str) -> ProblemSet:
    """The problems of `level`; raises UserError if there is no such level."""
    if level == ALL:
        return problems
    if level not in DIFFICULTIES:
        raise UserError(f"level {level!r} is unknown{nearest(str(level), [*DIFFICULTIES, ALL])}")
    return problems.select([i for i, problem in enumerate(problems) if problem.difficulty == DIFFICULTIES[level]])


async def _judged(
    predictions: Sequence[Sequence[str]],
    problems: ProblemSet,
    rules: Rules,
    backend: Sandbox,
    ks: Sequence[int],
    progress: bool,
) -> list[ProblemResult]:
    """Judge the programs; a problem enters the score that is shown meanwhile with its last program."""
    entries = {
        name: tuple(Entry(index, GENERATED, program) for index, program in enumerate(programs))
        for name, programs in zip(problems.names, predictions, strict=True)
    }
    tasks = EvaluationSet(problems, entries, [TestType.PRIVATE])
    passed: dict[str, list[bool]] = {name: [] for name in entries}
    counts = [(0, 0) for programs in entries.values() if not programs]

    def add(name: str, result: CandidateResult) -> None:
        passed[name].append(result.verdict is Verdict.ACCEPTED)
        if len(passed[name]) == len(entries[name]):
            counts.append((len(passed[name]), sum(passed[name])))
            shown.advance()

    def so_far() -> str:
        estimates = [mean_pass_at_k(counts, k) for k in ks]
        return ", ".join(f"pass@{each.k} {each.value:.3f}" for each in estimates if each.value is not None)

    async with backend as sandbox:
        with Progress("APPS problems", len(problems), not progress, so_far) as shown:
            shown.reach(len(counts))
            return await run_evaluation(tasks, Judge(sandbox, rules), on_result=add)


def _check(predictions: Any, problems: ProblemSet, label: str) -> None:
    if isinstance(predictions, str) or not isinstance(predictions, Sequence):
        raise UserError(f"predictions must be a list of lists of programs, not {type(predictions).__name__}")
    if len(predictions) != len(problems):
        raise UserError(
            f"predictions must hold a list of programs for each problem: there are {len(predictions)} of them, and "
            f"{counted(len(problems), 'problem')} in {label}"
        )
    if not problems:
        raise UserError(f"there is no problem in {label}")
    check_programs(predictions)
