"""A model as one sample asks it: each call is let through by the sample's budget, or ends the sample.

1. A budget may let through fewer answers to a request than are wanted, and its time may end when some of them have
   come: those are given.
2. What part of a request was answered can depend on other samples and on the clock. It is noted for a replay.
3. A replay lets the same part through: its samples have a `ReplayLedger` for the run's.
"""

import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

from alpha_codium.config import BudgetSection
from alpha_codium.flows import BudgetExhausted
from alpha_codium.gen.budgets import Account, Budget, Ledger, Reservation, SampleBudget
from alpha_codium.gen.recorded import PartialAnswer, Parts, RecordedModel, answers_of
from alpha_codium.llm.messages import Answer, ChatRequest
from alpha_codium.solution import BudgetEnd


class BudgetedModel:
    """A `ChatModel` within a budget; what it takes is counted by the model inside."""

    def __init__(self, model: RecordedModel, budget: SampleBudget) -> None:
        self._model, self._budget = model, budget
        model.parts = {}  # those of a time when the sample was begun before

    @property
    def name(self) -> str:
        """The model string as the user gave it."""
        return self._model.name

    def supports_json_schema(self, model: str = "") -> bool:
        """Whether this model ("": the run's own) can be constrained to a JSON schema."""
        return self._model.supports_json_schema(model)

    def supports_n(self, model: str = "") -> bool:
        """Whether one request can ask this model for several answers."""
        return self._model.supports_n(model)

    async def ask(self, request: ChatRequest) -> Answer:
        """Answer one request; raises BudgetExhausted before a call too many, and when the time ends."""
        return (await self.ask_many(request, 1))[0]

    async def ask_many(self, request: ChatRequest, n: int) -> list[Answer]:
        """Several answers to one request: fewer than `n` where the budget has room, or its time was enough, for fewer.

        Raises BudgetExhausted where there is none.
        """
        reservation = self._budget.reserve(n)
        try:
            async with self._budget.calls(reservation):
                await self._model.fill(reservation.outcomes, request, reservation.granted, reservation.places)
        except BudgetExhausted as exhausted:
            self._note(reservation, exhausted.end)
            if not reservation.outcomes:
                raise
        else:
            if reservation.granted < n:
                self._note(reservation, None)
        return answers_of(reservation.outcomes)

    def _note(self, reservation: Reservation, end: BudgetEnd | None) -> None:
        part = PartialAnswer(reservation.granted, tuple(sorted(reservation.outcomes)), end)
        self._model.parts = self._model.parts | {reservation.number: part}


@dataclass
class ReplayLedger(Ledger):
    """The budgets of one sample that is replayed: where they cut it short in the run, nothing else does.

    `parts` are those of the run.
    """

    parts: Parts = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Leave out the budgets of time, and those that other samples use up."""
        solve = self.settings.solve.model_copy(update={"max_seconds": 0.0})
        self.settings = self.settings.model_copy(update={"solve": solve, "budget": BudgetSection()})
        super().__post_init__()

    def sample(self, problem: str) -> SampleBudget:
        """The budget of the sample."""
        return _ReplayBudget((Account(Budget()),), parts=self.parts) if self.parts else super().sample(problem)


@dataclass
class _ReplayBudget(SampleBudget):
    """Lets through of each request what the run's budgets let through."""

    parts: Parts = field(default_factory=dict)

    @contextlib.asynccontextmanager
    async def calls(self, reservation: Reservation) -> AsyncIterator[None]:
        part = self.parts.get(reservation.number) or PartialAnswer.whole(reservation.wanted)
        reservation.granted, reservation.places = part.granted, part.places
        with self._recording_end():
            if part.granted:
                yield
            if part.end is not None:
                raise BudgetExhausted(part.end)
