"""The backend that sends one request once through litellm.

1. litellm is imported at the first call, in a thread (`alpha_codium.llm.litellm_loading`).
2. Its retries, and those of the clients it wraps, are off; its exceptions are translated to ours
   (`alpha_codium.llm.litellm_errors`).
3. Its data on a model are looked up only once, since a look-up takes a considerable part of a call's time.
4. If it can't convert a provider's response, that is read as it was sent, so that a paid answer isn't lost.
5. Its HTTP sessions belong to the process, and are closed with the last open backend. For base models litellm would
   open a session for each call and never close it, so these use our own client.
"""

import asyncio
import os
import time
from dataclasses import dataclass
from typing import Any

from loguru import logger

from alpha_codium.config.sections import PricesSection
from alpha_codium.http_errors import http_errors
from alpha_codium.llm.direct import PLACEHOLDER_KEY
from alpha_codium.llm.endpoints import Endpoint
from alpha_codium.llm.errors import TransientError, UnknownModel
from alpha_codium.llm.litellm_errors import as_model_error, no_key, unknown_provider
from alpha_codium.llm.litellm_loading import load
from alpha_codium.llm.messages import Answer, ChatRequest
from alpha_codium.llm.parameters import BASE_MODELS, DISPENSABLE, messages, parameters
from alpha_codium.llm.prices import cost_by_settings, price_in_table
from alpha_codium.llm.responses import answers_of, body_of, refuse_made_up, usage_of

OPENAI = ("openai", *BASE_MODELS)
_open_backends: set["LiteLLMBackend"] = set()  # litellm's sessions belong to the process


@dataclass(frozen=True, slots=True)
class _ModelFacts:
    """litellm's facts about a model."""

    provider: str
    supports_n: bool
    wants_cache_marks: bool
    has_price: bool


class LiteLLMBackend:
    """Sends requests to any provider that litellm supports; `prices` take precedence over its table."""

    def __init__(self, prices: PricesSection | None = None) -> None:
        self._litellm: Any = None
        self._preparing = asyncio.Lock()
        self.prices = prices or PricesSection()
        self._facts: dict[str, _ModelFacts] = {}
        self._left_out: dict[str, set[str]] = {}
        self._completers: dict[tuple[str | None, str | None], Any] = {}

    async def prepare(self) -> None:
        """Import litellm without blocking the event loop."""
        if self._litellm is None:
            async with self._preparing:
                self._litellm = self._litellm or await asyncio.to_thread(load)

    async def send(
        self,
        endpoint: Endpoint,
        request: ChatRequest,
        *,
        n: int = 1,
        timeout: float = 120.0,  # noqa: ASYNC109 - also passed to the provider's client
        drop_params: bool = False,
    ) -> list[Answer]:
        """Send one request once and return its answers, at most `n`; `timeout` is in seconds.

        Raises the errors of `alpha_codium.llm.errors`. Filtered answers are returned.
        """
        await self.prepare()
        arguments = self._arguments(endpoint, request, n) | {"timeout": timeout, "drop_params": drop_params}
        return await self._complete(endpoint, arguments, timeout)

    async def _complete(self, endpoint: Endpoint, arguments: dict[str, Any], seconds: float) -> list[Answer]:
        import openai

        start, model, received = time.perf_counter(), endpoint.model, dict[str, Any]()
        try:
            async with asyncio.timeout(seconds):
                response = await self._litellm.acompletion(**arguments, logger_fn=received.update)
        except TimeoutError:
            fault = TransientError(f"{model}: no answer in {seconds:g} s", cause="timeout")
        except (openai.OpenAIError, *http_errors("HTTPError", "InvalidURL"), OSError) as error:
            fault = as_model_error(error, endpoint)
            if isinstance(fault, TransientError) and fault.cause == "malformed":
                answers = self._unconverted(received.get("original_response"), model, time.perf_counter() - start)
                if answers:
                    return answers
        else:
            seconds = time.perf_counter() - start
            if self._facts_of(model).provider in BASE_MODELS:
                refuse_made_up(response, model)
            return answers_of(response, model, self._cost(response, model), seconds)
        raise fault  # outside the handlers, since the chain of litellm's exceptions may quote a key

    def _unconverted(self, received: Any, model: str, seconds: float) -> list[Answer]:
        """Return the answers in a response that litellm couldn't convert, none if they can't be read."""
        if not isinstance(received, str):
            return []
        try:
            body = body_of(received, model)
            return answers_of(body, model, cost_by_settings(self.prices.models.get(model), usage_of(body)), seconds)
        except TransientError:
            return []

    def supports_json_schema(self, model: str) -> bool:
        """Return whether the model's answers can be constrained to a schema, according to litellm's table."""
        return bool((self._litellm or load()).supports_response_schema(model=model))

    def supports_n(self, model: str) -> bool:
        """Return whether one request can ask for several answers; False for an unknown model. Call `prepare` first."""
        try:
            return self._facts_of(model).supports_n
        except UnknownModel:
            return False

    def leave_out(self, model: str, parameter: str) -> bool:
        """Stop sending a parameter to a model, with one warning; return False if requests need it."""
        if parameter not in DISPENSABLE:
            return False
        left_out = self._left_out.setdefault(model, set())
        if parameter not in left_out:
            left_out.add(parameter)
            other = DISPENSABLE[parameter]
            instead = f"{other} is sent instead" if other else "it is left out"
            logger.warning("{} doesn't support {}: {} from now on", model, parameter, instead)
        return True

    def left_out_of(self, model: str) -> frozenset[str]:
        """Return the parameters that aren't sent to a model any more."""
        return frozenset(self._left_out.get(model, ()))

    def open(self) -> None:
        """Register this backend as a user of litellm's sessions."""
        _open_backends.add(self)

    async def close(self) -> None:
        """Close litellm's HTTP sessions unless another backend is open."""
        while self._completers:
            await self._completers.popitem()[1].close()
        if self not in _open_backends:
            return
        _open_backends.remove(self)
        if not _open_backends and self._litellm is not None:
            await self._litellm.close_litellm_async_clients()
            self._litellm.in_memory_llm_clients_cache.flush_cache()

    def _arguments(self, endpoint: Endpoint, request: ChatRequest, n: int) -> dict[str, Any]:
        model, api_base = endpoint.model, endpoint.api_base
        facts = self._facts_of(model)
        is_base = facts.provider in BASE_MODELS
        if facts.provider == "hosted_vllm" and not api_base and not os.environ.get("HOSTED_VLLM_API_BASE"):
            raise UnknownModel(f"{model}: give the server's address as `config.api_base`, http://HOST:PORT/v1")
        api_key = self._key_of_openai(endpoint) if facts.provider in OPENAI else endpoint.api_key
        given: dict[str, Any] = {"api_base": api_base, "api_key": api_key, "n": n if n > 1 else None}
        if is_base:
            given["client"] = self._completer(api_base, api_key)
        return {
            **parameters(request, self.left_out_of(model)),
            **{name: value for name, value in given.items() if value is not None},
            "model": model,
            "messages": messages(request, as_one_text=is_base, cached=facts.wants_cache_marks),
            "max_retries": 0,
            "num_retries": 0,
        }

    def _completer(self, api_base: str | None, api_key: str | None) -> Any:
        """Return a client of the openai package for base models, without retries."""
        import openai

        address = api_base or os.environ.get("OPENAI_API_BASE") or None
        if (address, api_key) not in self._completers:
            client = openai.AsyncOpenAI(base_url=address, api_key=api_key, max_retries=0)
            self._completers[address, api_key] = client
        return self._completers[address, api_key]

    def _key_of_openai(self, endpoint: Endpoint) -> str | None:
        """Return the key to pass to litellm, or None if it finds one itself.

        Private servers don't need a key, but litellm requires one. Raises AuthenticationFailed if a key is missing.
        """
        if endpoint.api_key or os.environ.get("OPENAI_API_KEY") or self._litellm.api_key or self._litellm.openai_key:
            return endpoint.api_key
        if endpoint.api_base or os.environ.get("OPENAI_API_BASE") or os.environ.get("OPENAI_BASE_URL"):
            return PLACEHOLDER_KEY
        raise no_key(endpoint.model)

    def _facts_of(self, model: str) -> _ModelFacts:
        if model not in self._facts:
            self._facts[model] = self._look_up(model)
        return self._facts[model]

    def _look_up(self, model: str) -> _ModelFacts:
        litellm = self._litellm or load()
        try:
            name, provider, _, _ = litellm.get_llm_provider(model)
        except litellm.BadRequestError:
            raise unknown_provider(model) from None
        if provider in ("ollama", "ollama_chat"):
            # Otherwise litellm sends a blocking request to localhost.
            litellm.model_cost.setdefault(model, {"litellm_provider": provider, "mode": "chat"})
        supported = litellm.get_supported_openai_params(model=name, custom_llm_provider=provider) or ()
        marks = "claude" in model and litellm.utils.supports_prompt_caching(model=name, custom_llm_provider=provider)
        return _ModelFacts(
            provider=provider,
            supports_n="n" in supported,
            wants_cache_marks=marks,
            has_price=price_in_table(model, litellm.model_cost) is not None,
        )

    def _cost(self, response: Any, model: str) -> float | None:
        """Return the cost in US dollars by `[prices]` or litellm; None if the price or the tokens are unknown.

        A cost of 0 from litellm is accepted only if its table has the price.
        """
        usage = getattr(response, "usage", None)
        if model in self.prices.models:
            return cost_by_settings(self.prices.models[model], usage)
        known = getattr(usage, "prompt_tokens", 0) or getattr(usage, "completion_tokens", 0)
        cost = response._hidden_params.get("response_cost")
        return cost if cost or (cost == 0 and known and self._facts_of(model).has_price) else None
