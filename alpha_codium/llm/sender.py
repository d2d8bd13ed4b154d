"""Sending one request of a call once: in its model's queue, under the limits, through the backend."""

import asyncio
import contextlib
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from aiolimiter import AsyncLimiter

from alpha_codium.llm.adaptive_limit import AdaptiveLimit
from alpha_codium.llm.backend import Attempt, Backend
from alpha_codium.llm.endpoints import Endpoints
from alpha_codium.llm.errors import ModelError, TransientError
from alpha_codium.llm.messages import Answer, ChatRequest
from alpha_codium.llm.request_queue import RequestQueue
from alpha_codium.llm.totals import Tally


@dataclass(frozen=True, slots=True)
class RequestLimits:
    """How many requests may be sent at a time and a minute (0: any number), and how long one may take, in seconds.

    `longest_wait` is the most, in seconds, that a provider can make us wait.
    """

    max_concurrent_requests: int = 64
    adaptive_concurrency: bool = True
    max_requests_per_minute: float = 0
    timeout: float = 120.0
    longest_wait: float = 120.0


@dataclass(slots=True)
class Call:
    """One call: what is asked and for how many answers, the requests sent so far over all models, what was refused."""

    request: ChatRequest
    n: int = 1
    sent: int = 0
    refused: set[tuple[str, str]] = field(default_factory=set)


class Sender:
    """Sends requests to the endpoints of a client and counts them; `on_attempt` is told of each that ended."""

    def __init__(
        self,
        backend: Backend,
        endpoints: Endpoints,
        limits: RequestLimits,
        *,
        drop_params: bool = False,
        on_attempt: Callable[[Attempt], None] | None = None,
    ) -> None:
        self.tally = Tally()
        self._backend, self._endpoints, self._limits = backend, endpoints, limits
        self._slots = asyncio.Semaphore(limits.max_concurrent_requests)
        per_minute = limits.max_requests_per_minute
        self._pace = AsyncLimiter(1, 60 / per_minute) if per_minute else contextlib.nullcontext()
        self._queues: dict[str, RequestQueue] = {}
        self._one_at_a_time: set[str] = set()
        self._drop_params, self._on_attempt = drop_params, on_attempt

    def takes_n(self, model: str) -> bool:
        """Whether one request can ask this model for several answers."""
        if model in self._one_at_a_time:
            return False
        endpoint = self._endpoints[model]
        return self._backend.supports_n(endpoint.model) if endpoint.supports_n is None else endpoint.supports_n

    def can_do_without(self, model: str, parameter: str, call: Call) -> bool:
        """Whether to ask again without a parameter that was refused, which is left out from now on."""
        if not parameter or (model, parameter) in call.refused:
            return False
        call.refused.add((model, parameter))
        if parameter == "n":
            self._one_at_a_time.add(model)
            return True
        return self._backend.leave_out(self._endpoints[model].model, parameter)

    async def send(self, model: str, call: Call) -> list[Answer]:
        """Send the call's request once, when its turn comes; raises ModelError."""
        await self._backend.prepare()
        queue = self._queue(model)
        await queue.acquire()
        try:
            async with self._slots, self._pace:
                return await self._send_now(model, call, queue)
        finally:
            queue.release()

    def _queue(self, model: str) -> RequestQueue:
        if model not in self._queues:
            most = self._limits.max_concurrent_requests
            ceiling = min(most, self._endpoints[model].slots or most)
            self._queues[model] = RequestQueue(AdaptiveLimit(ceiling, adaptive=self._limits.adaptive_concurrency))
        return self._queues[model]

    async def _send_now(self, model: str, call: Call, queue: RequestQueue) -> list[Answer]:
        call.sent += 1
        self.tally.attempts += 1
        sent = queue.sent()
        try:
            answers = await self._send_once(model, call)
        except ModelError as error:
            if isinstance(error, TransientError):
                queue.failed(sent, error, self._limits.longest_wait)
            self._tell(Attempt(model, call.sent, error))
            raise
        queue.answered(sent, answers)
        for answer in answers:
            self.tally.add(answer)
        self._tell(Attempt(model, call.sent))
        return answers

    async def _send_once(self, model: str, call: Call) -> list[Answer]:
        endpoint = self._endpoints[model]
        n = call.n if self.takes_n(model) else 1
        answers = await self._backend.send(
            endpoint.model,
            replace(call.request, max_tokens=call.request.max_tokens or endpoint.max_tokens),
            n=n,
            api_base=endpoint.api_base,
            api_key=endpoint.api_key,
            timeout=self._limits.timeout,
            drop_params=self._drop_params,
        )
        if len(answers) < n:
            self._one_at_a_time.add(model)
        return [replace(answer, model=model, cost=0.0 if endpoint.free else answer.cost) for answer in answers[:n]]

    def _tell(self, attempt: Attempt) -> None:
        if self._on_attempt is not None:
            self._on_attempt(attempt)
