"""The choice of the model, and a context manager that opens a client for the models of the settings.

Without a model in the settings, the default model of a provider whose key is in the environment is used; without a key,
a local model, which runs in a child process: the only stored one, or else the best one available.
"""

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from loguru import logger

from alpha_codium.errors import ModelNotFound
from alpha_codium.llm.client import ModelClient
from alpha_codium.llm.endpoints import Endpoint, Endpoints, models_of
from alpha_codium.llm.litellm_backend import LiteLLMBackend
from alpha_codium.llm.names import LOCAL

if TYPE_CHECKING:
    from alpha_codium.config.sections import ConfigSection, PricesSection

# The default model for each key: a small one of the provider.
MODEL_OF_KEY = {
    "OPENAI_API_KEY": "openai/gpt-4o-mini",
    "ANTHROPIC_API_KEY": "anthropic/claude-haiku-4-5",
    "GEMINI_API_KEY": "gemini/gemini-2.0-flash",
}
LOCAL_SLOTS = 4
# Small models on few cores are slow, and some generate text until their context is full.
LOCAL_TIMEOUT_SECONDS = 900.0
LOCAL_MAX_TOKENS = 1024


def choose_model(
    config: "ConfigSection", folder: Path, environment: Mapping[str, str] | None = None, *, preview: bool = False
) -> str:
    """Return the model string to use, and log it if it wasn't given.

    A local model may be downloaded into `folder`, but not for a `preview`. With `rotate_models`, the first of them is
    returned. Raises ModelNotFound if `api_base` is given without a model, or if no local model is available.
    """
    if config.model or config.rotate_models:
        return config.model or config.rotate_models[0]
    if config.api_base:
        raise ModelNotFound(f"which model of {config.api_base}? Give `config.model`, for example openai/NAME")
    environment = os.environ if environment is None else environment
    for key, model in MODEL_OF_KEY.items():
        if environment.get(key):
            logger.info(
                "no model was chosen, and {} is set: the model is {} (choose another with `config.model`)", key, model
            )
            return model
    from alpha_codium.llm.local.fetching import default_model
    from alpha_codium.llm.local.registry import BEST, SMALLEST

    name = default_model(folder, preview=preview)
    chosen = f"the model is local/{name} (choose another with `config.model`; gencode model list shows the local ones)"
    logger.info("no model was chosen, and no key is set: {}", chosen)
    if name == SMALLEST.name:
        logger.info("{} rarely solves a problem; a better local model: gencode model get {}", name, BEST.name)
    return LOCAL + name


def effective_config(config: "ConfigSection", model: str) -> "ConfigSection":
    """Return the settings with the chosen model and, unless given, the limits that local models need."""
    chosen = config.model_copy(update={"model": model})
    bounds: dict[str, float] = {}
    default = type(config).model_fields["ai_timeout"].default
    if any(name.startswith(LOCAL) for name in models_of(chosen)) and config.ai_timeout == default:
        bounds["ai_timeout"] = LOCAL_TIMEOUT_SECONDS
    if model.startswith(LOCAL):
        bounds["max_tokens"] = config.max_tokens or LOCAL_MAX_TOKENS
    return chosen.model_copy(update=bounds)


def needs_litellm(config: "ConfigSection") -> bool:
    """Return whether requests go through litellm: to a model that isn't asked directly, or with extra parameters."""
    endpoints = Endpoints(config, None, {})
    return bool(config.extra) or not all(
        model.startswith(LOCAL) or endpoints[model].direct for model in models_of(config)
    )


@contextlib.asynccontextmanager
async def open_model(
    config: "ConfigSection", folder: Path, prices: "PricesSection | None" = None, api_key: str | None = None
) -> AsyncIterator[ModelClient]:
    """Yield a client for all models of the settings; each `local/NAME` is served from its file in `folder`.

    `prices` take precedence over litellm's table, and `api_key` over the environment's key. Raises ModelNotFound if a
    local model isn't available.
    """
    backend = LiteLLMBackend(prices)
    # Importing litellm and loading a local model take seconds each, so they run concurrently.
    preparing = asyncio.create_task(backend.prepare()) if needs_litellm(config) else None
    try:
        async with contextlib.AsyncExitStack() as stack:
            endpoints: dict[str, Endpoint] = {}
            for model in models_of(config):
                if model.startswith(LOCAL):
                    endpoints[model] = await stack.enter_async_context(_local(model, config, folder))
            if preparing is not None:
                await preparing
            yield await stack.enter_async_context(
                ModelClient(config, api_key=api_key, endpoints=endpoints, backend=backend)
            )
    finally:
        if preparing is not None:
            preparing.cancel()


@contextlib.asynccontextmanager
async def _local(model: str, config: "ConfigSection", folder: Path) -> AsyncIterator[Endpoint]:
    """Yield the endpoint of a local model while its server runs; a known model's file is downloaded if missing."""
    from alpha_codium.llm.local.fetching import fetch
    from alpha_codium.llm.local.registry import KNOWN, find
    from alpha_codium.llm.local.server import serve

    name = model.removeprefix(LOCAL)
    stored = await asyncio.to_thread(fetch, KNOWN[name], folder) if name in KNOWN else find(name, folder)
    slots = min(LOCAL_SLOTS, config.concurrency, config.max_concurrent_requests)
    async with serve(stored, slots=slots) as endpoint:
        yield replace(endpoint, max_tokens=config.max_tokens or LOCAL_MAX_TOKENS)
