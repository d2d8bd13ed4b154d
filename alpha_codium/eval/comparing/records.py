"""What the folder of one `solve_set` run holds: what was asked for, what came of it, and how.

Samples that the journal doesn't hold were never made. Which program stood after each stage is read from the
transcripts, one at a time: they hold every prompt and answer, and needn't fit into memory.
"""

import dataclasses
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from alpha_codium.errors import UserError
from alpha_codium.program import Program
from alpha_codium.runs import RunFolder
from alpha_codium.runs.events import Event, StageEnd, Text, Transcript
from alpha_codium.solution import BudgetEnd, Candidate

COMMAND = "solve_set"
# A sample, by its problem's name and its index.
Key = tuple[str, int]
KNOWN_FIELDS = tuple(f.name for f in dataclasses.fields(Candidate))


@dataclass(frozen=True, slots=True)
class Step:
    """A stage that a sample has been through, and the program after it: None where the transcript holds a part only."""

    stage: str
    program: str | None


@dataclass(frozen=True, slots=True)
class RunRecord:
    """One run: its name, what `run.toml` says, the samples made, and their steps where transcripts tell them.

    `cut_short` is how many finished samples each budget ended that they shared with others.
    """

    name: str
    path: Path
    description: Mapping[str, Any]
    candidates: Mapping[Key, Candidate]
    steps: Mapping[Key, tuple[Step, ...]]
    cut_short: Mapping[BudgetEnd, int] = field(default_factory=dict)

    @property
    def samples(self) -> int:
        """Samples of each problem that were asked for."""
        return int(self.description.get("samples") or 1)

    @property
    def sample_rate(self) -> float:
        """The share of the split's problems that was asked for."""
        return float(self.description.get("sample_rate") or 1.0)

    @property
    def seed(self) -> int:
        """The seed by which that share was chosen."""
        return int(self.settings.get("config", {}).get("seed") or 0)

    @property
    def dataset(self) -> str:
        """The dataset's name as it was given."""
        return str(self.description.get("dataset_name", ""))

    @property
    def split(self) -> str:
        """The split's name."""
        return str(self.description.get("split_name", ""))

    @property
    def fingerprint(self) -> str:
        """The fingerprint of the split's content."""
        return str(self.description.get("fingerprint", ""))

    @property
    def settings(self) -> Mapping[str, Any]:
        """The settings of the run."""
        return self.description.get("settings", {})

    @property
    def flow(self) -> str:
        """The flow as it was asked for, with the stages that it was run without."""
        left_out = "".join(f" without {kind}" for kind in self.description.get("without", ()))
        return str(self.description.get("flow", "")) + left_out

    @property
    def flow_fingerprint(self) -> str:
        """What tells the flow's prompts and stages from others under the same name."""
        return str(self.description.get("flow_fingerprint", ""))

    @property
    def models(self) -> tuple[str, ...]:
        """The models that answered; the one that was asked for, where none did."""
        answered = {name for c in self.candidates.values() for name in c.model.split(", ") if name}
        asked = str(self.settings.get("config", {}).get("model", ""))
        return tuple(sorted(answered)) or (asked,)

    def program_after(self, key: Key, step: Step) -> Program | None:
        """The program of a sample after one of its steps; None where that isn't known."""
        return None if step.program is None else Program.from_source(self.candidates[key].language, step.program)


def read_run(folder: RunFolder, name: str | None = None) -> RunRecord:
    """What the folder holds, under another name than its own where one is given.

    Raises UserError where its run is no `solve_set`, or a file of it can't be read or is of another version of gencode.
    """
    description = folder.description()
    if description.get("command") != COMMAND:
        raise UserError(
            f"run {folder.name!r} is one of {description.get('command', 'an unknown command')}: "
            f"compare runs of gencode gen {COMMAND}"
        )
    try:
        candidates = {(c.task_name, c.sample_index): c for c in folder.journal.read(_candidate)}
        steps, cut_short = _read_steps(folder.path / "transcripts", candidates)
    except OSError as error:
        raise UserError(
            f"{error.filename} can't be read: {error.strerror}: mend it, or move it away, and run {folder.name!r} is "
            "compared without it"
        ) from error
    return RunRecord(name or folder.name, folder.path, description, candidates, steps, cut_short)


def steps_of(events: Sequence[Event], final: str) -> tuple[Step, ...]:
    """The steps that the events of a transcript show of a sample that ended with the program `final`.

    A stage that stands in a flow twice is told apart by its number. A program that changed after the last step, in a
    stage that the budget cut short, makes a step `(cut short)`. So does a first stage that was cut short, with or
    without a program: every finished sample has a step, and is counted.
    """
    seen: Counter[str] = Counter()
    steps = []
    for event in events:
        if isinstance(event, StageEnd):
            seen[event.stage] += 1
            label = event.stage if seen[event.stage] == 1 else f"{event.stage} ({seen[event.stage]})"
            steps.append(Step(label, _whole(event.program, final)))
    if (steps[-1].program or "").strip() != final.strip() if steps else _budget_end(events):
        steps.append(Step("(cut short)", final))
    return tuple(steps)


def _budget_end(events: Sequence[Event]) -> BudgetEnd | None:
    """The budget that ended the sample; None if none did."""
    return next((event for event in events if isinstance(event, BudgetEnd)), None)


def _whole(program: Text, final: str) -> str | None:
    """A program out of a transcript; None if it is an excerpt of another one than the final."""
    if isinstance(program, str):
        return program
    return final if program.is_of(final) else None


def _candidate(values: Mapping[str, Any]) -> Candidate:
    """A line of the journal; keys that a later version adds are passed over."""
    return Candidate.from_json({name: values[name] for name in KNOWN_FIELDS if name in values})


def _read_steps(
    transcripts: Path, candidates: Mapping[Key, Candidate]
) -> tuple[dict[Key, tuple[Step, ...]], Counter[BudgetEnd]]:
    """The steps of finished samples, and how many of them each budget ended that isn't their own."""
    steps: dict[Key, tuple[Step, ...]] = {}
    cut_short: Counter[BudgetEnd] = Counter()
    for transcript in _finished(transcripts, candidates):
        candidate, end = transcript.candidate, _budget_end(transcript.events)
        if found := steps_of(transcript.events, candidate.program):
            steps[candidate.task_name, candidate.sample_index] = found
        if end is not None and not end.is_own:
            cut_short[end] += 1
    return steps, cut_short


def _finished(transcripts: Path, candidates: Mapping[Key, Candidate]) -> Iterator[Transcript]:
    """The transcripts of finished samples; one that can't be read, or is of another try, is passed over."""
    for path in sorted(transcripts.glob("*/*.json")):
        try:
            transcript = Transcript.read(path)
        except ValueError:
            continue
        candidate = candidates.get((transcript.candidate.task_name, transcript.candidate.sample_index))
        if candidate is not None and candidate.is_final and candidate.program == transcript.candidate.program:
            yield transcript
