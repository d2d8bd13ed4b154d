"""Conversion of providers' responses to answers.

1. A response is a body of OpenAI's protocol, or an object of litellm's. Its texts are read wherever providers put them:
   a content may be a text or a list of parts, and a choice may have `text` or `delta` in place of `message`.
2. Reasoning is separated from the answer, whether it is in fields or parts of its own, or in the text
   (`alpha_codium.thinking`).
3. If there is no text, a call of a tool becomes one, in the form in which models write it (`<tool_call>{"name": ...,
   "arguments": ...}</tool_call>`), and so does a refusal.
4. What was paid for isn't lost: an answer without any text keeps its JSON in `raw`.
5. A text longer than `MAX_CHARACTERS` is cut off, and the answer counts as truncated.
6. Providers report one sum of tokens for several answers. It is divided evenly; the first answer has the prompt tokens.
"""

import json
import re
from collections.abc import Iterator, Mapping
from types import SimpleNamespace
from typing import Any

from alpha_codium.llm.errors import TransientError
from alpha_codium.llm.messages import Answer
from alpha_codium.thinking import split_thinking

MAX_CHARACTERS = 1_000_000
# Fields with reasoning, of which the first with a text counts: others repeat it. Their origins: DeepSeek and vLLM;
# OpenRouter and newer vLLM; Ollama and Anthropic; Bedrock; litellm; OpenRouter.
REASONING = (
    "reasoning_content", "reasoning", "thinking", "reasoningContent", "reasoningText", "thinking_blocks",
    "reasoning_details",
)  # fmt: skip
REASONING_PART = re.compile("think|thought|reason")
TEXTS = ("content", "text", "value", "parts", "summary", "transcript", "audio", "output")
# Reasons of other providers, in small letters, which litellm translates as well.
FINISH = {
    **dict.fromkeys(("max_tokens", "continuation", "model_context_window_exceeded"), "length"),
    **dict.fromkeys(("refusal", "safety", "recitation", "blocklist", "prohibited_content", "spii"), "content_filter"),
    **dict.fromkeys(("error_toxic", "sensitive", "guardrail_intervened", "content_filtered"), "content_filter"),
    **{name: name for name in ("length", "content_filter", "tool_calls", "function_call")},
    **dict.fromkeys(("tool_use", "tool_call"), "tool_calls"),
}
MAX_DEPTH = 8


def body_of(text: str, model: str) -> Any:
    """Return the JSON of a response as objects with attributes, also if it was streamed; raises TransientError."""
    text = text.lstrip("\ufeff \t\r\n")
    try:
        return _merged(text) if text.startswith("data:") else json.loads(text, object_hook=_object)
    except (ValueError, RecursionError) as error:
        raise TransientError(f"{model}: invalid answer: {error}", cause="malformed") from error


def answers_of(response: Any, model: str, cost: float | None, seconds: float) -> list[Answer]:
    """Return the answers in a response; `cost` is in US dollars. Raises TransientError if there are none."""
    _refuse_error(_get(response, "error"), model)
    usage, choices = usage_of(response), _get(response, "choices")
    if not isinstance(choices, list) or not choices:
        if not usage.completion_tokens:
            raise TransientError(f"{model}: the response has no choices", cause="malformed")
        choices = [response]  # in another protocol, but paid for
    n, written = len(choices), usage.completion_tokens
    answers = []
    for number, choice in enumerate(choices):
        # An error that ended a choice while it was generated, as OpenRouter reports it.
        _refuse_error(_get(choice, "error") or _get(_get(choice, "provider_specific_fields"), "error"), model)
        text, reasoning, finish_reason = _parts_of(choice)
        answer = Answer(
            text=text,
            model=model,
            finish_reason=finish_reason,
            prompt_tokens=0 if number else usage.prompt_tokens,
            completion_tokens=written // n + (number < written % n),
            cost=None if cost is None else cost / n,
            latency_seconds=seconds,
            reasoning=reasoning,
            cached_tokens=0 if number else usage.prompt_tokens_details.cached_tokens,
            raw="" if text or reasoning else json.dumps(choice, default=_plain)[:MAX_CHARACTERS],
        )
        answers.append(answer)
    return answers


def usage_of(response: Any) -> Any:
    """Return the tokens of a response under OpenAI's names, 0 where they are unknown."""
    usage = _get(response, "usage")
    details = _get(usage, "prompt_tokens_details")
    return SimpleNamespace(
        prompt_tokens=_count(usage, "prompt_tokens") or _count(usage, "input_tokens"),
        completion_tokens=_count(usage, "completion_tokens") or _count(usage, "output_tokens"),
        prompt_tokens_details=SimpleNamespace(cached_tokens=_count(details, "cached_tokens")),
    )


def refuse_made_up(response: Any, model: str) -> None:
    """Raise TransientError if a base model's server sent no choices: litellm then adds one whose text is None."""
    if any(choice.message.content is None for choice in response.choices):
        raise TransientError(f"{model}: the response has no choices", cause="malformed")


def split_reasoning(text: str) -> tuple[str, str]:
    """Return the answer in a text, and the reasoning in it."""
    answer, reasoning = split_thinking(text)
    return (answer.lstrip(), reasoning) if len(answer) < len(text) else (text, "")


def _parts_of(choice: Any) -> tuple[str, str, str]:
    """Return the text, the reasoning and the finish reason."""
    finish_reason = _finish_reason(choice)
    message = next((found for name in ("message", "delta") if (found := _get(choice, name)) is not None), choice)
    found: dict[str, list[str]] = {"text": [], "reasoning": [], "refusal": [], "call": []}
    for kind, part in _texts(message):
        found[kind].append(part)
    content = "".join(found["text"]) or "".join(found["refusal"]) or "\n".join(found["call"])
    if message is not choice and not content and isinstance(beside := _get(choice, "text"), str):
        content = beside
    if len(content) > MAX_CHARACTERS:
        content, finish_reason = content[:MAX_CHARACTERS], "length"
    text, thoughts = split_reasoning(content)
    separate = ("" if isinstance(message, list) else "\n").join(found["reasoning"])  # a list has pieces of a stream
    reasoning = "\n".join(part for part in (separate, thoughts) if part)
    return text, reasoning[:MAX_CHARACTERS], finish_reason


def _texts(part: Any, kind: str = "text", depth: int = 0) -> Iterator[tuple[str, str]]:
    """Yield the texts in a message, a part of it or a list of parts, each with its kind."""
    if part is None or depth > MAX_DEPTH:
        return
    if isinstance(part, str):
        yield kind, part
    elif isinstance(part, list | tuple):
        for each in part:
            yield from _texts(each, kind, depth + 1)
    elif isinstance(part, bool | int | float):
        yield kind, json.dumps(part)
    else:
        name = _get(part, "type")
        if (isinstance(name, str) and REASONING_PART.search(name)) or _get(part, "thought") is True:
            kind = "reasoning"
        yield from _reasoning(part, depth) or _reasoning(_get(part, "provider_specific_fields"), depth)
        for field in TEXTS:
            yield from _texts(_get(part, field), kind, depth + 1)
        yield from _texts(_get(part, "refusal"), "refusal", depth + 1)
        yield from (("call", call) for call in _calls(part))


def _reasoning(part: Any, depth: int) -> list[tuple[str, str]]:
    for field in REASONING:
        if found := [each for each in _texts(_get(part, field), "reasoning", depth + 1) if each[1]]:
            return [("reasoning", text) for _, text in found]
    return []


def _calls(message: Any) -> Iterator[str]:
    listed = _get(message, "tool_calls")
    calls = list(listed) if isinstance(listed, list | tuple) else [listed]
    for call in [*calls, _get(message, "function_call")]:
        function = _get(call, "function") or _get(call, "custom") or call
        name, given = _get(function, "name"), _get(function, "arguments")
        given = _get(function, "input") if given is None else given
        if isinstance(name, str) or given is not None:
            called = json.dumps({"name": name, "arguments": _arguments(given)}, default=_plain, ensure_ascii=False)
            yield f"<tool_call>\n{called}\n</tool_call>"


def _arguments(given: Any) -> Any:
    """Return the arguments of a call; a text that isn't JSON is a program."""
    if not isinstance(given, str):
        return given
    try:
        found = json.loads(given)
    except (ValueError, RecursionError):
        found = None
    return found if isinstance(found, dict) else {"code": given}


def _finish_reason(choice: Any) -> str:
    reason = _get(choice, "finish_reason") or _get(choice, "finish_details") or "stop"
    reason = reason if isinstance(reason, str) else _get(reason, "type")
    return FINISH.get(reason.lower(), "stop") if isinstance(reason, str) else "stop"


def _refuse_error(error: Any, model: str) -> None:
    """Raise TransientError if the provider reports an error; some report an empty one beside an answer."""
    said = error if isinstance(error, str) else _get(error, "message") or _get(error, "code")
    if said:
        raise TransientError(f"{model}: the provider failed: {str(said)[:300]}", cause="malformed")


def _merged(text: str) -> Any:
    """Return the response that the events of a stream add up to."""
    chunks = [line.removeprefix("data:").strip() for line in text.splitlines() if line.startswith("data:")]
    parsed = [json.loads(chunk, object_hook=_object) for chunk in chunks if chunk and chunk != "[DONE]"]
    choices: dict[Any, Any] = {}
    for choice in (each for chunk in parsed for each in _get(chunk, "choices") or ()):
        whole = choices.setdefault(_get(choice, "index"), SimpleNamespace(delta=[], finish_reason=None))
        whole.delta.append(_get(choice, "delta") or _get(choice, "message") or _get(choice, "text"))
        whole.finish_reason = _get(choice, "finish_reason") or whole.finish_reason
    found = {name: each for chunk in parsed for name in ("usage", "error") if (each := _get(chunk, name))}
    return SimpleNamespace(choices=list(choices.values()), **found)


def _object(pairs: dict[str, Any]) -> Any:
    return SimpleNamespace(**pairs)


def _plain(value: Any) -> Any:
    """Return an object as JSON has it."""
    dump = getattr(value, "model_dump", None)
    return dump(mode="json", exclude_none=True) if dump else vars(value) if hasattr(value, "__dict__") else str(value)


def _get(holder: Any, name: str) -> Any:
    return holder.get(name) if isinstance(holder, Mapping) else getattr(holder, name, None)


def _count(holder: Any, name: str) -> int:
    value = _get(holder, name)
    try:
        return max(0, int(value)) if isinstance(value, int | float | str) else 0
    except (ValueError, OverflowError):
        return 0
