"""Questions to the model, repeated until the answer can be read.

1. The prompt is rendered, followed by instructions on the answer's format, which depend on its `fields` and `code`.
2. Fields without code are requested by a JSON schema if the model supports it, else as YAML. Code is always in its own
   fence, so that no YAML or JSON escapes can change it.
3. If an answer is unreadable, the model gets it back with the reason, and is asked again. `NoAnswer` is raised after
   `max_format_retries` repetitions, if the model refuses, if its context is full, or if the budget's last call would be
   used for a question that doesn't ask for a program. The stage then continues without the answer.
4. No two requests of a sample are the same (see `variation.Attempts`). A request that could only repeat an answer isn't
   made, and saves its call.
5. A prompt may let the model object to the question; see `Question.objection`.
6. Independent questions are asked concurrently. Calls start, and answers are read, in the order of the questions, so
   that a sample that is run again makes the same calls in the same order and finds its stored answers.
"""

import asyncio
import dataclasses
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar

from alpha_codium.answers.extraction import Extracted, extract_code
from alpha_codium.answers.fences import clean
from alpha_codium.answers.structured import AnswerSchema, FormatError
from alpha_codium.coroutines import gather_all
from alpha_codium.flows.context import BudgetExhausted, SampleContext
from alpha_codium.languages import Language
from alpha_codium.llm.errors import ContentFiltered, ContextOverflow, ModelError
from alpha_codium.llm.messages import SEEDS_APART, Answer, ChatRequest, Message
from alpha_codium.log import redact
from alpha_codium.rendering import Prompt
from alpha_codium.runs.events import FailedCall, ModelAnswer, ModelRefusal, UnreadableAnswer, kept_text

CODE_FORMAT = "Give the complete {title} program in one fenced block:\n```{tag}\n...\n```"
CODE_AFTER_FIELDS = "Then comes the most important part. {asked}"
# Small models stop after the fields, and would only repeat them if asked for the whole answer again.
ASK_FOR_PROGRAM = "Now the program. {asked}"
ASK_AGAIN = "I couldn't use that answer: {reason}. Answer again, in full, in the format that was asked for."
FILTERED = "a content filter stopped the answer"
REPEATED = "the model could only repeat an earlier answer, since the temperature is fixed"

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
    """The fields and the code of an answer; if the prompt asks for neither, the field `text` is the whole answer.

    If the model `objected` to the question, there are none.
    """

    values: dict[str, Any] = field(default_factory=dict)
    code: str = ""
    objected: bool = False


@dataclass(frozen=True, slots=True)
class Question:
    """One prompt and its variables.

    `form` is needed if the prompt asks for code. `attempt` is the number of earlier attempts at the same thing, which
    raise the temperature. `may_be_last` allows the budget's last call to be used although the prompt doesn't ask for a
    program, because the sample already has one. `objection` is what the prompt asks the model to write, on a line of
    its own or as the value of a field, if it objects to the question; "" means that it can't.
    """

    prompt: Prompt
    variables: Mapping[str, Any]
    form: CodeForm = NO_CODE
    attempt: int = 0
    may_be_last: bool = False
    objection: str = ""


async def ask(question: Question, context: SampleContext) -> Reading:
    """Ask until the answer can be read; raises NoAnswer, BudgetExhausted, and the errors of the model client."""
    prepared = _PreparedQuestion.of(question, context)
    return await prepared.reading(await prepared.call())


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
    calls = await gather_all(_outcome(each.call()) for each in prepared)
    return [
        await _outcome(each.reading(call)) if isinstance(call, _Call) else call
        for each, call in zip(prepared, calls, strict=True)
    ]


async def ask_many(
    question: Question, count: int, context: SampleContext
) -> list[Reading | NoAnswer | BudgetExhausted]:
    """Return `count` answers to one question, by one request if the provider supports that; fewer if the budget ends,
    or if all answers would be the same.

    They count as `count` attempts, of which `question.attempt` is the last. BudgetExhausted results are at the end.
    """
    prepared = _PreparedQuestion.of(question, context)
    try:
        calls = await prepared.calls((), 1 if context.attempts.repeats_answers else count)
    except NoAnswer as error:
        return [error]
    outcomes = [await _outcome(prepared.reading(call)) for call in calls]
    return sorted(outcomes, key=lambda outcome: isinstance(outcome, BudgetExhausted))


async def _outcome(result: Awaitable[T]) -> T | NoAnswer | BudgetExhausted:
    try:
        return await result
    except (NoAnswer, BudgetExhausted) as error:
        return error


@dataclass(frozen=True, slots=True)
class _Call:
    """A request, and its answer or the refusal."""

    request: ChatRequest
    answer: Answer | Refusal


@dataclass(frozen=True, slots=True)
class _PreparedQuestion:
    """A question with its schema and its request, whose temperature and seed depend on the attempt."""

    question: Question
    context: SampleContext
    schema: AnswerSchema | None
    request: ChatRequest

    @classmethod
    def of(cls, question: Question, context: SampleContext) -> "_PreparedQuestion":
        prompt = question.prompt
        schema = AnswerSchema.from_table(prompt.name, prompt.fields) if prompt.fields else None
        return cls(question, context, schema, _request(question, context, schema))

    async def call(self, added: Sequence[Message] = (), retry: int = 0) -> _Call:
        """Make one call, with messages `added` for a `retry`; a refusal is returned, not raised."""
        return (await self.calls(added, 1, retry))[0]

    async def calls(self, added: Sequence[Message], count: int, retry: int = 0) -> Sequence[_Call]:
        """Ask for several answers by one request; a refusal is returned once for all of them.

        Raises NoAnswer if the call would be wasted, or is kept for a program.
        """
        prompt, context = self.question.prompt, self.context
        if context.on_last_call and not prompt.code and not self.question.may_be_last:
            raise NoAnswer(f"{prompt.name}: the last call is kept for a program")
        asked = dataclasses.replace(self.request, messages=(*self.request.messages, *added))
        request = context.attempts.new(asked, prompt.temperature, self.question.attempt, retry)
        if request is None:
            raise NoAnswer(f"{prompt.name}: {REPEATED}")
        if request.seed is not None:
            request = dataclasses.replace(request, seed=request.seed - SEEDS_APART * (count - 1))
        return [_Call(request, answer) for answer in await self._answers(request, count)]

    async def _answers(self, request: ChatRequest, count: int) -> Sequence[Answer | Refusal]:
        context = self.context
        context.calls += 1
        try:
            answers: Sequence[Answer | Refusal] = await context.model.ask_many(request, count)
        except (ContentFiltered, ContextOverflow) as error:
            return [error]
        except ModelError as fault:
            name = self.question.prompt.name
            context.events.append(FailedCall(name, type(fault).__name__, redact(str(fault))))
            raise
        context.calls += len(answers) - 1
        return answers

    async def reading(self, call: _Call) -> Reading:
        """Read an answer, or ask again if it can't be read; raises NoAnswer when no retry is left."""
        prompt, form = self.question.prompt, self.question.form
        reason = ""
        retries = self.context.settings.solve.max_format_retries
        for retry in range(retries + 1):
            given = self._recorded(call)
            try:
                # In a thread, since a huge answer can take seconds to read.
                return await asyncio.to_thread(_read, given, self.schema, self.question)
            except FormatError as error:
                self.context.events.append(UnreadableAnswer(prompt.name, str(error)))
                reason = f"it was cut off, allow more by config.max_tokens; {error}" if given.truncated else str(error)
                told = f"it was cut off, so be shorter; {error}" if given.truncated else str(error)
                no_program = isinstance(error, NoProgram) and not given.truncated
                again = ASK_FOR_PROGRAM.format(asked=form.asked) if no_program else ASK_AGAIN.format(reason=told)
            if retry < retries:
                call = await self.call((Message("assistant", given.text), Message("user", again)), retry + 1)
        raise NoAnswer(f"{prompt.name}: no readable answer ({reason})")

    def _recorded(self, call: _Call) -> Answer:
        """Add the answer to the transcript; raises NoAnswer for a refusal."""
        name, request, answer = self.question.prompt.name, call.request, call.answer
        if not isinstance(answer, Answer) or answer.filtered:
            why = FILTERED if isinstance(answer, Answer) else str(answer)
            self.context.events.append(ModelRefusal(name, why))
            raise NoAnswer(f"{name}: {why}")
        self.context.events.append(answer_event(name, request, answer))
        return answer


def answer_event(prompt: str, request: ChatRequest, answer: Answer) -> ModelAnswer:
    """Return the entry of a transcript for an answer to a prompt."""
    return ModelAnswer(
        prompt,
        tuple({"role": message.role, "content": message.content} for message in request.messages),
        text=kept_text(answer.text or answer.raw),
        reasoning=kept_text(answer.reasoning),
        model=answer.model,
        prompt_tokens=answer.prompt_tokens,
        completion_tokens=answer.completion_tokens,
        latency_seconds=answer.latency_seconds,
        finish_reason=answer.finish_reason,
        temperature=request.temperature,
    )


def _request(question: Question, context: SampleContext, schema: AnswerSchema | None) -> ChatRequest:
    """Return the request without its temperature and seed."""
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
    return ChatRequest(
        messages=tuple(messages),
        top_p=config.top_p,
        max_tokens=config.max_tokens,
        frequency_penalty=config.frequency_penalty or None,
        json_schema=schema.json_schema() if schema and by_schema else None,
        extra=dict(config.extra),
        model=model,
    )


def _read(answer: Answer, schema: AnswerSchema | None, question: Question) -> Reading:
    """Read fields and code; if there is code, unreadable fields are ignored."""
    if question.objection and objects(answer.text, question.objection):
        return Reading(objected=True)
    if not question.prompt.code:
        return Reading(schema.parse(answer.text, truncated=answer.truncated) if schema else {"text": answer.text})
    form = question.form
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


def objects(answer: str, objection: str) -> bool:
    """Return whether an objection begins a line of an answer, or the value of a field, after any thinking."""
    return bool(re.search(rf"(?:^|[\w\"'`]:)[^\w\n]*(?<!\w){re.escape(objection)}(?!\w)", clean(answer), re.MULTILINE))
