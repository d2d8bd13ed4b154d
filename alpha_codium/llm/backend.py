"""What the client sends requests through, and what it tells of them."""

from dataclasses import dataclass
from typing import Protocol

from alpha_codium.llm.errors import ModelError
from alpha_codium.llm.messages import Answer, ChatRequest


class Backend(Protocol):
    """Sends one request once; see `LiteLLMBackend`."""

    async def prepare(self) -> None:
        """Load what sending needs."""
        ...

    async def send(
        self,
        model: str,
        request: ChatRequest,
        *,
        n: int = 1,
        api_base: str | None,
        api_key: str | None,
        timeout: float,  # noqa: ASYNC109 - a number that goes to the provider's client too
        drop_params: bool,
    ) -> list[Answer]:
        """Send one request once; the answers are at least one, and `n` where the model does what it is asked."""
        ...

    def supports_json_schema(self, model: str) -> bool:
        """Whether the model's answers can be constrained to a schema."""
        ...

    def supports_n(self, model: str) -> bool:
        """Whether one request can ask for several answers."""
        ...

    def leave_out(self, model: str, parameter: str) -> bool:
        """Send this parameter to the model no more; false where a request means something else without it."""
        ...

    def open(self) -> None:
        """Say that this backend is in use."""
        ...

    async def close(self) -> None:
        """Release what it holds."""
        ...


@dataclass(frozen=True, slots=True)
class Attempt:
    """One request that ended: its model, its number within the call, and the error if it has no answer."""

    model: str
    number: int
    error: ModelError | None = None
