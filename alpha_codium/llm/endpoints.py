"""Endpoints: the address, the key and known properties of a model.

1. Each model string of a run has one endpoint. A local model's is passed in when its server has started; others are
   created on first use.
2. Requests to an OpenAI-compatible server at an `api_base` with http:// don't go through litellm if it has no data on
   the model, and has no special treatment for models of such names (`alpha_codium.llm.direct`).
3. `api_base` and its key are used only for the provider of the first model that isn't local. For other providers, their
   own address is used, with the key from the environment.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from alpha_codium.llm.names import LOCAL, provider_of
from alpha_codium.llm.prices import price_table

if TYPE_CHECKING:
    from alpha_codium.config.sections import ConfigSection

OPENAI_COMPATIBLE = ("openai", "hosted_vllm")
TREATED_BY_LITELLM = re.compile(r"(?:^|/)(?:o\d|gpt|chatgpt|codex|claude|ft:|responses/)")


@dataclass(frozen=True, slots=True)
class Endpoint:
    """The address and properties of one model; `model` is litellm's name for it.

    A `free` model's answers cost nothing. Requests to a `direct` one don't go through litellm. `slots` is the number of
    concurrent requests it accepts (0: no limit). `max_tokens` limits an answer if the request doesn't. If
    `supports_json_schema` or `supports_n` is None, litellm's table decides.
    """

    model: str
    api_base: str | None = None
    api_key: str | None = field(default=None, repr=False)
    free: bool = False
    direct: bool = False
    slots: int = 0
    max_tokens: int | None = None
    supports_json_schema: bool | None = None
    supports_n: bool | None = None


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
            endpoint = Endpoint(model, *address)
            if _is_plain(endpoint):  # the rest is what litellm says of a model that it has no data on
                endpoint = replace(endpoint, direct=True, supports_json_schema=False, supports_n=True)
            self._endpoints[model] = endpoint
        return self._endpoints[model]


def _is_plain(endpoint: Endpoint) -> bool:
    provider, _, name = endpoint.model.partition("/")
    if provider not in OPENAI_COMPATIBLE or not (endpoint.api_base or "").startswith("http://"):
        return False
    parts, known = endpoint.model.split("/"), price_table()
    return not TREATED_BY_LITELLM.search(name) and not any("/".join(parts[i:]) in known for i in range(len(parts)))


def models_of(config: "ConfigSection") -> tuple[str, ...]:
    """Return all model strings that a run may use, `config.model` first, including fallbacks."""
    named = (config.model, *config.rotate_models, *config.model_by_prompt.values(), *config.fallback_models)
    return tuple(dict.fromkeys(model for model in named if model))
