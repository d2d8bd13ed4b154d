"""What a run will take, before anything is asked: calls, tokens, money, and what the budgets leave of it.

1. Each stage of the flow tells the fewest and the most calls that it makes (its method `calls`); one without that
   method may make any number. An answer that can't be read may be asked for again, `max_format_retries` times.
2. A prompt holds at least the statement and the shortest template of the flow; at most the statement, the longest
   template, and two answers of before. Four characters are taken for a token.
3. An answer has from 50 tokens to `max_tokens`, or to 2,000 where no bound is set.
4. Of many problems a hundred are looked at, evenly spread, and stand for the others.

So the ranges are wide. The least is what a run takes in which all goes well at once.
"""

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from alpha_codium.config import Price, Settings
from alpha_codium.flows import Flow
from alpha_codium.gen.budgets import Usage
from alpha_codium.gen.pricing import models_asked, price_lines, prices_of
from alpha_codium.llm.prices import in_dollars
from alpha_codium.problem import Problem, Statement
from alpha_codium.rendering import Prompt

CHARACTERS_A_TOKEN = 4
SHORTEST_ANSWER = 50
LONGEST_ANSWER = 2000
LOOKED_AT = 100


@dataclass(frozen=True, slots=True)
class Span:
    """From so many to so many; None where there is no end."""

    least: float
    most: float | None

    def __add__(self, other: "Span") -> "Span":
        """Both together."""
        most = None if self.most is None or other.most is None else self.most + other.most
        return Span(self.least + other.least, most)

    def times(self, other: "Span") -> "Span":
        """So many, each of so much; nothing, however often, is nothing."""
        if 0 in (self.most, other.most):
            return Span(0, 0)
        most = None if self.most is None or other.most is None else self.most * other.most
        return Span(self.least * other.least, most)

    def within(self, limit: float) -> "Span":
        """What a limit leaves of it; 0 is no limit."""
        if not limit:
            return self
        return Span(min(self.least, limit), limit if self.most is None else min(self.most, limit))

    def text(self, form: Callable[[float], str] = "{:,.0f}".format) -> str:
        """`5 to 20`, `5` where both are the same, `5 or more`, or `unknown`."""
        least = form(self.least)
        if self.most is None:
            return f"{least} or more" if self.least else "unknown"
        most = form(self.most)
        return least if least == most else f"{least} to {most}"


@dataclass(frozen=True, slots=True)
class Preview:
    """What a run of so many samples will take, were it not for the budgets but that of a sample's calls.

    `cost` is in US dollars and None where the price of a model isn't known; `cuts` says which budgets may end it. With
    `cache` on, answers that it holds are counted here, but not paid again.
    """

    flow: str
    models: tuple[str, ...]
    problems: int
    samples: int
    calls: Span
    prompt_tokens: Span
    completion_tokens: Span
    cost: Span | None
    unpriced: tuple[str, ...] = ()
    cuts: tuple[str, ...] = ()
    cache: bool = False

    def line(self) -> str:
        """The preview in one line."""
        tokens = self.prompt_tokens + self.completion_tokens
        cost = "unknown" if self.cost is None else self.cost.text(in_dollars)
        what = f"{_count(self.problems, 'problem')}, {_count(self.samples, 'sample')} of {self.flow}"
        takes = f"calls {self.calls.text()}, tokens {tokens.text()}, cost {cost}"
        return "; ".join([f"{what} by {', '.join(self.models)}: {takes}", *self.cuts])

    def lines(self) -> list[str]:
        """The preview at length, with how it was estimated."""
        cost = self.cost.text(in_dollars) if self.cost else f"unknown: give {price_lines(list(self.unpriced))}"
        rows = {
            "flow": self.flow,
            "models": ", ".join(self.models),
            "problems": str(self.problems),
            "samples": str(self.samples),
            "calls": self.calls.text(),
            "prompt tokens": self.prompt_tokens.text(),
            "completion tokens": self.completion_tokens.text(),
            "cost": cost,
            "cache": "on: answers that it holds count here, but are not paid again" if self.cache else "off",
        }
        return [f"{name:<18} {value}" for name, value in rows.items()] + [f"{'budget':<18} {cut}" for cut in self.cuts]

    def values(self) -> dict[str, Any]:
        """The preview for `--json`."""
        return dataclasses.asdict(self)


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


HOW = (
    f"Estimated from the flow's stages and the length of the statements, {CHARACTERS_A_TOKEN} characters a token; "
    f"answers of {SHORTEST_ANSWER} tokens to max_tokens, or to {LONGEST_ANSWER} where that isn't set."
)


def preview_of(
    flow: Flow, problems: Sequence[Problem], samples: int, settings: Settings, used: Usage | None = None
) -> Preview:
    """What `samples` samples in all, spread evenly over the problems, will take, where earlier ones have `used` that
    much of the budgets.
    """
    one = _of_one_sample(flow, problems, settings)
    calls, prompt, completion = (_scaled(span, samples) for span in one)
    models = models_asked(settings)
    prices = prices_of(settings, models)
    cost = _cost(prompt, completion, list(prices.values()))
    whole = Preview(
        flow.name,
        models,
        len(problems),
        samples,
        calls,
        prompt,
        completion,
        cost,
        tuple(model for model, price in prices.items() if price is None),
        cache=settings.config.cache,
    )
    return dataclasses.replace(whole, cuts=tuple(_cuts(whole, settings, used or Usage())))


def _of_one_sample(flow: Flow, problems: Sequence[Problem], settings: Settings) -> tuple[Span, Span, Span]:
    """Calls, tokens read and tokens written of a sample, on average over the problems looked at."""
    step = max(1, len(problems) // LOOKED_AT)
    places = range(0, len(problems), step)
    sums = (Span(0, 0), Span(0, 0), Span(0, 0))
    for place in places:
        each = _of_problem(flow.for_kind(problems[place].execution.kind), problems[place].statement, settings)
        sums = tuple(total + part for total, part in zip(sums, each, strict=True))  # type: ignore[assignment]
    return tuple(_scaled(total, 1 / max(1, len(places))) for total in sums)  # type: ignore[return-value]


def _of_problem(flow: Flow, statement: Statement, settings: Settings) -> tuple[Span, Span, Span]:
    calls = calls_of(flow, statement, settings)
    answer = Span(SHORTEST_ANSWER, settings.config.max_tokens or LONGEST_ANSWER)
    answer = Span(min(answer.least, answer.most or 0), answer.most)
    prompt = _prompt_tokens(flow, statement, answer)
    return calls, calls.times(prompt), calls.times(answer)


def calls_of(flow: Flow, statement: Statement, settings: Settings) -> Span:
    """The calls of one sample, as the flow's stages tell them, within the sample's own budget."""
    total = Span(0, 0)
    for stage in flow.stages:
        tell = getattr(stage, "calls", None)
        total += Span(*tell(settings, statement)) if tell else Span(0, None)
    again = Span(1, 1 + settings.solve.max_format_retries)
    return total.times(again).within(settings.solve.max_calls)


def _prompt_tokens(flow: Flow, statement: Statement, answer: Span) -> Span:
    """The tokens of one prompt of the flow."""
    shown = len(statement.description) + sum(len(t.input) + len(t.output) for t in statement.public_tests)
    templates = [
        len(prompt.system) + len(prompt.user)
        for stage in flow.stages
        for prompt in vars(stage).values()
        if isinstance(prompt, Prompt)
    ]
    least = (len(statement.description) + min(templates, default=0)) / CHARACTERS_A_TOKEN
    most = (shown + max(templates, default=0)) / CHARACTERS_A_TOKEN + 2 * (answer.most or 0)
    return Span(least, most)


def _scaled(span: Span, factor: float) -> Span:
    return span.times(_exactly(factor))


def _exactly(number: float) -> Span:
    return Span(number, number)


def _cost(prompt: Span, completion: Span, prices: Sequence[Price | None]) -> Span | None:
    """Dollars: the least by the cheapest of the models, the most by the dearest."""
    known = [price for price in prices if price is not None]
    if len(known) < len(prices):
        return None
    read = Span(min(p.input for p in known), max(p.input for p in known))
    written = Span(min(p.output for p in known), max(p.output for p in known))
    return _scaled(prompt.times(read) + completion.times(written), 1e-6)


def _cuts(whole: Preview, settings: Settings, used: Usage) -> Iterator[str]:
    """What the budgets leave out of a preview, a line for each that may end it; nothing where nothing is left to do."""
    if not whole.samples:
        return
    solve, budget = settings.solve, settings.budget
    tokens = whole.prompt_tokens + whole.completion_tokens
    all_calls = whole.calls + _exactly(used.llm_calls)
    all_tokens = tokens + _exactly(used.prompt_tokens + used.completion_tokens)
    all_cost = whole.cost and whole.cost + _exactly(used.cost or 0)
    earlier = ", with those of before" if used.llm_calls else ""
    limits = [
        (tokens, solve.max_tokens * whole.samples, f"{solve.max_tokens} tokens a sample"),
        (whole.cost, solve.max_cost * whole.samples, f"${solve.max_cost:g} a sample"),
        (all_calls, budget.problem_calls * whole.problems, f"{budget.problem_calls} calls a problem{earlier}"),
        (all_tokens, budget.problem_tokens * whole.problems, f"{budget.problem_tokens} tokens a problem{earlier}"),
        (all_cost, budget.problem_cost * whole.problems, f"${budget.problem_cost:g} a problem{earlier}"),
        (all_calls, budget.run_calls, f"{budget.run_calls} calls in all{earlier}"),
        (all_tokens, budget.run_tokens, f"{budget.run_tokens} tokens in all{earlier}"),
        (all_cost, budget.run_cost, f"${budget.run_cost:g} in all{earlier}"),
    ]
    for span, limit, told in limits:
        if span is not None and limit and (span.most is None or span.most > limit):
            yield f"at most {told}" + (
                ": less than the least, so samples will be left out" if span.least > limit else ""
            )
    for seconds, whose in (
        (solve.max_seconds, "a sample"),
        (budget.problem_seconds, "a problem"),
        (budget.run_seconds, "in all"),
    ):
        if seconds:
            yield f"at most {seconds:g} s {whose}"
