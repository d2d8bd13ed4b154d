"""Endpoints: the address, the key and known properties of a model.

1. Each model string of a run has one endpoint. A local model's is passed in when its server has started; others are
   created on first use.
2. `api_base` and its key are used only for the provider of the first model that isn't local. For other providers, their
   own address is used, with the key from the environment.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from alpha_codium.config import ConfigSection

LOCAL = "local/"


@dataclass(frozen=True, slots=True)
class Endpoint:
    """The address and properties of one model; `model` is litellm's name for it.

    A `free` model's answers cost nothing. `slots` is the number of concurrent requests it accepts (0: no limit).
    `max_tokens` limits an answer if the request doesn't. If `supports_json_schema` or `supports_n` is None, litellm's
    table decides.
    """

    model: str
    api_base: str | None = None
    api_key: str | None = field(default=None, repr=False)
    free: bool = False
    slots: int = 0
    max_tokens: int | None = None
    supports_json_schema: bool | None = None
    supports_n: bool | None = None

    @property
    def is_local(self) -> bool:
        """Whether this is the server of a local model, whose properties are known without litellm."""
        return self.free and self.supports_json_schema is not None and self.supports_n is not None


class Endpoints:
    """The endpoints of a client by model string; `known` are those of local servers."""

    def __init__(self, config: "ConfigSection", api_key: str | None, known: Mapping[str, Endpoint]) -> None:
        remote = (model for model in models_of(config) if not model.startswith(LOCAL))
        self._provider = provider_of(next(remote, config.model))
        self._api_base, self._api_key = config.api_base or None, api_key
        self._endpoints = dict(known)

    def __getitem__(self, model: str) -> Endpoint:
        if model not in self._endpoints:
            same_provider = provider_of(model) == self._provider
            address = (self._api_base, self._api_key) if same_provider else (None, None)
            self._endpoints[model] = Endpoint(model, *address)
        return self._endpoints[model]


def models_of(config: "ConfigSection") -> tuple[str, ...]:
    """Return all model strings that a run may use, `config.model` first, including fallbacks."""
    named = (config.model, *config.rotate_models, *config.model_by_prompt.values(), *config.fallback_models)
    return tuple(dict.fromkeys(model for model in named if model))


def provider_of(model: str) -> str:
    """Return the provider in a model string."""
    return model.partition("/")[0]
