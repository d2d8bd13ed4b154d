"""The model client, with limits, retries and fallback models.

1. A call asks for one answer, or for several answers to the same request. Transient errors are retried
   (`alpha_codium.llm.retries`); after the last retry, the next fallback model is asked. Other errors end the call.
2. Every request, also a repeated one, waits in the queue of its model (`alpha_codium.llm.request_queue`), takes one of
   `max_concurrent_requests` slots, and then waits for `max_requests_per_minute`, which spaces requests evenly. A call
   that waits before a retry isn't queued and doesn't occupy a slot.
3. A request may name another model; the client's fallbacks apply to it, too. `alpha_codium.llm.endpoints` has the
   address and key of each model.
4. A parameter that a model refuses, or doesn't support according to litellm, isn't sent to it again, if requests can do
   without it.
"""

import asyncio
import contextlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Self

from aiolimiter import AsyncLimiter
from loguru import logger

from alpha_codium.coroutines import gather_all
from alpha_codium.llm.adaptive_limit import AdaptiveLimit
from alpha_codium.llm.direct import DirectClient
from alpha_codium.llm.endpoints import Endpoint, Endpoints
from alpha_codium.llm.errors import (
    AuthenticationFailed,
    ContentFiltered,
    ContextOverflow,
    ParameterUnsupported,
    ProviderUnavailable,
    RequestRefused,
    TransientError,
    UnknownModel,
)
from alpha_codium.llm.litellm_backend import LiteLLMBackend
from alpha_codium.llm.messages import Answer, ChatRequest, with_seed_of
from alpha_codium.llm.request_queue import RequestQueue
from alpha_codium.llm.retries import RetryPolicy
from alpha_codium.wording import counted

if TYPE_CHECKING:
    from alpha_codium.config.sections import ConfigSection


@dataclass(slots=True)
class Call:
    """One call: the request, the number of answers, the number of requests sent, and refused (model, parameter)s."""

    request: ChatRequest
    n: int = 1
    sent: int = 0
    refused: set[tuple[str, str]] = field(default_factory=set)


class ModelClient:
    """A `ChatModel` over litellm; an async context manager.

    `api_key` is for `config.api_base`; by default the environment's key is used. `endpoints` are those of local
    servers. Waits are in seconds.
    """

    def __init__(
        self,
        config: "ConfigSection",
        *,
        api_key: str | None = None,
        endpoints: Mapping[str, Endpoint] | None = None,
        backend: LiteLLMBackend | None = None,
        first_wait: float = 1.0,
        longest_wait: float = 120.0,
    ) -> None:
        self.name, self._config, self._fallbacks = config.model, config, config.fallback_models
        self._policy = RetryPolicy(config.max_retries, first_wait, longest_wait)
        self._endpoints = Endpoints(config, api_key, endpoints or {})
        self._backend = backend or LiteLLMBackend()
        self._direct = DirectClient(self._backend.prices)
        self._slots = asyncio.Semaphore(config.max_concurrent_requests)
        per_minute = config.max_requests_per_minute
        self._pace = AsyncLimiter(1, 60 / per_minute) if per_minute else contextlib.nullcontext()
        self._queues: dict[str, RequestQueue] = {}
        self._one_at_a_time: set[str] = set()

    def supports_json_schema(self, model: str = "") -> bool:
        """Return whether answers of this model ("": the client's own) and all fallbacks can follow a JSON schema.

        `await prepare()` first: otherwise litellm may be imported here, which blocks.
        """
        endpoints = [self._endpoints[name] for name in (model or self.name, *self._fallbacks)]
        return all(
            self._backend.supports_json_schema(endpoint.model)
            if endpoint.supports_json_schema is None
            else endpoint.supports_json_schema
            for endpoint in endpoints
        )

    def supports_n(self, model: str = "") -> bool:
        """Return whether one HTTP request can ask this model ("": the client's own) for several answers.

        `await prepare()` first: otherwise litellm is imported here, which blocks.
        """
        model = model or self.name
        if model in self._one_at_a_time:
            return False
        endpoint = self._endpoints[model]
        return self._backend.supports_n(endpoint.model) if endpoint.supports_n is None else endpoint.supports_n

    async def prepare(self, model: str = "") -> None:
        """Import litellm, which takes seconds, without blocking the event loop, if requests to the model need it."""
        if not self._endpoints[model or self.name].direct:
            await self._backend.prepare()

    async def __aenter__(self) -> Self:
        self._backend.open()
        return self

    async def __aexit__(self, *_exc: object) -> None:
        await self._direct.close()
        await self._backend.close()

    async def ask(self, request: ChatRequest) -> Answer:
        """Answer one request.

        Raises the errors of `alpha_codium.llm.errors` except TransientError: ProviderUnavailable if all retries of all
        models failed.
        """
        answers = await self._ask_models(request, 1)
        return self._unless_filtered(answers, request)[0]

    async def ask_many(self, request: ChatRequest, n: int) -> list[Answer]:
        """Return exactly `n` answers to one request: by one HTTP request if supported, else by `n` concurrent ones.

        Some answers, but not all, may be `filtered`. Raises the errors of `ask`. If the request has a seed, `n`
        separate requests have different seeds, since otherwise all answers would be the same.
        """
        answers: list[Answer] = []
        await self.prepare(request.model)
        while (missing := n - len(answers)) > 0:
            # A fallback may have returned only one answer; the missing ones are then requested concurrently.
            size = missing if not answers and self.supports_n(request.model) else 1
            first = len(answers)
            parts = [self._ask_models(with_seed_of(request, first + i), size) for i in range(missing // size)]
            for part in await gather_all(parts):
                answers += part
        return self._unless_filtered(answers, request)

    def _unless_filtered(self, answers: list[Answer], request: ChatRequest) -> list[Answer]:
        if answers and all(answer.filtered for answer in answers):
            refusal = ContentFiltered(f"{answers[0].model}: a content filter stopped the answer")
            asked = request.model or self.name
            refusal.of_fallback = any(answer.model != asked for answer in answers)
            raise refusal
        return answers

    async def _ask_models(self, request: ChatRequest, n: int) -> list[Answer]:
        """Ask the model, then its fallbacks; return 1 to `n` answers, including filtered ones."""
        call = Call(request, n)
        try:
            return await self._ask_model(request.model or self.name, call)
        except ProviderUnavailable as error:
            unavailable = error
        for model in self._fallbacks:
            logger.warning("{}; asking {} instead", unavailable, model)
            try:
                return await self._ask_model(model, call)
            except ProviderUnavailable as error:
                unavailable = error
            except (ContentFiltered, ContextOverflow) as refusal:
                refusal.of_fallback = True
                raise
            except (AuthenticationFailed, UnknownModel) as error:
                # A fallback's wrong key mustn't end a run that could continue with its own model.
                unavailable = ProviderUnavailable(f"fallback {model}: {error}")
        raise unavailable

    async def _ask_model(self, model: str, call: Call) -> list[Answer]:
        sent_before = call.sent
        while True:
            try:
                first, *others = await self._policy.retrying()(self._send, model, call)
            except TransientError as error:
                sent = call.sent - sent_before
                raise ProviderUnavailable(
                    f"{model} gave no answer in {counted(sent, 'request')}; last: {error}"
                ) from error
            except RequestRefused as error:
                call.sent -= isinstance(error, ParameterUnsupported)  # which is known before the request is sent
                if not self._can_do_without(model, error.parameter, call):
                    raise
            else:
                return [replace(first, attempts=call.sent), *(replace(other, attempts=0) for other in others)]

    def _can_do_without(self, model: str, parameter: str, call: Call) -> bool:
        """Return whether to send the call again without a refused parameter, which won't be sent from now on."""
        if not parameter or (model, parameter) in call.refused:
            return False
        call.refused.add((model, parameter))
        if parameter == "n":
            self._one_at_a_time.add(model)
            return True
        return self._backend.leave_out(self._endpoints[model].model, parameter)

    async def _send(self, model: str, call: Call) -> list[Answer]:
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
                    queue.failed(sent, error, self._policy.longest_wait)
                    raise
                queue.answered(sent)
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
