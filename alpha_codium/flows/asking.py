"""One question to the model, asked until the answer can be read.

1. The prompt is rendered; what the answer must look like is added from its `fields` and `code`.
2. Fields alone are asked for by JSON schema where the model can be held to one, else as YAML. Code always stands in
   a fence of its own, so that no YAML or JSON escapes can change it.
3. An answer that can't be read is shown to the model again with the reason. After `max_format_retries` of those,
   when the model refuses or its context is full, and where only the budget's last call is left and the answer would
   be no program, `NoAnswer` is raised: the stage goes on without it.
4. Questions that don't wait for one another are asked at once. Their calls are begun in the order of the questions, and
   the answers read in it; one that can't be read is asked again for when its turn comes. So the same calls are made in
   the same order whichever answer comes first, and a sample that is run again finds its own answers.
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
from alpha_codium.llm.messages import Answer, ChatRequest, Message
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
# Between the seeds of one sample's attempts stand those of the other samples.
SEEDS = 1_000_000

T = TypeVar("T")
Refusal = ContentFiltered | ContextOverflow


class NoAnswer(Exception):
    """The model gave no answer that can be used; the message says why."""


class NoProgram(FormatError):
    """An answer to a prompt for a program holds none."""


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


@dataclass(frozen=True, slots=True)
class Question:
    """One prompt and what goes into it.

    `attempt` counts the tries at one thing: all but the first (0) are asked at a higher temperature. `may_be_last`: the
    budget's last call may go to it, though its answer is no program, since the sample has one.
    """

    prompt: Prompt
    variables: Mapping[str, Any]
    form: CodeForm = WHOLE_PROGRAM
    attempt: int = 0
    may_be_last: bool = False


async def ask(
    prompt: Prompt, variables: Mapping[str, Any], context: SampleContext, form: CodeForm = WHOLE_PROGRAM
) -> Reading:
    """Ask until the answer can be read; raises NoAnswer, BudgetExhausted, and what the model client raises."""
    return await ask_question(Question(prompt, variables, form), context)


async def ask_question(question: Question, context: SampleContext) -> Reading:
    """As `ask`."""
    asking = _Asking.of(question, context)
    return await asking.reading(await asking.answer(asking.request))


async def ask_all(questions: Sequence[Question], context: SampleContext) -> list[Reading | NoAnswer | BudgetExhausted]:
    """What came of each question, all asked at once; raises what the model client raises for faults."""
    askings = [_Asking.of(question, context) for question in questions]
    answers = await gather_all(_outcome(asking.answer(asking.request)) for asking in askings)
    return [await asking.outcome(answer) for asking, answer in zip(askings, answers, strict=True)]


async def ask_many(
    question: Question, count: int, context: SampleContext
) -> list[Reading | NoAnswer | BudgetExhausted]:
    """So many answers to one question, by one request where the provider has that; fewer where the budget ends.

    They are that many attempts, of which the question's is the last. Ends of the budget stand behind what was read.
    """
    asking = _Asking.of(question, context)
    request = asking.request
    if request.seed is not None:
        request = dataclasses.replace(request, seed=request.seed - SEEDS * (count - 1))
    try:
        answers: Sequence[Answer | Refusal] = await context.model.ask_many(request, count)
    except (ContentFiltered, ContextOverflow) as error:
        answers = [error]
    except ModelError as fault:
        asking.record_fault(fault)
        raise
    context.calls += len(answers)
    outcomes = [await asking.outcome(answer) for answer in answers]
    return sorted(outcomes, key=lambda outcome: isinstance(outcome, BudgetExhausted))


async def _outcome(result: Awaitable[T]) -> T | NoAnswer | BudgetExhausted:
    try:
        return await result
    except (NoAnswer, BudgetExhausted) as error:
        return error


@dataclass(frozen=True, slots=True)
class _Asking:
    """A question on its way: the request that it makes, and how its answers are read."""

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
        """One call; a refusal is an answer, too."""
        prompt = self.question.prompt
        if self.context.on_last_call and not prompt.code and not self.question.may_be_last:
            raise NoAnswer(f"{prompt.name}: the last call is kept for a program")
        self.context.calls += 1
        try:
            return await self.context.model.ask(request)
        except (ContentFiltered, ContextOverflow) as error:
            return error
        except ModelError as fault:
            self.record_fault(fault)
            raise

    def record_fault(self, fault: ModelError) -> None:
        """Add to the transcript that a call got no answer."""
        message = redact(str(fault))
        self.context.events.append(FailedCall(self.question.prompt.name, type(fault).__name__, message))

    async def outcome(
        self, answer: Answer | Refusal | NoAnswer | BudgetExhausted
    ) -> Reading | NoAnswer | BudgetExhausted:
        """As `reading`, with the ends that a stage lives with as values."""
        if isinstance(answer, NoAnswer | BudgetExhausted):
            return answer
        return await _outcome(self.reading(answer))

    async def reading(self, answer: Answer | Refusal) -> Reading:
        """What an answer says; it is asked for again as long as it can't be read."""
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
                please = _plea(error, reason, form, truncated=given.truncated)
            if left:
                request = _asked_again(request, given.text, please)
                answer = await self.answer(request)
        raise NoAnswer(f"{prompt.name}: no readable answer ({reason})")

    def _recorded(self, request: ChatRequest, answer: Answer | Refusal) -> Answer:
        """The answer, in the transcript from now on; raises NoAnswer for a refusal."""
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


def _holds_to_schema(context: SampleContext, model: str) -> bool:
    wanted = context.settings.config.structured_output
    return wanted == "json_schema" or (wanted == "auto" and context.model.supports_json_schema(model))


def _request(question: Question, context: SampleContext, schema: AnswerSchema | None) -> ChatRequest:
    config, prompt, asked = context.settings.config, question.prompt, question.form.asked
    model = config.model_by_prompt.get(prompt.name) or context.variation.first_of(config.rotate_models)
    by_schema = schema is not None and not prompt.code and _holds_to_schema(context, model)
    system, user = prompt.render(question.variables)
    form = [schema.instructions("json_schema" if by_schema else "yaml")] if schema else []
    if prompt.code:
        form.append(CODE_AFTER_FIELDS.format(asked=asked) if schema else asked)
    messages = [Message("system", system)] if system else []
    messages.append(Message("user", "\n\n".join([user, *form])))
    varied = context.variation.temperature(prompt.temperature, question.attempt)
    return ChatRequest(
        messages=tuple(messages),
        temperature=varied if config.temperature is None else config.temperature,
        top_p=config.top_p,
        max_tokens=config.max_tokens,
        seed=None if config.seed is None else config.seed + context.variation.sample_index + SEEDS * question.attempt,
        frequency_penalty=config.frequency_penalty or None,
        json_schema=schema.json_schema() if schema and by_schema else None,
        extra=dict(config.extra),
        model=model,
    )


def _read(answer: Answer, schema: AnswerSchema | None, form: CodeForm | None) -> Reading:
    """Read fields and code; where there is code, fields that can't be read are left out rather than missed."""
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


def _plea(error: FormatError, reason: str, form: CodeForm, *, truncated: bool) -> str:
    """What is asked of the model after an answer that can't be read."""
    no_program = isinstance(error, NoProgram) and not truncated
    return ASK_FOR_PROGRAM.format(asked=form.asked) if no_program else ASK_AGAIN.format(reason=reason)


def _asked_again(request: ChatRequest, text: str, please: str) -> ChatRequest:
    asked = 1 + (request.messages[0].role == "system")
    again = (Message("assistant", text), Message("user", please))
    return dataclasses.replace(request, messages=(*request.messages[:asked], *again))
