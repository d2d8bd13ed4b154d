"""Budgets of calls, tokens, money and time: of a sample, of all samples of a problem, of the run.

1. A `Ledger` belongs to one run. It has an account for the run and one for each problem; each sample has its own. An
   account sums the usage of its samples, finished or running.
2. A call is allowed if no account would exceed its limit of calls, including calls in flight. So a run stays within its
   budget at any concurrency. Tokens and cost are known only when a call is answered: calls are refused once they are
   used up.
3. When an account's time is over, the call in flight is cancelled and not counted.
4. Stored answers count as much as new ones, so that a budget always allows the same calls. `cost` is the original cost
   of all answers, which is at least the amount paid.
"""

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field, replace

from alpha_codium.config import Settings
from alpha_codium.flows import BudgetExhausted
from alpha_codium.llm.messages import Answer
from alpha_codium.llm.prices import cost_of
from alpha_codium.solution import BudgetEnd, BudgetLimit, BudgetOwner, Candidate
from alpha_codium.values import JsonValue
from alpha_codium.wording import counted, in_dollars


@dataclass
class Usage:
    """Sums over calls, including those answered from the store; `cost` is None if a price is unknown."""

    llm_calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    truncated_answers: int = 0
    cost: float | None = 0.0
    models: list[str] = field(default_factory=list)

    def add(self, answer: Answer) -> None:
        """Count one answer."""
        self.llm_calls += 1
        self.prompt_tokens += answer.prompt_tokens
        self.completion_tokens += answer.completion_tokens
        self.truncated_answers += answer.truncated
        if answer.model not in self.models:
            self.models.append(answer.model)
        self._add_cost(answer.cost)

    def take(self, other: "Usage | Candidate") -> None:
        """Add the calls, tokens and cost of another usage or of a candidate."""
        self.llm_calls += other.llm_calls
        self.prompt_tokens += other.prompt_tokens
        self.completion_tokens += other.completion_tokens
        self._add_cost(other.cost)

    def tokens_and_cost(self) -> str:
        """Return the tokens, read and written together, and the cost as text."""
        return f"{counted(self.prompt_tokens + self.completion_tokens, 'token')}, cost {in_dollars(self.cost)}"

    def _add_cost(self, cost: float | None) -> None:
        self.cost = None if self.cost is None or cost is None else self.cost + cost


@dataclass
class Account:
    """The budget of `owner` and its usage.

    Limits are calls, tokens read and written, US dollars, and seconds since `began`; 0 means no limit.
    """

    owner: BudgetOwner
    calls: int = 0
    tokens: int = 0
    cost: float = 0.0
    seconds: float = 0.0
    finished: Usage = field(default_factory=Usage)
    running: list[Usage] = field(default_factory=list)
    in_flight: int = 0
    began: float | None = None

    def begin(self) -> "Account":
        """Start the clock unless it is running; return the account."""
        self.began = time.monotonic() if self.began is None else self.began
        return self

    @property
    def usage(self) -> Usage:
        """The usage of all its samples so far."""
        total = Usage()
        for usage in (self.finished, *self.running):
            total.take(usage)
        return total

    @property
    def seconds_left(self) -> float | None:
        """The seconds left; None without a time limit, or before `begin`."""
        if not self.seconds or self.began is None:
            return None
        return self.began + self.seconds - time.monotonic()

    def room(self, wanted: int) -> int:
        """Return the number of calls that are allowed, at most `wanted`; raises BudgetExhausted if it is 0."""
        left, usage = self.seconds_left, self.usage
        calls_left = self.calls - usage.llm_calls - self.in_flight
        if left is not None and left <= 0:
            raise self.exhausted(BudgetLimit.SECONDS)
        if self.calls and calls_left <= 0:
            raise self.exhausted(BudgetLimit.CALLS)
        if self.tokens and usage.prompt_tokens + usage.completion_tokens >= self.tokens:
            raise self.exhausted(BudgetLimit.TOKENS)
        if self.cost and (usage.cost is None or usage.cost >= self.cost):
            raise self.exhausted(BudgetLimit.COST, price_unknown=usage.cost is None)
        return min(wanted, calls_left) if self.calls else wanted

    def exhausted(self, limit: BudgetLimit, *, price_unknown: bool = False) -> BudgetExhausted:
        """Return the error for a limit that is reached."""
        return BudgetExhausted(BudgetEnd(self.owner, limit, getattr(self, limit.value), price_unknown))


@dataclass(frozen=True, slots=True)
class PartialAnswer(JsonValue):
    """The part of a request for several answers that budgets allowed.

    `granted` answers were allowed. Those with the indices `places` arrived before the budget `end`, if any, stopped the
    others.
    """

    granted: int = 0
    places: tuple[int, ...] = ()
    end: BudgetEnd | None = None

    @classmethod
    def first(cls, granted: int) -> "PartialAnswer":
        """Return the part with the first `granted` answers."""
        return cls(granted, tuple(range(granted)))


# Partial answers by the index of the request among the sample's requests.
Parts = dict[int, PartialAnswer]


@dataclass
class SampleBudget:
    """The accounts that a sample's calls are charged to: its own, its problem's, and the run's.

    `end` is the budget that first refused a call.
    """

    accounts: tuple[Account, ...] = ()
    end: BudgetEnd | None = None

    def check(self) -> None:
        """Raise BudgetExhausted if no further call is allowed."""
        with self._recording_end():
            for account in self.accounts:
                account.room(1)

    @contextmanager
    def counting(self, usage: Usage) -> Iterator[None]:
        """Count the sample's `usage` in all accounts, also while it is growing."""
        for account in self.accounts:
            account.running.append(usage)
        try:
            yield
        finally:
            for account in self.accounts:
                account.running = [other for other in account.running if other is not usage]
                account.finished.take(usage)

    @asynccontextmanager
    async def calls(self, wanted: int, request: int) -> AsyncIterator[PartialAnswer]:
        """Reserve as many of the `wanted` answers to the sample's request `request` (an index) as budgets allow.

        Raises BudgetExhausted if they allow none, and when the time is over.
        """
        with self._recording_end():
            granted = min((account.room(wanted) for account in self.accounts), default=wanted)
            for account in self.accounts:
                account.in_flight += granted
            try:
                async with self._in_time():
                    yield PartialAnswer.first(granted)
            finally:
                for account in self.accounts:
                    account.in_flight -= granted

    @asynccontextmanager
    async def _in_time(self) -> AsyncIterator[None]:
        """Cancel the body when the time of an account is over."""
        timed = [(left, account) for account in self.accounts if (left := account.seconds_left) is not None]
        left, first = min(timed, key=lambda pair: pair[0], default=(None, None))
        limit = asyncio.timeout(left)
        try:
            async with limit:
                yield
        except TimeoutError:
            if first is None or not limit.expired():
                raise
            raise first.exhausted(BudgetLimit.SECONDS) from None

    @contextmanager
    def _recording_end(self) -> Iterator[None]:
        try:
            yield
        except BudgetExhausted as exhausted:
            self.end = self.end or exhausted.end
            raise


@dataclass
class ReplayBudget(SampleBudget):
    """Allows exactly those parts of requests that the replayed run's budgets allowed."""

    parts: Parts = field(default_factory=dict)

    @asynccontextmanager
    async def calls(self, wanted: int, request: int) -> AsyncIterator[PartialAnswer]:
        """Allow the same part of the request as in the replayed run."""
        part = self.parts.get(request) or PartialAnswer.first(wanted)
        with self._recording_end():
            if part.granted:
                yield part
            if part.end is not None:
                raise BudgetExhausted(part.end)


@dataclass
class Ledger:
    """The accounts of one run: its own, whose clock starts now, and one per problem, whose clock starts with its first
    sample.

    `cut_short` is the number of samples ended by each budget of the run or a problem. For a replay, `parts` are the
    partial answers of the replayed sample.
    """

    settings: Settings
    parts: Parts = field(default_factory=dict)
    run: Account = field(init=False)
    problems: dict[str, Account] = field(default_factory=dict)
    cut_short: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        """Open the run's account."""
        self.run = self._account(BudgetOwner.RUN).begin()

    def count(self, candidates: Iterable[Candidate]) -> None:
        """Add the usage of a resumed run's earlier candidates, except time.

        The cost of a candidate is filled in if it was unknown and its model's price is known now.
        """
        for candidate in map(self._priced, candidates):
            self.run.finished.take(candidate)
            self._problem(candidate.task_name).finished.take(candidate)

    def sample(self, problem: str) -> SampleBudget:
        """Return the budget of a new sample, whose clock starts now."""
        if self.parts:
            return ReplayBudget(parts=self.parts)
        return SampleBudget((self._account(BudgetOwner.SAMPLE).begin(), self._problem(problem).begin(), self.run))

    def note(self, sample: SampleBudget) -> None:
        """Count the sample if it was ended by a budget that it shares with others."""
        if sample.end is not None and not sample.end.is_own:
            self.cut_short[sample.end.budget] += 1

    def _priced(self, candidate: Candidate) -> Candidate:
        price = self.settings.prices.models.get(candidate.model)
        if candidate.cost is not None or price is None:
            return candidate
        return replace(candidate, cost=cost_of(price, candidate.prompt_tokens, candidate.completion_tokens))

    def _problem(self, name: str) -> Account:
        return self.problems.setdefault(name, self._account(BudgetOwner.PROBLEM))

    def _account(self, owner: BudgetOwner) -> Account:
        is_sample = owner is BudgetOwner.SAMPLE
        section, prefix = (self.settings.solve, "max") if is_sample else (self.settings.budget, owner.value)
        return Account(owner, **{limit.value: getattr(section, f"{prefix}_{limit.value}") for limit in BudgetLimit})
