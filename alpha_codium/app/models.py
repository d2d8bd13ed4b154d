"""The choice of the model, a single question to it, and the keys of providers.

Keys come from the environment, `.secrets.toml` or `.env` in the current folder, in this order of precedence.
"""

import os
import tomllib
from pathlib import Path

from alpha_codium.config import Settings, load_settings
from alpha_codium.config.sections import ConfigSection
from alpha_codium.coroutines import blocking, in_thread
from alpha_codium.errors import ModelNotFound, SettingsError
from alpha_codium.flows.asking import whole_program
from alpha_codium.gen.preview import check_prices
from alpha_codium.languages import language_named
from alpha_codium.llm.endpoints import models_of
from alpha_codium.llm.errors import AuthenticationFailed
from alpha_codium.llm.litellm_loading import start_loading
from alpha_codium.llm.local.fetching import best_available, fetch
from alpha_codium.llm.local.registry import KNOWN, SMALLEST, find
from alpha_codium.llm.local.server import require_xllamacpp
from alpha_codium.llm.messages import Answer, ChatRequest, Message
from alpha_codium.llm.names import LOCAL
from alpha_codium.llm.opening import MODEL_OF_KEY, choose_model, effective_config, needs_litellm, open_model
from alpha_codium.paths import models_folder

SECRETS_FILE, ENV_FILE = Path(".secrets.toml"), Path(".env")


def load_secrets(path: Path = SECRETS_FILE, env_file: Path = ENV_FILE) -> None:
    """Copy the keys in the two files to the environment, where litellm finds them; raises SettingsError."""
    for name, value in (_secrets_of(path) if path.exists() else {}).items():
        os.environ.setdefault(name, value)
    if env_file.is_file():
        from dotenv import dotenv_values

        for name, given in dotenv_values(env_file, interpolate=False).items():
            os.environ.setdefault(name, given or "")


def _secrets_of(path: Path) -> dict[str, str]:
    """Return the entries as environment variables; `key` in a table `[openai]` is OPENAI_API_KEY."""
    try:
        values = tomllib.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        # The parser's message could quote the line with the key.
        raise SettingsError(f"{path} can't be read: {type(error).__name__}") from error
    found: dict[str, str] = {}
    for name, value in values.items():
        table = value if isinstance(value, dict) else {}
        entries = {f"{name}_{'api_key' if key == 'key' else key}".upper(): text for key, text in table.items()}
        for variable, text in (entries if table else {name: value}).items():
            if not isinstance(text, str):
                raise SettingsError(f'{path}: {variable} must be a string, such as OPENAI_API_KEY = "..."')
            found[variable] = text
    return found


def with_model(settings: Settings, *, preview: bool = False) -> Settings:
    """Return the settings with the model to use; raises UserError if there is none, or a needed price is unknown.

    For a `preview`, a local model is neither downloaded nor required to be there.
    """
    load_secrets()
    model = choose_model(settings.config, models_folder(), preview=preview)
    chosen = settings.model_copy(update={"config": effective_config(settings.config, model)})
    if not preview:
        require_local_models(chosen.config)
        if needs_litellm(chosen.config):
            start_loading()
    check_prices(chosen)
    return chosen


def require_local_models(config: ConfigSection) -> None:
    """Raise ModelNotFound if a local model of the settings can't be served: without xllamacpp, or its file."""
    for model in models_of(config):
        if model.startswith(LOCAL):
            require_xllamacpp()
            if (name := model.removeprefix(LOCAL)) not in KNOWN:
                find(name, models_folder())


def refuse_without_key(config: ConfigSection) -> None:
    """Raise AuthenticationFailed if a well-known provider's key is missing, before litellm is imported."""
    provider = config.model.partition("/")[0].upper()
    key = f"{provider}_API_KEY"
    # Other variables of the provider may stand in for the key.
    known = any(value and name.startswith((f"{provider}_", "GOOGLE_")) for name, value in os.environ.items())
    if key in MODEL_OF_KEY and not (known or config.api_base or config.extra or config.fallback_models):
        hint = f"set the environment variable {key}, or add it to .env"
        raise AuthenticationFailed(f"{config.model}: no API key is set; {hint}")


def smallest_model() -> str:
    """Return the best downloaded local model; if there is none, download the smallest one."""
    try:
        return LOCAL + best_available(models_folder(), fetch_missing=False).name
    except ModelNotFound:
        return LOCAL + fetch(SMALLEST, models_folder()).name


async def ask_async(question: str, system: str = "", settings: Settings | None = None, language: str = "") -> Answer:
    """Return the model's answer to a question; raises UserError if it isn't available, and other ModelErrors.

    With `language`, the question ends with the request for a program in it, as the prompts of flows do.
    """
    settings = settings or load_settings()
    if language:
        question = f"{question}\n\n{whole_program(language_named(language)).asked}"
    load_secrets()
    refuse_without_key(settings.config)
    settings = await in_thread(with_model, settings)
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
