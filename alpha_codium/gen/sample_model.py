"""The model of one sample, which applies budgets, uses stored answers, and counts usage.

1. The key of an answer contains the sample, so that different samples get different answers, and the number of times
   that the sample has asked the same before. A sample that is run again gets the same answers in the same order, and
   asks the model only for missing ones.
2. Several answers to one request are stored like those to as many single calls. If the model returns one answer per
   request, each is stored when it arrives, so that an error or interrupt doesn't lose the others.
3. A budget may allow only some of the answers to a request, or its time may end after some of them. This depends on
   other samples and on the clock, so it is stored for replays.
4. The store may have a cache that all runs share. Answers and refusals of a fallback model aren't cached, since another
   run must ask its own model first.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from itertools import groupby
from typing import Any

from alpha_codium.coroutines import gather_all
from alpha_codium.flows import BudgetExhausted
from alpha_codium.gen.budgets import PartialAnswer, Parts, SampleBudget, Usage
from alpha_codium.llm.errors import ContentFiltered, ContextOverflow, ModelError
from alpha_codium.llm.messages import Answer, ChatModel, ChatRequest, with_seed_of
from alpha_codium.log import redact
from alpha_codium.runs import AnswerStore, without_secrets
from alpha_codium.runs.answer_file import StoredAnswer
from alpha_codium.runs.answers import AnswerKey, key_of, question_text

# The model's refusals by their names in the store.
REFUSALS: dict[str, type[ModelError]] = {kind.__name__: kind for kind in (ContentFiltered, ContextOverflow)}
# The prefix of a fact in the store: whether a model supports JSON schemas, on which prompts depend.
BY_SCHEMA = "supports_json_schema:"
# The prefix of a fact in the store: a sample's partial answers as JSON, by the index of the request.
PARTS = "parts:"
ANSWER_FIELDS = {each.name for each in fields(Answer)}


def well_formed(text: str) -> str:
    """Replace unpaired surrogates, which files and datasets can't contain, by U+FFFD."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def parts_of(facts: Mapping[str, Any], sample: str) -> Parts:
    """Return a sample's partial answers from the facts of a store."""
    return {int(number): PartialAnswer.from_json(part) for number, part in facts.get(PARTS + sample, {}).items()}


@dataclass
class SampleModel:
    """A `ChatModel` for the sample with the name `sample`; `usage` includes stored answers.

    `name` is the model string as the user gave it. `on_answer` is called after each request that got answers.
    """

    model: ChatModel
    name: str
    sample: str
    store: AnswerStore | None = None
    budget: SampleBudget = field(default_factory=SampleBudget)
    usage: Usage = field(default_factory=Usage)
    on_answer: Callable[[], None] = lambda: None
    _occurrences: dict[str, int] = field(default_factory=dict)
    _requests: int = 0
    _calls: int = 0
    _counted: dict[int, StoredAnswer] = field(default_factory=dict)
    _parts: Parts = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Delete the partial answers of an earlier attempt at the sample."""
        if self.store is not None and self.store.facts.get(PARTS + self.sample):
            self.store.note(PARTS + self.sample, {})

    def supports_json_schema(self, model: str = "") -> bool:
        """Return whether answers of this model ("": the run's own) can be constrained to a JSON schema.

        A stored result takes precedence, so that a resumed run sends the same requests.
        """
        if self.store is None:
            return self.model.supports_json_schema(model)
        fact = BY_SCHEMA + (model or self.name)
        if fact not in self.store.facts:
            self.store.note(fact, self.model.supports_json_schema(model))
        return self.store.facts[fact]

    def supports_n(self, model: str = "") -> bool:
        """Return whether this model ("": the run's own) can return several answers to one request."""
        return self.model.supports_n(model)

    async def ask(self, request: ChatRequest) -> Answer:
        """Return a stored answer, or ask and store the answer; raises BudgetExhausted if no call is allowed.

        A refusal is stored and counted like an answer, so that it isn't asked for again on resume.
        """
        return (await self.ask_many(request, 1))[0]

    async def ask_many(self, request: ChatRequest, n: int) -> list[Answer]:
        """Return `n` answers to one request, or fewer if the budget or its time ends; each counts as a call.

        Refusals are returned as filtered answers, but raised if all were refused. Raises BudgetExhausted if the budget
        ended before the first answer.
        """
        number, self._requests = self._requests, self._requests + 1
        allowed, outcomes = PartialAnswer(), dict[int, StoredAnswer]()
        try:
            async with self.budget.calls(n, number) as allowed:
                await self._fill(outcomes, request, allowed)
        except BudgetExhausted as exhausted:
            self._note_part(number, PartialAnswer(allowed.granted, tuple(sorted(outcomes)), exhausted.end))
            if not outcomes:
                raise
        else:
            if allowed.granted < n:
                self._note_part(number, PartialAnswer(allowed.granted, tuple(sorted(outcomes))))
        ordered = [outcomes[place] for place in sorted(outcomes)]
        if ordered and all("refusal" in outcome for outcome in ordered):
            raise REFUSALS.get(ordered[0]["refusal"], ContentFiltered)(ordered[0]["message"])
        return [Answer("", "", "content_filter") if "refusal" in outcome else _answer(outcome) for outcome in ordered]

    def _note_part(self, number: int, part: PartialAnswer) -> None:
        self._parts[number] = part
        if self.store is not None:
            self.store.note(PARTS + self.sample, {str(number): each.to_json() for number, each in self._parts.items()})

    async def _fill(self, outcomes: dict[int, StoredAnswer], request: ChatRequest, allowed: PartialAnswer) -> None:
        """Put the allowed answers into `outcomes`, each as soon as it arrives."""
        first, places = self._calls, allowed.places
        self._calls += allowed.granted
        keys = [self._next_key(request) for _ in range(allowed.granted)]
        if self.store is not None:
            stored = await self.store.find([keys[place] for place in places])
            outcomes.update((place, found) for place, found in zip(places, stored, strict=True) if found is not None)
        calls = self._asked_together([place for place in places if place not in outcomes], request)
        try:
            await gather_all(self._ask_for(request, together, keys, outcomes) for together in calls)
        finally:
            self._count({first + place: outcomes[place] for place in sorted(outcomes)})
            self.on_answer()

    def _asked_together(self, places: list[int], request: ChatRequest) -> Iterable[list[int]]:
        """Return groups of places, each for one call: a single group, or with a seed runs of consecutive places.

        With a seed, an answer's seed depends on its place, whether earlier answers were stored or not.
        """
        if len(places) < 2 or not self.model.supports_n(request.model):
            return [[place] for place in places]
        if request.seed is None:
            return [places]
        runs = groupby(enumerate(places), key=lambda pair: pair[1] - pair[0])
        return [[place for _, place in run] for _, run in runs]

    def _count(self, outcomes: dict[int, StoredAnswer]) -> None:
        """Add outcomes of calls, by their index among the sample's calls, to the usage.

        Since sums of floats depend on the order, outcomes are always added in the order of the calls.
        """
        last = next(reversed(self._counted), -1)
        self._counted |= outcomes
        if min(outcomes, default=0) <= last:  # a later call was counted first: start over
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
        """Ask for the answers at these places, and store them."""
        new = await self._ask_model(with_seed_of(request, places[0]), len(places))
        outcomes.update(zip(places, new, strict=True))  # first, since the caller may be cancelled while storing
        if self.store is not None:  # an empty store is false
            asked = request.model or self.name
            pairs = zip((keys[place] for place in places), new, strict=True)
            kept = [(key if o.get("model", asked) == asked else replace(key, shared=""), o) for key, o in pairs]
            await self.store.keep(kept, asked)
            self.supports_json_schema(request.model)  # stored for a replay with other prompts

    async def _ask_model(self, request: ChatRequest, n: int) -> list[StoredAnswer]:
        """Return the outcomes of one call in their stored form, a refusal `n` times; raises provider faults."""
        try:
            answers = await self.model.ask_many(request, n) if n > 1 else [await self.model.ask(request)]
        except tuple(REFUSALS.values()) as refusal:
            stored = {"refusal": type(refusal).__name__, "message": redact(well_formed(str(refusal)))}
            # A model other than the requested one keeps a fallback's refusal out of the cache.
            return [stored | ({"model": ""} if refusal.of_fallback else {})] * n
        return [self._stored(request, answer) for answer in answers]

    def _stored(self, request: ChatRequest, answer: Answer) -> StoredAnswer:
        # A fallback's answer keeps the fallback's name; a local model's answer gets the name in the settings.
        own = answer.model == (request.model or self.model.name)
        by = (request.model or self.name) if own else answer.model
        texts = {"text": well_formed(answer.text), "reasoning": well_formed(answer.reasoning)}
        return asdict(replace(answer, model=by, **texts))

    def _next_key(self, request: ChatRequest) -> AnswerKey:
        model = request.model or self.name
        question: dict[str, Any] = asdict(request) | {"model": model}
        question["extra"] = without_secrets(question["extra"])
        text = question_text(question, self.sample)
        occurrence = self._occurrences.get(text, 0)
        self._occurrences[text] = occurrence + 1
        run = key_of(text, occurrence)
        cache = None if self.store is None else self.store.cache
        return AnswerKey(run, cache.key_of(run, model) if cache is not None else "")


def _answer(outcome: StoredAnswer) -> Answer:
    # A cache may contain fields of another version of gencode.
    return Answer(**{name: value for name, value in outcome.items() if name in ANSWER_FIELDS})
