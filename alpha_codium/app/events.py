"""Events that use cases report while they run."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from alpha_codium.eval.doctor.examination import Examination
    from alpha_codium.eval.results import CandidateResult
    from alpha_codium.gen.preview import Preview
    from alpha_codium.gen.summary import RunSummary


@dataclass(frozen=True, slots=True)
class RunOpened:
    """The folder of a new run was made, or that of an earlier one was opened."""

    path: Path


@dataclass(frozen=True, slots=True)
class RunPlanned:
    """A run that asks a model is about to begin: what it will take."""

    preview: "Preview"


@dataclass(frozen=True, slots=True)
class WorkStarted:
    """`total` items of work begin: programs to be judged, or samples of a model, `samples` of each problem."""

    what: str
    total: int
    samples: int = 1


@dataclass(frozen=True, slots=True)
class ItemDone:
    """An item is done: a Candidate, CandidateResult or CaseResult; in a replay, MissingCalls or None.

    `problem` is the name of the problem of a CandidateResult.
    """

    result: Any
    problem: str = ""


@dataclass(frozen=True, slots=True)
class WorkEnded:
    """The items that began last are done, or were interrupted."""


@dataclass(frozen=True, slots=True)
class KitExamined:
    """The built-in cases have been judged."""

    examination: "Examination"


@dataclass(frozen=True, slots=True)
class AblationPlanned:
    """An ablation is about to begin; it is resumed under `name`.

    `same` are pairs of stages to leave out and the run that leaves out the same, which is made once.
    """

    name: str
    runs: tuple[str, ...]
    same: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class VariantStarted:
    """A run of an ablation begins, the `number`th of `total`."""

    run: str
    number: int
    total: int


@dataclass(frozen=True, slots=True)
class VariantEnded:
    """A run of an ablation has ended."""

    summary: "RunSummary"


Event = (
    RunOpened
    | RunPlanned
    | WorkStarted
    | ItemDone
    | WorkEnded
    | KitExamined
    | AblationPlanned
    | VariantStarted
    | VariantEnded
)
OnEvent = Callable[[Event], None]


def ignore(_event: Event) -> None:
    """The `on_event` of callers that want no events."""


@dataclass(frozen=True, slots=True)
class Work:
    """Reports the items of some work that was started."""

    on_event: OnEvent

    def done(self, result: Any) -> None:
        """Report one item."""
        self.on_event(ItemDone(result))

    def judged(self, problem: str, result: "CandidateResult") -> None:
        """Report the result of a program of `problem`."""
        self.on_event(ItemDone(result, problem))


@contextmanager
def working(on_event: OnEvent, what: str, total: int, samples: int = 1) -> Iterator[Work]:
    """Report the start and the end of some work."""
    on_event(WorkStarted(what, total, samples))
    try:
        yield Work(on_event)
    finally:
        on_event(WorkEnded())
