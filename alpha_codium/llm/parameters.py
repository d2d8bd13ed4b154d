"""A request in the words of OpenAI's protocol, which litellm translates for other providers.

1. Parameters that a model refuses are left out where the question stays the same without them: how to sample. A refused
   `max_tokens` is said in the newer word.
2. A base model gets no conversation but one text, which it goes on with.
3. A provider that has to be told what to keep in its cache (Anthropic) is told to keep a long system message and a long
   first question: the samples of a problem ask the same, and a conversation begins with the same.
"""

import copy
from collections.abc import Set
from typing import Any

from alpha_codium.llm.messages import ChatRequest

# What a question can do without, and what to say instead.
DISPENSABLE = {"temperature": None, "top_p": None, "frequency_penalty": None, "max_tokens": "max_completion_tokens"}
# Characters, about the 1,024 tokens below which providers keep nothing.
LONG_MESSAGE = 4096
BASE_MODELS = ("text-completion-openai",)


def parameters(request: ChatRequest, refused: Set[str] = frozenset()) -> dict[str, Any]:
    """The parameters that a request gives, under OpenAI's names, without those that were `refused`.

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
    given = {**copy.deepcopy(request.extra), **{name: value for name, value in named.items() if value is not None}}
    for name in refused & given.keys():
        value, other = given.pop(name), DISPENSABLE[name]
        if other is not None:
            given[other] = value
    return given


def messages(request: ChatRequest, *, as_one_text: bool = False, cached: bool = False) -> list[dict[str, Any]]:
    """The messages as they are sent; `as_one_text` for base models, `cached` for providers that want to be told."""
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
