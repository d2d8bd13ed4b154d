"""The stored runs: a list, one sample of a run with the reason why it failed, and their removal."""

import contextlib
import json
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from typing import Any

from loguru import logger

from alpha_codium.app.generation import COMMAND
from alpha_codium.app.run_folders import REPOSITORY_COMMAND
from alpha_codium.data import load_problems
from alpha_codium.data.samples.names import TaskNames
from alpha_codium.errors import UserError, nearest
from alpha_codium.eval.comparing.judging import JOURNAL
from alpha_codium.eval.failures import Failure, around_difference, shortened, shortened_end
from alpha_codium.eval.known import KNOWN_GROUPS
from alpha_codium.eval.prepare import GENERATED
from alpha_codium.eval.rates import FENCE
from alpha_codium.eval.results import CandidateResult
from alpha_codium.gen.loop import finished_samples
from alpha_codium.judge.drivers.outcomes import LOADING
from alpha_codium.paths import runs_folder
from alpha_codium.problem import Problem
from alpha_codium.program import PYTHON, Program
from alpha_codium.runs import Journal, RunFolder
from alpha_codium.runs.events import ModelAnswer, ProgramTested, Transcript, transcript_name
from alpha_codium.runs.folder import PROGRAMS, RUN_FILE
from alpha_codium.solution import Candidate
from alpha_codium.verdict import Verdict
from alpha_codium.wording import counted


@dataclass(frozen=True, slots=True)
class StoredRun:
    """A run in the folder of runs; `pass_at_k` is empty if the run isn't finished, or isn't an evaluation."""

    name: str
    command: str
    dataset: str
    changed: datetime
    size_bytes: int
    finished: bool
    pass_at_k: Mapping[str, float | None]
    running: bool = False

    @property
    def state(self) -> str:
        """Whether a process works in the run; otherwise its first score, or whether it is finished."""
        if self.running:
            return "running"
        scores = [f"{name} {value:.3f}" for name, value in self.pass_at_k.items() if value is not None]
        return scores[0] if scores else "finished" if self.finished else "unfinished"

    def to_json(self) -> dict[str, Any]:
        """The run as `--json` writes it."""
        return asdict(self) | {"changed": self.changed.isoformat()}


@dataclass(frozen=True, slots=True)
class StoredSample:
    """A judged program of a run, with its source if that is known; without a program, the end of the last `answer`."""

    problem: str
    result: CandidateResult
    source: str = ""
    language: str = PYTHON
    answer: str = ""

    @property
    def failed(self) -> bool:
        """Whether the program isn't accepted; one without tests didn't fail."""
        return self.result.verdict not in (Verdict.ACCEPTED, Verdict.NO_TESTS)

    @property
    def error(self) -> str:
        """The last line that a program which ended with an error wrote to stderr; empty for other programs."""
        failure = self.result.failure
        ended = self.result.verdict in (Verdict.RUNTIME_ERROR, Verdict.COMPILATION_ERROR)
        if failure is None or not ended:
            return ""
        early = " (before the tests)" if LOADING in failure.stderr else ""
        return failure.stderr.strip().rpartition("\n")[2] + early

    @property
    def reason(self) -> str:
        """Why the program failed, in one line, as far as the run's folder says."""
        failure = self.result.failure
        if self.error or failure is None:
            return self.error or self.result.error
        value = f" (value: {failure.actual.strip()})" if failure.actual else ""
        asserted = failure.assertion and f"{failure.assertion}{value}"
        return failure.used or asserted or f"test {(failure.test or 0) + 1} of {self.result.tests_total}"

    def to_json(self) -> dict[str, Any]:
        """The sample as `--json` writes it."""
        return {"problem": self.problem, "language": self.language, "source": self.source} | self.result.to_json()

    def lines(self) -> Iterator[str]:
        """The sample for people: its verdict, the program, and the first failing test."""
        result = self.result
        group = "" if result.group == GENERATED else f"{result.group} "
        passed = f"{result.tests_passed} of {counted(result.tests_total, 'test')} passed"
        digest = f" (program {result.program[:12]})" if result.program else ""
        yield f"{self.problem}, {group}sample {result.index}: {result.verdict.value}, {passed}{digest}"
        if result.error:
            yield f"error: {result.error}"
        yield ""
        missing = "the sample has no program" if result.error else "the run's folder doesn't have the program"
        yield from self.source.splitlines() or [f"({missing})"]
        yield ""
        if self.answer:
            yield "the last answer of the model:"
            yield from (f"  {line}" for line in self.answer.splitlines())
        if result.failure is not None:
            yield from result.failure.lines(result.tests_total)
            if result.verdict is Verdict.COMPILATION_ERROR and FENCE in self.source:
                yield "the program contains a Markdown fence, which gencode eval score --clean removes"
        elif self.failed and not result.error and result.verdict is not Verdict.INTERNAL_ERROR:
            yield "(the run's folder doesn't have the failing test: it was written by an earlier version)"


@dataclass(frozen=True, slots=True)
class ShownSample:
    """The sample to show, and how many of the run's samples failed."""

    sample: StoredSample
    failed: int
    total: int


def list_runs() -> list[StoredRun]:
    """Return the runs in the folder of runs, the latest first; folders that can't be read are left out."""
    found = []
    for path in runs_folder().glob(f"*/{RUN_FILE}"):
        with contextlib.suppress(UserError, OSError):
            found.append(_stored_run(RunFolder(path.parent)))
    return sorted(found, key=lambda run: run.changed, reverse=True)


def remove_run(name: str) -> None:
    """Delete the folder of a run; raises UserError if it doesn't exist, or another process uses it."""
    folder = RunFolder.reopen(runs_folder(), name)
    with folder:
        try:
            shutil.rmtree(folder.path)
        except OSError as error:
            raise UserError(f"{error.filename or folder.path} can't be deleted: {error.strerror}") from error


def show_sample(run: str, problem: str | None = None, sample: int | None = None) -> ShownSample:
    """Return a sample of a run: the first that failed, or else the first, of those that the arguments select.

    Raises UserError if there is none, or the run can't be read.
    """
    folder = RunFolder.reopen(runs_folder(), run)
    samples = _samples(folder)
    chosen = _chosen(folder, samples, problem, sample)
    first = next((each for each in chosen if each.failed), chosen[0])
    if folder.description()["command"] == COMMAND:
        first = _with_public_tests(folder, first)
    elif not first.source:
        first = _with_source(folder, first)
    return ShownSample(first, sum(each.failed for each in samples), len(samples))


def failed_samples(run: str, problem: str | None = None, sample: int | None = None) -> tuple[list[StoredSample], int]:
    """Return the samples that failed, of those that the arguments select, and the number selected.

    Raises UserError as `show_sample` does.
    """
    folder = RunFolder.reopen(runs_folder(), run)
    chosen = _chosen(folder, _samples(folder), problem, sample)
    return [each for each in chosen if each.failed], len(chosen)


def _samples(folder: RunFolder) -> list[StoredSample]:
    command = folder.description()["command"]
    if command == REPOSITORY_COMMAND:
        raise UserError(f"run {folder.name!r} is one of gencode repo run: see {folder.path / 'results_short.jsonl'}")
    samples = _generated(folder) if command == COMMAND else _judged(folder)
    if command == COMMAND and samples and not (folder.path / JOURNAL).exists():
        logger.info(_not_judged(folder))
    if not samples:
        raise UserError(f"run {folder.name!r} has no judged samples")
    return samples


def _not_judged(folder: RunFolder) -> str:
    """Return the message that nothing has judged the programs of a run of `solve_set`, with what to do."""
    said = f"the programs of run {folder.name!r} weren't judged, only run on public tests"
    with contextlib.suppress(OSError, ValueError, KeyError):
        command = json.loads((folder.path / "results.json").read_text("utf-8"))["next_command"]
        return f"{said}; judge them: {command}"
    return f"{said}; the run isn't finished"


def _chosen(
    folder: RunFolder, samples: list[StoredSample], problem: str | None, sample: int | None
) -> list[StoredSample]:
    """Return the samples of a problem with an index, each if it is given; raises UserError if there is none."""
    chosen = samples
    if problem is not None:
        names = list(dict.fromkeys(each.problem for each in samples))
        name = TaskNames(names).find(problem)
        chosen = [each for each in samples if each.problem == name]
        if not chosen:
            raise UserError(f"run {folder.name!r} has no samples of {problem!r}{nearest(problem, names)}")
    if sample is not None:
        indices = sorted({each.result.index for each in chosen})
        chosen = [each for each in chosen if each.result.index == sample]
        if not chosen:
            raise UserError(f"there is no sample {sample}: there are {indices[0]} to {indices[-1]}")
    return chosen


def _stored_run(folder: RunFolder) -> StoredRun:
    described = folder.description()
    results = folder.path / "results.json"
    scores: dict[str, float | None] = {}
    if results.exists():
        with contextlib.suppress(ValueError, AttributeError):
            scores = json.loads(results.read_text("utf-8")).get("pass_at_k", {})
    files = [path.stat() for path in folder.path.rglob("*") if path.is_file()]
    return StoredRun(
        folder.name,
        described["command"],
        str(described.get("dataset_name") or described.get("dataset") or ""),
        datetime.fromtimestamp(max(file.st_mtime for file in files), UTC),
        sum(file.st_size for file in files),
        results.exists(),
        scores,
        folder.in_use,
    )


def _judged(folder: RunFolder) -> list[StoredSample]:
    """Return the samples of an evaluation, in the problems' order; known solutions only if there is nothing else."""
    results = {(line[0], line[1].group, line[1].index): line for line in folder.journal.read(_judged_line)}
    scored = [line for key, line in results.items() if key[1] not in KNOWN_GROUPS] or list(results.values())
    programs = {}
    for program in Journal(folder.path / PROGRAMS).entries():
        programs[program["program"]] = (program["source"], program["language"])
    samples = [StoredSample(name, result, *programs.get(result.program, ("",))) for name, result in scored]
    return sorted(samples, key=lambda each: (_natural(each.problem), each.result.group, each.result.index))


def _judged_line(line: dict[str, Any]) -> tuple[str, CandidateResult]:
    return line["problem"], replace(CandidateResult.from_json(line["result"]), program=line["program"])


def _generated(folder: RunFolder) -> list[StoredSample]:
    """Return the samples of `solve_set`, by the verdicts that `compare` stored, or else by the public tests."""
    stored = Journal(folder.path / JOURNAL).read(_judged_line)
    results = {(name, result.program): result for name, result in stored}
    return [
        StoredSample(candidate.task_name, _result_of(candidate, results), candidate.program, candidate.language)
        for candidate in finished_samples(folder.journal, final_only=False).values()
    ]


def _result_of(candidate: Candidate, results: Mapping[tuple[str, str], CandidateResult]) -> CandidateResult:
    digest, error = candidate.to_program().digest, str(candidate.error or "")
    if found := results.get((candidate.task_name, digest)):
        return replace(found, index=candidate.sample_index, error=error)
    passed, total = candidate.public_tests_passed, candidate.public_tests_total
    verdict = Verdict.ACCEPTED if 0 < total == passed else Verdict.WRONG_ANSWER if total else Verdict.NO_TESTS
    if candidate.error is not None and not candidate.program:
        verdict = Verdict.COMPILATION_ERROR if candidate.is_final else Verdict.INTERNAL_ERROR
    return CandidateResult(candidate.sample_index, GENERATED, verdict, passed, total, (), error, digest)


def _with_public_tests(folder: RunFolder, sample: StoredSample) -> StoredSample:
    """Return the sample with its first failing public test, or the last answer, as its transcript has them."""
    if sample.result.failure is not None or not sample.failed:
        return sample
    path = folder.path / transcript_name(sample.problem, sample.result.index)
    try:
        events = Transcript.read(path).events
    except (OSError, ValueError, UserError):
        return sample
    if not sample.source:
        answers = [event.text for event in events if isinstance(event, ModelAnswer) and isinstance(event.text, str)]
        return replace(sample, answer=shortened_end(answers[-1])) if answers else sample
    runs = [event for event in events if isinstance(event, ProgramTested) and event.program == sample.source]
    for place, test in enumerate(runs[-1].tests if runs else ()):
        if test.verdict is not Verdict.ACCEPTED:
            problem = _problem(folder, sample.problem)
            cases = problem.public_tests if problem else ()
            given, wanted = (cases[place].input, cases[place].output) if place < len(cases) else ("", "")
            outputs = around_difference(wanted, test.stdout)
            failure = Failure(place, test.verdict, shortened(given), *outputs, stderr=shortened_end(test.stderr))
            return replace(sample, result=replace(sample.result, verdict=test.verdict, failure=failure))
    return sample


def _with_source(folder: RunFolder, sample: StoredSample) -> StoredSample:
    """Return the sample of a human solution with its source, which only the dataset has."""
    problem = _problem(folder, sample.problem)
    groups = {"correct": problem.solutions, "incorrect": problem.incorrect_solutions} if problem else {}
    for solution in groups.get(sample.result.group, ()):
        if Program.from_source(solution.language, solution.code).digest == sample.result.program:
            return replace(sample, source=solution.code, language=solution.language)
    return sample


def _problem(folder: RunFolder, name: str) -> Problem | None:
    """Return a problem of the run, or None if its dataset can't be read any more."""
    described = folder.description()
    dataset, split = (described.get(key) or described.get(f"{key}_name") for key in ("dataset", "split"))
    with contextlib.suppress(UserError):
        return load_problems(str(dataset), split).get(name)
    return None


def _natural(name: str) -> Sequence[tuple[int, str]]:
    """Return a key that sorts numbers in names by their size."""
    parts = re.split(r"(\d+)", name)
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in parts]
