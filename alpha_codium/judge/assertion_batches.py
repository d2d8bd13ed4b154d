"""Many programs under the same assertions, for less: a process for each program, none for the assertions of each.

1. The assertions run once with nothing behind their calls, to record what they ask for (`drivers/recording.py`).
2. Each program answers these requests, in a process of its own that knows nothing else (`drivers/answering.py`).
3. The assertions run with each program's answers, all in one process (`drivers/replaying.py`).
4. What that leaves undecided is judged as a pair (`AssertionsKind.judge`): assertions whose calls depend on earlier
   answers, programs that give objects of their own, or that end. So a verdict is that of a pair, however it was
   reached.
5. A program that takes longer than `SOON`, and hasn't failed by then, runs again with all the time that it has.
"""

import ast
import contextlib
import dataclasses
import re
import secrets
import signal
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from alpha_codium.judge.assertion_needs import Needs, needs_of
from alpha_codium.judge.assertions import DONE, AssertionReport, AssertionResult, AssertionsKind, result_of_pair
from alpha_codium.judge.codec import Excessive, decode, encode
from alpha_codium.judge.drivers import driver
from alpha_codium.judge.drivers.replaying import MESSAGE
from alpha_codium.languages.python.syntax import parse
from alpha_codium.limits import Limits
from alpha_codium.program import PYTHON, Program
from alpha_codium.verdict import Execution, PairReport, Report, Status, Verdict

# CPU seconds for all answers of a program; most take a hundredth of it.
SOON = 0.03
# Times the limit: a program that still runs then is too slow, however busy the machine. One that ends earlier, but
# after its limit, is judged again as a pair.
SURELY = 1.2
TOO_SLOW = AssertionResult(
    Verdict.TIME_LIMIT_EXCEEDED, Execution(Status.TIME_LIMIT_EXCEEDED, stderr="it takes too long")
)
# Statuses that a program reaches as a pair as well, if it gets so far there.
OVER = (Status.MEMORY_LIMIT_EXCEEDED, Status.OUTPUT_LIMIT_EXCEEDED, Status.SANDBOX_VIOLATION, Status.INTERNAL_ERROR)
# With fewer programs a batch costs more than it saves.
LEAST = 3
# CPU seconds for the assertions of a whole batch.
REPLAY_SECONDS = 30.0
# Programs with more characters than this, in their source or their answers, are judged as pairs.
MAX_PROGRAM, MAX_ANSWERS = 1 << 20, 1 << 18
IMPORT = re.compile(r"^[ \t]*(?:import|from)[ \t]+([A-Za-z_]\w*)", re.MULTILINE)
MOST_IMPORTS = 40
NO_MODULES = {"None", "True", "False", "import", "as"}


@dataclass(frozen=True, slots=True)
class AssertionJob:
    """A program and the code with the assertions on it."""

    program: str
    test_code: str


@dataclass(frozen=True, slots=True)
class Recording:
    """What some assertions ask for."""

    needs: Needs
    seed: str
    requests: tuple[str, ...]


async def judge_batch(
    kind: AssertionsKind, jobs: Sequence[AssertionJob], output_variable: str = ""
) -> list[AssertionResult]:
    """The result of each job, in order; raises Unjudgeable if a test has no assertions.

    Jobs with the same assertions should stand in one batch. More than a hundred in one gain nothing.
    """
    decided: dict[int, AssertionResult] = {}
    if len(jobs) >= LEAST and not output_variable:
        recordings = await _record(kind, dict.fromkeys(job.test_code for job in jobs))
        known = {i: job for i, job in enumerate(jobs) if job.test_code in recordings and _fits(job.program)}
        decided = await Batch(kind, known, recordings).results()
    return [
        decided.get(i) or await kind.judge(Program.from_source(PYTHON, job.program), job.test_code, output_variable)
        for i, job in enumerate(jobs)
    ]


async def _record(kind: AssertionsKind, test_codes: Iterable[str]) -> dict[str, Recording]:
    """What is asked for by those of the assertions whose calls can be known beforehand."""
    found: dict[str, tuple[Needs, str, str]] = {}
    for code in test_codes:
        needs = needs_of(code, kind.spec)
        if needs.recordable and needs.names and not needs.together and (text := _rewritten(without_assertions, code)):
            seed = secrets.token_hex(8) if needs.random else ""
            found[code] = needs, seed, encode(kind.task(needs, seed=seed, test_code=text))
    if not found:
        return {}
    inputs = [task for _, _, task in found.values()]
    report = await kind.sandbox.run("", inputs, limits=kind.limits, driver=driver("recording"))
    recordings = {}
    for (code, (needs, seed, _)), execution in zip(found.items(), report.executions, strict=False):
        first, *requests = execution.stdout.split("\n")
        if execution.status is Status.FINISHED and first == "end":
            recordings[code] = Recording(needs, seed, tuple(requests))
    return recordings


@dataclass(frozen=True, slots=True)
class Batch:
    """Jobs by their places, all with recorded assertions."""

    kind: AssertionsKind
    jobs: Mapping[int, AssertionJob]
    recordings: Mapping[str, Recording]

    async def results(self) -> dict[int, AssertionResult]:
        """The results of the jobs that need no pair, by their places."""
        decided, slow = await self._round(self.jobs, SOON)
        if slow:
            late, too_slow = await self._round(slow, SURELY * self.kind.limits.cpu_seconds)
            decided |= late | dict.fromkeys(too_slow, TOO_SLOW)
        return decided

    async def _round(self, places: Iterable[int], seconds: float) -> tuple[dict[int, AssertionResult], list[int]]:
        """The results of some jobs, and those that take longer than `seconds` and haven't failed by then."""
        by_module: dict[str, list[int]] = {}
        for i in places:
            by_module.setdefault(self._heavy_module(self.jobs[i].program), []).append(i)
        answers: dict[int, Execution] = {}
        for module, those in by_module.items():
            answers |= await self._answer(module, those, seconds)
        decided: dict[int, AssertionResult] = {}
        for i in [i for i, execution in answers.items() if execution.stdout.startswith("uncompiled")]:
            execution = dataclasses.replace(answers.pop(i), status=Status.COMPILATION_ERROR, stdout="")
            decided[i] = AssertionResult(Verdict.COMPILATION_ERROR, execution)
        decided |= await self._replay({i: each for i, each in answers.items() if len(each.stdout) <= MAX_ANSWERS})
        undecided = {i: execution for i, execution in answers.items() if i not in decided}
        # By the clock, since the limit of CPU time here is beyond what the driver lets a program have.
        waited = [i for i, execution in undecided.items() if execution.status is Status.TIME_LIMIT_EXCEEDED]
        stopped = [i for i, execution in undecided.items() if execution.signal == signal.SIGPROF]
        return decided | dict.fromkeys(waited, TOO_SLOW), stopped

    def _heavy_module(self, program: str) -> str:
        """The module that the program imports and the sandbox has an interpreter for; see `LocalSandbox`."""
        imported = set(IMPORT.findall(program))
        return next((name for name in getattr(self.kind.sandbox, "preload", ()) if name in imported), "")

    async def _answer(self, module: str, places: Sequence[int], seconds: float) -> dict[int, Execution]:
        """How programs answer what their assertions ask for."""
        jobs = [self.jobs[i] for i in places]
        inputs = [
            encode((job.program, self.kind.spec.setup_code, list(self.recordings[job.test_code].requests), seconds))
            for job in jobs
        ]
        imported = sorted({name for job in jobs for name in IMPORT.findall(job.program)} - NO_MODULES)[:MOST_IMPORTS]
        # It isn't run: the modules that it names are loaded beforehand, for all.
        carrier = "".join(f"import {name}\n" for name in [module, *imported] if name)
        # The driver ends the program before this limit does.
        limits = self.kind.limits.extended_by(seconds)
        report = await self.kind.sandbox.run(carrier, inputs, limits=limits, driver=driver("answering"))
        return dict(zip(places, report.executions, strict=False))

    async def _replay(self, answers: Mapping[int, Execution]) -> dict[int, AssertionResult]:
        """The results of the assertions with each program's answers, if those decide."""
        groups: dict[str, list[int]] = {}
        for i in answers:
            groups.setdefault(self.jobs[i].test_code, []).append(i)
        token = secrets.token_hex(16)
        inputs: dict[str, str] = {}
        for code, places in groups.items():
            recording = self.recordings[code]
            lines = [answers[i].stdout.split("\n")[1:-1] for i in places]
            text = _rewritten(with_messages_apart, code) or code
            task = self.kind.task(recording.needs, seed=recording.seed, test_code=text)
            with contextlib.suppress(Excessive):  # assertions with very large values are judged as pairs
                inputs[code] = encode((token, task, list(recording.requests), lines))
        if not inputs:
            return {}
        limits = dataclasses.replace(self.kind.limits, cpu_seconds=REPLAY_SECONDS, wall_seconds=0)
        report = await self.kind.sandbox.run("", list(inputs.values()), limits=limits, driver=driver("replaying"))
        return {
            i: result
            for code, execution in zip(inputs, report.executions, strict=False)
            for i, line in zip(groups[code], execution.stdout.splitlines(), strict=False)
            if (result := _result_of_line(line, token, answers[i], self.kind.limits)) is not None
        }


def without_assertions(test_code: str) -> str:
    """The code with each `assert x, message` as `x`: what it does if nothing fails."""
    return _with_asserts(test_code, lambda node: ast.Expr(node.test))


def with_messages_apart(test_code: str) -> str:
    """The code with each message that calls something made by a function: `assert x, _message_of_(lambda: message)`."""

    def apart(node: ast.Assert) -> ast.stmt:
        if node.msg is not None and any(isinstance(each, ast.Call) for each in ast.walk(node.msg)):
            empty = ast.arguments([], [], kwonlyargs=[], kw_defaults=[], defaults=[])
            node.msg = ast.Call(ast.Name(MESSAGE, ast.Load()), [ast.Lambda(empty, node.msg)], [])
        return node

    return _with_asserts(test_code, apart)


def _with_asserts(test_code: str, change: Callable[[ast.Assert], ast.stmt]) -> str:
    class Changing(ast.NodeTransformer):
        def visit_Assert(self, node: ast.Assert) -> ast.stmt:
            return ast.copy_location(change(node), node)

    return ast.unparse(ast.fix_missing_locations(Changing().visit(parse(test_code))))


def _rewritten(change: Callable[[str], str], code: str) -> str:
    """The changed code; empty if it can't be unparsed, as f-strings with quotes in them can't before 3.12."""
    try:
        return change(code)
    except (ValueError, RecursionError):
        return ""


def _fits(program: str) -> bool:
    return len(program) <= MAX_PROGRAM and bool(program.strip())


def _result_of_line(line: str, token: str, right: Execution, limits: Limits) -> AssertionResult | None:
    """The result in one line of a replay; None if it decides nothing or was truncated."""
    given, outcome, text = [*line.split(" "), "", "", ""][:3]
    if given != token or outcome not in ("passed", "wrong", "raised") or right.status in OVER:
        return None
    ended = right.status is Status.FINISHED and right.exit_code == 0 and right.cpu_seconds <= limits.cpu_seconds
    if outcome == "passed" and not ended:
        return None
    try:
        (failure, believed, _), stderr = decode(text)
    except (TypeError, ValueError):
        return None
    if not isinstance(stderr, str):
        return None
    left = Execution(Status.FINISHED, stderr=stderr, exit_code=0)
    # A program that failed early may well have been stopped later: a pair wouldn't have asked it so much.
    right = dataclasses.replace(right, status=Status.FINISHED, stdout="", exit_code=0, signal=None)
    pair = PairReport(Report(DONE, (left,)), Report(DONE, (right,)))
    return result_of_pair(pair, AssertionReport(outcome, failure, believed), limits)
