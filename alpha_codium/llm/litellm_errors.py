"""Translation of litellm's exceptions into ours.

1. litellm wraps an error in up to five exceptions, and chooses the outermost class by words in the message: a refused
   request that quotes a prompt about a "rate limit" becomes a RateLimitError. So the provider's HTTP status decides,
   wherever in the chain it is; litellm's class is used only if there is no status.
2. Status 408, 409, 425, 429 and 5xx are transient errors, and so are a lost connection and an invalid body. A 429
   because the account has no credit isn't transient.
3. The message is the provider's, shortened and without secrets. The chain is dropped, since it may quote a key.
"""

import json
import re
import sys
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from alpha_codium.errors import nearest
from alpha_codium.http_errors import http_errors
from alpha_codium.llm.endpoints import Endpoint
from alpha_codium.llm.errors import (
    AuthenticationFailed,
    ContentFiltered,
    ContextOverflow,
    ModelError,
    ParameterUnsupported,
    RequestRefused,
    TransientError,
    UnknownModel,
)
from alpha_codium.llm.litellm_loading import load
from alpha_codium.llm.names import provider_of
from alpha_codium.llm.retries import parse_retry_after
from alpha_codium.log import HIDDEN, redact

if TYPE_CHECKING:
    import httpx

MESSAGE_LIMIT = 500
CONTEXT = re.compile(
    r"context[ _](length|window|size|limit)|maximum context|prompt is too long|exceed_context|too many (input )?tokens",
    re.IGNORECASE,
)
FILTER = re.compile(
    r"content[ _]?(policy|filter)|responsibleaipolicy|safety system|content management policy|usage policy",
    re.IGNORECASE,
)
NO_CREDIT = re.compile(r"insufficient_quota|exceeded your current quota|credit balance is too low", re.IGNORECASE)
NO_KEY = re.compile(
    r"missing credentials|missing .{0,40}\b(api|auth)[ _]?(key|token)|api_key client option", re.IGNORECASE
)
UNSUPPORTED = re.compile(
    r"unsupported|not support|n't support|deprecated|unrecognized|unknown|not permitted|cannot both", re.IGNORECASE
)
PARAMETER = re.compile(r"(?<![\w.])(temperature|top_p|frequency_penalty|max_tokens|n)(?![\w.])")
NO_PROVIDER = re.compile(r"LLM Provider NOT provided|Unmapped LLM provider", re.IGNORECASE)
PREFIX = re.compile(r"^(litellm\.\w+: |\w+Error: |\w+Exception - |\w+Error - )+")
TRANSIENT = (408, 409, 425, 429)
CAUSES = {408: "timeout", 429: "rate_limited", 504: "timeout"}


def as_model_error(error: Exception, endpoint: Endpoint) -> ModelError:
    """Return our error for an exception of litellm, an HTTP client or the operating system."""
    chain = list(_chain(error))
    response = _response(chain)
    if response is None:
        return _without_status(chain, _shown(_own_words(str(error)), endpoint), endpoint)
    status, wait = response.status_code, _wait_asked(response.headers)
    message = _shown(_own_words(_body(response) or str(error)), endpoint)
    if status == 429 and NO_CREDIT.search(message):
        return AuthenticationFailed(f"{endpoint.model}: the account of the key has no credit: {message}")
    if status in TRANSIENT or status >= 500:
        cause = CAUSES.get(status, "server_error")
        return TransientError(f"{endpoint.model}: status {status}: {message}", wait, cause)
    return _permanent(status, message, endpoint)


def _shown(text: str, endpoint: Endpoint) -> str:
    """Return the text as one line, shortened and without secrets."""
    if endpoint.api_key and len(endpoint.api_key) >= 4:
        text = text.replace(endpoint.api_key, HIDDEN)
    text = " ".join(redact(text).split())
    return text if len(text) <= MESSAGE_LIMIT else text[: MESSAGE_LIMIT - 3] + "..."


def _permanent(status: int, message: str, endpoint: Endpoint) -> ModelError:
    model = endpoint.model
    if status in (400, 413, 422) and FILTER.search(message):
        return ContentFiltered(f"{model}: {message}")
    if status == 413 or (status in (400, 422) and CONTEXT.search(message)):
        return ContextOverflow(f"{model}: {message}")
    if status in (401, 402, 403):
        return AuthenticationFailed(f"{model}: status {status}: {message}{key_hint(model)}")
    if status == 404:
        address = f" at {_shown(endpoint.api_base, endpoint)}" if endpoint.api_base else ""
        return UnknownModel(f"{model}: no such model{address}, or the address is wrong: status 404: {message}")
    return RequestRefused(f"{model}: status {status}: {message}", unsupported_parameter(message))


def _without_status(chain: list[BaseException], message: str, endpoint: Endpoint) -> ModelError:
    """Return the error for a request that litellm rejected before sending it, or that failed without a status."""
    litellm, model = sys.modules.get("litellm"), endpoint.model  # without it, none of its exceptions is raised
    missing = next((error for error in chain if isinstance(error, ImportError)), None)
    if missing is not None:
        return UnknownModel(f"{model} needs a package that isn't installed: {missing}")
    if litellm and isinstance(chain[0], litellm.UnsupportedParamsError):
        names = re.search(r"\[([^\[\]]*)\]", message)
        which = names[1].replace("'", "") if names else message
        return ParameterUnsupported(
            f"{model} doesn't support the parameter {which}: leave it out, or set config.drop_params = true to have "
            "such parameters left out",
            unsupported_parameter(message),
        )
    if NO_PROVIDER.search(message):
        return unknown_provider(model)
    if NO_KEY.search(message):
        return no_key(model)
    if any(isinstance(error, http_errors("InvalidURL", "UnsupportedProtocol")) for error in chain):
        address = _shown(endpoint.api_base or message, endpoint)
        return UnknownModel(f"{model}: {address!r} isn't a URL; use http://HOST:PORT/v1")
    timeouts = (*http_errors("TimeoutException"), TimeoutError, *((litellm.Timeout,) if litellm else ()))
    if any(isinstance(error, timeouts) for error in chain):
        return TransientError(f"{model}: no answer in time: {message}", cause="timeout")
    if any(isinstance(error, (*http_errors("TransportError"), OSError)) for error in chain):
        why = _shown(str(chain[-1]), endpoint)
        return TransientError(f"{model}: the connection failed: {why}", cause="connection")
    # A body with status 200 that contains an error code, or isn't a valid answer.
    codes = (getattr(error, "status_code", None) for error in reversed(chain))
    stated = next((code for code in codes if isinstance(code, int) and 400 <= code < 600), 500)
    if stated < 500 and stated not in TRANSIENT:
        return _permanent(stated, message, endpoint)
    cause = "rate_limited" if stated == 429 else "malformed"
    return TransientError(f"{model}: invalid answer: {message}", cause=cause)


def unsupported_parameter(message: str) -> str:
    """Return the parameter that is unsupported according to a provider's message, or ""."""
    found = PARAMETER.search(message) if UNSUPPORTED.search(message) else None
    return found[1] if found else ""


def unknown_provider(model: str) -> UnknownModel:
    """Return the error for a model string whose provider litellm doesn't know."""
    providers = [str(getattr(name, "value", name)) for name in load().provider_list]
    hint = nearest(provider_of(model), providers) if "/" in model else ""
    return UnknownModel(
        f"model {model!r}: no such provider{hint}; a model is named as provider/name, for example openai/gpt-4o-mini"
    )


def no_key(model: str) -> AuthenticationFailed:
    """Return the error for a model whose provider needs a key that isn't set."""
    return AuthenticationFailed(f"{model}: no API key is set{key_hint(model)}")


def key_hint(model: str) -> str:
    """Return a hint on the provider's environment variable if it isn't set, else ""."""
    missing = [name for name in load().validate_environment(model)["missing_keys"] if name.endswith(("KEY", "TOKEN"))]
    return f"; set the environment variable {' or '.join(missing)}, or add it to .env" if missing else ""


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__


def _response(chain: list[BaseException]) -> "httpx.Response | None":
    """Return the provider's response; those in litellm's own exceptions aren't real."""
    found = (error for error in reversed(chain) if isinstance(error, http_errors("HTTPStatusError")))
    return next((getattr(error, "response", None) for error in found), None)


def _body(response: "httpx.Response") -> str:
    try:
        return response.text
    except http_errors("StreamError"):
        return ""  # the body was never read


def _wait_asked(headers: Mapping[str, str]) -> float | None:
    milliseconds = parse_retry_after(headers.get("retry-after-ms", ""))
    return parse_retry_after(headers.get("retry-after", "")) if milliseconds is None else milliseconds / 1000


def _own_words(text: str) -> str:
    """Return the message and code of a JSON error in the text, or the text without litellm's prefix."""
    text = PREFIX.sub("", text.partition("\nTraceback")[0])
    start = text.find("{")
    try:
        body = json.loads(text[start : text.rfind("}") + 1]) if start >= 0 else {}
    except (ValueError, RecursionError):
        return text
    inner = body.get("error", body)
    if not isinstance(inner, dict):
        return str(inner)
    said, code = inner.get("message") or text, inner.get("code")
    return f"{said} ({code})" if code else str(said)
