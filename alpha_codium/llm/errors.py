"""Errors of model calls.

ModelError
├── TransientError          may pass: 429, 5xx, time-out, connection, an invalid answer; retried
├── ProviderUnavailable     a transient error outlasted all retries and fallback models: the provider's fault
├── RequestRefused          400 and the like: the request is invalid; not retried
│   └── ParameterUnsupported  known before anything was sent
├── ContextOverflow         the request is longer than the model's context: the model's limit
├── ContentFiltered         the provider's filter or the model refused: the model's fault
├── AuthenticationFailed    401, 403: the key is wrong or missing (also a UserError)
└── UnknownModel            404: no such model at that address (also a UserError)
"""

from alpha_codium.errors import ModelNotFound, UserError


class ModelError(Exception):
    """A model call failed; `of_fallback` is true if a fallback model refused it, not the requested one."""

    of_fallback = False


class TransientError(ModelError):
    """A temporary error; `retry_after` is the wait that the provider asks for, in seconds.

    `cause` is one of rate_limited, timeout, server_error, connection, malformed.
    """

    def __init__(self, message: str, retry_after: float | None = None, cause: str = "server_error") -> None:
        super().__init__(message)
        self.retry_after = retry_after
        self.cause = cause


class ProviderUnavailable(ModelError):
    """A transient error outlasted all retries and fallback models."""


class RequestRefused(ModelError):
    """The provider rejected the request as invalid; `parameter` is the unsupported parameter, if it names one."""

    def __init__(self, message: str, parameter: str = "") -> None:
        super().__init__(message)
        self.parameter = parameter


class ParameterUnsupported(RequestRefused):
    """The model is known not to support a parameter; nothing was sent."""


class ContextOverflow(ModelError):
    """The request doesn't fit into the model's context."""


class ContentFiltered(ModelError):
    """A content filter or the model itself refused to answer."""


class AuthenticationFailed(ModelError, UserError):
    """The provider rejected the key."""


class UnknownModel(ModelError, ModelNotFound):
    """The provider doesn't know the model."""
