"""The samples of a run, read from its folder: judged programs, generated ones, and items of a repository benchmark."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from alpha_codium.comparison.judging import JOURNAL
from alpha_codium.errors import UserError
from alpha_codium.eval.known import KNOWN_GROUPS
from alpha_codium.eval.prepare import GENERATED
from alpha_codium.eval.results import CandidateResult
from alpha_codium.gen.loop import finished_samples
from alpha_codium.report.samples import StoredSample
from alpha_codium.repository.harness import PASSED
from alpha_codium.repository.running.results import candidate_of
from alpha_codium.repository.running.turns import ItemRun, TurnStatus
from alpha_codium.runs import Journal, RunFolder
from alpha_codium.runs.events import Transcript
from alpha_codium.runs.folder import PROGRAMS, REPOSITORY_COMMAND, RUN_FILE, WITHOUT_VERDICTS
from alpha_codium.solution import Candidate
from alpha_codium.verdict import Verdict
from alpha_codium.wording import natural_order

EVALUATION = "eval_gen_solutions"
TURN_VERDICTS = {
    TurnStatus.OK: Verdict.ACCEPTED,
    TurnStatus.FAILED: Verdict.WRONG_ANSWER,
    TurnStatus.CRASHED: Verdict.RUNTIME_ERROR,
    TurnStatus.NOT_RUN: Verdict.COMPILATION_ERROR,
}


@dataclass(frozen=True)
class ReadRun:
    """A run with its samples, in the order of the problems.

    `known` are the programs of known verdict that were judged beside them, `titles` what problems are about that have
    no telling names. `judged` is false if the programs were only
    run on public tests. `maker` is the folder with the transcripts of the samples, if there is one, and `evaluation`
    the run that judged them, if that is another one.
    """

    folder: RunFolder
    description: Mapping[str, Any]
    samples: list[StoredSample]
    known: list[StoredSample] = field(default_factory=list)
    titles: Mapping[str, str] = field(default_factory=dict)
    judged: bool = True
    maker: RunFolder | None = None
    evaluation: RunFolder | None = None

    @property
    def name(self) -> str:
        """The run's name."""
        return self.folder.name

    @property
    def command(self) -> str:
        """The command that made the run."""
        return str(self.description["command"])

    @property
    def finished(self) -> bool:
        """Whether the run has a result."""
        return bool(self.results)

    @cached_property
    def judge(self) -> Mapping[str, Any]:
        """What `run.toml` says of the judge: that of the evaluation, if the run itself judged nothing."""
        return (self.evaluation.description() if self.evaluation else self.description) or {}

    @cached_property
    def results(self) -> dict[str, Any]:
        """The content of `results.json`, empty before the run ends."""
        return _results(self.folder)

    @cached_property
    def judge_results(self) -> dict[str, Any]:
        """The same, of the run that judged the samples."""
        return _results(self.evaluation) if self.evaluation else self.results

    @cached_property
    def by_problem(self) -> dict[str, list[StoredSample]]:
        """The samples of each problem; problems of the result without samples are included."""
        listed = self.judge_results.get("problems")
        named = [problem["name"] for problem in listed] if isinstance(listed, list) else []
        found: dict[str, list[StoredSample]] = {name: [] for name in named}
        for sample in self.samples:
            found.setdefault(sample.problem, []).append(sample)
        return found

    def transcript(self, sample: StoredSample) -> Transcript | None:
        """The transcript of a sample; None if there is none of its program, or it can't be read."""
        return None if self.maker is None else found_transcript(self.maker, sample)


def found_transcript(folder: RunFolder, sample: StoredSample) -> Transcript | None:
    """Return the transcript of a sample that a run made; None if there is none, or it can't be read."""
    try:
        return Transcript.of_sample(folder.path, sample.problem, sample.result.index)
    except (OSError, ValueError, UserError):
        return None


def read(folder: RunFolder, others: Iterable[RunFolder] = ()) -> ReadRun:
    """Read a run; among `others`, a run that judged its samples, or that made them, is looked for.

    Raises UserError if a file of it can't be read.
    """
    described = folder.description()
    command = described["command"]
    if command == REPOSITORY_COMMAND:
        items = repository_items(folder)
        titles = {item.dp_id: f"{item.file_path}: {item.method}" for item in items}
        return ReadRun(folder, described, list(map(_item_sample, items)), titles=titles, maker=folder)
    if command in WITHOUT_VERDICTS:
        return _read_generated(folder, described, others)
    samples, known = split_by_known(judged_samples(folder))
    maker = None
    if command == EVALUATION:
        maker = next((each for each in others if _made(each, described.get("solutions"))), None)
    run = ReadRun(folder, described, samples, known, maker=maker)
    return replace(run, samples=_with_candidates(samples, maker)) if maker else run


def judged_samples(folder: RunFolder) -> list[StoredSample]:
    """Return the programs that an evaluation judged, in the problems' order, those of known verdict included."""
    results = {(line[0], line[1].group, line[1].index): line for line in folder.journal.read(_judged_line)}
    programs = {program["program"]: program for program in Journal(folder.path / PROGRAMS).entries()}
    samples = [_sample(*each, programs.get(each[1].program)) for each in results.values()]
    return sorted(samples, key=lambda each: (natural_order(each.problem), each.result.group, each.result.index))


def sample_of_line(line: dict[str, Any], program: dict[str, Any] | None) -> StoredSample:
    """Return the sample of a line of an evaluation's journal, and of the line on its program, if there is one."""
    return _sample(*_judged_line(line), program)


def _sample(problem: str, result: CandidateResult, program: dict[str, Any] | None) -> StoredSample:
    if program is None:
        return StoredSample(problem, result)
    return StoredSample(problem, result, program["source"], program["language"])


def split_by_known(samples: Iterable[StoredSample]) -> tuple[list[StoredSample], list[StoredSample]]:
    """Return the samples, and the programs of known verdict; only the latter if there is nothing else."""
    known: list[StoredSample] = []
    scored: list[StoredSample] = []
    for sample in samples:
        (known if sample.result.group in KNOWN_GROUPS else scored).append(sample)
    return (scored, known) if scored else (known, [])


def generated_samples(folder: RunFolder) -> list[StoredSample]:
    """Return the samples that a run generated, in the order of their problems' names.

    Their verdicts are those that `compare` stored, or else those on the public tests.
    """
    stored = Journal(folder.path / JOURNAL).read(_judged_line)
    results = {(name, result.program): result for name, result in stored}
    candidates = finished_samples(folder.journal, final_only=False)
    return [
        StoredSample(each.task_name, _result_of(each, results), each.program, each.language, candidate=each)
        for each in sorted(candidates.values(), key=lambda each: (natural_order(each.task_name), each.sample_index))
    ]


def repository_items(folder: RunFolder) -> list[ItemRun]:
    """Return the items of a run of the repository benchmark, in the order of tasks and replicas."""
    items = {item.key: item for item in folder.journal.read(_item)}
    return [items[key] for key in sorted(items)]


def _item(line: dict[str, Any]) -> ItemRun:
    return ItemRun.from_json({name: value for name, value in line.items() if name != "judged_by"})


def _item_sample(item: ItemRun) -> StoredSample:
    """Return an item as a sample: its task is the problem, the replica the sample's index."""
    candidate, last = candidate_of(item, ""), item.turns[-1] if item.turns else None
    verdict = TURN_VERDICTS[last.status] if last and item.is_final else Verdict.INTERNAL_ERROR
    tests = last.tests if last else ()
    result = CandidateResult(
        item.replica, GENERATED, verdict, sum(test.status == PASSED for test in tests), len(tests),
        error=str(item.error or (last.reason if last else "")),
    )  # fmt: skip
    return StoredSample(item.dp_id, result, candidate.program, candidate=candidate)


def _read_generated(folder: RunFolder, described: dict[str, Any], others: Iterable[RunFolder]) -> ReadRun:
    run = ReadRun(folder, described, generated_samples(folder), maker=folder)
    if (folder.path / JOURNAL).exists():
        return run
    if judges := [each for each in others if _made(folder, _solutions_judged_by(each))]:
        judge = max(judges, key=lambda each: (each.path / RUN_FILE).stat().st_mtime)
        judged, known = split_by_known(judged_samples(judge))
        verdicts = {(each.problem, each.result.index, each.result.program): each.result for each in judged}
        keys = [(each.problem, each.result.index, each.result.program) for each in run.samples]
        # Else the evaluation is of an earlier state, or isn't finished.
        if verdicts.keys() >= set(keys):
            joined = [replace(each, result=verdicts[key]) for each, key in zip(run.samples, keys, strict=True)]
            return replace(run, samples=joined, known=known, evaluation=judge)
    return replace(run, judged=False)


def _with_candidates(samples: Iterable[StoredSample], maker: RunFolder) -> list[StoredSample]:
    """Return judged samples with what their run recorded of them, as far as the programs are the same."""
    made = finished_samples(maker.journal, final_only=False)
    found = []
    for sample in samples:
        candidate = made.get((sample.problem, sample.result.index))
        same = candidate is not None and candidate.to_program().digest == sample.result.program
        found.append(replace(sample, candidate=candidate) if same else sample)
    return found


def _solutions_judged_by(folder: RunFolder) -> str | None:
    try:
        described = folder.description()
    except UserError:
        return None
    return described.get("solutions") if described["command"] == EVALUATION else None


def _made(folder: RunFolder, solutions: str | None) -> bool:
    """Return whether a run made the Solutions dataset with this name or path."""
    if not solutions:
        return False
    try:
        described = folder.description()
    except UserError:
        return False
    if described["command"] not in WITHOUT_VERDICTS:
        return False
    output = str(described.get("output_dataset_name") or "")
    places = {str(folder.path / "solutions"), *([output, str(Path(output).absolute())] if output else [])}
    return solutions in places or str(Path(solutions).absolute()) in places


def _results(folder: RunFolder) -> dict[str, Any]:
    try:
        values = json.loads((folder.path / "results.json").read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return values if isinstance(values, dict) else {}


def _judged_line(line: dict[str, Any]) -> tuple[str, CandidateResult]:
    return line["problem"], replace(CandidateResult.from_json(line["result"]), program=line["program"])


def _result_of(candidate: Candidate, results: Mapping[tuple[str, str], CandidateResult]) -> CandidateResult:
    digest, error = candidate.to_program().digest, str(candidate.error or "")
    if found := results.get((candidate.task_name, digest)):
        return replace(found, index=candidate.sample_index, error=error)
    passed, total = candidate.public_tests_passed, candidate.public_tests_total
    verdict = Verdict.ACCEPTED if 0 < total == passed else Verdict.WRONG_ANSWER if total else Verdict.NO_TESTS
    if candidate.error is not None and not candidate.program:
        verdict = Verdict.COMPILATION_ERROR if candidate.is_final else Verdict.INTERNAL_ERROR
    return CandidateResult(candidate.sample_index, GENERATED, verdict, passed, total, (), error, digest)
