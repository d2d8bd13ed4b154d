"""What can go wrong when a model is asked.

ModelError
├── TransientError          may pass: 429, 5xx, time-out, connection, an answer that is no answer; tried again
├── ProviderUnavailable     a transient fault outlived all retries and fallback models: the provider's fault
├── RequestRefused          400 and the like: the request is wrong; not tried again
│   └── ParameterUnsupported  known before anything was sent
├── ContextOverflow         the request is longer than the model's context: the model's limit
├── ContentFiltered         the provider's filter or the model refused: the model's fault
├── AuthenticationFailed    401, 403: the key is wrong or missing (also a UserError)
└── UnknownModel            404: no such model at that address (also a UserError)
"""

from alpha_codium.errors import ModelNotFound, UserError


class ModelError(Exception):
    """A model call that gave no answer; `of_fallback` says that not the model that was asked for refused it."""

    of_fallback = False


class TransientError(ModelError):
    """A fault that may pass; `retry_after` is what the provider asked us to wait, in seconds.

    `cause` is one word: rate_limited, timeout, server_error, connection, malformed.
    """

    def __init__(self, message: str, retry_after: float | None = None, cause: str = "server_error") -> None:
        super().__init__(message)
        self.retry_after = retry_after
        self.cause = cause


class ProviderUnavailable(ModelError):
    """A transient fault that outlived all retries and fallback models."""


class RequestRefused(ModelError):
    """The provider found the request itself wrong; `parameter` is the one it doesn't support, where it says so."""

    def __init__(self, message: str, parameter: str = "") -> None:
        super().__init__(message)
        self.parameter = parameter


class ParameterUnsupported(RequestRefused):
    """The model is known not to support a parameter; nothing was sent."""


class ContextOverflow(ModelError):
    """The request doesn't fit into the model's context."""


class ContentFiltered(ModelError):
    """A content filter stood between the request and an answer."""


class AuthenticationFailed(ModelError, UserError):
    """The provider didn't take the key."""


class UnknownModel(ModelError, ModelNotFound):
    """The provider doesn't know the model."""
