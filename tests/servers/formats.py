"""The wire formats a scripted server speaks.

OpenAI's chat completions and completions, with several choices where `n` asks for them; Anthropic's messages; Ollama's
chat.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tests.servers.replies import Text, text_of

Format = Callable[[Mapping[str, Any], Sequence[Text]], dict[str, Any]]


def openai(body: Mapping[str, Any], replies: Sequence[Text]) -> dict[str, Any]:
    return {
        "id": "chatcmpl-scripted",
        "object": "chat.completion",
        "created": 1700000000,
        "model": body.get("model", "scripted"),
        "choices": [
            {"index": index, "message": _message(reply), "finish_reason": reply.finish_reason}
            for index, reply in enumerate(replies)
        ],
        "usage": _usage(body, replies),
    }


def completions(body: Mapping[str, Any], replies: Sequence[Text]) -> dict[str, Any]:
    return {
        "id": "cmpl-scripted",
        "object": "text_completion",
        "created": 1700000000,
        "model": body.get("model", "scripted"),
        "choices": [
            {"index": index, "text": reply.content, "logprobs": None, "finish_reason": reply.finish_reason}
            for index, reply in enumerate(replies)
        ],
        "usage": _usage(body, replies),
    }


def _message(reply: Text) -> dict[str, Any]:
    message = {"role": "assistant", "content": reply.content}
    return message | {"reasoning_content": reply.reasoning} if reply.reasoning else message


def _usage(body: Mapping[str, Any], replies: Sequence[Text]) -> dict[str, Any]:
    """The prompt counts once, the answers are summed."""
    prompt, completion = tokens_of(body, replies[0])[0], sum(tokens_of(body, reply)[1] for reply in replies)
    usage: dict[str, Any] = {"prompt_tokens": prompt, "completion_tokens": completion}
    usage["total_tokens"] = prompt + completion
    if replies[0].cached_tokens:
        usage["prompt_tokens_details"] = {"cached_tokens": replies[0].cached_tokens}
    return usage


def anthropic(body: Mapping[str, Any], replies: Sequence[Text]) -> dict[str, Any]:
    [reply] = replies
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
        "usage": {
            "input_tokens": prompt - reply.cached_tokens,
            "output_tokens": completion,
            "cache_read_input_tokens": reply.cached_tokens,
        },
    }


def ollama(body: Mapping[str, Any], replies: Sequence[Text]) -> dict[str, Any]:
    [reply] = replies
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


def as_conversation(body: Mapping[str, Any]) -> dict[str, Any]:
    """A body so that scripts see one form: Anthropic's system text and a base model's prompt become messages."""
    system, prompt = body.get("system"), body.get("prompt")
    if prompt is not None:
        return {**body, "messages": [{"role": "user", "content": prompt}]}
    if not system:
        return dict(body)
    return {**body, "messages": [{"role": "system", "content": system}, *body.get("messages", ())]}


ROUTES: dict[str, Format] = {
    "/v1/chat/completions": openai,
    "/chat/completions": openai,
    "/v1/completions": completions,
    "/v1/messages": anthropic,
    "/api/chat": ollama,
}
