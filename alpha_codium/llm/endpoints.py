"""Where a model string leads: an address, its key, and what is known of the models behind it.

1. A run may ask several models. Each model string has one endpoint; that of a local model is known when its server
   has started, any other is made when it is first asked for.
2. `api_base` and its key are those of one provider, that of the first model named which isn't local. A model of any
   other provider goes to its provider's own address, with the key of the environment.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

LOCAL = "local/"


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One model and how it is reached: `model` is the string that the backend knows it by.

    `free` says that its answers cost nothing; `slots` how many requests it takes at a time (0: as many as the client
    sends); `max_tokens` bounds an answer where the request doesn't. `supports_json_schema` and `supports_n` None leave
    it to the backend's table.
    """

    model: str
    api_base: str | None = None
    api_key: str | None = field(default=None, repr=False)
    free: bool = False
    slots: int = 0
    max_tokens: int | None = None
    supports_json_schema: bool | None = None
    supports_n: bool | None = None


class Endpoints:
    """The endpoints of a client; `known` are those of local servers, by the model strings of the user."""

    def __init__(
        self,
        models: tuple[str, ...],
        api_base: str | None = None,
        api_key: str | None = None,
        known: Mapping[str, Endpoint] | None = None,
    ) -> None:
        named = next((model for model in models if not model.startswith(LOCAL)), models[0])
        self._provider = provider_of(named)
        self._api_base, self._api_key = api_base, api_key
        self._endpoints = dict(known or {})

    def __getitem__(self, model: str) -> Endpoint:
        if model not in self._endpoints:
            same_provider = provider_of(model) == self._provider
            address = (self._api_base, self._api_key) if same_provider else (None, None)
            self._endpoints[model] = Endpoint(model, *address)
        return self._endpoints[model]

    def make_free(self, model: str) -> None:
        """Say that this model's answers cost nothing."""
        self._endpoints[model] = replace(self[model], free=True)


def provider_of(model: str) -> str:
    """The provider's name in a model string."""
    return model.partition("/")[0]
