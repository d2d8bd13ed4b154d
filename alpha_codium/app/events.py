"""Events that use cases report while they run."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from alpha_codium.verdict import Verdict

if TYPE_CHECKING:
    from alpha_codium.audit.judge.examination import Examination
    from alpha_codium.gen.preview import Preview


@dataclass(frozen=True, slots=True)
class RunOpened:
    """The folder of a new run was created, or that of an earlier run opened."""

    path: Path


@dataclass(frozen=True, slots=True)
class Noted:
    """Something about the input or the work that the result alone doesn't show, in one line."""

    text: str


@dataclass(frozen=True, slots=True)
class RunPlanned:
    """A run that asks a model is about to begin; `preview` estimates its calls, tokens and cost."""

    preview: "Preview"


class ProgressCounter:
    """Sums `number` over the items; `text` is shown beside the progress bar, with the sum in place of {}."""

    def __init__(self, number: Callable[[Any], int] = lambda _item: 0, text: str = "") -> None:
        self.number, self.text, self.count = number, text, 0

    def add(self, item: Any, _problem: str = "") -> None:
        """Count an item."""
        self.count += self.number(item)

    def status(self) -> str:
        """Return the text beside the progress bar."""
        return self.text.format(self.count)


@dataclass(frozen=True, slots=True)
class WorkStarted:
    """Work on `total` items has begun, such as samples; the `status()` of `counter` says what came of them so far.

    `total` is None if it isn't known.
    """

    what: str
    total: int | None
    counter: Any


@dataclass(frozen=True, slots=True)
class ItemDone:
    """An item is done; `result` is a Candidate, CandidateResult or CaseResult, or in a replay MissingCalls or None.

    `problem` is the problem's name for a CandidateResult.
    """

    result: Any
    problem: str = ""


@dataclass(frozen=True, slots=True)
class ItemsReached:
    """The number of items done is known; `status()` of the counter may have changed without it."""

    done: int


@dataclass(frozen=True, slots=True)
class WorkEnded:
    """The work of the last WorkStarted is done, or was interrupted."""


@dataclass(frozen=True, slots=True)
class KitExamined:
    """The built-in cases have been judged."""

    examination: "Examination"


Event = RunOpened | Noted | RunPlanned | WorkStarted | ItemDone | ItemsReached | WorkEnded | KitExamined
OnEvent = Callable[[Event], None]


def ignore(_event: Event) -> None:
    """Ignore an event; the default `on_event`."""


@contextmanager
def working(on_event: OnEvent, what: str, total: int | None, counter: Any = None) -> Iterator[Callable[..., None]]:
    """Report the start and the end of work; yield a function that counts and reports an item, given its problem."""
    counter = counter or ProgressCounter()
    on_event(WorkStarted(what, total, counter))

    def on_done(result: Any, problem: str = "") -> None:
        counter.add(result, problem)
        on_event(ItemDone(result, problem))

    try:
        yield on_done
    finally:
        on_event(WorkEnded())


@contextmanager
def judging(on_event: OnEvent, total: int, what: str, counter: Any = None) -> Iterator[Callable[[str, Any], None]]:
    """Report the start and the end of judging; yield a function that reports a result, given the problem's name."""
    accepted = ProgressCounter(lambda result: result.verdict is Verdict.ACCEPTED, "{} accepted")
    with working(on_event, what, total, counter or accepted) as on_done:
        yield lambda problem, result: on_done(result, problem)
