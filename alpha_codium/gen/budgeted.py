"""A model as one sample asks it: each call is let through by the sample's budget, or ends the sample."""

from alpha_codium.gen.budgets import SampleBudget
from alpha_codium.llm.messages import Answer, ChatModel, ChatRequest


class BudgetedModel:
    """A `ChatModel` within a budget; what it takes is counted by the model inside."""

    def __init__(self, model: ChatModel, budget: SampleBudget) -> None:
        self._model, self._budget = model, budget

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
        async with self._budget.calls():
            return await self._model.ask(request)

    async def ask_many(self, request: ChatRequest, n: int) -> list[Answer]:
        """Several answers to one request: fewer than `n` where the budget has room for fewer only."""
        async with self._budget.calls(n) as granted:
            return await self._model.ask_many(request, granted)
