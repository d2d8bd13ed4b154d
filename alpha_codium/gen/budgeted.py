"""A model as one sample asks it: each call is let through by the sample's budget, or ends the sample.

1. A budget may let through fewer answers to a request than are wanted, and its time may end when some of them have
   come: those are given.
2. What part of a request was answered can depend on other samples and on the clock. It is noted for a replay.
3. A replay lets the same part through: its samples have a `PastLedger` for the run's.
"""

import contextlib
import re
from collections.abc import AsyncIterator, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from alpha_codium.config import BudgetSection
from alpha_codium.gen.budgets import Account, Budget, BudgetSpent, Ledger, SampleBudget, Turn, Usage
from alpha_codium.gen.recorded import Parts, RecordedModel, answers_of
from alpha_codium.llm.messages import Answer, ChatRequest

# What `str` of a BudgetSpent looks like.
ENDED = re.compile(r"the (?P<whose>\w+) (?P<how>.*?\bits) (?P<amount>.*)")


class BudgetedModel:
    """A `ChatModel` within a budget; what it takes is counted by the model inside."""

    def __init__(self, model: RecordedModel, budget: SampleBudget) -> None:
        self._model, self._budget = model, budget
        model.parts = {}  # those of a time when the sample was begun before

    @property
    def name(self) -> str:
        """The model string as the user gave it."""
        return self._model.name

    @property
    def supports_json_schema(self) -> bool:
        """Whether the model can be held to a schema."""
        return self._model.supports_json_schema

    def supports_json_schema_of(self, model: str) -> bool:
        """The same of another model that a request may name."""
        return self._model.supports_json_schema_of(model)

    def takes_n(self, model: str) -> bool:
        """Whether one request can bring several answers of this model."""
        return self._model.takes_n(model)

    async def ask(self, request: ChatRequest) -> Answer:
        """Answer one request; raises BudgetSpent before a call too many, and when the time ends."""
        return (await self.ask_many(request, 1))[0]

    async def ask_many(self, request: ChatRequest, n: int) -> list[Answer]:
        """Several answers to one request: fewer than `n` where the budget has room, or its time was enough, for fewer.

        Raises BudgetSpent where there is none.
        """
        turn = self._budget.turn(n)
        try:
            async with self._budget.calls(turn):
                await self._model.fill(turn.came, request, turn.granted, turn.places)
        except BudgetSpent:
            self._note(turn, cut=True)
            if not turn.came:
                raise
        else:
            if turn.granted < n:
                self._note(turn, cut=False)
        return answers_of(turn.came)

    def _note(self, turn: Turn, *, cut: bool) -> None:
        part = {"granted": turn.granted, "came": sorted(turn.came), "cut": cut}
        self._model.parts = self._model.parts | {str(turn.number): part}


@dataclass(frozen=True, slots=True)
class PastEnd(Budget):
    """A budget that ends where an earlier one did, in its words."""

    spent: tuple[str, str] = ("", "")

    @classmethod
    def among(cls, events: Iterable[Mapping[str, Any]], calls: int) -> Self | None:
        """The budget that ended a sample after so many calls, as the events of its transcript have it."""
        ends = [event["ended"] for event in events if event.get("stage") == "budget" and "ended" in event]
        known = ENDED.fullmatch(str(ends[0])) if ends else None
        return None if known is None else cls(calls, whose=known["whose"], spent=(known["how"], known["amount"]))

    def check(self, usage: Usage, in_flight: int = 0) -> None:
        """Raise BudgetSpent where the earlier one did."""
        if usage.llm_calls + in_flight >= self.calls:
            raise BudgetSpent(self.whose, *self.spent)


@dataclass
class PastLedger(Ledger):
    """The budgets of one sample that is replayed: where it is known how they ended it, nothing else does."""

    end: PastEnd | None = None
    parts: Parts = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Leave out the budgets of time, and those that other samples use up."""
        solve = self.settings.solve.model_copy(update={"max_seconds": 0.0})
        self.settings = self.settings.model_copy(update={"solve": solve, "budget": BudgetSection()})
        super().__post_init__()

    def sample(self, problem: str) -> SampleBudget:
        """The budget of the sample."""
        if self.parts:
            return _PastBudget((Account(Budget()),), end=self.end or PastEnd(), parts=self.parts)
        return super().sample(problem) if self.end is None else SampleBudget((Account(self.end),))


@dataclass
class _PastBudget(SampleBudget):
    """Lets through of each request what was let through then."""

    end: PastEnd = PastEnd()
    parts: Parts = field(default_factory=dict)

    @contextlib.asynccontextmanager
    async def calls(self, turn: Turn | None = None) -> AsyncIterator[None]:
        turn = turn or self.turn()
        part = self.parts.get(str(turn.number), {"granted": turn.wanted, "came": range(turn.wanted), "cut": False})
        turn.granted, turn.places = part["granted"], part["came"]
        with self._noting_the_end():
            if turn.granted:
                yield
            if part["cut"]:
                raise BudgetSpent(self.end.whose, *self.end.spent)
