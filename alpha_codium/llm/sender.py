"""The sender of single requests, through the queues of models and under the limits of the settings."""

import asyncio
import contextlib
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from aiolimiter import AsyncLimiter

from alpha_codium.llm.adaptive_limit import AdaptiveLimit
from alpha_codium.llm.direct import DirectClient
from alpha_codium.llm.endpoints import Endpoints
from alpha_codium.llm.errors import TransientError
from alpha_codium.llm.litellm_backend import LiteLLMBackend
from alpha_codium.llm.messages import Answer, ChatRequest
from alpha_codium.llm.request_queue import RequestQueue

if TYPE_CHECKING:
    from alpha_codium.config.sections import ConfigSection


@dataclass(slots=True)
class Call:
    """One call: the request, the number of answers, the number of requests sent, and refused (model, parameter)s."""

    request: ChatRequest
    n: int = 1
    sent: int = 0
    refused: set[tuple[str, str]] = field(default_factory=set)


class Sender:
    """Sends requests to the endpoints of a client under the limits of `config`; `longest_wait` is in seconds."""

    def __init__(
        self, backend: LiteLLMBackend, endpoints: Endpoints, config: "ConfigSection", longest_wait: float
    ) -> None:
        self._backend, self._endpoints, self._config = backend, endpoints, config
        self._direct = DirectClient(backend.prices)
        self._longest_wait = longest_wait
        self._slots = asyncio.Semaphore(config.max_concurrent_requests)
        per_minute = config.max_requests_per_minute
        self._pace = AsyncLimiter(1, 60 / per_minute) if per_minute else contextlib.nullcontext()
        self._queues: dict[str, RequestQueue] = {}
        self._one_at_a_time: set[str] = set()

    async def prepare(self, model: str) -> None:
        """Import litellm if requests to the model need it, without blocking the event loop."""
        if not self._endpoints[model].direct:
            await self._backend.prepare()

    async def close(self) -> None:
        """Close the connections of direct requests."""
        await self._direct.close()

    def supports_n(self, model: str) -> bool:
        """Return whether one request can ask this model for several answers."""
        if model in self._one_at_a_time:
            return False
        endpoint = self._endpoints[model]
        return self._backend.supports_n(endpoint.model) if endpoint.supports_n is None else endpoint.supports_n

    def can_do_without(self, model: str, parameter: str, call: Call) -> bool:
        """Return whether to send the call again without a refused parameter, which won't be sent from now on."""
        if not parameter or (model, parameter) in call.refused:
            return False
        call.refused.add((model, parameter))
        if parameter == "n":
            self._one_at_a_time.add(model)
            return True
        return self._backend.leave_out(self._endpoints[model].model, parameter)

    async def send(self, model: str, call: Call) -> list[Answer]:
        """Send the call's request once, after waiting in the queue; raises ModelError."""
        await self.prepare(model)
        queue = self._queue(model)
        await queue.acquire()
        try:
            async with self._slots, self._pace:
                call.sent += 1
                sent = queue.sent()
                try:
                    answers = await self._send_now(model, call)
                except TransientError as error:
                    queue.failed(sent, error, self._longest_wait)
                    raise
                queue.answered(sent, answers)
                return answers
        finally:
            queue.release()

    def _queue(self, model: str) -> RequestQueue:
        if model not in self._queues:
            limit = self._config.max_concurrent_requests
            ceiling = min(limit, self._endpoints[model].slots or limit)
            self._queues[model] = RequestQueue(AdaptiveLimit(ceiling, adaptive=self._config.adaptive_concurrency))
        return self._queues[model]

    async def _send_now(self, model: str, call: Call) -> list[Answer]:
        endpoint = self._endpoints[model]
        n = call.n if self.supports_n(model) else 1
        request = replace(call.request, max_tokens=call.request.max_tokens or endpoint.max_tokens)
        seconds = self._config.ai_timeout
        if endpoint.direct and not request.extra:  # litellm gives some extra parameters a meaning
            left_out = self._backend.left_out_of(endpoint.model)
            answers = await self._direct.send(endpoint, request, seconds, n, left_out)
        else:
            answers = await self._backend.send(
                endpoint, request, n=n, timeout=seconds, drop_params=self._config.drop_params
            )
        if len(answers) < n:
            self._one_at_a_time.add(model)
        return [replace(answer, model=model, cost=0.0 if endpoint.free else answer.cost) for answer in answers[:n]]
