"""The cache of answers as a run uses it."""

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from loguru import logger

from alpha_codium.config import Settings
from alpha_codium.errors import UserError
from alpha_codium.llm.endpoints import LOCAL, models_of
from alpha_codium.llm.prices import cost_of
from alpha_codium.runs import AnswerCache, AnswerStore
from alpha_codium.runs.answers import without_user
from alpha_codium.runs.cache import FILE_NAME


class PricedCache(AnswerCache):
    """The cache for calls with these settings; answers of models in `[prices]` cost what they would now."""

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
        # Without any tokens they are unknown, or counted in another answer to the same request.
        return found | {"cost": cost_of(price, *tokens)} if any(tokens) else found


def scope_of(settings: Settings) -> str:
    """Return what decides answers beside the request: the server's address without a user, `drop_params`, and the
    user's own files of local models.
    """
    address = without_user(settings.config.api_base).rstrip("/")
    return json.dumps([address, settings.config.drop_params, *_own_files(settings)])


def _own_files(settings: Settings) -> Iterator[str]:
    """The SHA-256 of each; a model in our registry has one file only."""
    from alpha_codium.llm.local.registry import KNOWN, stored_models
    from alpha_codium.paths import models_folder

    names = {
        model.removeprefix(LOCAL) for model in models_of(settings.config) if model.startswith(LOCAL)
    } - KNOWN.keys()
    if names:
        yield from (f"{m.name} {m.sha256}" for m in stored_models(models_folder()) if m.name in names)


@contextlib.contextmanager
def open_cache(settings: Settings) -> Iterator[AnswerCache | None]:
    """Open the cache of all runs for calls with these settings; None if `cache` is off or there is no folder for it."""
    from alpha_codium.paths import cache_folder

    try:
        path = cache_folder() / FILE_NAME if settings.config.cache else None
    except UserError as error:
        logger.warning("the cache is not used: {}", error)
        path = None
    if path is None:
        yield None
        return
    with PricedCache(path, settings) as cache:
        yield cache


def spent_by(run: Path) -> dict[str, Any]:
    """Return what the run in this folder asked for itself, over all resumes, and what it spent in US dollars."""
    with AnswerStore(run / "answers.sqlite") as store:
        spent = store.spent()
    return {"asked": spent.asked, "from_cache": spent.from_cache, "spent": spent.cost}
