"""Events of a sample, and the transcript, in which they are stored.

The JSON of an event consists of its fields and its `kind`. A long text is stored as an `Excerpt`.
"""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Self, get_args

from alpha_codium.errors import UserError
from alpha_codium.solution import BudgetEnd, Candidate
from alpha_codium.values import JsonValue
from alpha_codium.verdict import Verdict
from alpha_codium.wording import counted

# The folder of transcripts in that of a run.
TRANSCRIPTS = "transcripts"
# The format of transcripts; files in format 1 don't contain the number.
FORMAT = 2
# The maximum length of a text in an event.
LONGEST_TEXT = 40_000


@dataclass(frozen=True, slots=True)
class Excerpt(JsonValue):
    """The beginning of a text, with the length and the SHA-256 of the whole text."""

    text: str
    length: int
    sha256: str

    def is_of(self, whole: str) -> bool:
        """Return whether this is an excerpt of the text `whole`."""
        return (self.length, self.sha256) == (len(whole), _sha256(whole))


Text = str | Excerpt


def kept_text(text: str) -> Text:
    """Return the text as it is stored in events: unchanged, or as an excerpt if it is long."""
    return text if len(text) <= LONGEST_TEXT else Excerpt(text[:LONGEST_TEXT], len(text), _sha256(text))


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True, slots=True)
class ModelAnswer(JsonValue):
    """An answer to a prompt, and the messages sent."""

    kind: ClassVar[str] = "answer"

    prompt: str
    messages: tuple[dict[str, str], ...]
    text: Text
    reasoning: Text
    model: str
    prompt_tokens: int
    completion_tokens: int
    latency_seconds: float
    finish_reason: str
    temperature: float | None


@dataclass(frozen=True, slots=True)
class ModelRefusal(JsonValue):
    """A prompt that the model or a filter refused, or that didn't fit into the context."""

    kind: ClassVar[str] = "refusal"

    prompt: str
    reason: str


@dataclass(frozen=True, slots=True)
class UnreadableAnswer(JsonValue):
    """An answer that isn't in the requested format."""

    kind: ClassVar[str] = "unreadable_answer"

    prompt: str
    reason: str


@dataclass(frozen=True, slots=True)
class FailedCall(JsonValue):
    """A call that failed; `error` is the name of the exception."""

    kind: ClassVar[str] = "failed_call"

    prompt: str
    error: str
    message: str


@dataclass(frozen=True, slots=True)
class TestOutcome(JsonValue):
    """The result of one test; the outputs are shortened."""

    __test__ = False  # not a test of pytest's

    verdict: Verdict
    stdout: str
    stderr: str
    cpu_seconds: float


@dataclass(frozen=True, slots=True)
class ProgramTested(JsonValue):
    """A program, its verdict, and the results of its tests."""

    kind: ClassVar[str] = "execution"

    program: Text
    verdict: Verdict
    tests: tuple[TestOutcome, ...]


@dataclass(frozen=True, slots=True)
class ProgramTraced(JsonValue):
    """The trace of a program on a test."""

    kind: ClassVar[str] = "trace"

    trace: Text


@dataclass(frozen=True, slots=True)
class StepResult(JsonValue):
    """The result of a step of a stage; each kind of step has its own `values`."""

    kind: ClassVar[str] = "step"

    step: str
    values: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class StepSkipped(JsonValue):
    """A step that a stage skipped."""

    kind: ClassVar[str] = "skipped"

    step: str
    reason: str


@dataclass(frozen=True, slots=True)
class StageEnd(JsonValue):
    """The end of a stage of the kind `stage`, and the program after it."""

    kind: ClassVar[str] = "stage_end"

    stage: str
    program: Text


Event = (
    ModelAnswer
    | ModelRefusal
    | UnreadableAnswer
    | FailedCall
    | ProgramTested
    | ProgramTraced
    | StepResult
    | StepSkipped
    | StageEnd
    | BudgetEnd
)
EVENTS: Mapping[str, type[Event]] = {event.kind: event for event in get_args(Event)}


def event_to_json(event: Event) -> dict[str, Any]:
    """Return the event as a JSON object with its kind."""
    return {"kind": event.kind, **event.to_json()}


def event_from_json(values: Mapping[str, Any]) -> Event:
    """Return the event that `event_to_json` converted; raises ValueError if it is invalid."""
    fields = dict(values)
    kind = str(fields.pop("kind", None))
    if kind not in EVENTS:
        raise ValueError(f"there is no event of the kind {kind!r}")
    return EVENTS[kind].from_json(fields)


@dataclass(frozen=True, slots=True)
class Transcript:
    """The history of a sample: its events, in order, and its candidate."""

    candidate: Candidate
    events: tuple[Event, ...] = ()

    @property
    def budget_end(self) -> BudgetEnd | None:
        """The budget that ended the sample; None if none did."""
        return next((event for event in self.events if isinstance(event, BudgetEnd)), None)

    def lines(self) -> Iterator[str]:
        """The events for people: each prompt with its answer, and in a line what else happened."""
        for event in self.events:
            yield from _lines_of(event)

    def to_json(self) -> dict[str, Any]:
        """Return the content of the transcript's file."""
        events = [event_to_json(event) for event in self.events]
        return {"format": FORMAT, "candidate": self.candidate.to_json(), "events": events}

    @classmethod
    def of_sample(cls, run: Path, problem: str, sample: int) -> Self:
        """Return the transcript of a sample in the folder of its run; raises what `read` does."""
        return cls.read(run / transcript_name(problem, sample))

    @classmethod
    def read(cls, path: Path) -> Self:
        """Return the transcript in a file.

        Raises ValueError if it is invalid, UserError if it was written by another version of gencode, and OSError.
        """
        values = json.loads(path.read_text("utf-8"))
        try:
            candidate, events, version = values["candidate"], values["events"], values.get("format", 1)
            if version == FORMAT:
                return cls(Candidate.from_json(candidate), tuple(map(event_from_json, events)))
        except (AttributeError, LookupError, TypeError) as error:
            raise ValueError(f"not a transcript: {error!r}") from error
        raise UserError(
            f"{path} was written by another version of gencode (format {version}; this version reads format {FORMAT}): "
            f"move {path.parent.parent} elsewhere to read the run without its stages"
        )


def _lines_of(event: Event) -> Iterator[str]:
    match event:
        case ModelAnswer():
            how = f"temperature {event.temperature}, {event.finish_reason}"
            tokens = f"tokens {event.prompt_tokens:,} + {event.completion_tokens:,}"
            yield f"== prompt {event.prompt}: {event.model}, {how}, {tokens}"
            texts = [*((each["role"], each["content"]) for each in event.messages), ("reasoning", event.reasoning)]
            for who, text in [*texts, ("answer", event.text)]:
                whole = text if isinstance(text, str) else f"{text.text}... [{counted(text.length, 'character')}]"
                yield from [f"-- {who}", *whole.splitlines()] if whole else ()
        case ProgramTested():
            passed = sum(test.verdict is Verdict.ACCEPTED for test in event.tests)
            yield f"== program run: {event.verdict}, {passed} of {counted(len(event.tests), 'test')} passed"
        case StepResult():
            yield f"== {event.step}: {json.dumps(event.values, ensure_ascii=False)}"
        case StageEnd():
            yield f"== end of stage {event.stage}"
        case ProgramTraced():
            yield f"== {event.kind}"
        case BudgetEnd():
            yield f"== {event}"
        case _:
            said = {name: value for name, value in event.to_json().items() if value}
            yield f"== {event.kind.replace('_', ' ')}: {', '.join(map(str, said.values()))}"


def transcript_name(problem: str, sample: int) -> str:
    """Return the relative path of a sample's transcript in the run's folder, which is readable and unique."""
    readable = re.sub(r"[^A-Za-z0-9]+", "_", problem).strip("_")[:60]
    return f"{TRANSCRIPTS}/{readable}-{_sha256(problem)[:8]}/{sample}.json"


def finished_transcripts(folder: Path, candidates: Mapping[tuple[str, int], Candidate]) -> Iterator[Transcript]:
    """Yield the transcripts of the finished samples of the run in `folder`, one at a time, since all may not fit into
    memory.

    `candidates` are the journal's, by problem and sample. Unreadable transcripts are left out, and those of an earlier
    attempt. Raises UserError if a transcript was written by another version of gencode, and OSError.
    """
    for path in sorted((folder / "transcripts").glob("*/*.json")):
        try:
            transcript = Transcript.read(path)
        except ValueError:
            continue
        candidate = candidates.get((transcript.candidate.task_name, transcript.candidate.sample_index))
        if candidate is not None and candidate.is_final and candidate.program == transcript.candidate.program:
            yield transcript
