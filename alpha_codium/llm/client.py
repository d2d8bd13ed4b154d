"""The model client: requests, the limits under which they are sent, retries, fallback models, and what it all took.

1. One call is one answer. A fault that may pass is tried again (`alpha_codium.llm.retries`); when retries are used up,
   the next fallback model has its turn; any other error ends the call at once.
2. Every request, first or repeated, takes a slot of `max_concurrent_requests` and then waits for its turn under
   `max_requests_per_minute`, which spaces requests evenly. A call that waits to try again holds no slot.
3. A fallback of the same provider as the model goes to the same `api_base`; any other to its provider's own address.
"""

import asyncio
import contextlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, Protocol, Self

from aiolimiter import AsyncLimiter
from loguru import logger
from tenacity import AsyncRetrying, RetryCallState, retry_if_exception_type, stop_after_attempt

from alpha_codium.config import ConfigSection
from alpha_codium.errors import SettingsError
from alpha_codium.llm.errors import (
    AuthenticationFailed,
    ContentFiltered,
    ModelError,
    ProviderUnavailable,
    TransientError,
    UnknownModel,
)
from alpha_codium.llm.litellm_backend import LiteLLMBackend
from alpha_codium.llm.messages import Answer, ChatRequest
from alpha_codium.llm.retries import RetryPolicy
from alpha_codium.llm.totals import Tally, Totals


class Backend(Protocol):
    """Sends one request once; see `LiteLLMBackend`."""

    async def prepare(self) -> None:
        """Load what sending needs."""
        ...

    async def send(
        self,
        model: str,
        request: ChatRequest,
        *,
        api_base: str | None,
        api_key: str | None,
        timeout: float,  # noqa: ASYNC109 - a number that goes to the provider's client too
        drop_params: bool,
    ) -> Answer:
        """Send one request once."""
        ...

    def supports_json_schema(self, model: str) -> bool:
        """Whether the model's answers can be constrained to a schema."""
        ...

    def open(self) -> None:
        """Say that this backend is in use."""
        ...

    async def close(self) -> None:
        """Release what it holds."""
        ...


@dataclass(frozen=True, slots=True)
class Attempt:
    """One request that ended: its model, its number within the call, and the error if it has no answer."""

    model: str
    number: int
    error: ModelError | None = None


class ModelClient:
    """A `ChatModel` over a backend, by default litellm; use it as an async context manager.

    `timeout` bounds one request, in seconds. `max_requests_per_minute` 0 sets no limit. `supports_json_schema` None
    leaves it to litellm's table. `free` says that answers of the model, not those of its fallbacks, cost nothing.
    `on_attempt` is told of every request that ended. Raises SettingsError where `api_base` is no address.
    """

    def __init__(
        self,
        model: str,
        *,
        fallback_models: Iterable[str] = (),
        api_base: str | None = None,
        api_key: str | None = None,
        timeout: float = 120.0,
        max_retries: int = 5,
        max_requests_per_minute: float = 0,
        max_concurrent_requests: int = 64,
        drop_params: bool = False,
        supports_json_schema: bool | None = None,
        free: bool = False,
        first_wait: float = 1.0,
        longest_wait: float = 120.0,
        on_attempt: Callable[[Attempt], None] | None = None,
        backend: Backend | None = None,
    ) -> None:
        if api_base and not api_base.startswith(("http://", "https://")):
            raise SettingsError(f"config.api_base: {api_base!r} is no address; write http://HOST:PORT/v1")
        self._models = (model, *fallback_models)
        self._api_base, self._api_key = api_base or None, api_key
        self._timeout, self._drop_params, self._free = timeout, drop_params, free
        self._policy = RetryPolicy(max_retries, first_wait, longest_wait)
        self._slots = asyncio.Semaphore(max_concurrent_requests)
        per_minute = max_requests_per_minute
        self._pace = AsyncLimiter(1, 60 / per_minute) if per_minute else contextlib.nullcontext()
        self._supports_json_schema = supports_json_schema
        self._on_attempt = on_attempt
        self._backend: Backend = LiteLLMBackend() if backend is None else backend
        self._tally = Tally()

    @classmethod
    def from_config(cls, config: ConfigSection, **overrides: Any) -> Self:
        """A client as `[config]` describes it; `overrides` are arguments of the constructor that win."""
        given: dict[str, Any] = {
            "model": config.model,
            "fallback_models": config.fallback_models,
            "api_base": config.api_base or None,
            "timeout": config.ai_timeout,
            "max_retries": config.max_retries,
            "max_requests_per_minute": config.max_requests_per_minute,
            "max_concurrent_requests": config.max_concurrent_requests,
            "drop_params": config.drop_params,
        }
        return cls(**(given | overrides))

    @property
    def name(self) -> str:
        """The model string that was asked for."""
        return self._models[0]

    @property
    def supports_json_schema(self) -> bool:
        """Whether the model and all its fallbacks can be held to a JSON schema.

        Where litellm's table has to say it, `await prepare()` first: else litellm is imported here, which blocks.
        """
        if self._supports_json_schema is None:
            self._supports_json_schema = all(map(self._backend.supports_json_schema, self._models))
        return self._supports_json_schema

    @property
    def totals(self) -> Totals:
        """What the calls so far took."""
        return self._tally.snapshot()

    async def prepare(self) -> None:
        """Load what calls need, ahead of the first; takes seconds with litellm, and blocks nothing."""
        await self._backend.prepare()

    async def __aenter__(self) -> Self:
        self._backend.open()
        return self

    async def __aexit__(self, *_exc: object) -> None:
        await self._backend.close()

    async def ask(self, request: ChatRequest) -> Answer:
        """Answer one request.

        Raises the errors of `alpha_codium.llm.errors`, among them ProviderUnavailable where all retries of all models
        were in vain, but never TransientError.
        """
        self._tally.calls += 1
        call = _Call(request)
        for number, model in enumerate(self._models, start=1):
            try:
                return await (self._ask_model(model, call) if number == 1 else self._ask_fallback(model, call))
            except ProviderUnavailable as error:
                if number == len(self._models):
                    raise
                logger.warning("{}; asking {} instead", error, self._models[number])
                self._tally.fallbacks += 1
        raise AssertionError("there is always a model")

    async def _ask_fallback(self, model: str, call: "_Call") -> Answer:
        """Ask a model that wasn't asked for: its wrong key is no reason to end a run that its model can go on with."""
        try:
            return await self._ask_model(model, call)
        except (AuthenticationFailed, UnknownModel) as error:
            raise ProviderUnavailable(f"fallback {model}: {error}") from error

    async def _ask_model(self, model: str, call: "_Call") -> Answer:
        sent_before = call.sent
        try:
            answer = await self._retrying()(self._attempt, model, call)
        except TransientError as error:
            requests = call.sent - sent_before
            raise ProviderUnavailable(f"{model} gave no answer in {requests} requests; last: {error}") from error
        if answer.filtered:
            raise ContentFiltered(f"{model}: a content filter stopped the answer")
        return replace(answer, attempts=call.sent)

    def _retrying(self) -> AsyncRetrying:
        def wait(state: RetryCallState) -> float:
            return self._policy.wait_before(state.attempt_number, _fault_of(state).retry_after)

        def note(state: RetryCallState) -> None:
            fault = _fault_of(state)
            self._tally.retries[fault.cause] += 1
            logger.debug("{}; trying again in {:.1f} s", fault, state.upcoming_sleep)

        return AsyncRetrying(
            retry=retry_if_exception_type(TransientError),
            stop=stop_after_attempt(self._policy.max_retries + 1),
            wait=wait,
            before_sleep=note,
            reraise=True,
        )

    async def _attempt(self, model: str, call: "_Call") -> Answer:
        await self._backend.prepare()
        async with self._slots, self._pace:
            call.sent += 1
            self._tally.attempts += 1
            try:
                answer = await self._send(model, call.request)
            except ModelError as error:
                self._tell(Attempt(model, call.sent, error))
                raise
        self._tally.add(answer)
        self._tell(Attempt(model, call.sent))
        return answer

    async def _send(self, model: str, request: ChatRequest) -> Answer:
        same_provider = model.partition("/")[0] == self.name.partition("/")[0]
        answer = await self._backend.send(
            model,
            request,
            api_base=self._api_base if same_provider else None,
            api_key=self._api_key if same_provider else None,
            timeout=self._timeout,
            drop_params=self._drop_params,
        )
        return replace(answer, cost=0.0) if self._free and model == self.name else answer

    def _tell(self, attempt: Attempt) -> None:
        if self._on_attempt is not None:
            self._on_attempt(attempt)


@dataclass(slots=True)
class _Call:
    """One call: what is asked, and the requests sent for it so far, over all models."""

    request: ChatRequest
    sent: int = 0


def _fault_of(state: RetryCallState) -> TransientError:
    assert state.outcome is not None
    fault = state.outcome.exception()
    assert isinstance(fault, TransientError)
    return fault
