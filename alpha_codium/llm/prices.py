"""Prices of models.

Local models are free. `[prices]` takes precedence over litellm's table. Any other price is unknown, never 0.
"""

import functools
import importlib.util
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from alpha_codium.config.sections import Price, PricesSection
from alpha_codium.llm.names import LOCAL, provider_of

MILLION = 1_000_000
TABLE = "model_prices_and_context_window_backup.json"


def price_of(model: str, prices: PricesSection) -> Price | None:
    """Return a model's price, None if unknown."""
    if model.startswith(LOCAL):
        return Price(input=0, output=0)
    if model in prices.models:
        return prices.models[model]
    return price_in_table(model, price_table())


@functools.cache
def price_table() -> dict[str, Any]:
    """Return litellm's table of prices, read from its file, since the import of litellm takes seconds."""
    package = importlib.util.find_spec("litellm")
    assert package is not None and package.origin is not None, "litellm is a dependency"
    table: dict[str, Any] = json.loads(Path(package.origin).with_name(TABLE).read_bytes())
    return table


def price_in_table(model: str, table: Mapping[str, Any]) -> Price | None:
    """Return the price in litellm's table, or None, without surcharges such as those for very long prompts.

    Most models are listed without their provider; such an entry is used only if its provider is the same.
    """
    entry, rest = table.get(model), model.partition("/")[2]
    if entry is None and rest in table and table[rest].get("litellm_provider") == provider_of(model):
        entry = table[rest]
    entry = entry or {}
    entry = table.get(entry.get("alias_of", ""), entry)
    names = ("input_cost_per_token", "output_cost_per_token", "cache_read_input_token_cost")
    read, written, cached = (entry.get(name) for name in names)
    if read is None or written is None:
        return None
    return Price(input=read * MILLION, output=written * MILLION, cached=None if cached is None else cached * MILLION)


def cost_by_settings(price: Price | None, usage: Any) -> float | None:
    """Return the cost of a response with this `usage`, None if the price or the tokens are unknown."""
    read, written = getattr(usage, "prompt_tokens", 0) or 0, getattr(usage, "completion_tokens", 0) or 0
    if price is None or (not (read or written) and (price.input or price.output)):
        return None
    details = getattr(usage, "prompt_tokens_details", None)
    return cost_of(price, read, written, getattr(details, "cached_tokens", 0) or 0)


def cost_of(price: Price, prompt_tokens: int, completion_tokens: int, cached_tokens: int = 0) -> float:
    """Return the cost in US dollars; `cached_tokens` are the prompt tokens that the provider read from its cache."""
    cached_price = price.input if price.cached is None else price.cached
    cached = min(cached_tokens, prompt_tokens)
    read = (prompt_tokens - cached) * price.input + cached * cached_price
    return (read + completion_tokens * price.output) / MILLION
