"""What calls may take, and what they took: of a sample, of all samples of a problem, of the run.

1. A `Ledger` stands for one run. It holds an account for the run and one for each problem; a sample opens its own for
   as long as it goes on. An account sums what its samples took: finished ones, and those in flight.
2. A call is let through where every account has room for it beside those in flight: however many samples there are at
   a time, the calls of a run stay within its budget. Tokens and money are known when a call is answered: the first
   call after they are spent is refused.
3. Where an account's time ends, the call in flight is cancelled; it counts as none.
4. An answer counts wherever it came from, the provider or a store: what a budget lets through doesn't depend on what
   was asked before. So `cost` is what the answers cost when they were given, and never less than what is paid.
"""

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from alpha_codium.config import Settings
from alpha_codium.flows import BudgetExhausted
from alpha_codium.llm.messages import Answer
from alpha_codium.llm.prices import cost_of
from alpha_codium.solution import BudgetEnd, BudgetLimit, BudgetOwner, Candidate


@dataclass
class Usage:
    """What calls took, those answered from the store too; `cost` is None once a price is unknown."""

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
        self._pay(answer.cost)

    def take(self, other: "Usage | Candidate") -> None:
        """Count the calls, tokens and money that others took."""
        self.llm_calls += other.llm_calls
        self.prompt_tokens += other.prompt_tokens
        self.completion_tokens += other.completion_tokens
        self._pay(other.cost)

    def _pay(self, cost: float | None) -> None:
        self.cost = None if self.cost is None or cost is None else self.cost + cost


@dataclass(frozen=True, slots=True)
class Budget:
    """What may be used: calls, tokens read and written, US dollars, seconds; 0 sets no limit."""

    calls: int = 0
    tokens: int = 0
    cost: float = 0.0
    seconds: float = 0.0
    owner: BudgetOwner = BudgetOwner.SAMPLE

    def check(self, usage: Usage, in_flight: int = 0) -> None:
        """Raise BudgetExhausted where nothing is left for another call, or a price is unknown and the cost limited."""
        if self.calls and usage.llm_calls + in_flight >= self.calls:
            raise self._exhausted(BudgetLimit.CALLS, self.calls)
        if self.tokens and usage.prompt_tokens + usage.completion_tokens >= self.tokens:
            raise self._exhausted(BudgetLimit.TOKENS, self.tokens)
        if self.cost and (usage.cost is None or usage.cost >= self.cost):
            raise self._exhausted(BudgetLimit.COST, self.cost, price_unknown=usage.cost is None)

    def out_of_time(self) -> BudgetExhausted:
        """What is raised when the seconds are over."""
        return self._exhausted(BudgetLimit.SECONDS, self.seconds)

    def _exhausted(self, limit: BudgetLimit, amount: float, *, price_unknown: bool = False) -> BudgetExhausted:
        return BudgetExhausted(BudgetEnd(self.owner, limit, amount, price_unknown))


@dataclass
class Account:
    """A budget and what is gone of it."""

    budget: Budget
    finished: Usage = field(default_factory=Usage)
    running: list[Usage] = field(default_factory=list)
    in_flight: int = 0
    began: float | None = None

    def begin(self) -> "Account":
        """Let its time begin, where it hasn't; gives the account."""
        self.began = time.monotonic() if self.began is None else self.began
        return self

    @property
    def usage(self) -> Usage:
        """What its samples took so far."""
        total = Usage()
        for usage in (self.finished, *self.running):
            total.take(usage)
        return total

    @property
    def seconds_left(self) -> float | None:
        """Seconds until its time ends, None where it has no end or hasn't begun."""
        if not self.budget.seconds or self.began is None:
            return None
        return self.began + self.budget.seconds - time.monotonic()

    def check(self) -> None:
        """Raise BudgetExhausted where another call isn't let through."""
        left = self.seconds_left
        if left is not None and left <= 0:
            raise self.budget.out_of_time()
        self.budget.check(self.usage, self.in_flight)

    def room(self, wanted: int) -> int:
        """How many of so many calls are let through; raises BudgetExhausted where none is."""
        self.check()
        calls = self.budget.calls
        return min(wanted, calls - self.usage.llm_calls - self.in_flight) if calls else wanted


@dataclass
class Reservation:
    """Room for one request of a sample, which wants so many answers.

    `granted` of them are let through, those at `places`; `outcomes` are what came of these, by place.
    """

    number: int = 0
    wanted: int = 1
    granted: int = 0
    places: Sequence[int] = ()
    outcomes: dict[int, dict[str, Any]] = field(default_factory=dict)

    def grant(self, granted: int) -> None:
        """Let so many answers through."""
        self.granted, self.places = granted, range(granted)


@dataclass
class SampleBudget:
    """The accounts that a sample's calls go to: its own, its problem's, the run's.

    `end` is that of the budget which first refused the sample a call; `requests` counts its requests.
    """

    accounts: tuple[Account, ...]
    end: BudgetEnd | None = None
    requests: int = 0

    @property
    def calls_made(self) -> int:
        """How many calls the sample has made."""
        return self.accounts[0].usage.llm_calls

    def check(self) -> None:
        """Raise BudgetExhausted where no call is let through."""
        with self._recording_end():
            for account in self.accounts:
                account.check()

    @contextmanager
    def counting(self, usage: Usage) -> Iterator[None]:
        """Count what the sample takes, `usage`, as it goes."""
        for account in self.accounts:
            account.running.append(usage)
        try:
            yield
        finally:
            for account in self.accounts:
                account.running = [other for other in account.running if other is not usage]
                account.finished.take(usage)

    def reserve(self, wanted: int = 1) -> Reservation:
        """A reservation for the sample's next request, of which nothing is granted yet."""
        self.requests += 1
        return Reservation(self.requests - 1, wanted)

    @asynccontextmanager
    async def calls(self, reservation: Reservation) -> AsyncIterator[None]:
        """Grant a request as much as there is room for; raises BudgetExhausted if there is none, or as time ends."""
        with self._recording_end():
            reservation.grant(min(account.room(reservation.wanted) for account in self.accounts))
            for account in self.accounts:
                account.in_flight += reservation.granted
            try:
                async with self._in_time():
                    yield
            finally:
                for account in self.accounts:
                    account.in_flight -= reservation.granted

    @asynccontextmanager
    async def _in_time(self) -> AsyncIterator[None]:
        """Cancel what goes on inside when the first of the accounts has no time left."""
        timed = [(left, account) for account in self.accounts if (left := account.seconds_left) is not None]
        left, first = min(timed, key=lambda pair: pair[0], default=(None, self.accounts[0]))
        limit = asyncio.timeout(left)
        try:
            async with limit:
                yield
        except TimeoutError:
            if not limit.expired():
                raise
            raise first.budget.out_of_time() from None

    @contextmanager
    def _recording_end(self) -> Iterator[None]:
        try:
            yield
        except BudgetExhausted as exhausted:
            self.end = self.end or exhausted.end
            raise


@dataclass
class Ledger:
    """The accounts of one run: the run's own, whose time begins when the ledger is made, and each problem's, whose time
    begins with its first sample.

    `cut_short` says how many samples ended by which budget of the run or of a problem.
    """

    settings: Settings
    run: Account = field(init=False)
    problems: dict[str, Account] = field(default_factory=dict)
    cut_short: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        """Open the run's account."""
        limits = self.settings.budget
        budget = Budget(limits.run_calls, limits.run_tokens, limits.run_cost, limits.run_seconds, owner=BudgetOwner.RUN)
        self.run = Account(budget).begin()

    def count(self, candidates: Iterable[Candidate]) -> None:
        """Count what earlier parts of the run took; time is not among it, each part has its own.

        What had no price then costs what it would now.
        """
        for candidate in map(self._priced, candidates):
            self.run.finished.take(candidate)
            self._problem(candidate.task_name).finished.take(candidate)

    def sample(self, problem: str) -> SampleBudget:
        """The budget of a sample that begins now."""
        limits = self.settings.solve
        own = Account(Budget(limits.max_calls, limits.max_tokens, limits.max_cost, limits.max_seconds))
        return SampleBudget((own.begin(), self._problem(problem).begin(), self.run))

    def note(self, sample: SampleBudget) -> None:
        """Remember that a sample was ended by a budget that isn't its own."""
        if sample.end is not None and not sample.end.is_own:
            self.cut_short[sample.end.budget] += 1

    def _priced(self, candidate: Candidate) -> Candidate:
        price = self.settings.prices.models.get(candidate.model)
        if candidate.cost is not None or price is None:
            return candidate
        return replace(candidate, cost=cost_of(price, candidate.prompt_tokens, candidate.completion_tokens))

    def _problem(self, name: str) -> Account:
        limits = self.settings.budget
        if name not in self.problems:
            budget = Budget(
                limits.problem_calls,
                limits.problem_tokens,
                limits.problem_cost,
                limits.problem_seconds,
                owner=BudgetOwner.PROBLEM,
            )
            self.problems[name] = Account(budget)
        return self.problems[name]
