"""Requests to a model, its answers, and the protocol `ChatModel`."""

from dataclasses import dataclass, field, replace
from typing import Any, Literal, Protocol

from alpha_codium.values import JsonValue

Role = Literal["system", "user", "assistant"]
# The distance between the seeds of answers to one request, which leaves room for the seeds of other samples.
SEEDS_APART = 1_000_000


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a conversation."""

    role: Role
    content: str


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """Messages and parameters; parameters that are None aren't sent.

    `model` is a model string, or "" for the client's own. `json_schema` asks for an answer that follows that schema,
    which the model must support. `extra` is sent to the provider unchanged.
    """

    messages: tuple[Message, ...]
    temperature: float | None = None
    top_p: float | None = None
    max_tokens: int | None = None
    seed: int | None = None
    frequency_penalty: float | None = None
    stop: tuple[str, ...] = ()
    json_schema: dict[str, Any] | None = None
    extra: dict[str, Any] = field(default_factory=dict)
    model: str = ""


def with_seed_of(request: ChatRequest, number: int) -> ChatRequest:
    """Return the request with the seed of answer `number`, counted from 0; unchanged if it has no seed."""
    return request if request.seed is None else replace(request, seed=request.seed + SEEDS_APART * number)


@dataclass(frozen=True, slots=True)
class Answer(JsonValue):
    """One answer and its cost.

    `cost` is in US dollars, None if the price is unknown. `attempts` is the number of requests sent for it, to all
    models; `latency_seconds` is the latency of the last one. `cached_tokens` are the `prompt_tokens` that the provider
    read from its cache. `reasoning` is the model's thinking before the answer. If one request has several answers, the
    first has all prompt tokens and attempts; the others have 0.
    """

    text: str
    model: str
    finish_reason: str = "stop"
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float | None = None
    latency_seconds: float = 0.0
    attempts: int = 1
    reasoning: str = ""
    cached_tokens: int = 0
    raw: str = ""

    @property
    def truncated(self) -> bool:
        """Whether the answer was cut off at the token limit."""
        return self.finish_reason == "length"

    @property
    def filtered(self) -> bool:
        """Whether a content filter stopped the answer."""
        return self.finish_reason == "content_filter"


class ChatModel(Protocol):
    """An object that answers requests; an argument `model` of "" is its own model."""

    @property
    def name(self) -> str:
        """The model string of the settings."""
        ...

    def supports_json_schema(self, model: str = "") -> bool:
        """Return whether answers of a model can be constrained to a JSON schema."""
        ...

    def supports_n(self, model: str = "") -> bool:
        """Return whether one HTTP request can ask a model for several answers."""
        ...

    async def ask(self, request: ChatRequest) -> Answer:
        """Answer one request; raises the errors of `alpha_codium.llm.errors`."""
        ...

    async def ask_many(self, request: ChatRequest, n: int) -> list[Answer]:
        """Return exactly `n` answers to one request, of which some, but not all, may be `filtered`.

        Raises the errors of `ask`.
        """
        ...
