"""Events that use cases report while they run."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from alpha_codium.eval.doctor.examination import Examination
    from alpha_codium.gen.preview import Preview
    from alpha_codium.gen.summary import RunSummary


@dataclass(frozen=True, slots=True)
class RunOpened:
    """The folder of a new run was made, or that of an earlier one opened."""

    path: Path


@dataclass(frozen=True, slots=True)
class RunPlanned:
    """A run that asks a model is about to begin; `preview` says what it may take."""

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
    """An ablation is about to begin; `name` resumes it.

    `same` holds pairs of stages to leave out and the run that leaves out the same ones, which is made once.
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
    RunOpened | RunPlanned | WorkStarted | ItemDone | WorkEnded
    | KitExamined | AblationPlanned | VariantStarted | VariantEnded
)  # fmt: skip
OnEvent = Callable[[Event], None]


def ignore(_event: Event) -> None:
    """The `on_event` of callers that want no events."""


@contextmanager
def working(on_event: OnEvent, what: str, total: int, samples: int = 1) -> Iterator[Callable[[Any], None]]:
    """Report the start and the end of some work; yield a function that reports one item."""
    on_event(WorkStarted(what, total, samples))
    try:
        yield lambda result: on_event(ItemDone(result))
    finally:
        on_event(WorkEnded())


@contextmanager
def judging(on_event: OnEvent, total: int, what: str = "judged") -> Iterator[Callable[[str, Any], None]]:
    """Report the start and the end of judging; yield a function that reports a problem's name and a result of it."""
    with working(on_event, what, total):
        yield lambda problem, result: on_event(ItemDone(result, problem))
