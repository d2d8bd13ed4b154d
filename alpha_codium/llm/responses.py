"""Conversion of litellm's responses to answers.

1. Reasoning is separated from the answer. It is in a separate field, or in `<think>...</think>` before the answer. If
   the server puts the opening tag into the prompt, the text has only the closing one. If the text was cut off during
   the reasoning, it has only the opening one.
2. A text longer than `MAX_CHARACTERS` is cut off, and the answer counts as truncated.
3. Providers report one sum of tokens for several answers. It is divided evenly; the first answer has the prompt tokens.
"""

from typing import Any

from alpha_codium.llm.errors import TransientError
from alpha_codium.llm.messages import Answer
from alpha_codium.thinking import split_thinking

MAX_CHARACTERS = 1_000_000


def answers_of(response: Any, model: str, cost: float | None, seconds: float) -> list[Answer]:
    """Return the answers in a response; `cost` is in US dollars. Raises TransientError if there are none."""
    if not response.choices:
        raise TransientError(f"{model}: the response has no choices", cause="malformed")
    usage, n = getattr(response, "usage", None), len(response.choices)
    prompt, written = _count(usage, "prompt_tokens"), _count(usage, "completion_tokens")
    cached = _count(getattr(usage, "prompt_tokens_details", None), "cached_tokens")
    answers = []
    for number, choice in enumerate(response.choices):
        text, reasoning, finish_reason = _parts(choice)
        answer = Answer(
            text=text,
            model=model,
            finish_reason=finish_reason,
            prompt_tokens=0 if number else prompt,
            completion_tokens=written // n + (number < written % n),
            cost=None if cost is None else cost / n,
            latency_seconds=seconds,
            reasoning=reasoning,
            cached_tokens=0 if number else cached,
        )
        answers.append(answer)
    return answers


def refuse_made_up(response: Any, model: str) -> None:
    """Raise TransientError if a base model's server sent no choices: litellm then adds one whose text is None."""
    if any(choice.message.content is None for choice in response.choices):
        raise TransientError(f"{model}: the response has no choices", cause="malformed")


def split_reasoning(text: str) -> tuple[str, str]:
    """Return the answer in a text, and the reasoning in it."""
    answer, reasoning = split_thinking(text)
    return (answer.lstrip(), reasoning) if len(answer) < len(text) else (text, "")


def _parts(choice: Any) -> tuple[str, str, str]:
    """Return the text, the reasoning and the finish reason."""
    finish_reason = choice.finish_reason or "stop"
    separate, content = getattr(choice.message, "reasoning_content", None) or "", choice.message.content or ""
    if len(content) > MAX_CHARACTERS:
        content, finish_reason = content[:MAX_CHARACTERS], "length"
    text, thoughts = split_reasoning(content)
    reasoning = "\n".join(part for part in (separate, thoughts) if part)
    return text, reasoning[:MAX_CHARACTERS], finish_reason


def _count(holder: Any, name: str) -> int:
    value = getattr(holder, name, 0)
    return value if isinstance(value, int) and value > 0 else 0
