"""Conversion of requests to parameters of OpenAI's protocol, which litellm translates for other providers.

1. Sampling parameters that a model refuses are omitted; a refused `max_tokens` is sent under its newer name.
2. A base model gets one text to continue instead of a conversation.
3. For providers whose cache needs markers (Anthropic), a long system message and a long first question are marked,
   since they are the same in all samples of a problem.
"""

import copy
from collections.abc import Set
from typing import Any

from alpha_codium.llm.messages import ChatRequest

# Parameters that a request can do without, and the parameter to send instead, if any.
DISPENSABLE = {"temperature": None, "top_p": None, "frequency_penalty": None, "max_tokens": "max_completion_tokens"}
# In characters: about 1,024 tokens, the minimum that providers cache.
LONG_MESSAGE = 4096
BASE_MODELS = ("text-completion-openai",)


def parameters(request: ChatRequest, refused: Set[str] = frozenset()) -> dict[str, Any]:
    """Return the parameters of a request under OpenAI's names, without the `refused` ones.

    A frequency penalty of 0, the default of all providers, isn't sent, since some don't support the parameter.
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
    given = {**copy.deepcopy(request.extra), **{name: value for name, value in named.items() if value is not None}}
    for name in refused & given.keys():
        value, other = given.pop(name), DISPENSABLE[name]
        if other is not None:
            given[other] = value
    return given


def messages(request: ChatRequest, *, as_one_text: bool = False, cached: bool = False) -> list[dict[str, Any]]:
    """Return the messages to send: `as_one_text` for base models, `cached` for providers whose cache needs markers."""
    if as_one_text:
        return [{"role": "user", "content": "\n\n".join(message.content for message in request.messages)}]
    plain: list[dict[str, Any]] = [{"role": message.role, "content": message.content} for message in request.messages]
    for role in ("system", "user") if cached else ():
        first = next((message for message in plain if message["role"] == role), None)
        if first is not None and len(first["content"]) >= LONG_MESSAGE:
            first["content"] = [{"type": "text", "text": first["content"], "cache_control": {"type": "ephemeral"}}]
    return plain


def _response_format(schema: dict[str, Any]) -> dict[str, Any]:
    name = "".join(c if c.isalnum() or c in "-_" else "_" for c in str(schema.get("title") or "answer"))
    return {"type": "json_schema", "json_schema": {"name": name, "schema": copy.deepcopy(schema), "strict": True}}
