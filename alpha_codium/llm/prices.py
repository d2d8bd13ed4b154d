"""Prices of models.

Local models are free. `[prices]` takes precedence over litellm's table. Any other price is unknown, never 0.
"""

import math
from collections.abc import Mapping
from typing import Any

from alpha_codium.config import Price, PricesSection
from alpha_codium.llm.endpoints import LOCAL, provider_of

MILLION = 1_000_000


def price_of(model: str, prices: PricesSection) -> Price | None:
    """Return a model's price, None if unknown; may import litellm, which blocks."""
    if model.startswith(LOCAL):
        return Price(input=0, output=0)
    if model in prices.models:
        return prices.models[model]
    from alpha_codium.llm.litellm_loading import load

    return price_in_table(model, load().model_cost)


def price_in_table(model: str, table: Mapping[str, Any]) -> Price | None:
    """Return the price in litellm's table, or None, without surcharges such as those for very long prompts.

    Most models are listed without their provider; such an entry is used only if its provider is the same.
    """
    entry, rest = table.get(model), model.partition("/")[2]
    if entry is None and rest in table and table[rest].get("litellm_provider") == provider_of(model):
        entry = table[rest]
    entry = entry or {}
    names = ("input_cost_per_token", "output_cost_per_token", "cache_read_input_token_cost")
    read, written, cached = (entry.get(name) for name in names)
    if read is None or written is None:
        return None
    return Price(input=read * MILLION, output=written * MILLION, cached=None if cached is None else cached * MILLION)


def cost_of(price: Price, prompt_tokens: int, completion_tokens: int, cached_tokens: int = 0) -> float:
    """Return the cost in US dollars; `cached_tokens` are the prompt tokens that the provider read from its cache."""
    cached_price = price.input if price.cached is None else price.cached
    cached = min(cached_tokens, prompt_tokens)
    read = (prompt_tokens - cached) * price.input + cached * cached_price
    return (read + completion_tokens * price.output) / MILLION


def money(dollars: float | None) -> str:
    """Format US dollars with at least two significant digits, so that a small cost isn't shown as 0."""
    if dollars is None:
        return "unknown"
    if math.isinf(dollars):
        return "unbounded"
    digits = 4 if dollars == 0 else max(4, 1 - math.floor(math.log10(dollars)))
    return f"{dollars:.{digits}f}"


def in_dollars(dollars: float | None) -> str:
    """Format US dollars with a dollar sign."""
    return f"${money(dollars)}" if dollars is not None and math.isfinite(dollars) else money(dollars)
