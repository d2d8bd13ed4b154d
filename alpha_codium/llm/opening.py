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

if TYPE_CHECKING:
    from alpha_codium.config import ConfigSection

LOCAL = "local/"
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

    Raises ModelNotFound where `api_base` is given without a model, or no local model can be had.
    """
    if config.model:
        return config.model
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
    if not model.startswith(LOCAL):
        return config.model_copy(update={"model": model})
    default = type(config).model_fields["ai_timeout"].default
    bounds = {
        "ai_timeout": LOCAL_TIMEOUT_SECONDS if config.ai_timeout == default else config.ai_timeout,
        "max_tokens": config.max_tokens or LOCAL_MAX_TOKENS,
    }
    return config.model_copy(update={"model": model} | bounds)


@contextlib.asynccontextmanager
async def open_model(config: "ConfigSection", folder: Path) -> AsyncIterator[ModelClient]:
    """A client for `config.model`; for `local/NAME` with a server of its own, whose file is in `folder`.

    Raises ModelNotFound where the local model can't be had.
    """
    if not config.model.startswith(LOCAL):
        async with ModelClient.from_config(config) as client:
            await client.prepare()
            yield client
        return
    from alpha_codium.llm.litellm_backend import LiteLLMBackend
    from alpha_codium.llm.local import serve

    name = config.model.removeprefix(LOCAL)
    await asyncio.to_thread(_obtain, name, folder)
    slots = min(LOCAL_SLOTS, config.concurrency, config.max_concurrent_requests)
    backend = LiteLLMBackend()
    # litellm takes seconds to import, and so does the server to load the model: both at once.
    preparing = asyncio.create_task(backend.prepare())
    try:
        async with serve(name, folder, slots=slots) as server:
            await preparing
            client = ModelClient.from_config(
                config,
                model=server.litellm_model,
                api_base=server.api_base,
                api_key=server.api_key,
                max_concurrent_requests=slots,
                supports_json_schema=None if config.fallback_models else True,
                free=True,
                backend=backend,
            )
            async with client:
                yield client
    finally:
        preparing.cancel()


def _obtain(name: str, folder: Path) -> None:
    """See that the file of a local model is there: one that we know is fetched."""
    from alpha_codium.llm.local import KNOWN, fetch, find

    if name in KNOWN:
        fetch(KNOWN[name], folder)
    else:
        find(name, folder)
