"""Estimates of a run's calls, tokens and cost before it starts, from the prices of its models and its budgets.

1. Each stage of the flow states the fewest and the most calls it makes by its method `calls`; without that method the
   number is unknown. Unreadable answers may be asked for again, `max_format_retries` times.
2. A prompt contains at least the statement and the shortest template of the flow; at most the statement with public
   tests, the longest template, and two earlier answers. A token is assumed to have four characters.
3. An answer has at least 50 tokens, and at most `max_tokens`, or 2,000 if that isn't set.
4. Of many problems, only about a hundred are sampled, evenly spaced.

So the ranges are wide. The minimum is for a run in which everything succeeds at once.
"""

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from alpha_codium.config.sections import Price, Settings
from alpha_codium.errors import UserError
from alpha_codium.flows import Flow
from alpha_codium.gen.budgets import Usage
from alpha_codium.llm.endpoints import models_of
from alpha_codium.llm.prices import price_of
from alpha_codium.problem import Problem, Statement
from alpha_codium.rendering import Prompt
from alpha_codium.wording import counted, in_dollars

CHARACTERS_A_TOKEN = 4
SHORTEST_ANSWER = 50
LONGEST_ANSWER = 2000
SAMPLED_PROBLEMS = 100


@dataclass(frozen=True, slots=True)
class Span:
    """A range from `least` to `most`, which is None if there is no upper bound."""

    least: float
    most: float | None

    def __add__(self, other: "Span") -> "Span":
        """Return the sum."""
        most = None if self.most is None or other.most is None else self.most + other.most
        return Span(self.least + other.least, most)

    def times(self, other: "Span | float") -> "Span":
        """Return the product; zero times an unbounded span is zero."""
        other = other if isinstance(other, Span) else Span(other, other)
        if 0 in (self.most, other.most):
            return Span(0, 0)
        most = None if self.most is None or other.most is None else self.most * other.most
        return Span(self.least * other.least, most)

    def within(self, limit: float) -> "Span":
        """Return the span with both ends at most `limit`; 0 means no limit."""
        if not limit:
            return self
        return Span(min(self.least, limit), limit if self.most is None else min(self.most, limit))

    def text(self, form: Callable[[float], str] = "{:,.0f}".format) -> str:
        """Return `5 to 20`, `5` if both ends are the same, `5 or more`, or `unknown`."""
        least = form(self.least)
        if self.most is None:
            return f"{least} or more" if self.least else "unknown"
        most = form(self.most)
        return least if least == most else f"{least} to {most}"


@dataclass(frozen=True, slots=True)
class Preview:
    """An estimate of a run without budgets, except `solve.max_calls`; `cuts` are messages on budgets that may end it.

    `cost` is in US dollars, or None if the price of a model (`unpriced`) is unknown. With `cache`, cached answers are
    counted, although they aren't paid for again.
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
        """Return the preview in one line."""
        tokens = self.prompt_tokens + self.completion_tokens
        cost = "unknown" if self.cost is None else self.cost.text(in_dollars)
        what = f"{_count(self.problems, 'problem')}, {_count(self.samples, 'sample')} of {self.flow}"
        takes = f"calls {self.calls.text()}, tokens {tokens.text()}, cost {cost}"
        return "; ".join([f"{what} by {', '.join(self.models)}: {takes}", *self.cuts])

    def lines(self) -> list[str]:
        """Return the preview as a table."""
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


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


HOW = (
    f"Estimated from the flow's stages and the length of the statements, {CHARACTERS_A_TOKEN} characters a token; "
    f"answers of {SHORTEST_ANSWER} tokens to max_tokens, or to {LONGEST_ANSWER} where that isn't set."
)


def preview_of(
    flow: Flow, problems: Sequence[Problem], samples: int, settings: Settings, used: Usage | None = None
) -> Preview:
    """Return the preview of `samples` samples in total, spread evenly over the problems; `used` is the usage of earlier
    samples.
    """
    step = max(1, len(problems) // SAMPLED_PROBLEMS)
    sampled = [problems[index] for index in range(0, len(problems), step)]
    each = [_of_sample(flow.for_kind(problem.execution.kind), problem.statement, settings) for problem in sampled]
    totals = (sum(spans, Span(0, 0)) for spans in zip(*each, strict=True)) if each else (Span(0, 0),) * 3
    calls, prompt, completion = (total.times(samples / max(1, len(each))) for total in totals)
    models = models_asked(settings)
    prices = prices_of(settings, models)
    whole = Preview(
        flow.name,
        models,
        len(problems),
        samples,
        calls,
        prompt,
        completion,
        _cost(prompt, completion, list(prices.values())),
        tuple(model for model, price in prices.items() if price is None),
        cache=settings.config.cache,
    )
    least = max(
        (_calls_wanted(flow.for_kind(p.execution.kind), p.statement, settings).least for p in sampled), default=0
    )
    return dataclasses.replace(whole, cuts=tuple(_cuts(whole, least, settings, used or Usage())))


def _of_sample(flow: Flow, statement: Statement, settings: Settings) -> tuple[Span, Span, Span]:
    """Return the calls, prompt tokens and completion tokens of one sample."""
    calls = _calls_wanted(flow, statement, settings).within(settings.solve.max_calls)
    longest = settings.config.max_tokens or LONGEST_ANSWER
    shown = len(statement.description) + sum(len(t.input) + len(t.output) for t in statement.public_tests)
    templates = [
        len(prompt.system) + len(prompt.user)
        for stage in flow.stages
        for prompt in vars(stage).values()
        if isinstance(prompt, Prompt)
    ]
    prompt = Span(
        (len(statement.description) + min(templates, default=0)) / CHARACTERS_A_TOKEN,
        (shown + max(templates, default=0)) / CHARACTERS_A_TOKEN + 2 * longest,
    )
    return calls, calls.times(prompt), calls.times(Span(min(SHORTEST_ANSWER, longest), longest))


def _calls_wanted(flow: Flow, statement: Statement, settings: Settings) -> Span:
    """Return the calls of one sample without a budget."""
    calls = Span(0, 0)
    for stage in flow.stages:
        of_stage = getattr(stage, "calls", None)
        calls += Span(*of_stage(settings, statement)) if of_stage else Span(0, None)
    return calls.times(Span(1, 1 + settings.solve.max_format_retries))


def _cost(prompt: Span, completion: Span, prices: Sequence[Price | None]) -> Span | None:
    """Return the cost in US dollars, from the cheapest model's price to the most expensive one's."""
    known = [price for price in prices if price is not None]
    if len(known) < len(prices):
        return None
    read = Span(min(p.input for p in known), max(p.input for p in known))
    written = Span(min(p.output for p in known), max(p.output for p in known))
    return (prompt.times(read) + completion.times(written)).times(1e-6)


def _cuts(whole: Preview, least: float, settings: Settings, used: Usage) -> Iterator[str]:
    """Yield a message for each budget that may end the run, or that is below the `least` calls that a sample wants.

    There are none if nothing is left to do.
    """
    if not whole.samples:
        return
    solve, budget = settings.solve, settings.budget
    if 0 < solve.max_calls < least:
        too_low = f"below the flow's minimum of {least:.0f}, so some stages will be left out"
        yield f"at most {counted(solve.max_calls, 'call')} a sample: {too_low}"
    tokens = whole.prompt_tokens + whole.completion_tokens
    used_tokens = used.prompt_tokens + used.completion_tokens
    in_all = {
        "calls": whole.calls + Span(used.llm_calls, used.llm_calls),
        "tokens": tokens + Span(used_tokens, used_tokens),
        "cost": whole.cost and whole.cost + Span(used.cost or 0, used.cost or 0),
    }
    earlier = ", including earlier samples" if used.llm_calls else ""
    limits = [
        (tokens, solve.max_tokens * whole.samples, f"{counted(solve.max_tokens, 'token')} a sample"),
        (whole.cost, solve.max_cost * whole.samples, f"${solve.max_cost:g} a sample"),
    ]
    for owner, number, whose in (("problem", whole.problems, "a problem"), ("run", 1, "in all")):
        for unit, span in in_all.items():
            limit = getattr(budget, f"{owner}_{unit}")
            text = f"${limit:g}" if unit == "cost" else counted(limit, unit.removesuffix("s"))
            limits.append((span, limit * number, f"{text} {whose}{earlier}"))
    for span, limit, text in limits:
        if span is not None and limit and (span.most is None or span.most > limit):
            too_low = ": below the minimum, so some samples will be left out" if span.least > limit else ""
            yield f"at most {text}{too_low}"
    all_seconds = {"a sample": solve.max_seconds, "a problem": budget.problem_seconds, "in all": budget.run_seconds}
    yield from (f"at most {seconds:g} s {whose}" for whose, seconds in all_seconds.items() if seconds)


def models_asked(settings: Settings) -> tuple[str, ...]:
    """Return the models of a run, without fallbacks: `model` or `rotate_models`, and those in `model_by_prompt`."""
    config = settings.config
    return tuple(dict.fromkeys([*(config.rotate_models or (config.model,)), *config.model_by_prompt.values()]))


def prices_of(settings: Settings, models: tuple[str, ...]) -> dict[str, Price | None]:
    """Return the price of each model, None if it is unknown."""
    return {model: price_of(model, settings.prices) for model in models}


def check_prices(settings: Settings) -> None:
    """Raise UserError if there is a budget in dollars and the price of a model or fallback is unknown."""
    if not (settings.solve.max_cost or settings.budget.run_cost or settings.budget.problem_cost):
        return
    models = models_of(settings.config)
    unknown = [model for model, price in prices_of(settings, models).items() if price is None]
    if unknown:
        raise UserError(
            f"a budget in dollars needs the price of {', '.join(unknown)}, which isn't known: give it in US dollars "
            f"per million tokens, in a file for --config: {price_lines(unknown)}"
        )


def price_lines(models: list[str]) -> str:
    """Return an example of the setting for the models' prices, as one line of TOML."""
    entries = ", ".join(f'"{model}" = {{input = 0.5, output = 1.5}}' for model in models)
    return f"prices.models = {{{entries}}}"
