"""Requests to the servers of local models, without litellm, whose import takes seconds.

What is sent, and what becomes of answers and errors, is the same as through litellm, but for line breaks between a
model's thinking and its answer, which are removed as for other servers.
"""

import asyncio
import json
import time
from collections.abc import Set
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from alpha_codium.llm.endpoints import Endpoint
from alpha_codium.llm.errors import TransientError
from alpha_codium.llm.litellm_errors import as_model_error
from alpha_codium.llm.messages import Answer, ChatRequest
from alpha_codium.llm.parameters import messages, parameters
from alpha_codium.llm.responses import answers_of

if TYPE_CHECKING:
    import httpx


class LocalClient:
    """Sends requests to local servers over connections that are kept until `close`."""

    def __init__(self) -> None:
        self._client: httpx.AsyncClient | None = None

    async def send(
        self, endpoint: Endpoint, request: ChatRequest, seconds: float, left_out: Set[str] = frozenset()
    ) -> list[Answer]:
        """Send one request once, without the parameters `left_out`; raises the errors of `alpha_codium.llm.errors`."""
        import httpx

        self._client = self._client or httpx.AsyncClient(trust_env=False)  # the server is on loopback
        start = time.perf_counter()
        try:
            async with asyncio.timeout(seconds):
                response = await self._client.post(
                    f"{endpoint.api_base}/chat/completions",
                    headers={"Authorization": f"Bearer {endpoint.api_key}"},
                    json=_body(endpoint, request, left_out),
                    timeout=seconds,
                )
                response.raise_for_status()
        except TimeoutError:
            fault = TransientError(f"{endpoint.model}: no answer in {seconds:g} s", cause="timeout")
        except (httpx.HTTPError, OSError) as error:
            fault = as_model_error(error, endpoint)
        else:
            return answers_of(_parsed(response.text, endpoint), endpoint.model, 0.0, time.perf_counter() - start)
        raise fault

    async def close(self) -> None:
        """Close the connections."""
        if self._client is not None:
            await self._client.aclose()


def _body(endpoint: Endpoint, request: ChatRequest, left_out: Set[str]) -> dict[str, Any]:
    name = endpoint.model.partition("/")[2]
    return {"model": name, "messages": messages(request), **parameters(request, left_out)}


def _parsed(text: str, endpoint: Endpoint) -> Any:
    """Return a JSON body as objects with attributes; raises TransientError unless it has `choices`."""
    try:
        body = json.loads(text, object_hook=lambda pairs: SimpleNamespace(**pairs))
    except ValueError as error:
        raise TransientError(f"{endpoint.model}: invalid answer: {error}", cause="malformed") from error
    if not isinstance(getattr(body, "choices", None), list):
        raise TransientError(f"{endpoint.model}: the response has no choices", cause="malformed")
    return body
