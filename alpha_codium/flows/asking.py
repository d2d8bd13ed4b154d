"""One question to the model, asked until the answer can be read.

1. The prompt is rendered; what the answer must look like is added from its `fields` and `code`.
2. Fields alone are asked for by JSON schema where the model can be held to one, else as YAML. Code always stands in
   a fence of its own, so that no YAML or JSON escapes can change it.
3. An answer that can't be read is shown to the model again with the reason. After `max_format_retries` of those,
   when the model refuses or its context is full, and where only the budget's last call is left and the answer would
   be no program, `NoAnswer` is raised: the stage goes on without it.
"""

import asyncio
import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from alpha_codium.flows.answers import AnswerSchema, FormatError
from alpha_codium.flows.context import SampleContext
from alpha_codium.flows.extraction import Extracted, extract_code
from alpha_codium.llm.errors import ContentFiltered, ContextOverflow
from alpha_codium.llm.messages import Answer, ChatRequest, Message
from alpha_codium.rendering import Prompt

CODE_FORMAT = "Give the complete Python 3 program in one fenced block:\n```python\n...\n```"
CODE_AFTER_FIELDS = "After that comes what matters most. {asked}"
# Small models stop after the fields; asked for the whole answer again they repeat themselves.
NO_PROGRAM = "there is no Python program in it"
ASK_FOR_PROGRAM = "Now the program. {asked}"
ASK_AGAIN = "I couldn't use that answer: {reason}. Answer once more, in full, in the format asked for."


class NoAnswer(Exception):
    """The model gave no answer that can be used; the message says why."""


@dataclass(frozen=True, slots=True)
class CodeForm:
    """How code is asked for, and how it is read from an answer; as shipped, a whole program."""

    asked: str = CODE_FORMAT
    read: Callable[[str], Extracted | None] = extract_code


WHOLE_PROGRAM = CodeForm()


@dataclass(frozen=True, slots=True)
class Reading:
    """What was read from an answer."""

    values: dict[str, Any] = field(default_factory=dict)
    code: str = ""


async def ask(
    prompt: Prompt, variables: Mapping[str, Any], context: SampleContext, form: CodeForm = WHOLE_PROGRAM
) -> Reading:
    """Ask until the answer can be read; raises NoAnswer, BudgetExhausted, and what the model client raises."""
    schema = AnswerSchema.from_table(prompt.name, prompt.fields) if prompt.fields else None
    by_schema = schema is not None and not prompt.code and _holds_to_schema(context)
    request = _request(prompt, variables, context, schema, by_schema, form)
    reason = ""
    for _ in range(1 + context.settings.solve.max_format_retries):
        answer = await _answer(prompt, request, context)
        try:
            # A huge answer can take seconds to read: not in the event loop.
            return await asyncio.to_thread(_read, answer, schema, form if prompt.code else None)
        except FormatError as error:
            context.record(prompt.name, unreadable=str(error))
            reason = f"it was cut off, so be shorter; {error}" if answer.truncated else str(error)
            request = _asked_again(request, answer.text, reason, form)
    raise NoAnswer(f"{prompt.name}: no readable answer ({reason})")


def _holds_to_schema(context: SampleContext) -> bool:
    wanted = context.settings.config.structured_output
    return wanted == "json_schema" or (wanted == "auto" and context.model.supports_json_schema)


def _request(
    prompt: Prompt,
    variables: Mapping[str, Any],
    context: SampleContext,
    schema: AnswerSchema | None,
    by_schema: bool,
    code_form: CodeForm,
) -> ChatRequest:
    config = context.settings.config
    system, user = prompt.render(variables)
    form = [schema.instructions("json_schema" if by_schema else "yaml")] if schema else []
    if prompt.code:
        form.append(CODE_AFTER_FIELDS.format(asked=code_form.asked) if schema else code_form.asked)
    messages = [Message("system", system)] if system else []
    messages.append(Message("user", "\n\n".join([user, *form])))
    own = prompt.temperature if config.temperature is None else config.temperature
    return ChatRequest(
        messages=tuple(messages),
        temperature=own if config.temperature is not None else context.variation.temperature(own),
        top_p=config.top_p,
        max_tokens=config.max_tokens,
        seed=None if config.seed is None else config.seed + context.variation.sample_index,
        frequency_penalty=config.frequency_penalty or None,
        json_schema=schema.json_schema() if schema and by_schema else None,
        extra=dict(config.extra),
    )


async def _answer(prompt: Prompt, request: ChatRequest, context: SampleContext) -> Answer:
    if context.on_last_call and not prompt.code:
        raise NoAnswer(f"{prompt.name}: the last call is kept for a program")
    context.calls += 1
    try:
        answer = await context.model.ask(request)
    except (ContentFiltered, ContextOverflow) as error:
        context.record(prompt.name, refused=str(error))
        raise NoAnswer(f"{prompt.name}: {error}") from error
    context.record(
        prompt.name,
        messages=[{"role": m.role, "content": m.content} for m in request.messages],
        answer=answer.text,
        reasoning=answer.reasoning,
        model=answer.model,
        prompt_tokens=answer.prompt_tokens,
        completion_tokens=answer.completion_tokens,
        latency_seconds=answer.latency_seconds,
        finish_reason=answer.finish_reason,
        temperature=request.temperature,
    )
    return answer


def _read(answer: Answer, schema: AnswerSchema | None, form: CodeForm | None) -> Reading:
    """Read fields and code; where there is code, fields that can't be read are left out rather than missed."""
    if form is None:
        return Reading(schema.parse(answer.text, truncated=answer.truncated) if schema else {"text": answer.text})
    found = form.read(answer.text)
    if found is None or not found.code.strip():
        raise FormatError(NO_PROGRAM)
    if not found.complete and answer.truncated:
        raise FormatError("the program isn't finished")
    try:
        values = schema.parse(answer.text, truncated=answer.truncated) if schema else {}
    except FormatError:
        values = {}
    return Reading(values, found.code)


def _asked_again(request: ChatRequest, text: str, reason: str, form: CodeForm) -> ChatRequest:
    asked = 1 + (request.messages[0].role == "system")
    no_program = reason == NO_PROGRAM
    please = ASK_FOR_PROGRAM.format(asked=form.asked) if no_program else ASK_AGAIN.format(reason=reason)
    again = (Message("assistant", text), Message("user", please))
    return dataclasses.replace(request, messages=(*request.messages[:asked], *again))
