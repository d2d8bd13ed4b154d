"""Run folders as `solve_set` leaves them, made by hand: what a comparison reads."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from alpha_codium.comparison.figures import Figures, figures_of
from alpha_codium.comparison.judging import Verdicts, all_programs, programs_of
from alpha_codium.comparison.records import RunRecord, read_run
from alpha_codium.eval.results import CandidateResult, ProblemResult
from alpha_codium.program import Program
from alpha_codium.runs import RunFolder
from alpha_codium.runs.events import Event, StageEnd, Transcript, kept_text
from alpha_codium.solution import Candidate
from alpha_codium.verdict import Verdict

PASS, FAIL = "print('right')", "print('wrong')"
LOST = None
# Each problem's samples: a program, "" for a sample that failed, None for one that the provider lost.
Made = Mapping[str, Sequence[str | None]]


def candidate(name: str, index: int, program: str | None, **values: Any) -> Candidate:
    from alpha_codium.solution import ErrorKind, SampleError

    error = None
    if not program:
        kind = ErrorKind.PROVIDER if program is None else ErrorKind.MODEL
        error = SampleError(kind, "HTTP 503" if program is None else "no answer held a program")
    given = {"model": "openai/m", "flow": "f", "llm_calls": 2, "prompt_tokens": 30, "completion_tokens": 10}
    return Candidate(name, index, program or "", **(given | {"cost": 0.5, "error": error} | values))


def write_run(
    root: Path,
    name: str,
    made: Made,
    *,
    events: Mapping[tuple[str, int], Sequence[Event]] | None = None,
    description: Mapping[str, Any] | None = None,
    **values: Any,
) -> RunFolder:
    """A run's folder; `values` are those of every candidate, `events` those of a sample's transcript."""
    samples = max((len(programs) for programs in made.values()), default=1)
    told = {"command": "solve_set", "dataset_name": "d", "split_name": "test", "fingerprint": "f" * 64, "flow": "f"}
    told |= {"flow_fingerprint": "e" * 64}
    told |= {"samples": samples, "sample_rate": 1.0, "settings": {"config": {"model": "openai/m"}}}
    folder = RunFolder(root / name)  # earlier versions took any name
    folder.path.mkdir(parents=True)
    folder.describe(told | dict(description or {}))
    with folder.journal as journal:
        for problem, programs in made.items():
            for index, program in enumerate(programs):
                one = candidate(problem, index, program, **values)
                if events and (problem, index) in events:
                    transcript = Transcript(one, tuple(events[problem, index]))
                    folder.write_json(f"transcripts/{problem}/{index}.json", transcript.to_json())
                journal.append(one.to_json())
    return folder


def after(stage: str, program: str) -> StageEnd:
    return StageEnd(stage, kept_text(program))


def record_of(folder: RunFolder) -> RunRecord:
    return read_run(folder)


def verdicts_on(*records: RunRecord) -> Verdicts:
    """Programs that hold the word `right` pass, all others fail; those that hold `unsure` get no verdict."""
    programs = all_programs(map(programs_of, records))

    def result(index: int, program: Program) -> CandidateResult:
        verdict = Verdict.ACCEPTED if "right" in program.source else Verdict.WRONG_ANSWER
        verdict = Verdict.INTERNAL_ERROR if "unsure" in program.source else verdict
        return CandidateResult(index, "generated", verdict, 0, 1)

    results = [ProblemResult(n, tuple(result(i, p) for i, p in enumerate(ps))) for n, ps in programs.items()]
    return Verdicts(programs, results)


def figures(root: Path, name: str, made: Made, ks: Sequence[int] = (1,), **values: Any) -> Figures:
    record = record_of(write_run(root, name, made, **values))
    return figures_of(record, list(made), verdicts_on(record), ks)


def lines_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]
