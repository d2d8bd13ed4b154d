"""Errors of model calls."""

from alpha_codium.errors import ModelNotFound, UserError


class ModelError(Exception):
    """A model call failed; `of_fallback` is true if a fallback model refused it, not the requested one."""

    of_fallback = False


class TransientError(ModelError):
    """A temporary error (429, 5xx, ...), which is retried; `retry_after` is the provider's wish, in seconds.

    `cause` is one of rate_limited, timeout, server_error, connection, malformed.
    """

    def __init__(self, message: str, retry_after: float | None = None, cause: str = "server_error") -> None:
        super().__init__(message)
        self.retry_after = retry_after
        self.cause = cause


class ProviderUnavailable(ModelError):
    """A transient error outlasted all retries and fallback models: the provider's fault."""


class RequestRefused(ModelError):
    """The provider rejected the request (400); `parameter` is the unsupported parameter, if it names one."""

    def __init__(self, message: str, parameter: str = "") -> None:
        super().__init__(message)
        self.parameter = parameter


class ParameterUnsupported(RequestRefused):
    """The model is known not to support a parameter; nothing was sent."""


class ContextOverflow(ModelError):
    """The request doesn't fit into the model's context: the model's limit."""


class ContentFiltered(ModelError):
    """A content filter or the model itself refused to answer: the model's fault."""


class AuthenticationFailed(ModelError, UserError):
    """The provider rejected the key, or it is missing (401, 403)."""


class UnknownModel(ModelError, ModelNotFound):
    """There is no such model at that address (404)."""
