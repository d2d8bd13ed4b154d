"""Model strings: `provider/name` as litellm has them, and `local/name` for the models that gencode serves itself."""

LOCAL = "local/"


def provider_of(model: str) -> str:
    """Return the provider in a model string."""
    return model.partition("/")[0]
