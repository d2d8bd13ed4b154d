"""Questions to the model, repeated until the answer can be read.

1. The prompt is rendered, followed by instructions on the answer's format, which depend on its `fields` and `code`.
2. Fields without code are requested by a JSON schema if the model supports it, else as YAML. Code is always in its own
   fence, so that no YAML or JSON escapes can change it.
3. If an answer is unreadable, the model gets it back with the reason, and is asked again. `NoAnswer` is raised after
   `max_format_retries` repetitions, if the model refuses, if its context is full, or if the budget's last call would be
   used for a question that doesn't ask for a program. The stage then continues without the answer.
4. Independent questions are asked concurrently. Calls start, and answers are read, in the order of the questions, so
   that a sample that is run again makes the same calls in the same order and finds its stored answers.
"""

import asyncio
import dataclasses
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar

from alpha_codium.flows.answers import AnswerSchema, FormatError
from alpha_codium.flows.context import BudgetExhausted, SampleContext
from alpha_codium.flows.extraction import Extracted, extract_code
from alpha_codium.languages import Language
from alpha_codium.llm.errors import ContentFiltered, ContextOverflow, ModelError
from alpha_codium.llm.gathering import gather_all
from alpha_codium.llm.messages import SEEDS_APART, Answer, ChatRequest, Message, with_seed_of
from alpha_codium.log import redact
from alpha_codium.rendering import Prompt
from alpha_codium.runs.events import FailedCall, ModelAnswer, ModelRefusal, UnreadableAnswer, kept_text

CODE_FORMAT = "Give the complete {title} program in one fenced block:\n```{tag}\n...\n```"
CODE_AFTER_FIELDS = "After that comes what matters most. {asked}"
# Small models stop after the fields, and would only repeat them if asked for the whole answer again.
ASK_FOR_PROGRAM = "Now the program. {asked}"
ASK_AGAIN = "I couldn't use that answer: {reason}. Answer once more, in full, in the format asked for."
FILTERED = "a content filter stopped the answer"

T = TypeVar("T")
Refusal = ContentFiltered | ContextOverflow


class NoAnswer(Exception):
    """The model gave no usable answer; the message says why."""


class NoProgram(FormatError):
    """The answer to a prompt for a program doesn't contain one."""


@dataclass(frozen=True, slots=True)
class CodeForm:
    """The request for code in a prompt, and the function that reads it from an answer; `title` is its language's."""

    asked: str
    read: Callable[[str], Extracted | None]
    title: str


def whole_program(language: Language) -> CodeForm:
    """Return the form of a whole program."""
    read = partial(extract_code, language=language.name)
    return CodeForm(CODE_FORMAT.format(title=language.title, tag=language.tag), read, language.title)


NO_CODE = CodeForm("", lambda _answer: None, "")


@dataclass(frozen=True, slots=True)
class Reading:
    """The fields and the code of an answer; if the prompt asks for neither, the field `text` is the whole answer."""

    values: dict[str, Any] = field(default_factory=dict)
    code: str = ""


@dataclass(frozen=True, slots=True)
class Question:
    """One prompt and its variables.

    `form` is needed if the prompt asks for code. `attempt` is the number of earlier attempts at the same thing, which
    raise the temperature. `may_be_last` allows the budget's last call to be used although the prompt doesn't ask for a
    program, because the sample already has one.
    """

    prompt: Prompt
    variables: Mapping[str, Any]
    form: CodeForm = NO_CODE
    attempt: int = 0
    may_be_last: bool = False


async def ask(question: Question, context: SampleContext) -> Reading:
    """Ask until the answer can be read; raises NoAnswer, BudgetExhausted, and the errors of the model client."""
    prepared = _PreparedQuestion.of(question, context)
    return await prepared.reading(await prepared.answer(prepared.request))


async def ask_or_skip(step: str, question: Question, context: SampleContext) -> Reading | None:
    """Ask a question; without an answer, record in the transcript that `step` was skipped, and return None."""
    try:
        return await ask(question, context)
    except NoAnswer as error:
        context.skip(step, error)
        return None


async def ask_all(questions: Sequence[Question], context: SampleContext) -> list[Reading | NoAnswer | BudgetExhausted]:
    """Ask all questions concurrently, and return the result of each; raises the errors of the model client."""
    prepared = [_PreparedQuestion.of(question, context) for question in questions]
    answers = await gather_all(_outcome(each.answer(each.request)) for each in prepared)
    return [await each.outcome(answer) for each, answer in zip(prepared, answers, strict=True)]


async def ask_many(
    question: Question, count: int, context: SampleContext
) -> list[Reading | NoAnswer | BudgetExhausted]:
    """Return `count` answers to one question, by one request if the provider supports that; fewer if the budget ends.

    They count as `count` attempts, of which `question.attempt` is the last. BudgetExhausted results are at the end.
    """
    prepared = _PreparedQuestion.of(question, context)
    request = prepared.request
    if request.seed is not None:
        request = dataclasses.replace(request, seed=request.seed - SEEDS_APART * (count - 1))
    answers = await prepared.answers(request, count)
    outcomes = [await prepared.outcome(answer) for answer in answers]
    return sorted(outcomes, key=lambda outcome: isinstance(outcome, BudgetExhausted))


async def _outcome(result: Awaitable[T]) -> T | NoAnswer | BudgetExhausted:
    try:
        return await result
    except (NoAnswer, BudgetExhausted) as error:
        return error


@dataclass(frozen=True, slots=True)
class _PreparedQuestion:
    """A question with its schema and its request."""

    question: Question
    context: SampleContext
    schema: AnswerSchema | None
    request: ChatRequest

    @classmethod
    def of(cls, question: Question, context: SampleContext) -> "_PreparedQuestion":
        prompt = question.prompt
        schema = AnswerSchema.from_table(prompt.name, prompt.fields) if prompt.fields else None
        return cls(question, context, schema, _request(question, context, schema))

    async def answer(self, request: ChatRequest) -> Answer | Refusal:
        """Make one call; a refusal is returned, not raised."""
        return (await self.answers(request, 1))[0]

    async def answers(self, request: ChatRequest, count: int) -> Sequence[Answer | Refusal]:
        """Ask for several answers by one request; a refusal is returned once for all of them."""
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
        """Do the same as `reading`, but return NoAnswer and BudgetExhausted instead of raising them."""
        if isinstance(answer, NoAnswer | BudgetExhausted):
            return answer
        return await _outcome(self.reading(answer))

    async def reading(self, answer: Answer | Refusal) -> Reading:
        """Read an answer, or ask again if it can't be read; raises NoAnswer when no retry is left."""
        prompt, form = self.question.prompt, self.question.form
        request, reason = self.request, ""
        retries = self.context.settings.solve.max_format_retries
        for left in range(retries, -1, -1):
            given = self._recorded(request, answer)
            try:
                # In a thread, since a huge answer can take seconds to read.
                return await asyncio.to_thread(_read, given, self.schema, form if prompt.code else None)
            except FormatError as error:
                self.context.events.append(UnreadableAnswer(prompt.name, str(error)))
                reason = f"it was cut off, allow more by --max_tokens; {error}" if given.truncated else str(error)
                told = f"it was cut off, so be shorter; {error}" if given.truncated else str(error)
                no_program = isinstance(error, NoProgram) and not given.truncated
                again = ASK_FOR_PROGRAM.format(asked=form.asked) if no_program else ASK_AGAIN.format(reason=told)
            if left:
                messages = (*self.request.messages, Message("assistant", given.text), Message("user", again))
                # With the same seed, the same question would get the same unreadable answer again.
                request = with_seed_of(dataclasses.replace(self.request, messages=messages), retries - left + 1)
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
                text=kept_text(answer.text or answer.raw),
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
    rotated = context.variation.rotate(config.rotate_models)
    model = config.model_by_prompt.get(prompt.name) or next(iter(rotated), "")
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
    """Read fields and code; if there is code, unreadable fields are ignored."""
    if form is None:
        return Reading(schema.parse(answer.text, truncated=answer.truncated) if schema else {"text": answer.text})
    found = form.read(answer.text)
    if found is None or not found.code.strip():
        raise NoProgram(f"there is no {form.title} program in it")
    if not found.complete and answer.truncated:
        raise FormatError("the program isn't finished")
    try:
        values = schema.parse(answer.text, truncated=answer.truncated) if schema else {}
    except FormatError:
        values = {}
    return Reading(values, found.code)
