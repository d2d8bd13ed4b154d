"""The wire formats a scripted server speaks: OpenAI's chat completions, Anthropic's messages, Ollama's chat."""

from collections.abc import Callable, Mapping
from typing import Any

from tests.servers.replies import Text, text_of

Format = Callable[[Mapping[str, Any], Text], dict[str, Any]]


def openai(body: Mapping[str, Any], reply: Text) -> dict[str, Any]:
    prompt, completion = tokens_of(body, reply)
    message = {"role": "assistant", "content": reply.content}
    if reply.reasoning:
        message["reasoning_content"] = reply.reasoning
    return {
        "id": "chatcmpl-scripted",
        "object": "chat.completion",
        "created": 1700000000,
        "model": body.get("model", "scripted"),
        "choices": [{"index": 0, "message": message, "finish_reason": reply.finish_reason}],
        "usage": {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion},
    }


def anthropic(body: Mapping[str, Any], reply: Text) -> dict[str, Any]:
    prompt, completion = tokens_of(body, reply)
    reasons = {"stop": "end_turn", "length": "max_tokens", "content_filter": "refusal"}
    thinking = [{"type": "thinking", "thinking": reply.reasoning, "signature": "s"}] if reply.reasoning else []
    return {
        "id": "msg_scripted",
        "type": "message",
        "role": "assistant",
        "model": body.get("model", "scripted"),
        "content": [*thinking, {"type": "text", "text": reply.content}],
        "stop_reason": reasons.get(reply.finish_reason, reply.finish_reason),
        "stop_sequence": None,
        "usage": {"input_tokens": prompt, "output_tokens": completion},
    }


def ollama(body: Mapping[str, Any], reply: Text) -> dict[str, Any]:
    prompt, completion = tokens_of(body, reply)
    message = {"role": "assistant", "content": reply.content}
    if reply.reasoning:
        message["thinking"] = reply.reasoning
    return {
        "model": body.get("model", "scripted"),
        "created_at": "2024-01-01T00:00:00Z",
        "message": message,
        "done": True,
        "done_reason": reply.finish_reason,
        "prompt_eval_count": prompt,
        "eval_count": completion,
    }


def tokens_of(body: Mapping[str, Any], reply: Text) -> tuple[int, int]:
    """Tokens of prompt and answer: what the script says, else words."""
    prompt = sum(len(text_of(message).split()) for message in body.get("messages", ()))
    completion = len(reply.content.split())
    return (
        prompt if reply.prompt_tokens is None else reply.prompt_tokens,
        completion if reply.completion_tokens is None else reply.completion_tokens,
    )


def with_system(body: Mapping[str, Any]) -> dict[str, Any]:
    """Anthropic's body with its system text as a first message, so that scripts see one form."""
    system = body.get("system")
    if not system:
        return dict(body)
    return {**body, "messages": [{"role": "system", "content": system}, *body.get("messages", ())]}


ROUTES: dict[str, Format] = {
    "/v1/chat/completions": openai,
    "/chat/completions": openai,
    "/v1/messages": anthropic,
    "/api/chat": ollama,
}
