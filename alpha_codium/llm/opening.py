"""From the settings to a model that answers: a provider's through litellm, or a local one in a child process.

Without a model in the settings, a provider's key in the environment decides; without a key the embedded local model
answers.
"""

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from loguru import logger

from alpha_codium.errors import ModelNotFound
from alpha_codium.llm.client import ModelClient
from alpha_codium.llm.endpoints import LOCAL, Endpoint
from alpha_codium.llm.litellm_backend import LiteLLMBackend

if TYPE_CHECKING:
    from alpha_codium.config import ConfigSection, PricesSection

# The model for a key that is there, where none was named: each provider's small one.
MODEL_OF_KEY = {
    "OPENAI_API_KEY": "openai/gpt-4o-mini",
    "ANTHROPIC_API_KEY": "anthropic/claude-haiku-4-5",
    "GEMINI_API_KEY": "gemini/gemini-2.0-flash",
}
LOCAL_SLOTS = 4
# Small models on few cores are slow, and a small one that doesn't stop would go on until its context is full.
LOCAL_TIMEOUT_SECONDS = 900.0
LOCAL_MAX_TOKENS = 1024


def choose_model(config: "ConfigSection", folder: Path, environment: Mapping[str, str] | None = None) -> str:
    """The model string to use; says so where it wasn't given. May fetch a local model into `folder`.

    Where samples take several models in turn, it is the first of those: no other would be asked.
    Raises ModelNotFound where `api_base` is given without a model, or no local model can be had.
    """
    if config.model or config.rotate_models:
        return config.model or config.rotate_models[0]
    if config.api_base:
        raise ModelNotFound(f"which model of {config.api_base}? Give --model, for example --model openai/NAME")
    environment = os.environ if environment is None else environment
    for key, model in MODEL_OF_KEY.items():
        if environment.get(key):
            logger.info("no --model was given; {} is set, so the model is {}", key, model)
            return model
    from alpha_codium.llm.local import best_available

    name = LOCAL + best_available(folder).name
    logger.info("no --model was given and no key is set, so the model is the embedded {}", name)
    return name


def effective_config(config: "ConfigSection", model: str) -> "ConfigSection":
    """The settings with the chosen model, and with bounds that a local model needs where none are given."""
    chosen = config.model_copy(update={"model": model})
    bounds: dict[str, float] = {}
    default = type(config).model_fields["ai_timeout"].default
    if any(name.startswith(LOCAL) for name in models_of(chosen)) and config.ai_timeout == default:
        bounds["ai_timeout"] = LOCAL_TIMEOUT_SECONDS
    if model.startswith(LOCAL):
        bounds["max_tokens"] = config.max_tokens or LOCAL_MAX_TOKENS
    return chosen.model_copy(update=bounds)


def models_of(config: "ConfigSection") -> tuple[str, ...]:
    """All model strings that a run may ask, `config.model` first, fallbacks included."""
    named = (config.model, *config.rotate_models, *config.model_by_prompt.values(), *config.fallback_models)
    return tuple(dict.fromkeys(model for model in named if model))


@contextlib.asynccontextmanager
async def open_model(
    config: "ConfigSection", folder: Path, prices: "PricesSection | None" = None
) -> AsyncIterator[ModelClient]:
    """A client for all models of the settings; each `local/NAME` gets a server of its own, its file is in `folder`.

    `prices` win over litellm's table. Raises ModelNotFound where a local model can't be had.
    """
    backend = LiteLLMBackend(prices)
    # litellm takes seconds to import, and so does a server to load its model: both at once.
    preparing = asyncio.create_task(backend.prepare())
    try:
        async with contextlib.AsyncExitStack() as stack:
            endpoints: dict[str, Endpoint] = {}
            for model in models_of(config):
                if model.startswith(LOCAL):
                    endpoints[model] = await stack.enter_async_context(_local(model, config, folder))
            await preparing
            yield await stack.enter_async_context(ModelClient.from_config(config, endpoints=endpoints, backend=backend))
    finally:
        preparing.cancel()


@contextlib.asynccontextmanager
async def _local(model: str, config: "ConfigSection", folder: Path) -> AsyncIterator[Endpoint]:
    """The endpoint of a local model while its server runs."""
    from alpha_codium.llm.local import serve

    name = model.removeprefix(LOCAL)
    await asyncio.to_thread(_obtain, name, folder)
    slots = min(LOCAL_SLOTS, config.concurrency, config.max_concurrent_requests)
    async with serve(name, folder, slots=slots) as server:
        yield Endpoint(
            server.litellm_model,
            server.api_base,
            server.api_key,
            free=True,
            slots=slots,
            max_tokens=config.max_tokens or LOCAL_MAX_TOKENS,
            supports_json_schema=True,
            supports_n=False,  # it takes n, but counts the tokens of one answer only
        )


def _obtain(name: str, folder: Path) -> None:
    """See that the file of a local model is there: one that we know is fetched."""
    from alpha_codium.llm.local import KNOWN, fetch, find

    if name in KNOWN:
        fetch(KNOWN[name], folder)
    else:
        find(name, folder)
