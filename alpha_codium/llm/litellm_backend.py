"""One request, one attempt, through litellm.

1. litellm is loaded at the first call, in a thread (`alpha_codium.llm.litellm_loading`).
2. Its retries, and those of the clients it wraps, are off; its faults become ours (`alpha_codium.llm.litellm_errors`).
3. What it knows of a model is asked once and kept: looking it up costs a good part of a call.
4. A reasoning model that, says litellm, takes no temperature isn't sent one.
5. Its HTTP sessions belong to the process; they are closed with the last backend that was opened. For base models it
   would open a session for every call and leave it open: these go through a client of our own.
"""

import asyncio
import os
import time
from dataclasses import dataclass
from typing import Any

from loguru import logger

from alpha_codium.config import PricesSection
from alpha_codium.llm.errors import ParameterUnsupported, TransientError, UnknownModel
from alpha_codium.llm.litellm_errors import Where, as_model_error, no_key, unknown_provider
from alpha_codium.llm.litellm_loading import load
from alpha_codium.llm.messages import Answer, ChatRequest
from alpha_codium.llm.parameters import BASE_MODELS, DISPENSABLE, messages, parameters
from alpha_codium.llm.prices import cost_of, price_in_table
from alpha_codium.llm.responses import answers_of, refuse_made_up

PLACEHOLDER_KEY = "no-key"
OPENAI = ("openai", *BASE_MODELS)
_open_count = 0


@dataclass(frozen=True, slots=True)
class _Model:
    """What litellm knows of a model."""

    provider: str
    takes_n: bool
    reasons: bool
    wants_cache_marks: bool
    has_price: bool


class LiteLLMBackend:
    """Sends requests to any provider that litellm knows; keys come from the environment or are given to `send`.

    `prices` win over those of litellm's table.
    """

    def __init__(self, prices: PricesSection | None = None) -> None:
        self._litellm: Any = None
        self._preparing = asyncio.Lock()
        self._opened = False
        self._prices = prices or PricesSection()
        self._models: dict[str, _Model] = {}
        self._left_out: dict[str, set[str]] = {}
        self._completers: dict[tuple[str | None, str | None], Any] = {}

    async def prepare(self) -> None:
        """Import litellm, without blocking the event loop."""
        if self._litellm is not None:
            return
        async with self._preparing:
            if self._litellm is None:
                self._litellm = await asyncio.to_thread(load)

    async def send(
        self,
        model: str,
        request: ChatRequest,
        *,
        n: int = 1,
        api_base: str | None = None,
        api_key: str | None = None,
        timeout: float = 120.0,  # noqa: ASYNC109 - a number that goes to the provider's client too
        drop_params: bool = False,
    ) -> list[Answer]:
        """Send one request once and wait `timeout` seconds at most; as many answers as the provider gives to `n`.

        Raises the errors of `alpha_codium.llm.errors`; an answer that a filter stopped is an answer.
        """
        await self.prepare()
        where = Where(model, api_base, api_key)
        while True:
            arguments = self._arguments(where, request, n) | {"timeout": timeout, "drop_params": drop_params}
            try:
                return await self._complete(where, arguments, timeout)
            except ParameterUnsupported as refusal:
                known = refusal.parameter in self._left_out.get(model, ())
                if known or not self._known(model).reasons or not self.leave_out(model, refusal.parameter):
                    raise

    async def _complete(self, where: Where, arguments: dict[str, Any], seconds: float) -> list[Answer]:
        import httpx
        import openai

        begun = time.perf_counter()
        try:
            async with asyncio.timeout(seconds):
                response = await self._litellm.acompletion(**arguments)
        except TimeoutError:
            fault = TransientError(f"{where.model}: no answer in {seconds:g} s", cause="timeout")
        except (openai.OpenAIError, httpx.HTTPError, httpx.InvalidURL, OSError) as error:
            fault = as_model_error(error, where)
        else:
            seconds = time.perf_counter() - begun
            if self._known(where.model).provider in BASE_MODELS:
                refuse_made_up(response, where.model)
            return answers_of(response, where.model, self._cost(response, where.model), seconds)
        raise fault  # outside the handler: the chain of litellm's exceptions may quote a key

    def supports_json_schema(self, model: str) -> bool:
        """Whether litellm's table says that the model's answers can be constrained to a schema."""
        return bool((self._litellm or load()).supports_response_schema(model=model))

    def supports_n(self, model: str) -> bool:
        """Whether one request can ask for several answers; `prepare` first. An unknown model's error comes later."""
        try:
            return self._known(model).takes_n
        except UnknownModel:
            return False

    def leave_out(self, model: str, parameter: str) -> bool:
        """Send this parameter to the model no more, which is logged once; false where a request needs it."""
        if parameter not in DISPENSABLE:
            return False
        left_out = self._left_out.setdefault(model, set())
        if parameter not in left_out:
            left_out.add(parameter)
            other = DISPENSABLE[parameter]
            instead = f"it gets {other} instead" if other else "it is left out"
            logger.warning("{} doesn't take {}: {} from now on", model, parameter, instead)
        return True

    def open(self) -> None:
        """Count this backend among those that need litellm's sessions."""
        global _open_count  # noqa: PLW0603 - litellm's sessions are the process's, so is the count of their users
        if not self._opened:
            self._opened = True
            _open_count += 1

    async def close(self) -> None:
        """Close litellm's HTTP sessions, unless another open backend needs them."""
        global _open_count  # noqa: PLW0603 - as above
        while self._completers:
            await self._completers.popitem()[1].close()
        if not self._opened:
            return
        self._opened = False
        _open_count -= 1
        if _open_count == 0 and self._litellm is not None:
            await self._litellm.close_litellm_async_clients()
            self._litellm.in_memory_llm_clients_cache.flush_cache()

    def _arguments(self, where: Where, request: ChatRequest, n: int) -> dict[str, Any]:
        known = self._known(where.model)
        if known.provider == "hosted_vllm" and not where.api_base and not os.environ.get("HOSTED_VLLM_API_BASE"):
            raise UnknownModel(f"{where.model}: say where the server is with --api_base http://HOST:PORT/v1")
        api_key = self._key_of_openai(where) if known.provider in OPENAI else where.api_key
        given: dict[str, Any] = {"api_base": where.api_base or None, "api_key": api_key, "n": n if n > 1 else None}
        if known.provider in BASE_MODELS:
            given["client"] = self._completer(where.api_base, api_key)
        return {
            **parameters(request, self._left_out.get(where.model, frozenset())),
            **{name: value for name, value in given.items() if value is not None},
            "model": where.model,
            "messages": messages(request, as_one_text=known.provider in BASE_MODELS, cached=known.wants_cache_marks),
            "max_retries": 0,
            "num_retries": 0,
        }

    def _completer(self, api_base: str | None, api_key: str | None) -> Any:
        """The client of the openai package for base models at an address, without retries."""
        import openai

        address = api_base or os.environ.get("OPENAI_API_BASE") or None
        if (address, api_key) not in self._completers:
            client = openai.AsyncOpenAI(base_url=address, api_key=api_key, max_retries=0)
            self._completers[address, api_key] = client
        return self._completers[address, api_key]

    def _key_of_openai(self, where: Where) -> str | None:
        """The key to give, None where litellm finds it; a server of one's own wants none, but litellm may."""
        if where.api_key or os.environ.get("OPENAI_API_KEY") or self._litellm.api_key or self._litellm.openai_key:
            return where.api_key
        if where.api_base or os.environ.get("OPENAI_API_BASE") or os.environ.get("OPENAI_BASE_URL"):
            return PLACEHOLDER_KEY
        raise no_key(where.model)

    def _known(self, model: str) -> _Model:
        """What litellm knows of a model; raises UnknownModel."""
        if model not in self._models:
            self._models[model] = self._look_up(model)
        return self._models[model]

    def _look_up(self, model: str) -> _Model:
        """Ollama's models are made known, else litellm looks each up on localhost, blocking."""
        litellm = self._litellm or load()
        try:
            name, provider, _, _ = litellm.get_llm_provider(model)
        except litellm.BadRequestError:
            raise unknown_provider(model) from None
        if provider in ("ollama", "ollama_chat"):
            litellm.model_cost.setdefault(model, {"litellm_provider": provider, "mode": "chat"})
        supported = litellm.get_supported_openai_params(model=name, custom_llm_provider=provider) or ()
        marks = "claude" in model and litellm.utils.supports_prompt_caching(model=name, custom_llm_provider=provider)
        return _Model(
            provider=provider,
            takes_n="n" in supported,
            reasons=litellm.supports_reasoning(model=name, custom_llm_provider=provider),
            wants_cache_marks=marks,
            has_price=price_in_table(model, litellm.model_cost) is not None,
        )

    def _cost(self, response: Any, model: str) -> float | None:
        """The price in US dollars by `[prices]`, else by litellm, whose 0 counts only where its table states it.

        None also where the provider tells no tokens: they are unknown, and not none.
        """
        price, usage = self._prices.models.get(model), getattr(response, "usage", None)
        read, written = getattr(usage, "prompt_tokens", 0), getattr(usage, "completion_tokens", 0)
        if price is None:
            cost = response._hidden_params.get("response_cost")
            return cost if cost or (cost == 0 and (read or written) and self._known(model).has_price) else None
        if not (read or written) and (price.input or price.output):
            return None
        details = getattr(usage, "prompt_tokens_details", None)
        return cost_of(price, read, written, getattr(details, "cached_tokens", 0) or 0)
