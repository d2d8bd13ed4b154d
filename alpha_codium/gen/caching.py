"""The cache of answers for one run's settings."""

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from loguru import logger

from alpha_codium.config import Settings
from alpha_codium.errors import UserError
from alpha_codium.llm.endpoints import models_of
from alpha_codium.llm.names import LOCAL
from alpha_codium.llm.prices import cost_of
from alpha_codium.runs import AnswerCache
from alpha_codium.runs.answers import without_user


class PricedCache(AnswerCache):
    """The cache for calls with these settings; for models in `[prices]`, costs are computed by the current prices."""

    def __init__(self, path: Path, settings: Settings) -> None:
        super().__init__(path, scope_of(settings))
        self._prices = settings.prices.models

    def get(self, key: str) -> dict[str, Any] | None:
        """Return the answer under `key`, or None."""
        found = super().get(key)
        price = self._prices.get(found.get("model", "")) if found is not None else None
        if found is None or price is None:
            return found
        tokens = [found.get(name, 0) for name in ("prompt_tokens", "completion_tokens", "cached_tokens")]
        # Without tokens, they are unknown, or counted with another answer to the same request.
        return found | {"cost": cost_of(price, *tokens)} if any(tokens) else found


def scope_of(settings: Settings) -> str:
    """Return a text of everything besides the request that determines answers: the server's address without a user,
    `drop_params`, and the user's own local models.
    """
    address = without_user(settings.config.api_base).rstrip("/")
    return json.dumps([address, settings.config.drop_params, *_own_files(settings)])


def _own_files(settings: Settings) -> Iterator[str]:
    """Yield the names and SHA-256 of the user's local models; known models always have the same file."""
    from alpha_codium.llm.local.registry import KNOWN, stored_models
    from alpha_codium.paths import models_folder

    names = {
        model.removeprefix(LOCAL) for model in models_of(settings.config) if model.startswith(LOCAL)
    } - KNOWN.keys()
    if names:
        yield from (f"{m.name} {m.sha256}" for m in stored_models(models_folder()) if m.name in names)


@contextlib.contextmanager
def open_cache(settings: Settings) -> Iterator[AnswerCache | None]:
    """Open the shared cache for calls with these settings; yield None if `cache` is off or its folder is unusable."""
    from alpha_codium.paths import shared_cache

    try:
        path = shared_cache() if settings.config.cache else None
    except UserError as error:
        logger.warning("the cache is not used: {}", error)
        path = None
    if path is None:
        yield None
        return
    with PricedCache(path, settings) as cache:
        yield cache
