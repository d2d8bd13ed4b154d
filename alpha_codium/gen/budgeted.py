"""A model as one sample asks it: each call is let through by the sample's budget, or ends the sample.

1. A budget may let through fewer answers to a request than are wanted, and its time may end when some of them have
   come: those are given.
2. What part of a request was answered can depend on other samples and on the clock. It is noted for a replay.
"""

from alpha_codium.gen.budgets import BudgetSpent, SampleBudget, Turn
from alpha_codium.gen.recorded import RecordedModel, answers_of
from alpha_codium.llm.messages import Answer, ChatRequest


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
