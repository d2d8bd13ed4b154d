"""Records of `solve_set` runs, read from their folders: description, samples, and programs after each stage.

Samples that aren't in the journal were never made. Programs after each stage are read from the transcripts, one at a
time, since these contain every prompt and answer and may not fit into memory.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from alpha_codium.data.subset import Subset
from alpha_codium.errors import UserError
from alpha_codium.program import Program
from alpha_codium.runs import RunFolder
from alpha_codium.runs.events import Event, StageEnd, Text, finished_transcripts
from alpha_codium.solution import BudgetEnd, Candidate

COMMAND = "solve_set"
# A sample, by its problem's name and its index.
Key = tuple[str, int]


@dataclass(frozen=True, slots=True)
class Step:
    """A stage that a sample went through, and the program after it: None if the transcript has only an excerpt."""

    stage: str
    program: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRecord:
    """One run, as `run.toml`, its journal and its transcripts describe it.

    `samples` is the number per problem, for a `subset` of the split's problems. `flow` includes the
    disabled stages; `models` are those that answered, or the configured one if none did. `cut_short` counts the
    finished samples that were ended by each budget.
    """

    name: str
    path: Path
    dataset: str
    split: str
    fingerprint: str
    samples: int
    subset: Subset
    flow: str
    flow_fingerprint: str
    models: tuple[str, ...]
    settings: Mapping[str, Any]
    candidates: Mapping[Key, Candidate]
    steps: Mapping[Key, tuple[Step, ...]]
    cut_short: Mapping[BudgetEnd, int] = field(default_factory=dict)

    def program_after(self, key: Key, step: Step) -> Program | None:
        """The program of a sample after one of its steps; None if it isn't known."""
        return None if step.program is None else Program.from_source(self.candidates[key].language, step.program)


def read_run(folder: RunFolder, name: str | None = None) -> RunRecord:
    """Read a run's folder; `name` replaces the folder's name.

    Raises UserError if the run isn't a `solve_set`, or a file of it can't be read or is of another version of gencode.
    """
    values = folder.description()
    if values.get("command") != COMMAND:
        raise UserError(
            f"run {folder.name!r} was made by {values.get('command', 'an unknown command')}, and only runs of "
            f"gencode gen {COMMAND} are compared; gencode report has the paired differences of evaluations"
        )
    try:
        candidates = {(c.task_name, c.sample_index): c for c in folder.journal.read(Candidate.from_json)}
        steps, cut_short = _read_steps(folder.path, candidates)
    except OSError as error:
        raise UserError(
            f"cannot read {error.filename}: {error.strerror}; repair it, or move it elsewhere and compare run "
            f"{folder.name!r} without it"
        ) from error
    settings = values.get("settings", {})
    config = settings.get("config", {})
    answered = {name for c in candidates.values() for name in c.model.split(", ") if name}
    return RunRecord(
        name=name or folder.name,
        path=folder.path,
        dataset=str(values.get("dataset_name", "")),
        split=str(values.get("split_name", "")),
        fingerprint=str(values.get("fingerprint", "")),
        samples=int(values.get("samples") or 1),
        subset=Subset.of(values, int(config.get("seed") or 0)),
        flow=str(values.get("flow", "")) + "".join(f" without {kind}" for kind in values.get("without", ())),
        flow_fingerprint=str(values.get("flow_fingerprint", "")),
        models=tuple(sorted(answered)) or (str(config.get("model", "")),),
        settings=settings,
        candidates=candidates,
        steps=steps,
        cut_short=cut_short,
    )


def steps_of(events: Sequence[Event], final: str) -> tuple[Step, ...]:
    """The steps in the events of a transcript, for a sample that ended with the program `final`.

    A stage that occurs twice in a flow is numbered.
    """
    seen: Counter[str] = Counter()
    steps = []
    for event in events:
        if isinstance(event, StageEnd):
            seen[event.stage] += 1
            label = event.stage if seen[event.stage] == 1 else f"{event.stage} ({seen[event.stage]})"
            steps.append(Step(label, _whole(event.program, final)))
    return tuple(steps)


def _whole(program: Text, final: str) -> str | None:
    """Return a program from a transcript; None if it is an excerpt, unless of the final program."""
    if isinstance(program, str):
        return program
    return final if program.is_of(final) else None


def _read_steps(
    folder: Path, candidates: Mapping[Key, Candidate]
) -> tuple[dict[Key, tuple[Step, ...]], Counter[BudgetEnd]]:
    """The steps of finished samples, and the number of them that each budget ended."""
    steps: dict[Key, tuple[Step, ...]] = {}
    cut_short: Counter[BudgetEnd] = Counter()
    for transcript in finished_transcripts(folder, candidates):
        candidate, end = transcript.candidate, transcript.budget_end
        if found := steps_of(transcript.events, candidate.program):
            steps[candidate.task_name, candidate.sample_index] = found
        if end is not None:
            cut_short[end] += 1
    return steps, cut_short
