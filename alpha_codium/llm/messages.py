"""What is asked of a model and what comes back: values, and the protocol of whatever answers."""

from dataclasses import dataclass, field, replace
from typing import Any, Literal, Protocol

Role = Literal["system", "user", "assistant"]
# Between the seeds of answers to one request stand those of other samples.
SEEDS_APART = 1_000_000


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a conversation."""

    role: Role
    content: str


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """One call: messages and parameters; None leaves a parameter to the provider.

    `model` is a model string, empty for the client's own. `json_schema` asks for an answer constrained to that schema
    (the model must support it). `extra` goes to the provider as it is.
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
    """The request with a seed of its own for answer `number`, from 0, of several; without a seed, as it is."""
    return request if request.seed is None else replace(request, seed=request.seed + SEEDS_APART * number)


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer and what it took.

    `cost` is in US dollars, None where the price is unknown. `attempts` counts the requests sent for it, over all
    models tried; `latency_seconds` is that of the request that was answered. `cached_tokens` are those of
    `prompt_tokens` that the provider read from its cache. `reasoning` is what the model thought before it answered.
    Of answers to one request, the first bears its prompt tokens and its attempts; the others bear none.
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

    @property
    def truncated(self) -> bool:
        """Whether the answer ended because it reached its limit of tokens."""
        return self.finish_reason == "length"

    @property
    def filtered(self) -> bool:
        """Whether a content filter stopped the answer."""
        return self.finish_reason == "content_filter"


class ChatModel(Protocol):
    """Whatever answers requests."""

    @property
    def name(self) -> str:
        """The model string that was asked for."""
        ...

    @property
    def supports_json_schema(self) -> bool:
        """Whether an answer of the client's own model can be constrained to a JSON schema."""
        ...

    def supports_json_schema_of(self, model: str) -> bool:
        """The same of any model that a request may name; "" is the client's own."""
        ...

    def takes_n(self, model: str) -> bool:
        """Whether several answers of a model that a request may name, "" is the client's own, come by one request."""
        ...

    async def ask(self, request: ChatRequest) -> Answer:
        """Answer one request; raises the errors of `alpha_codium.llm.errors`."""
        ...

    async def ask_many(self, request: ChatRequest, n: int) -> list[Answer]:
        """Exactly `n` answers to one request, of which some, but not all, may be `filtered`; raises what `ask` does."""
        ...
