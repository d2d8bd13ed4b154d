"""Judging many programs by the same assertions with one process per program and one for all assertions.

1. The assertions run once without any program, to record the calls that they make (`drivers/recording.py`).
2. Each program answers the recorded requests in its own process (`drivers/answering.py`). It gets each only after it
   has answered the one before, since a later one may contain the right answer. A sandbox that can't give a program its
   input by turns judges tests with several calls as pairs.
3. The assertions run with each program's answers, all in one process (`drivers/replaying.py`).
4. Programs still undecided are judged as a pair (`AssertionsKind.judge`): if calls of the assertions depend on earlier
   answers, or the program returns objects of its own classes or exits. So a batch gives the same verdicts as pairs.
5. A program that takes longer than `FIRST_SECONDS` without failing runs again with its full time limit.
"""

import contextlib
import dataclasses
import re
import secrets
import signal
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from alpha_codium.judge.assertion_needs import Needs, needs_of
from alpha_codium.judge.assertion_rewriting import rewritten, with_messages_apart, without_assertions
from alpha_codium.judge.assertions import DONE, AssertionReport, AssertionResult, AssertionsKind, result_of_pair
from alpha_codium.judge.codec import Excessive, decode, encode
from alpha_codium.judge.drivers import driver
from alpha_codium.limits import Limits
from alpha_codium.problem import TestCase
from alpha_codium.program import PYTHON, Job, Program
from alpha_codium.sandbox.protocol import report_of
from alpha_codium.verdict import Execution, PairReport, Report, Status, Verdict

# CPU seconds for all answers of a program in its first run; most programs need a hundredth of it.
FIRST_SECONDS = 0.03
# Multiple of the time limit after which a program is surely too slow, even on a busy machine. One that ends between
# the limit and this is judged again as a pair.
SURE_FACTOR = 1.2
TOO_SLOW = AssertionResult(Verdict.TIME_LIMIT_EXCEEDED, Execution(Status.TIME_LIMIT_EXCEEDED))
# Statuses that are final: the program would get the same one in a pair.
FINAL_STATUSES = (
    Status.MEMORY_LIMIT_EXCEEDED,
    Status.OUTPUT_LIMIT_EXCEEDED,
    Status.SANDBOX_VIOLATION,
    Status.INTERNAL_ERROR,
)
# With fewer programs a batch costs more than it saves.
FEWEST_IN_BATCH = 3
# CPU seconds for the assertions of a whole batch.
REPLAY_SECONDS = 30.0
# Programs with more characters than this, in their source or their answers, are judged as pairs.
MAX_PROGRAM, MAX_ANSWERS = 1 << 20, 1 << 18
IMPORT = re.compile(r"^[ \t]*(?:import|from)[ \t]+([A-Za-z_]\w*)", re.MULTILINE)
MOST_IMPORTS = 40
# A frame of the tests in a traceback.
FRAME = re.compile(r'^  File "tests\.py", line (?P<line>\d{1,9}), in .*$', re.MULTILINE)
NO_MODULES = {"None", "True", "False", "import", "as"}


@dataclass(frozen=True, slots=True)
class AssertionRun:
    """A program and its tests; with `stop_early` none runs after the first failure."""

    kind: AssertionsKind
    program: Program
    tests: Sequence[TestCase]
    stop_early: bool = False
    output_variable: str = ""

    def next_jobs(self, results: Sequence[AssertionResult]) -> "list[AssertionJob]":
        """Return what runs next, given the results so far; nothing after a program that doesn't compile."""
        if any(result.execution.status is Status.COMPILATION_ERROR for result in results):
            return []
        if self.stop_early and not all(result.verdict is Verdict.ACCEPTED for result in results):
            return []
        rest = self.tests[len(results) :]
        tests = rest[:1] if self.stop_early else rest
        return [AssertionJob(self.kind, self.program, test.input, self.output_variable) for test in tests]


@dataclass(frozen=True, slots=True)
class AssertionJob:
    """A program and one test."""

    kind: AssertionsKind
    program: Program
    test_code: str
    output_variable: str = ""

    @property
    def test(self) -> "Test":
        """What decides which calls are made: the same for all programs."""
        return self.test_code, self.kind.spec.entry_point, self.kind.spec.setup_code


# The code of a test, the entry point and the setup code.
Test = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class Recording:
    """The calls that assertions make, as recorded."""

    needs: Needs
    seed: str
    requests: tuple[str, ...]


async def judge_batch(runs: Sequence[AssertionRun]) -> list[list[AssertionResult]]:
    """Return the results of the tests of each program, all under the same limits and in one sandbox.

    Put programs with the same tests into one batch; more than a hundred gain nothing.
    """
    results: list[list[AssertionResult]] = [[] for _ in runs]
    while jobs := [(each, job) for each, run in zip(results, runs, strict=True) for job in run.next_jobs(each)]:
        judged = await _judge_once([job for _, job in jobs])
        for (each, _), result in zip(jobs, judged, strict=True):
            each.append(result)
    return results


async def _judge_once(jobs: Sequence[AssertionJob]) -> list[AssertionResult]:
    """Return the result of each job."""
    decided: dict[int, AssertionResult] = {}
    if len(jobs) >= FEWEST_IN_BATCH:
        recordings = await _record({job.test: job for job in jobs if not job.output_variable})
        known = {
            i: job
            for i, job in enumerate(jobs)
            if job.test in recordings and not job.output_variable
            if len(job.program.source) <= MAX_PROGRAM and job.program.source.strip()
            if len(recordings[job.test].requests) < 2 or job.kind.sandbox.has_turns
        }
        decided = await Batch(jobs[0].kind, known, recordings).results()
    return [
        decided.get(i) or await job.kind.judge(job.program, job.test_code, job.output_variable)
        for i, job in enumerate(jobs)
    ]


async def _record(tests: Mapping[Test, AssertionJob]) -> dict[Test, Recording]:
    """Record the calls of each of the assertions whose calls can be known in advance."""
    found: dict[Test, tuple[Needs, str, str]] = {}
    for test, job in tests.items():
        needs = needs_of(job.test_code, job.kind.spec)
        if (
            needs.recordable
            and needs.names
            and not needs.in_process
            and (text := rewritten(without_assertions, needs.code))
        ):
            seed = secrets.token_hex(8) if needs.random else ""
            found[test] = needs, seed, encode(job.kind.task(needs, seed=seed, test_code=text))
    if not found:
        return {}
    inputs = [task for _, _, task in found.values()]
    kind = next(iter(tests.values())).kind
    report = await kind.sandbox.run("", inputs, limits=kind.limits, driver=driver("recording"))
    recordings = {}
    for (test, (needs, seed, _)), execution in zip(found.items(), report.executions, strict=False):
        first, *requests = execution.stdout.split("\n")
        if execution.status is Status.FINISHED and first == "end":
            recordings[test] = Recording(needs, seed, tuple(requests))
    return recordings


@dataclass(frozen=True, slots=True)
class Batch:
    """Jobs by their indices, all with recorded assertions; `kind` is that of one of them."""

    kind: AssertionsKind
    jobs: Mapping[int, AssertionJob]
    recordings: Mapping[Test, Recording]

    async def results(self) -> dict[int, AssertionResult]:
        """Return the results of the jobs that need no pair, by their indices."""
        decided, slow = await self._round(self.jobs, FIRST_SECONDS)
        if slow:
            late, too_slow = await self._round(slow, SURE_FACTOR * self.kind.limits.cpu_seconds)
            decided |= late | dict.fromkeys(too_slow, TOO_SLOW)
        return decided

    async def _round(self, places: Iterable[int], seconds: float) -> tuple[dict[int, AssertionResult], list[int]]:
        """Return the results of some jobs, and the jobs that ran for more than `seconds` without failing."""
        by_module: dict[str, list[int]] = {}
        for i in places:
            by_module.setdefault(self._heavy_module(self.jobs[i].program.source), []).append(i)
        answers: dict[int, Execution] = {}
        for module, those in by_module.items():
            answers |= await self._answer(module, those, seconds)
        decided: dict[int, AssertionResult] = {}
        for i in [i for i, execution in answers.items() if execution.stdout.startswith("uncompiled")]:
            execution = dataclasses.replace(answers.pop(i), status=Status.COMPILATION_ERROR, stdout="")
            decided[i] = AssertionResult(Verdict.COMPILATION_ERROR, execution)
        decided |= await self._replay({i: each for i, each in answers.items() if len(each.stdout) <= MAX_ANSWERS})
        undecided = {i: execution for i, execution in answers.items() if i not in decided}
        # These hit the wall-clock limit: the driver stops a program before it reaches the CPU limit set here.
        waited = [i for i, execution in undecided.items() if execution.status is Status.TIME_LIMIT_EXCEEDED]
        stopped = [i for i, execution in undecided.items() if execution.signal == signal.SIGPROF]
        return decided | dict.fromkeys(waited, TOO_SLOW), stopped

    def _heavy_module(self, program: str) -> str:
        """Return the module that the program imports and that the sandbox preloads."""
        imported = set(IMPORT.findall(program))
        return next((name for name in self.kind.sandbox.preload if name in imported), "")

    async def _answer(self, module: str, places: Sequence[int], seconds: float) -> dict[int, Execution]:
        """Run the programs on the requests of their assertions."""
        jobs = [self.jobs[i] for i in places]
        inputs = ["\n".join((self._head(job, seconds), *self.recordings[job.test].requests, "")) for job in jobs]
        named = {name for job in jobs for name in IMPORT.findall(job.program.source)}
        imported = sorted(named - NO_MODULES)[:MOST_IMPORTS]
        # This program isn't run; the sandbox preloads the modules that it imports, for all runs.
        carrier = "".join(f"import {name}\n" for name in [module, *imported] if name)
        # The driver ends the program before this limit does.
        limits = self.kind.limits.extended_by(seconds)
        sandbox, program = self.kind.sandbox, Program.from_source(PYTHON, carrier)
        job = Job(program, inputs, limits, driver("answering"), by_turns=sandbox.has_turns)
        report = await report_of(sandbox, job)
        return dict(zip(places, report.executions, strict=False))

    def _head(self, job: AssertionJob, seconds: float) -> str:
        required = self.recordings[job.test].needs.required
        return encode((job.program.source, job.kind.spec.setup_code, required, seconds))

    async def _replay(self, answers: Mapping[int, Execution]) -> dict[int, AssertionResult]:
        """Run the assertions with each program's answers; return the results that are decided."""
        groups: dict[Test, list[int]] = {}
        for i in answers:
            groups.setdefault(self.jobs[i].test, []).append(i)
        token = secrets.token_hex(16)
        inputs: dict[Test, str] = {}
        for test, places in groups.items():
            recording = self.recordings[test]
            lines = [answers[i].stdout.split("\n")[:-1] for i in places]
            text = rewritten(with_messages_apart, recording.needs.code) or recording.needs.code
            task = self.jobs[places[0]].kind.task(recording.needs, seed=recording.seed, test_code=text)
            with contextlib.suppress(Excessive):  # assertions with very large values are judged as pairs
                inputs[test] = encode((token, task, list(recording.requests), lines))
        if not inputs:
            return {}
        limits = dataclasses.replace(self.kind.limits, cpu_seconds=REPLAY_SECONDS, wall_seconds=0)
        report = await self.kind.sandbox.run("", list(inputs.values()), limits=limits, driver=driver("replaying"))
        return {
            i: result
            for test, execution in zip(inputs, report.executions, strict=False)
            for i, line in zip(groups[test], execution.stdout.splitlines(), strict=False)
            for code in [self.recordings[test].needs.code]
            if (result := result_of_line(line, token, answers[i], self.kind.limits, code)) is not None
        }


def result_of_line(line: str, token: str, right: Execution, limits: Limits, test_code: str) -> AssertionResult | None:
    """Parse one line of a replay's output; return None if it is undecided or truncated."""
    given, outcome, text = [*line.split(" "), "", "", ""][:3]
    if given != token or outcome not in ("passed", "wrong", "raised") or right.status in FINAL_STATUSES:
        return None
    in_time = right.cpu_seconds <= limits.cpu_seconds
    if outcome == "passed" and not (right.status is Status.FINISHED and right.exit_code == 0 and in_time):
        return None
    try:
        (failure, believed, returned, _), stderr = decode(text)
    except (TypeError, ValueError):
        return None
    if not (isinstance(stderr, str) and isinstance(returned, str)):
        return None
    left = Execution(Status.FINISHED, stderr=with_source(stderr, test_code), exit_code=0)
    # The program may have been stopped after a failed assertion, by requests that a pair wouldn't have made.
    right = dataclasses.replace(right, status=Status.FINISHED, stdout="", exit_code=0, signal=None)
    pair = PairReport(Report(DONE, (left,)), Report(DONE, (right,)))
    return result_of_pair(pair, AssertionReport(outcome, failure, believed, returned), limits)


def with_source(stderr: str, test_code: str) -> str:
    """Return tracebacks with the lines of the tests, which Python can't find since they aren't in a file."""
    lines = test_code.split("\n")

    def shown(found: re.Match[str]) -> str:
        number = int(found["line"])
        return f"{found[0]}\n    {lines[number - 1].lstrip()}" if 0 < number <= len(lines) else found[0]

    return FRAME.sub(shown, stderr)
