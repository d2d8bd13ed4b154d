"""The model of the settings: chosen, fetched, and asked a question."""

import os
from collections.abc import Callable
from pathlib import Path

from alpha_codium.app.coroutines import blocking, in_thread
from alpha_codium.app.secrets import load_secrets
from alpha_codium.config import ConfigSection, Settings, load_settings
from alpha_codium.errors import ModelNotFound
from alpha_codium.gen.pricing import check_prices
from alpha_codium.llm.local.fetching import best_available, fetch
from alpha_codium.llm.local.registry import BEST, SMALLEST
from alpha_codium.llm.messages import Answer, ChatRequest, Message
from alpha_codium.llm.opening import LOCAL, MODEL_OF_KEY, choose_model, effective_config, open_model
from alpha_codium.paths import models_folder

ChooseModel = Callable[[ConfigSection, Path], str]


def with_model(settings: Settings, choose: ChooseModel = choose_model) -> Settings:
    """The settings with the model that will be used; raises ModelNotFound, and SettingsError at an unknown price."""
    load_secrets()
    model = choose(settings.config, models_folder())
    chosen = settings.model_copy(update={"config": effective_config(settings.config, model)})
    check_prices(chosen)
    return chosen


def model_without_fetching(config: ConfigSection, folder: Path) -> str:
    """The model that `choose_model` gives; a local one is not fetched."""
    if config.model or config.rotate_models or config.api_base or any(os.environ.get(key) for key in MODEL_OF_KEY):
        return choose_model(config, folder)
    return LOCAL + BEST.name


def smallest_model() -> str:
    """The best local model that is here, else the smallest one, fetched; no key is used, and no hub waited for."""
    try:
        return LOCAL + best_available(models_folder(), fetch_missing=False).name
    except ModelNotFound:
        return LOCAL + fetch(SMALLEST, models_folder()).name


async def ask_async(question: str, system: str = "", settings: Settings | None = None) -> Answer:
    """The model's answer to one question.

    Raises UserError where the model can't be had, and ModelError where it gives no answer.
    """
    settings = await in_thread(with_model, settings or load_settings())
    config = settings.config
    messages = [Message("system", system)] if system else []
    request = ChatRequest(
        (*messages, Message("user", question)),
        temperature=config.temperature,
        top_p=config.top_p,
        max_tokens=config.max_tokens,
        seed=config.seed,
        frequency_penalty=config.frequency_penalty or None,
        extra=dict(config.extra),
    )
    async with open_model(config, models_folder(), settings.prices) as client:
        return await client.ask(request)


ask = blocking(ask_async)
