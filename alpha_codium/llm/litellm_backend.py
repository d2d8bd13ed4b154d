"""One request, one attempt, through litellm.

1. litellm takes seconds to import, so a thread does it at the first call, and one pretended call in that thread loads
   what litellm itself leaves to its first call.
2. It would ask the network for prices and settings and print advice: the variables and attributes in `load` stop that.
   Its tokenizers are kept from the hub by an attribute of its own, not by HF_HUB_OFFLINE, which would also cut off
   `datasets`.
3. Its retries, and those of the clients it wraps, are off; its faults become ours (`alpha_codium.llm.faults`).
4. Its HTTP sessions belong to the process; they are closed with the last backend that was opened.
"""

import asyncio
import copy
import logging
import os
import threading
import time
import warnings
from typing import Any

from alpha_codium.llm.errors import TransientError, UnknownModel
from alpha_codium.llm.faults import Where, as_model_error, unknown_provider
from alpha_codium.llm.messages import Answer, ChatRequest

QUIET_ENVIRONMENT = {
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "LITELLM_LOCAL_ANTHROPIC_BETA_HEADERS": "True",
    "LITELLM_MODE": "PRODUCTION",  # else it loads a .env file from wherever the user stands
}
PRETENDED_CALL = {"model": "openai/x", "messages": [{"role": "user", "content": "hi"}], "mock_response": "hi"}
PLACEHOLDER_KEY = "no-key"
_loading = threading.Lock()
_open_count = 0


def load() -> Any:
    """litellm, imported once, quiet and off the network; takes seconds the first time."""
    with _loading:
        for name, value in QUIET_ENVIRONMENT.items():
            os.environ.setdefault(name, value)
        import litellm

        if not litellm.suppress_debug_info:
            _quiet(litellm)
            litellm.completion(**PRETENDED_CALL)
        return litellm


def _quiet(litellm: Any) -> None:
    litellm.suppress_debug_info = True
    litellm.telemetry = False
    litellm.disable_hf_tokenizer_download = True
    litellm.redact_messages_in_exceptions = True
    # litellm makes its coroutine in a thread: where a call is cancelled in between, nobody is left to await it.
    warnings.filterwarnings("ignore", message=r"coroutine '[\w.]*acompletion\w*' was never awaited")
    if not os.environ.get("LITELLM_LOG"):
        for name in ("LiteLLM", "LiteLLM Router", "LiteLLM Proxy"):
            logging.getLogger(name).setLevel(logging.CRITICAL)


class LiteLLMBackend:
    """Sends requests to any provider that litellm knows; keys come from the environment or are given to `send`."""

    def __init__(self) -> None:
        self._litellm: Any = None
        self._preparing = asyncio.Lock()
        self._opened = False

    async def prepare(self) -> None:
        """Import litellm, without blocking the event loop."""
        async with self._preparing:
            if self._litellm is None:
                self._litellm = await asyncio.to_thread(load)

    async def send(
        self,
        model: str,
        request: ChatRequest,
        *,
        api_base: str | None = None,
        api_key: str | None = None,
        timeout: float = 120.0,  # noqa: ASYNC109 - a number that goes to the provider's client too
        drop_params: bool = False,
    ) -> Answer:
        """Send one request once and wait `timeout` seconds at most.

        Raises the errors of `alpha_codium.llm.errors`; an answer that a filter stopped is an answer.
        """
        await self.prepare()
        import httpx
        import openai

        where = Where(model, api_base, api_key)
        arguments = self._arguments(where, request) | {"timeout": timeout, "drop_params": drop_params}
        begun = time.perf_counter()
        try:
            async with asyncio.timeout(timeout):
                response = await self._litellm.acompletion(**arguments)
        except TimeoutError:
            fault = TransientError(f"{model}: no answer in {timeout:g} s", cause="timeout")
        except (openai.OpenAIError, httpx.HTTPError, httpx.InvalidURL, OSError) as error:
            fault = as_model_error(error, where)
        else:
            return self._answer(response, model, time.perf_counter() - begun)
        raise fault  # outside the handler: the chain of litellm's exceptions may quote a key

    def supports_json_schema(self, model: str) -> bool:
        """Whether litellm's table says that the model's answers can be constrained to a schema."""
        return bool((self._litellm or load()).supports_response_schema(model=model))

    def open(self) -> None:
        """Count this backend among those that need litellm's sessions."""
        global _open_count  # noqa: PLW0603 - litellm's sessions are the process's, so is the count of their users
        if not self._opened:
            self._opened = True
            _open_count += 1

    async def close(self) -> None:
        """Close litellm's HTTP sessions, unless another open backend needs them."""
        global _open_count  # noqa: PLW0603 - as above
        if not self._opened:
            return
        self._opened = False
        _open_count -= 1
        if _open_count == 0 and self._litellm is not None:
            await self._litellm.close_litellm_async_clients()
            self._litellm.in_memory_llm_clients_cache.flush_cache()

    def _arguments(self, where: Where, request: ChatRequest) -> dict[str, Any]:
        provider = self._provider(where.model)
        api_key = where.api_key
        if provider == "openai" and where.api_base and not api_key and not os.environ.get("OPENAI_API_KEY"):
            api_key = PLACEHOLDER_KEY  # a server of one's own wants none, but the client insists on one
        if provider == "hosted_vllm" and not where.api_base and not os.environ.get("HOSTED_VLLM_API_BASE"):
            raise UnknownModel(f"{where.model}: say where the server is with --api_base http://HOST:PORT/v1")
        given = {"api_base": where.api_base or None, "api_key": api_key}
        return {
            **parameters(request),
            **{name: value for name, value in given.items() if value is not None},
            "model": where.model,
            "messages": [{"role": message.role, "content": message.content} for message in request.messages],
            "max_retries": 0,
            "num_retries": 0,
        }

    def _provider(self, model: str) -> str:
        """The provider's name; Ollama's models are made known, else litellm looks each up on localhost, blocking."""
        try:
            _, provider, _, _ = self._litellm.get_llm_provider(model)
        except self._litellm.BadRequestError:
            raise unknown_provider(model) from None
        if provider in ("ollama", "ollama_chat"):
            self._litellm.model_cost.setdefault(model, {"litellm_provider": provider, "mode": "chat"})
        return provider

    def _answer(self, response: Any, model: str, seconds: float) -> Answer:
        if not response.choices:
            raise TransientError(f"{model}: the answer holds no choice", cause="malformed")
        choice, usage = response.choices[0], getattr(response, "usage", None)
        return Answer(
            text=choice.message.content or "",
            model=model,
            finish_reason=choice.finish_reason or "stop",
            prompt_tokens=getattr(usage, "prompt_tokens", 0) or 0,
            completion_tokens=getattr(usage, "completion_tokens", 0) or 0,
            cost=self._cost(response, model),
            latency_seconds=seconds,
            reasoning=getattr(choice.message, "reasoning_content", None) or "",
        )

    def _cost(self, response: Any, model: str) -> float | None:
        """The price by litellm's table in US dollars; a 0 counts only where the table states it."""
        cost = response._hidden_params.get("response_cost")
        table = self._litellm.model_cost
        stated = table.get(model) or table.get(model.partition("/")[2]) or {}
        return cost if cost or (cost == 0 and "input_cost_per_token" in stated) else None


def parameters(request: ChatRequest) -> dict[str, Any]:
    """The parameters that a request gives, under OpenAI's names.

    A frequency penalty of 0 is every provider's default and isn't sent: some don't know the parameter.
    """
    named = {
        "temperature": request.temperature,
        "top_p": request.top_p,
        "max_tokens": request.max_tokens,
        "seed": request.seed,
        "frequency_penalty": request.frequency_penalty or None,
        "stop": list(request.stop) or None,
        "response_format": None if request.json_schema is None else _response_format(request.json_schema),
    }
    return {**copy.deepcopy(request.extra), **{name: value for name, value in named.items() if value is not None}}


def _response_format(schema: dict[str, Any]) -> dict[str, Any]:
    name = "".join(c if c.isalnum() or c in "-_" else "_" for c in str(schema.get("title") or "answer"))
    return {"type": "json_schema", "json_schema": {"name": name, "schema": copy.deepcopy(schema), "strict": True}}
