"""The forms in which providers send an answer, each as the body of a response: what is in it, and where it is from."""

import json
from typing import Any

CODE = "Here:\n```python\nprint(input())\n```"
TEXT = {"type": "text", "text": CODE}
CALLED = {"name": "run", "arguments": json.dumps({"code": "print(input())"})}
OBJECT = {"name": "run", "arguments": {"code": "print(input())"}}
CALL = '<tool_call>\n{"name": "run", "arguments": {"code": "print(input())"}}\n</tool_call>'


def body(message: Any = None, choice: dict[str, Any] | None = None, **top: Any) -> dict[str, Any]:
    """A response with one choice; `choice` replaces fields of it, `top` those of the response."""
    chosen = {
        "index": 0,
        "finish_reason": "stop",
        "message": {"role": "assistant", **(message or {})},
        **(choice or {}),
    }
    usage = {"prompt_tokens": 3, "completion_tokens": 5, "total_tokens": 8}
    return {
        "id": "x",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "choices": [chosen],
        "usage": usage,
    } | top


def parts(*items: Any) -> dict[str, Any]:
    return body({"content": list(items)})


def stream(*deltas: dict[str, Any]) -> str:
    chunks = [{"choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas]
    chunks.append({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
    chunks.append({"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 5}})
    return "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks) + "data: [DONE]\n\n"


# The text and the reasoning that are in each of them.
READABLE: dict[str, tuple[dict[str, Any] | str, str, str]] = {
    "a text": (body({"content": CODE}), CODE, ""),
    "a part": (parts(TEXT), CODE, ""),
    "two parts": (parts({"type": "text", "text": CODE[:9]}, {"type": "text", "text": CODE[9:]}), CODE, ""),
    "texts without a type": (parts(CODE[:9], CODE[9:]), CODE, ""),
    "a part that isn't in a list": (body({"content": TEXT}), CODE, ""),
    "a part whose text is an object": (parts({"type": "text", "text": {"value": CODE, "annotations": []}}), CODE, ""),
    "an empty part before": (parts({"type": "text", "text": None}, TEXT), CODE, ""),
    "an image before": (parts({"type": "image_url", "image_url": {"url": "data:,"}}, TEXT), CODE, ""),
    "Mistral: thinking in parts": (
        parts({"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}, TEXT),
        CODE,
        "hm",
    ),
    "Anthropic: a thinking part": (parts({"type": "thinking", "thinking": "hm", "signature": "s"}, TEXT), CODE, "hm"),
    "Databricks: a summary of reasoning": (
        parts({"type": "reasoning", "summary": [{"type": "summary_text", "text": "hm"}]}, TEXT),
        CODE,
        "hm",
    ),
    "Responses: reasoning and output texts": (
        parts(
            {"type": "reasoning", "content": [{"type": "reasoning_text", "text": "hm"}]},
            {"type": "output_text", "text": CODE, "annotations": []},
        ),
        CODE,
        "hm",
    ),
    "Bedrock: reasoningContent": (
        parts({"reasoningContent": {"reasoningText": {"text": "hm", "signature": "s"}}}, {"text": CODE}),
        CODE,
        "hm",
    ),
    "Gemini: a part marked as thought": (parts({"text": "hm", "thought": True}, {"text": CODE}), CODE, "hm"),
    "reasoning_content": (body({"content": CODE, "reasoning_content": "hm"}), CODE, "hm"),
    "reasoning": (body({"content": CODE, "reasoning": "hm"}), CODE, "hm"),
    "reasoning twice": (body({"content": CODE, "reasoning": "hm", "reasoning_content": "hm"}), CODE, "hm"),
    "reasoning in details": (
        body({"content": CODE, "reasoning_details": [{"type": "reasoning.text", "text": "hm"}]}),
        CODE,
        "hm",
    ),
    "reasoning in a list": (body({"content": CODE, "reasoning_content": ["hm"]}), CODE, "hm"),
    "reasoning in an object": (body({"content": CODE, "reasoning": {"content": "hm"}}), CODE, "hm"),
    "thinking": (body({"content": CODE, "thinking": "hm"}), CODE, "hm"),
    "thinking_blocks": (
        body({"content": CODE, "thinking_blocks": [{"type": "thinking", "thinking": "hm"}]}),
        CODE,
        "hm",
    ),
    "reasoning without a text": (body({"content": None, "reasoning_content": "hm"}), "", "hm"),
    "a refusal": (body({"content": None, "refusal": "I can't."}), "I can't.", ""),
    "a refusal as a part": (parts({"type": "refusal", "refusal": "I can't."}), "I can't.", ""),
    "a text beside a null refusal": (body({"content": CODE, "refusal": None}), CODE, ""),
    "a call of a tool": (
        body({"content": None, "tool_calls": [{"id": "1", "type": "function", "function": CALLED}]}),
        CALL,
        "",
    ),
    "a call with an object": (
        body({"tool_calls": [{"id": "1", "type": "function", "function": OBJECT}]}),
        CALL,
        "",
    ),
    "a call of a custom tool": (
        body({"tool_calls": [{"id": "1", "type": "custom", "custom": {"name": "run", "input": "print(input())"}}]}),
        CALL,
        "",
    ),
    "a call of a function": (body({"content": None, "function_call": CALLED}), CALL, ""),
    "a text beside a broken call": (body({"content": CODE, "tool_calls": [{"id": "1"}, None]}), CODE, ""),
    "a transcript of speech": (
        body({"content": None, "audio": {"id": "a", "data": "", "expires_at": 1, "transcript": CODE}}),
        CODE,
        "",
    ),
    "a legacy text": (body(choice={"message": None, "text": CODE}), CODE, ""),
    "a delta": (body(choice={"message": None, "delta": {"content": CODE}}), CODE, ""),
    "a message that is a text": (body(choice={"message": CODE}), CODE, ""),
    "a message that is a list": (body(choice={"message": [{"role": "assistant", "content": CODE}]}), CODE, ""),
    "a choice that is a text": (body(choices=[CODE]), CODE, ""),
    "another role": (body({"content": CODE, "role": "model"}), CODE, ""),
    "a body of Anthropic's": (
        {"content": [{"type": "thinking", "thinking": "hm"}, TEXT], "usage": {"input_tokens": 3, "output_tokens": 5}},
        CODE,
        "hm",
    ),
    "a stream": (stream({"role": "assistant"}, {"content": CODE[:9]}, {"content": CODE[9:]}), CODE, ""),
    "a stream with reasoning": (
        stream({"reasoning_content": "h"}, {"reasoning_content": "m"}, {"content": CODE}),
        CODE,
        "hm",
    ),
    "blank lines that keep the connection alive": ("\n\n  \n" + json.dumps(body({"content": CODE})), CODE, ""),
    "a byte order mark": ("\ufeff" + json.dumps(body({"content": CODE})), CODE, ""),
    "an empty error beside": (body({"content": CODE}, error={}), CODE, ""),
}
# Paid for, but without any text.
UNREADABLE = {
    "null": body({"content": None}),
    "no content": body(),
    "an empty list": parts(),
    "only an image": parts({"type": "image_url", "image_url": {"url": "data:,"}}),
    "a choice that is null": body(choices=[None]),
    "no choices, but tokens": body(choices=[]),
    "choices that are no list": body(choices={"0": 1}),
}
# What the provider says of the tokens: prompt, answer, from its cache.
USAGES: dict[str, tuple[Any, tuple[int, int, int]]] = {
    "null": (None, (0, 0, 0)),
    "a list": ([1], (0, 0, 0)),
    "texts": ({"prompt_tokens": "3", "completion_tokens": "5"}, (3, 5, 0)),
    "floats": ({"prompt_tokens": 3.0, "completion_tokens": 5.0}, (3, 5, 0)),
    "null tokens": ({"prompt_tokens": None, "completion_tokens": None}, (0, 0, 0)),
    "Anthropic's names": ({"input_tokens": 3, "output_tokens": 5}, (3, 5, 0)),
    "details": ({"prompt_tokens": 3, "completion_tokens": 5, "prompt_tokens_details": {"cached_tokens": 1}}, (3, 5, 1)),
    "null details": ({"prompt_tokens": 3, "completion_tokens": 5, "prompt_tokens_details": None}, (3, 5, 0)),
    "a list of details": ({"prompt_tokens": 3, "completion_tokens": 5, "prompt_tokens_details": []}, (3, 5, 0)),
    "only the answer's": ({"completion_tokens": 5}, (0, 5, 0)),
}
FINISHED = {
    None: "stop", "weird": "stop", "end_turn": "stop", "max_tokens": "length", "MAX_TOKENS": "length",
    "SAFETY": "content_filter", "tool_use": "tool_calls",
}  # fmt: skip
FAILED = {
    "an error": {"error": {"message": "overloaded", "code": 503}},
    "an error beside a text": body({"content": CODE}, error={"message": "cut off", "code": 502}),
    "an error in the choice": body({"content": CODE}, {"error": {"message": "cut off", "code": 502}}),
    "no choices": body(choices=[], usage=None),
    "a list": [],
    "a number": 5,
    "null": None,
}
