"""The model client: requests, the limits under which they are sent, retries, fallback models, and what it all took.

1. One call is one answer, or several to one request. A fault that may pass is tried again (`alpha_codium.llm.retries`);
   when retries are used up, the next fallback model has its turn; any other error ends the call at once.
2. Every request, first or repeated, waits in the queue of its model (`alpha_codium.llm.request_queue`), takes a slot of
   `max_concurrent_requests`, and then waits for `max_requests_per_minute`, which spaces requests evenly. A call that
   waits before a retry holds no place and no slot.
3. A request may name a model of its own; its fallbacks are the client's. `alpha_codium.llm.endpoints` says how each
   model is reached.
4. A parameter that a model refuses, and without which the question stays the same, is left out from then on.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

from loguru import logger
from tenacity import AsyncRetrying, RetryCallState, retry_if_exception_type, stop_after_attempt

from alpha_codium.config import ConfigSection
from alpha_codium.errors import SettingsError
from alpha_codium.llm.backend import Attempt, Backend
from alpha_codium.llm.endpoints import Endpoint, Endpoints
from alpha_codium.llm.errors import (
    AuthenticationFailed,
    ContentFiltered,
    ContextOverflow,
    ProviderUnavailable,
    RequestRefused,
    TransientError,
    UnknownModel,
)
from alpha_codium.llm.litellm_backend import LiteLLMBackend
from alpha_codium.llm.messages import Answer, ChatRequest, with_seed_of
from alpha_codium.llm.retries import RetryPolicy
from alpha_codium.llm.sender import Call, RequestLimits, Sender
from alpha_codium.llm.together import all_of
from alpha_codium.llm.totals import Totals

if TYPE_CHECKING:
    from alpha_codium.config import PricesSection


class ModelClient:
    """A `ChatModel` over a backend, by default litellm; use it as an async context manager.

    `other_models` are those that requests may name. `timeout` bounds one request, in seconds.
    `max_requests_per_minute` 0 sets no limit. `supports_json_schema` None leaves it to litellm's table. `free` says
    that answers of the model, not those of its fallbacks, cost nothing. `endpoints` are those of models that aren't
    reached in the usual way; `prices` win over litellm's table. `on_attempt` is told of every request that ended.
    Raises SettingsError where `api_base` is no address.
    """

    def __init__(
        self,
        model: str,
        *,
        fallback_models: Iterable[str] = (),
        other_models: Iterable[str] = (),
        api_base: str | None = None,
        api_key: str | None = None,
        timeout: float = 120.0,
        max_retries: int = 5,
        max_requests_per_minute: float = 0,
        max_concurrent_requests: int = 64,
        adaptive_concurrency: bool = True,
        drop_params: bool = False,
        supports_json_schema: bool | None = None,
        free: bool = False,
        endpoints: Mapping[str, Endpoint] | None = None,
        prices: "PricesSection | None" = None,
        first_wait: float = 1.0,
        longest_wait: float = 120.0,
        on_attempt: Callable[[Attempt], None] | None = None,
        backend: Backend | None = None,
    ) -> None:
        if api_base and not api_base.startswith(("http://", "https://")):
            raise SettingsError(f"config.api_base: {api_base!r} is no address; write http://HOST:PORT/v1")
        self._model, self._fallbacks = model, tuple(fallback_models)
        self._endpoints = Endpoints((model, *other_models, *self._fallbacks), api_base or None, api_key, endpoints)
        if free:
            self._endpoints.make_free(model)
        self._policy = RetryPolicy(max_retries, first_wait, longest_wait)
        self._supports_json_schema = supports_json_schema
        self._backend: Backend = LiteLLMBackend(prices) if backend is None else backend
        limits = RequestLimits(
            max_concurrent_requests, adaptive_concurrency, max_requests_per_minute, timeout, longest_wait
        )
        self._sender = Sender(self._backend, self._endpoints, limits, drop_params=drop_params, on_attempt=on_attempt)
        self._tally = self._sender.tally

    @classmethod
    def from_config(cls, config: ConfigSection, **overrides: Any) -> Self:
        """A client as `[config]` describes it; `overrides` are arguments of the constructor that win."""
        given: dict[str, Any] = {
            "model": config.model,
            "fallback_models": config.fallback_models,
            "other_models": (*config.rotate_models, *config.model_by_prompt.values()),
            "api_base": config.api_base or None,
            "timeout": config.ai_timeout,
            "max_retries": config.max_retries,
            "max_requests_per_minute": config.max_requests_per_minute,
            "max_concurrent_requests": config.max_concurrent_requests,
            "adaptive_concurrency": config.adaptive_concurrency,
            "drop_params": config.drop_params,
        }
        return cls(**(given | overrides))

    @property
    def name(self) -> str:
        """The model string that was asked for."""
        return self._model

    @property
    def supports_json_schema(self) -> bool:
        """Whether the model and all its fallbacks can be held to a JSON schema; see `supports_json_schema_of`."""
        return self.supports_json_schema_of(self._model)

    def supports_json_schema_of(self, model: str) -> bool:
        """Whether this model ("" is the client's own) and all fallbacks can be held to a JSON schema.

        Where litellm's table has to say it, `await prepare()` first: else litellm is imported here, which blocks.
        """
        model = model or self._model
        if model == self._model and self._supports_json_schema is not None:
            return self._supports_json_schema
        return all(map(self._holds_to_schema, (model, *self._fallbacks)))

    def _holds_to_schema(self, model: str) -> bool:
        endpoint = self._endpoints[model]
        stated = endpoint.supports_json_schema
        return self._backend.supports_json_schema(endpoint.model) if stated is None else stated

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
        [answer] = await self._answers(request, 1)
        return self._unless_filtered([answer], request)[0]

    def takes_n(self, model: str = "") -> bool:
        """Whether one HTTP request can ask this model ("" is the client's own) for several answers.

        `await prepare()` first: else litellm is imported here, which blocks.
        """
        return self._sender.takes_n(model or self._model)

    async def ask_many(self, request: ChatRequest, n: int) -> list[Answer]:
        """Exactly `n` answers to one request: in one HTTP request where the model can, else in `n` at once.

        Some of them, but not all, may be `filtered`. Raises what `ask` does, and then has no answers at all. Of `n`
        requests with a seed, each has a seed of its own: else all would be the same.
        """
        answers: list[Answer] = []
        await self._backend.prepare()
        while (missing := n - len(answers)) > 0:
            # A fallback may have given one: what is missing then is asked for at once, too.
            size = missing if not answers and self.takes_n(request.model) else 1
            first = len(answers)
            parts = [self._answers(with_seed_of(request, first + turn), size) for turn in range(missing // size)]
            for part in await all_of(parts):
                answers += part
        return self._unless_filtered(answers, request)

    def _unless_filtered(self, answers: list[Answer], request: ChatRequest) -> list[Answer]:
        if answers and all(answer.filtered for answer in answers):
            refusal = ContentFiltered(f"{answers[0].model}: a content filter stopped the answer")
            asked = request.model or self._model
            refusal.of_fallback = any(answer.model != asked for answer in answers)
            raise refusal
        return answers

    async def _answers(self, request: ChatRequest, n: int) -> list[Answer]:
        """At least one answer and at most `n`, those that a filter stopped among them."""
        self._tally.calls += n
        call = Call(request, n)
        models = (request.model or self._model, *self._fallbacks)
        for number, model in enumerate(models, start=1):
            try:
                answers = await (self._ask_model(model, call) if number == 1 else self._ask_fallback(model, call))
            except ProviderUnavailable as error:
                if number == len(models):
                    raise
                logger.warning("{}; asking {} instead", error, models[number])
                self._tally.fallbacks += 1
            else:
                self._tally.calls -= n - len(answers)
                return answers
        raise AssertionError("there is always a model")

    async def _ask_fallback(self, model: str, call: Call) -> list[Answer]:
        """Ask a model that wasn't asked for: its wrong key is no reason to end a run that its model can go on with."""
        try:
            return await self._ask_model(model, call)
        except (ContentFiltered, ContextOverflow) as refusal:
            refusal.of_fallback = True
            raise
        except (AuthenticationFailed, UnknownModel) as error:
            raise ProviderUnavailable(f"fallback {model}: {error}") from error

    async def _ask_model(self, model: str, call: Call) -> list[Answer]:
        sent_before = call.sent
        while True:
            try:
                answers = await self._retrying()(self._sender.send, model, call)
            except TransientError as error:
                requests = call.sent - sent_before
                raise ProviderUnavailable(f"{model} gave no answer in {requests} requests; last: {error}") from error
            except RequestRefused as error:
                if not self._sender.can_do_without(model, error.parameter, call):
                    raise
            else:
                first, *others = answers
                return [replace(first, attempts=call.sent), *(replace(other, attempts=0) for other in others)]

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


def _fault_of(state: RetryCallState) -> TransientError:
    assert state.outcome is not None
    fault = state.outcome.exception()
    assert isinstance(fault, TransientError)
    return fault
