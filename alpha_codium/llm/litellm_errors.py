"""From litellm's exceptions to our own.

1. litellm wraps what happened in up to five exceptions, and names the outermost by words it finds in the message: a
   request that was refused and quotes a prompt about a "rate limit" becomes a RateLimitError. So the HTTP status that
   the provider really sent decides, wherever in the chain it is; litellm's class only where no status was sent.
2. Status 408, 409, 425, 429 and 5xx may pass, and so may whatever broke a connection or gave a body that is no
   answer. An account without credit is a 429 of another kind: it doesn't pass.
3. The message is the provider's own, short, without secrets. The chain is left behind, for it may quote a key.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from alpha_codium.errors import nearest
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


@dataclass(frozen=True, slots=True)
class Where:
    """What a message tells of the request: its model, address, and the key, which it must not tell."""

    model: str
    api_base: str | None = None
    api_key: str | None = None

    def hide(self, text: str) -> str:
        """The text in one line, shortened and without secrets."""
        if self.api_key and len(self.api_key) >= 4:
            text = text.replace(self.api_key, HIDDEN)
        text = " ".join(redact(text).split())
        return text if len(text) <= MESSAGE_LIMIT else text[: MESSAGE_LIMIT - 3] + "..."


def as_model_error(error: Exception, where: Where) -> ModelError:
    """Our error for one of litellm's, or of the HTTP clients and the operating system below it."""
    chain = list(_chain(error))
    response = _response(chain)
    if response is None:
        return _without_status(chain, where.hide(_own_words(str(error))), where)
    status, retry_after = response.status_code, _wait_asked(response.headers)
    message = where.hide(_own_words(_body(response) or str(error)))
    if status in (408, 409, 425, 429) or status >= 500:
        return _passing(status, message, retry_after, where)
    return _lasting(status, message, where)


def _passing(status: int, message: str, retry_after: float | None, where: Where) -> ModelError:
    if status == 429 and NO_CREDIT.search(message):
        return AuthenticationFailed(f"{where.model}: the account behind the key has no credit: {message}")
    causes = {429: "rate_limited", 408: "timeout", 504: "timeout"}
    return TransientError(f"{where.model}: status {status}: {message}", retry_after, causes.get(status, "server_error"))


def _lasting(status: int, message: str, where: Where) -> ModelError:
    if status in (400, 413, 422) and FILTER.search(message):
        return ContentFiltered(f"{where.model}: {message}")
    if status == 413 or (status in (400, 422) and CONTEXT.search(message)):
        return ContextOverflow(f"{where.model}: {message}")
    if status in (401, 402, 403):
        return AuthenticationFailed(f"{where.model}: status {status}: {message}{key_hint(where.model)}")
    if status == 404:
        address = f" at {where.hide(where.api_base)}" if where.api_base else ""
        return UnknownModel(f"{where.model}: no such model{address}, or the address is wrong: status 404: {message}")
    return RequestRefused(f"{where.model}: status {status}: {message}", unsupported_parameter(message))


def _without_status(chain: list[BaseException], message: str, where: Where) -> ModelError:
    """What litellm found wrong before a request was sent, or what broke before its answer was read."""
    import httpx
    import litellm

    missing = next((error for error in chain if isinstance(error, ImportError)), None)
    if missing is not None:
        return UnknownModel(f"{where.model} needs a package that isn't installed: {missing}")
    if isinstance(chain[0], litellm.UnsupportedParamsError):
        return _unsupported(message, where)
    if NO_PROVIDER.search(message):
        return unknown_provider(where.model)
    if NO_KEY.search(message):
        return no_key(where.model)
    if any(isinstance(error, (httpx.InvalidURL, httpx.UnsupportedProtocol)) for error in chain):
        return UnknownModel(
            f"{where.model}: {where.hide(where.api_base or message)!r} is no address; write http://HOST:PORT/v1"
        )
    if any(isinstance(error, (httpx.TimeoutException, litellm.Timeout, TimeoutError)) for error in chain):
        return TransientError(f"{where.model}: no answer in time: {message}", cause="timeout")
    broken = next((error for error in chain if isinstance(error, (httpx.TransportError, OSError))), None)
    if broken is not None:
        return TransientError(f"{where.model}: the connection failed: {where.hide(str(chain[-1]))}", cause="connection")
    return _by_stated_code(chain, message, where)


def _by_stated_code(chain: list[BaseException], message: str, where: Where) -> ModelError:
    """A body with status 200 that states an error's code, or is no answer at all."""
    stated = next((code for error in reversed(chain) if 400 <= (code := _code(error)) < 600), 500)
    if stated < 500 and stated not in (408, 409, 425, 429):
        return _lasting(stated, message, where)
    cause = "rate_limited" if stated == 429 else "malformed"
    return TransientError(f"{where.model}: the answer can't be read: {message}", cause=cause)


def unsupported_parameter(message: str) -> str:
    """The parameter that a provider says it doesn't support, as far as requests can do without it; else ""."""
    found = PARAMETER.search(message) if UNSUPPORTED.search(message) else None
    return found[1] if found else ""


def _unsupported(message: str, where: Where) -> ParameterUnsupported:
    names = re.search(r"\[(.*?)\]", message)
    which = names[1].replace("'", "") if names else message
    return ParameterUnsupported(
        f"{where.model} doesn't support the parameter {which}: leave it out, or set config.drop_params = true to have "
        "such parameters left out",
        unsupported_parameter(message),
    )


def unknown_provider(model: str) -> UnknownModel:
    """The error for a model string whose provider litellm doesn't know."""
    import litellm

    provider = model.partition("/")[0]
    hint = (
        nearest(provider, [str(getattr(name, "value", name)) for name in litellm.provider_list]) if "/" in model else ""
    )
    return UnknownModel(
        f"model {model!r}: no such provider{hint}; a model is named as provider/name, for example openai/gpt-4o-mini"
    )


def no_key(model: str) -> AuthenticationFailed:
    """The error for a model whose provider wants a key, where there is none."""
    return AuthenticationFailed(f"{model}: there is no key for it{key_hint(model)}")


def key_hint(model: str) -> str:
    """Which variable of the environment to set, where the provider's is missing."""
    import litellm

    missing = [name for name in litellm.validate_environment(model)["missing_keys"] if name.endswith(("KEY", "TOKEN"))]
    return f"; set the environment variable {' or '.join(missing)}" if missing else ""


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__


def _response(chain: list[BaseException]) -> "httpx.Response | None":
    """What the provider sent; the responses that litellm's own exceptions carry are made up."""
    import httpx

    found = (error for error in reversed(chain) if isinstance(error, httpx.HTTPStatusError))
    return next((error.response for error in found), None)


def _body(response: "httpx.Response") -> str:
    import httpx

    try:
        return response.text
    except httpx.StreamError:
        return ""  # never read; litellm's message will do


def _wait_asked(headers: Mapping[str, str]) -> float | None:
    milliseconds = parse_retry_after(headers.get("retry-after-ms", ""))
    return parse_retry_after(headers.get("retry-after", "")) if milliseconds is None else milliseconds / 1000


def _code(error: BaseException) -> int:
    code = getattr(error, "status_code", None)
    return code if isinstance(code, int) else 0


def _own_words(text: str) -> str:
    """The message and the code in a JSON error, wherever it is quoted; else the text without litellm's preface."""
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
