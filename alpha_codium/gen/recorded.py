"""A model as one sample uses it: answers are taken from the run's store where they are there, and all is counted.

1. The key of an answer holds the sample, so that k samples stay k different samples, and how often the sample has
   asked the same thing before. So a sample that is run again after a kill gets the same answers in the same order, and
   only what was never answered is asked.
2. Several answers to one request are each an answer of their own: the same that as many single calls would have.
   Where the model gives one at a time, each is stored when it comes: a fault or an interrupt loses none that came.
3. The store may stand over a cache of all runs. An answer or a refusal of a fallback stays out of it: another run
   shall ask its model first.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from itertools import groupby
from typing import Any, ClassVar, Self

from alpha_codium.gen.budgets import Usage
from alpha_codium.llm.errors import ContentFiltered, ContextOverflow, ModelError
from alpha_codium.llm.gathering import gather_all
from alpha_codium.llm.messages import Answer, ChatModel, ChatRequest, with_seed_of
from alpha_codium.log import redact
from alpha_codium.runs import AnswerStore, without_secrets
from alpha_codium.runs.answers import AnswerKey, StoredAnswer, key_of, question_text
from alpha_codium.solution import BudgetEnd
from alpha_codium.values import JsonValue, Readers


def well_formed(text: str) -> str:
    """The text with U+FFFD for halves of surrogate pairs: JSON may hold them, no file and no dataset can."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


# The model's own refusals, by the name under which the store keeps them.
REFUSALS: dict[str, type[ModelError]] = {kind.__name__: kind for kind in (ContentFiltered, ContextOverflow)}
# What the store remembers of a model beside its answers: it decides how the prompts ask.
BY_SCHEMA = "supports_json_schema:"
# And of a sample: the partial answers that budgets let through, as JSON, by the number of the request.
PARTS = "parts:"
ANSWER_FIELDS = {field.name for field in fields(Answer)}


@dataclass(frozen=True, slots=True)
class PartialAnswer(JsonValue):
    """The part of a request that budgets let be answered.

    So many answers were granted; those at `places` came, and then the budget of `end`, if any, let no further through.
    """

    readers: ClassVar[Readers] = {
        "places": tuple,
        "end": lambda values: None if values is None else BudgetEnd.from_json(values),
    }

    granted: int
    places: Sequence[int]
    end: BudgetEnd | None = None

    @classmethod
    def whole(cls, wanted: int) -> Self:
        """All of a request for so many answers."""
        return cls(wanted, range(wanted))


# By the number of the request among its sample's.
Parts = dict[int, PartialAnswer]


def parts_of(facts: Mapping[str, Any], sample: str) -> Parts:
    """Of which requests of a sample only a part was answered, and which, by the facts of a store."""
    return {int(number): PartialAnswer.from_json(part) for number, part in facts.get(PARTS + sample, {}).items()}


class RecordedModel:
    """A `ChatModel` for one sample; `usage` says what its calls took."""

    def __init__(self, model: ChatModel, name: str, sample: str, store: AnswerStore | None = None) -> None:
        self._model, self._name, self._sample, self._store = model, name, sample, store
        self._asked: dict[str, int] = {}
        self._calls = 0
        self._counted: dict[int, StoredAnswer] = {}
        self.usage = Usage()

    @property
    def name(self) -> str:
        """The model string as the user gave it."""
        return self._name

    def supports_json_schema(self, model: str = "") -> bool:
        """Whether this model ("": the run's own) can be constrained to a JSON schema.

        What the store says takes precedence, so that a resumed run asks as it did before.
        """
        if self._store is None:
            return self._model.supports_json_schema(model)
        fact = BY_SCHEMA + (model or self._name)
        if fact not in self._store.facts:
            self._store.note(fact, self._model.supports_json_schema(model))
        return self._store.facts[fact]

    async def ask(self, request: ChatRequest) -> Answer:
        """Answer from the store, else ask and store.

        A refusal is an answer too: it counts as a call, and isn't asked for again on resume.
        """
        return (await self.ask_many(request, 1))[0]

    def supports_n(self, model: str = "") -> bool:
        """Whether one request can bring several answers of this model; "" is the own one."""
        return self._model.supports_n(model)

    async def ask_many(self, request: ChatRequest, n: int) -> list[Answer]:
        """So many answers to one request: those that aren't in the store are asked for at once; each is a call.

        One that the model refused is a filtered answer; where it refused all, that is raised.
        """
        outcomes: dict[int, StoredAnswer] = {}
        await self.fill(outcomes, request, n, range(n))
        return answers_of(outcomes)

    async def fill(
        self, outcomes: dict[int, StoredAnswer], request: ChatRequest, n: int, places: Sequence[int]
    ) -> None:
        """As `ask_many` for the answers at `places` only; `outcomes` gets each as soon as it comes."""
        first = self._calls
        self._calls += n
        keys = [self._next_key(request) for _ in range(n)]
        if self._store is not None:
            stored = await self._store.find([keys[place] for place in places])
            outcomes.update((place, found) for place, found in zip(places, stored, strict=True) if found is not None)
        calls = self._asked_together([place for place in places if place not in outcomes], request)
        try:
            await gather_all(self._ask_for(request, together, keys, outcomes) for together in calls)
        finally:
            self._count({first + place: outcomes[place] for place in sorted(outcomes)})

    @property
    def parts(self) -> Parts:
        """Of which of the sample's requests only a part was answered, and which part."""
        return {} if self._store is None else parts_of(self._store.facts, self._sample)

    @parts.setter
    def parts(self, parts: Parts) -> None:
        fact, values = PARTS + self._sample, {str(number): part.to_json() for number, part in parts.items()}
        if self._store is not None and self._store.facts.get(fact, {}) != values:
            self._store.note(fact, values)

    def _asked_together(self, places: list[int], request: ChatRequest) -> Iterable[list[int]]:
        """The places of answers that one call asks for: all, but with a seed those that stand side by side.

        For an answer has the seed of its place, whether those before it were in the store or not.
        """
        if len(places) < 2 or not self._model.supports_n(request.model):
            return [[place] for place in places]
        if request.seed is None:
            return [places]
        sides = groupby(enumerate(places), key=lambda pair: pair[1] - pair[0])
        return [[place for _, place in side] for _, side in sides]

    def _count(self, outcomes: dict[int, StoredAnswer]) -> None:
        """Add what came of calls, by their place among the sample's.

        The sums are taken in the order of the calls, whichever is answered first: those of floats depend on it.
        """
        last = next(reversed(self._counted), -1)
        self._counted |= outcomes
        if min(outcomes, default=0) <= last:  # a later call was answered before: anew
            self._counted = outcomes = dict(sorted(self._counted.items()))
            vars(self.usage).update(vars(Usage()))
        for outcome in outcomes.values():
            if "refusal" in outcome:
                self.usage.llm_calls += 1
            else:
                self.usage.add(_answer(outcome))

    async def _ask_for(
        self, request: ChatRequest, places: Sequence[int], keys: Sequence[AnswerKey], outcomes: dict[int, StoredAnswer]
    ) -> None:
        """Fill in what comes of asking for the answers at these places, and store it."""
        new = await self._outcomes(with_seed_of(request, places[0]), len(places))
        outcomes.update(zip(places, new, strict=True))  # who is cut off while it is stored has it all the same
        if self._store is not None:  # an empty one is false
            asked = request.model or self._name
            pairs = zip((keys[place] for place in places), new, strict=True)
            kept = [(key if o.get("model", asked) == asked else replace(key, shared=""), o) for key, o in pairs]
            await self._store.keep(kept, asked)
            self.supports_json_schema(request.model)  # noted, for a replay that has other questions

    async def _outcomes(self, request: ChatRequest, n: int) -> list[StoredAnswer]:
        """What came of a call, as the store keeps it, a refusal for each answer; faults of the provider are raised."""
        try:
            answers = await (self._model.ask_many(request, n) if n > 1 else self._one(request))
        except tuple(REFUSALS.values()) as refusal:
            stored = {"refusal": type(refusal).__name__, "message": redact(well_formed(str(refusal)))}
            # Of another model than was asked: so it stays out of the cache.
            return [stored | ({"model": ""} if refusal.of_fallback else {})] * n
        return [self._outcome(request, answer) for answer in answers]

    async def _one(self, request: ChatRequest) -> list[Answer]:
        return [await self._model.ask(request)]

    def _outcome(self, request: ChatRequest, answer: Answer) -> StoredAnswer:
        # A fallback's answer keeps the fallback's name; a local model answers under that of its server.
        own = answer.model == (request.model or self._model.name)
        by = (request.model or self._name) if own else answer.model
        texts = {"text": well_formed(answer.text), "reasoning": well_formed(answer.reasoning)}
        return asdict(replace(answer, model=by, **texts))

    def _next_key(self, request: ChatRequest) -> AnswerKey:
        model = request.model or self._name
        question: dict[str, Any] = asdict(request) | {"model": model}
        question["extra"] = without_secrets(question["extra"])
        text = question_text(question, self._sample)
        occurrence = self._asked.get(text, 0)
        self._asked[text] = occurrence + 1
        run = key_of(text, occurrence)
        cache = None if self._store is None else self._store.cache
        return AnswerKey(run, cache.key_of(run, model) if cache is not None else "")


def answers_of(outcomes: Mapping[int, StoredAnswer]) -> list[Answer]:
    """The answers that outcomes are, in the order of their places, those that the model refused as filtered ones.

    Raises the refusal where the model refused all.
    """
    ordered = [outcomes[place] for place in sorted(outcomes)]
    if ordered and all("refusal" in outcome for outcome in ordered):
        return [_answer(ordered[0])]
    return [Answer("", "", "content_filter") if "refusal" in outcome else _answer(outcome) for outcome in ordered]


def _answer(outcome: StoredAnswer) -> Answer:
    """The answer that an outcome is; raises the refusal that it is."""
    if "refusal" in outcome:
        raise REFUSALS.get(outcome["refusal"], ContentFiltered)(outcome["message"])
    # A cache may hold what another version of gencode knows of an answer.
    return Answer(**{name: value for name, value in outcome.items() if name in ANSWER_FIELDS})
