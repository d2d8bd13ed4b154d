"""Requests without litellm, whose import takes seconds, to servers that speak OpenAI's protocol.

1. These are the servers of local models, and those at an `api_base` with http:// whose model litellm has no data on, so
   that it would send the same request. Requests with extra parameters go through litellm, which gives some a meaning.
2. What is sent, and what becomes of answers and errors, is the same as through litellm, but for line breaks between a
   model's thinking and its answer, which are removed as for other servers.
"""

import asyncio
import os
import time
from collections.abc import Set
from typing import TYPE_CHECKING, Any

from alpha_codium.config.sections import PricesSection
from alpha_codium.http_errors import http_errors
from alpha_codium.llm.endpoints import Endpoint
from alpha_codium.llm.errors import TransientError
from alpha_codium.llm.litellm_errors import as_model_error
from alpha_codium.llm.messages import Answer, ChatRequest
from alpha_codium.llm.parameters import messages, parameters
from alpha_codium.llm.prices import cost_by_settings
from alpha_codium.llm.responses import answers_of, body_of, usage_of

if TYPE_CHECKING:
    import httpx

KEYS = {"openai": "OPENAI_API_KEY", "hosted_vllm": "HOSTED_VLLM_API_KEY"}
PLACEHOLDER_KEY = "no-key"


class DirectClient:
    """Sends requests over connections that are kept until `close`; `prices` are those of the settings."""

    def __init__(self, prices: PricesSection | None = None) -> None:
        self._prices = prices or PricesSection()
        self._clients: dict[bool, httpx.AsyncClient] = {}

    async def send(
        self, endpoint: Endpoint, request: ChatRequest, seconds: float, n: int = 1, left_out: Set[str] = frozenset()
    ) -> list[Answer]:
        """Send one request once, without the parameters `left_out`; raises the errors of `alpha_codium.llm.errors`."""
        start = time.perf_counter()
        try:
            async with asyncio.timeout(seconds):
                response = await self._client(endpoint).post(
                    f"{(endpoint.api_base or '').rstrip('/')}/chat/completions",
                    headers={"Authorization": f"Bearer {_key(endpoint)}"},
                    json=_body(endpoint, request, n, left_out),
                    timeout=seconds,
                )
                response.raise_for_status()
        except TimeoutError:
            fault = TransientError(f"{endpoint.model}: no answer in {seconds:g} s", cause="timeout")
        except (*http_errors("HTTPError", "InvalidURL"), OSError) as error:
            fault = as_model_error(error, endpoint)
        else:
            body = body_of(response.text, endpoint.model)
            cost = cost_by_settings(self._prices.models.get(endpoint.model), usage_of(body))
            return answers_of(body, endpoint.model, cost, time.perf_counter() - start)
        raise fault

    async def close(self) -> None:
        """Close the connections."""
        while self._clients:
            await self._clients.popitem()[1].aclose()

    def _client(self, endpoint: Endpoint) -> "httpx.AsyncClient":
        """Return the client: a proxy of the environment isn't used for the server of a local model."""
        import httpx

        by_environment = not endpoint.free
        if by_environment not in self._clients:
            limits = httpx.Limits(max_connections=None)
            self._clients[by_environment] = httpx.AsyncClient(trust_env=by_environment, limits=limits)
        return self._clients[by_environment]


def _key(endpoint: Endpoint) -> str:
    variable = KEYS[endpoint.model.partition("/")[0]]
    return endpoint.api_key or os.environ.get(variable) or PLACEHOLDER_KEY


def _body(endpoint: Endpoint, request: ChatRequest, n: int, left_out: Set[str]) -> dict[str, Any]:
    name = endpoint.model.partition("/")[2]
    several = {"n": n} if n > 1 else {}
    return {"model": name, "messages": messages(request), **several, **parameters(request, left_out)}
