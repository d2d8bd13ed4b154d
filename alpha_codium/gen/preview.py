"""Estimates of a run's calls, tokens and cost before it starts: what it takes at most, without budgets.

1. Each stage of the flow states the most calls it makes by its method `calls`; without that method the number is
   unknown. Unreadable answers may be asked for again, `max_format_retries` times.
2. A prompt contains at most the statement with public tests, the longest template of the flow, and two earlier answers.
   A token is assumed to have four characters.
3. An answer has at most `max_tokens` tokens, or 2,000 if that isn't set.
4. Of many problems, only about a hundred are sampled, evenly spaced.
"""

import math
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
from alpha_codium.values import JsonValue
from alpha_codium.wording import counted, in_dollars

CHARACTERS_A_TOKEN = 4
LONGEST_ANSWER = 2000
SAMPLED_PROBLEMS = 100


@dataclass(frozen=True, slots=True)
class Preview(JsonValue):
    """What a run takes at most, without budgets except `solve.max_calls`; None for what is unknown.

    `cost` is in US dollars, and unknown if the price of a model is (`unpriced`). With `cache`, cached answers are
    counted, although they aren't paid for again. `cuts` are messages on budgets that may end the run.
    """

    flow: str
    models: tuple[str, ...]
    problems: int
    samples: int
    calls: int | None
    prompt_tokens: int | None
    completion_tokens: int | None
    cost: float | None
    unpriced: tuple[str, ...] = ()
    cuts: tuple[str, ...] = ()
    cache: bool = False

    def line(self) -> str:
        """Return the preview in one line."""
        both = self.prompt_tokens, self.completion_tokens
        tokens = None if both[0] is None or both[1] is None else both[0] + both[1]
        what = f"{_count(self.problems, 'problem')}, {_count(self.samples, 'sample')} of {self.flow}"
        takes = f"calls {_up_to(self.calls)}, tokens {_up_to(tokens)}, cost {_up_to(self.cost, in_dollars)}"
        return "; ".join([f"{what} by {', '.join(self.models)}: {takes}", *self.cuts])

    def lines(self) -> list[str]:
        """Return the preview as a table."""
        cost = f"unknown: give {price_lines(list(self.unpriced))}" if self.unpriced else _up_to(self.cost, in_dollars)
        rows = {
            "flow": self.flow,
            "models": ", ".join(self.models),
            "problems": str(self.problems),
            "samples": str(self.samples),
            "calls": _up_to(self.calls),
            "prompt tokens": _up_to(self.prompt_tokens),
            "completion tokens": _up_to(self.completion_tokens),
            "cost": cost,
            "cache": "on: answers that it holds count here, but are not paid again" if self.cache else "off",
        }
        return [f"{name:<18} {value}" for name, value in rows.items()] + [f"{'budget':<18} {cut}" for cut in self.cuts]


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def _up_to(most: float | None, form: Callable[[float], str] = "{:,.0f}".format) -> str:
    if most is None:
        return "unknown"
    return f"up to {form(most)}" if most else form(most)


HOW_ESTIMATED = (
    "What the run takes at most, by the flow's stages and the length of the statements: "
    f"{CHARACTERS_A_TOKEN} characters a token, and answers of max_tokens, or of {LONGEST_ANSWER} tokens without it."
)


def preview_of(
    flow: Flow, problems: Sequence[Problem], samples: int, settings: Settings, used: Usage | None = None
) -> Preview:
    """Return the preview of `samples` samples in total, spread evenly over the problems; `used` is the usage of earlier
    samples.
    """
    step = max(1, len(problems) // SAMPLED_PROBLEMS)
    sampled = [problems[index] for index in range(0, len(problems), step)]
    flows = [(flow.for_kind(problem.execution.kind), problem.statement) for problem in sampled]
    each = [_of_sample(own, statement, settings) for own, statement in flows]
    share = samples / max(1, len(each))
    calls, prompt, completion = (_times(sum(most), share) for most in zip(*each, strict=True)) if each else (0.0,) * 3
    prices = prices_of(settings, models_asked(settings))
    cost = _cost(prompt, completion, list(prices.values()))
    least = max((_calls_wanted(own, statement, settings)[0] for own, statement in flows), default=0)
    most = {"calls": calls, "tokens": prompt + completion, "cost": cost}
    return Preview(
        flow.name,
        tuple(prices),
        len(problems),
        samples,
        _whole(calls),
        _whole(prompt),
        _whole(completion),
        cost if cost is not None and math.isfinite(cost) else None,
        tuple(model for model, price in prices.items() if price is None),
        tuple(_cuts(len(problems), samples, most, least, settings, used or Usage())),
        settings.config.cache,
    )


def _whole(most: float) -> int | None:
    return math.ceil(most) if math.isfinite(most) else None


def _times(most: float, factor: float) -> float:
    """Return the product, 0 if either is."""
    return most * factor if most and factor else 0.0


def _of_sample(flow: Flow, statement: Statement, settings: Settings) -> tuple[float, float, float]:
    """Return the most calls, prompt tokens and completion tokens of one sample."""
    calls = min(_calls_wanted(flow, statement, settings)[1], settings.solve.max_calls or math.inf)
    longest = settings.config.max_tokens or LONGEST_ANSWER
    shown = len(statement.description) + sum(len(t.input) + len(t.output) for t in statement.public_tests)
    templates = (
        len(prompt.system) + len(prompt.user)
        for stage in flow.stages
        for prompt in vars(stage).values()
        if isinstance(prompt, Prompt)
    )
    prompt = (shown + max(templates, default=0)) / CHARACTERS_A_TOKEN + 2 * longest
    return calls, _times(calls, prompt), _times(calls, longest)


def _calls_wanted(flow: Flow, statement: Statement, settings: Settings) -> tuple[int, float]:
    """Return the least and the most calls of one sample without a budget."""
    least, most = 0, 0.0
    for stage in flow.stages:
        of_stage = getattr(stage, "calls", None)
        own = of_stage(settings, statement) if of_stage else (0, math.inf)
        least, most = least + own[0], most + own[1]
    return least, most * (1 + settings.solve.max_format_retries)


def _cost(prompt: float, completion: float, prices: Sequence[Price | None]) -> float | None:
    """Return the cost in US dollars, at the price of the most expensive model."""
    known = [price for price in prices if price is not None]
    if len(known) < len(prices):
        return None
    read, written = max(p.input for p in known), max(p.output for p in known)
    return (_times(prompt, read) + _times(completion, written)) / 1e6


def _cuts(
    problems: int, samples: int, most: dict[str, float | None], least: float, settings: Settings, used: Usage
) -> Iterator[str]:
    """Yield a message for each budget that may end the run, or that is below the `least` calls that a sample wants.

    There are none if nothing is left to do. `most` has the most calls, tokens and dollars of the run.
    """
    if not samples:
        return
    solve, budget = settings.solve, settings.budget
    if 0 < solve.max_calls < least:
        too_low = f"below the flow's minimum of {least:.0f}, so some stages will be left out"
        yield f"at most {counted(solve.max_calls, 'call')} a sample: {too_low}"
    before = {"calls": used.llm_calls, "tokens": used.prompt_tokens + used.completion_tokens, "cost": used.cost or 0}
    earlier = ", including earlier samples" if used.llm_calls else ""
    limits = [
        (most["tokens"], solve.max_tokens * samples, f"{counted(solve.max_tokens, 'token')} a sample"),
        (most["cost"], solve.max_cost * samples, f"${solve.max_cost:g} a sample"),
    ]
    for owner, number, whose in (("problem", problems, "a problem"), ("run", 1, "in all")):
        for unit, wanted in most.items():
            limit = getattr(budget, f"{owner}_{unit}")
            text = f"${limit:g}" if unit == "cost" else counted(limit, unit.removesuffix("s"))
            total = None if wanted is None else wanted + before[unit]
            limits.append((total, limit * number, f"{text} {whose}{earlier}"))
    yield from (f"at most {text}" for total, limit, text in limits if total is not None and limit and total > limit)
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
            f"per million tokens, in a file of settings: {price_lines(unknown)}"
        )


def price_lines(models: list[str]) -> str:
    """Return an example of the setting for the models' prices, as one line of TOML."""
    entries = ", ".join(f'"{model}" = {{input = 0.5, output = 1.5}}' for model in models)
    return f"prices.models = {{{entries}}}"
