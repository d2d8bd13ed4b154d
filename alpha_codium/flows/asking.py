"""Questions to the model, asked until the answer can be read.

1. The prompt is rendered, and its `fields` and `code` decide which instructions on the answer's form are added.
2. Fields alone are asked for by JSON schema if the model supports it, else as YAML. Code always stands in a fence of
   its own, so that no YAML or JSON escapes can change it.
3. An unreadable answer is shown to the model again with the reason. After `max_format_retries` of those, when the
   model refuses or its context is full, and when only the budget's last call is left for an answer that holds no
   program, `NoAnswer` is raised: the stage goes on without the answer.
4. Independent questions are asked at once. Their calls begin, and their answers are read, in the order of the
   questions; so the same calls are made in the same order whichever answer comes first, and a sample that is run again
   finds its own answers.
"""

import asyncio
import dataclasses
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from alpha_codium.flows.answers import AnswerSchema, FormatError
from alpha_codium.flows.context import BudgetExhausted, SampleContext
from alpha_codium.flows.extraction import Extracted, extract_code
from alpha_codium.languages import language_named
from alpha_codium.llm.errors import ContentFiltered, ContextOverflow, ModelError
from alpha_codium.llm.gathering import gather_all
from alpha_codium.llm.messages import SEEDS_APART, Answer, ChatRequest, Message
from alpha_codium.log import redact
from alpha_codium.program import PYTHON
from alpha_codium.rendering import Prompt
from alpha_codium.runs.events import FailedCall, ModelAnswer, ModelRefusal, UnreadableAnswer, kept_text

WRITTEN = language_named(PYTHON)
CODE_FORMAT = f"Give the complete {WRITTEN.title} program in one fenced block:\n```{WRITTEN.tag}\n...\n```"
CODE_AFTER_FIELDS = "After that comes what matters most. {asked}"
# Small models stop after the fields; asked for the whole answer again they repeat themselves.
ASK_FOR_PROGRAM = "Now the program. {asked}"
ASK_AGAIN = "I couldn't use that answer: {reason}. Answer once more, in full, in the format asked for."
FILTERED = "a content filter stopped the answer"

T = TypeVar("T")
Refusal = ContentFiltered | ContextOverflow


class NoAnswer(Exception):
    """The model gave no usable answer; the message says why."""


class NoProgram(FormatError):
    """An answer to a prompt for a program contains none."""


@dataclass(frozen=True, slots=True)
class CodeForm:
    """How code is asked for, and how it is read from an answer; by default a whole program."""

    asked: str = CODE_FORMAT
    read: Callable[[str], Extracted | None] = extract_code


WHOLE_PROGRAM = CodeForm()


@dataclass(frozen=True, slots=True)
class Reading:
    """The fields and the code of an answer; the whole text is the value `text` of a prompt that asks for neither."""

    values: dict[str, Any] = field(default_factory=dict)
    code: str = ""


@dataclass(frozen=True, slots=True)
class Question:
    """One prompt and its variables.

    `attempt` counts earlier tries at the same thing: with any, the temperature is higher. `may_be_last` allows the
    budget's last call though the answer is no program, since the sample has one.
    """

    prompt: Prompt
    variables: Mapping[str, Any]
    form: CodeForm = WHOLE_PROGRAM
    attempt: int = 0
    may_be_last: bool = False


async def ask(question: Question, context: SampleContext) -> Reading:
    """Ask until the answer can be read; raises NoAnswer, BudgetExhausted, and what the model client raises."""
    asking = _Asking.of(question, context)
    return await asking.reading(await asking.answer(asking.request))


async def ask_or_skip(step: str, question: Question, context: SampleContext) -> Reading | None:
    """As `ask`; without an answer None, and the transcript says that `step` was skipped."""
    try:
        return await ask(question, context)
    except NoAnswer as error:
        context.skip(step, error)
        return None


async def ask_all(questions: Sequence[Question], context: SampleContext) -> list[Reading | NoAnswer | BudgetExhausted]:
    """Ask all questions at once, and return the result of each; raises what the model client raises for faults."""
    askings = [_Asking.of(question, context) for question in questions]
    answers = await gather_all(_outcome(asking.answer(asking.request)) for asking in askings)
    return [await asking.outcome(answer) for asking, answer in zip(askings, answers, strict=True)]


async def ask_many(
    question: Question, count: int, context: SampleContext
) -> list[Reading | NoAnswer | BudgetExhausted]:
    """Return `count` answers to one question, asked for by one request if the provider can; fewer if the budget ends.

    They count as `count` attempts, the question's being the last. Ends of the budget come last.
    """
    asking = _Asking.of(question, context)
    request = asking.request
    if request.seed is not None:
        request = dataclasses.replace(request, seed=request.seed - SEEDS_APART * (count - 1))
    answers = await asking.answers(request, count)
    outcomes = [await asking.outcome(answer) for answer in answers]
    return sorted(outcomes, key=lambda outcome: isinstance(outcome, BudgetExhausted))


async def _outcome(result: Awaitable[T]) -> T | NoAnswer | BudgetExhausted:
    try:
        return await result
    except (NoAnswer, BudgetExhausted) as error:
        return error


@dataclass(frozen=True, slots=True)
class _Asking:
    """A question with its request, and how its answers are read."""

    question: Question
    context: SampleContext
    schema: AnswerSchema | None
    request: ChatRequest

    @classmethod
    def of(cls, question: Question, context: SampleContext) -> "_Asking":
        prompt = question.prompt
        schema = AnswerSchema.from_table(prompt.name, prompt.fields) if prompt.fields else None
        return cls(question, context, schema, _request(question, context, schema))

    async def answer(self, request: ChatRequest) -> Answer | Refusal:
        """Make one call; a refusal is returned as well."""
        return (await self.answers(request, 1))[0]

    async def answers(self, request: ChatRequest, count: int) -> Sequence[Answer | Refusal]:
        """Ask for several answers by one request; a refusal stands for all of them."""
        prompt, context = self.question.prompt, self.context
        if context.on_last_call and not prompt.code and not self.question.may_be_last:
            raise NoAnswer(f"{prompt.name}: the last call is kept for a program")
        context.calls += 1
        try:
            answers: Sequence[Answer | Refusal] = await context.model.ask_many(request, count)
        except (ContentFiltered, ContextOverflow) as error:
            return [error]
        except ModelError as fault:
            context.events.append(FailedCall(prompt.name, type(fault).__name__, redact(str(fault))))
            raise
        context.calls += len(answers) - 1
        return answers

    async def outcome(
        self, answer: Answer | Refusal | NoAnswer | BudgetExhausted
    ) -> Reading | NoAnswer | BudgetExhausted:
        """As `reading`, but return the errors with which a stage goes on."""
        if isinstance(answer, NoAnswer | BudgetExhausted):
            return answer
        return await _outcome(self.reading(answer))

    async def reading(self, answer: Answer | Refusal) -> Reading:
        """Read an answer; ask again as long as it can't be read."""
        prompt, form = self.question.prompt, self.question.form
        request, reason = self.request, ""
        for left in range(self.context.settings.solve.max_format_retries, -1, -1):
            given = self._recorded(request, answer)
            try:
                # A huge answer can take seconds to read: not in the event loop.
                return await asyncio.to_thread(_read, given, self.schema, form if prompt.code else None)
            except FormatError as error:
                self.context.events.append(UnreadableAnswer(prompt.name, str(error)))
                reason = f"it was cut off, so be shorter; {error}" if given.truncated else str(error)
                no_program = isinstance(error, NoProgram) and not given.truncated
                again = ASK_FOR_PROGRAM.format(asked=form.asked) if no_program else ASK_AGAIN.format(reason=reason)
            if left:
                begun = self.request.messages
                messages = (*begun, Message("assistant", given.text), Message("user", again))
                request = dataclasses.replace(request, messages=messages)
                answer = await self.answer(request)
        raise NoAnswer(f"{prompt.name}: no readable answer ({reason})")

    def _recorded(self, request: ChatRequest, answer: Answer | Refusal) -> Answer:
        """Add the answer to the transcript; raises NoAnswer for a refusal."""
        name = self.question.prompt.name
        if not isinstance(answer, Answer) or answer.filtered:
            why = FILTERED if isinstance(answer, Answer) else str(answer)
            self.context.events.append(ModelRefusal(name, why))
            raise NoAnswer(f"{name}: {why}")
        self.context.events.append(
            ModelAnswer(
                name,
                tuple({"role": m.role, "content": m.content} for m in request.messages),
                text=kept_text(answer.text),
                reasoning=kept_text(answer.reasoning),
                model=answer.model,
                prompt_tokens=answer.prompt_tokens,
                completion_tokens=answer.completion_tokens,
                latency_seconds=answer.latency_seconds,
                finish_reason=answer.finish_reason,
                temperature=request.temperature,
            )
        )
        return answer


def _request(question: Question, context: SampleContext, schema: AnswerSchema | None) -> ChatRequest:
    config, prompt, asked = context.settings.config, question.prompt, question.form.asked
    model = config.model_by_prompt.get(prompt.name) or context.variation.first_of(config.rotate_models)
    by_schema = False
    if schema is not None and not prompt.code:
        by_schema = config.structured_output == "json_schema" or (
            config.structured_output == "auto" and context.model.supports_json_schema(model)
        )
    system, user = prompt.render(question.variables)
    form = [schema.instructions("json_schema" if by_schema else "yaml")] if schema else []
    if prompt.code:
        form.append(CODE_AFTER_FIELDS.format(asked=asked) if schema else asked)
    messages = [Message("system", system)] if system else []
    messages.append(Message("user", "\n\n".join([user, *form])))
    varied = context.variation.temperature(prompt.temperature, question.attempt)
    sample = context.variation.sample_index
    return ChatRequest(
        messages=tuple(messages),
        temperature=varied if config.temperature is None else config.temperature,
        top_p=config.top_p,
        max_tokens=config.max_tokens,
        seed=None if config.seed is None else config.seed + sample + SEEDS_APART * question.attempt,
        frequency_penalty=config.frequency_penalty or None,
        json_schema=schema.json_schema() if schema and by_schema else None,
        extra=dict(config.extra),
        model=model,
    )


def _read(answer: Answer, schema: AnswerSchema | None, form: CodeForm | None) -> Reading:
    """Read fields and code; beside code, fields that can't be read are left out."""
    if form is None:
        return Reading(schema.parse(answer.text, truncated=answer.truncated) if schema else {"text": answer.text})
    found = form.read(answer.text)
    if found is None or not found.code.strip():
        raise NoProgram("there is no Python program in it")
    if not found.complete and answer.truncated:
        raise FormatError("the program isn't finished")
    try:
        values = schema.parse(answer.text, truncated=answer.truncated) if schema else {}
    except FormatError:
        values = {}
    return Reading(values, found.code)
