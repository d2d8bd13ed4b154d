"""A model as one sample uses it: answers are taken from the run's store where they are there, and all is counted.

The key of an answer holds the sample, so that k samples stay k different samples, and how often the sample has asked
the same thing before. So a sample that is run again after a kill gets the same answers in the same order, and only
what was never answered is asked.
"""

import asyncio
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from alpha_codium.flows import BudgetExhausted
from alpha_codium.llm.errors import ContentFiltered, ContextOverflow, ModelError
from alpha_codium.llm.messages import Answer, ChatModel, ChatRequest
from alpha_codium.log import redact
from alpha_codium.runs import AnswerStore, without_secrets
from alpha_codium.runs.answers import answer_key


@dataclass
class Usage:
    """What the calls of one sample took, those answered from the store too; `cost` is None once a price is unknown."""

    llm_calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    truncated_answers: int = 0
    cost: float | None = 0.0
    models: list[str] = field(default_factory=list)

    def add(self, answer: Answer) -> None:
        """Count one answer."""
        self.llm_calls += 1
        self.prompt_tokens += answer.prompt_tokens
        self.completion_tokens += answer.completion_tokens
        self.truncated_answers += answer.truncated
        if answer.model not in self.models:
            self.models.append(answer.model)
        self.cost = None if self.cost is None or answer.cost is None else self.cost + answer.cost


def well_formed(text: str) -> str:
    """The text with U+FFFD for halves of surrogate pairs: JSON may hold them, no file and no dataset can."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


@dataclass(frozen=True, slots=True)
class Budget:
    """What one sample may use: calls, tokens read and written, US dollars; 0 sets no limit."""

    calls: int = 0
    tokens: int = 0
    cost: float = 0.0

    def check(self, usage: Usage) -> None:
        """Raise BudgetExhausted where nothing is left for another call, or a price is unknown and the cost limited."""
        if self.calls and usage.llm_calls >= self.calls:
            raise BudgetExhausted(f"the sample has made its {self.calls} calls")
        if self.tokens and usage.prompt_tokens + usage.completion_tokens >= self.tokens:
            raise BudgetExhausted(f"the sample has used its {self.tokens} tokens")
        if self.cost and (usage.cost is None or usage.cost >= self.cost):
            spent = "an unknown amount of" if usage.cost is None else "all of"
            raise BudgetExhausted(f"the sample has spent {spent} its {self.cost} dollars")


# The model's own refusals, by the name under which the store keeps them.
REFUSALS: dict[str, type[ModelError]] = {kind.__name__: kind for kind in (ContentFiltered, ContextOverflow)}


class RecordedModel:
    """A `ChatModel` for one sample, within its budget."""

    def __init__(
        self, model: ChatModel, name: str, sample: str, store: AnswerStore | None = None, budget: Budget | None = None
    ) -> None:
        self._model, self._name, self._sample = model, name, sample
        self._store, self._budget = store, budget or Budget()
        self._asked: dict[str, int] = {}
        self.usage = Usage()

    @property
    def name(self) -> str:
        """The model string as the user gave it."""
        return self._name

    @property
    def supports_json_schema(self) -> bool:
        """Whether the model can be held to a schema."""
        return self._model.supports_json_schema

    async def ask(self, request: ChatRequest) -> Answer:
        """Answer from the store, else ask and store; raises BudgetExhausted before a call too many.

        A refusal is an answer too: it counts as a call, and isn't asked for again on resume.
        """
        self._budget.check(self.usage)
        key = self._next_key(request)
        outcome = None if self._store is None else await asyncio.to_thread(self._store.get, key)
        if outcome is None:
            outcome = await self._outcome(request)
            if self._store is not None:  # an empty one is false
                await asyncio.to_thread(self._store.put, key, outcome)
        if "refusal" in outcome:
            self.usage.llm_calls += 1
            raise REFUSALS[outcome["refusal"]](outcome["message"])
        answer = Answer(**outcome)
        self.usage.add(answer)
        return answer

    async def _outcome(self, request: ChatRequest) -> dict[str, Any]:
        """What came of a call, as the store keeps it; faults of the provider are raised and not kept."""
        try:
            answer = await self._model.ask(request)
        except tuple(REFUSALS.values()) as refusal:
            return {"refusal": type(refusal).__name__, "message": redact(well_formed(str(refusal)))}
        # A fallback's answer keeps the fallback's name; a local model answers under that of its server.
        by = self._name if answer.model == self._model.name else answer.model
        return asdict(replace(answer, text=well_formed(answer.text), model=by))

    def _next_key(self, request: ChatRequest) -> str:
        question: dict[str, Any] = {"model": self._name} | asdict(request)
        question["extra"] = without_secrets(question["extra"])
        first = answer_key(question, self._sample)
        occurrence = self._asked.get(first, 0)
        self._asked[first] = occurrence + 1
        return answer_key(question, self._sample, occurrence)
