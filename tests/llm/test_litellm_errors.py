"""What litellm raises, told in one line of ours: what can be tried again, what the user can mend, and no key."""

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from alpha_codium.llm.endpoints import Endpoint
from alpha_codium.llm.errors import (
    AuthenticationFailed,
    ContentFiltered,
    ContextOverflow,
    RequestRefused,
    TransientError,
    UnknownModel,
)
from tests.llm.asking import KEY, PROVIDERS, request
from tests.llm.sending import fault_of, send
from tests.servers.scripted import Malformed, ScriptedServer, Status


@pytest.mark.parametrize("model", PROVIDERS)
@pytest.mark.parametrize("header", ["7", "7.5", "date", "milliseconds"])
async def test_the_wait_in_a_response_is_parsed(backend, model, header):
    date = format_datetime(datetime.now(UTC) + timedelta(seconds=60), usegmt=True)
    reply = {
        "7": Status(429, retry_after=7),
        "7.5": Status(429, retry_after=7.5),
        "date": Status(429, retry_after=date),
        "milliseconds": Status(429, headers={"retry-after-ms": "7500"}),
    }[header]
    fault = await fault_of(backend, reply, model)
    assert isinstance(fault, TransientError)
    assert fault.cause == "rate_limited"
    assert fault.retry_after is not None
    if header == "date":
        assert 0 < fault.retry_after <= 60
    else:
        assert fault.retry_after == (7 if header == "7" else 7.5)


@pytest.mark.parametrize("model", PROVIDERS)
async def test_a_refusal_that_mentions_rate_limits_is_no_rate_limit(backend, model):
    """litellm reads the message, in which providers quote the prompt; the status counts."""
    fault = await fault_of(backend, Status(400, "bad prompt: 'write a rate limiter that sends 429'"), model)
    assert type(fault) is RequestRefused


@pytest.mark.parametrize("model", PROVIDERS)
@pytest.mark.parametrize(
    "message",
    [
        "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens",
        "the request exceeds the available context size, try increasing it",
        "prompt is too long: 210000 tokens > 200000 maximum",
    ],
)
async def test_a_request_that_does_not_fit_is_a_context_overflow(backend, model, message):
    fault = await fault_of(backend, Status(400, message, error_type="invalid_request_error"), model)
    assert isinstance(fault, ContextOverflow)


@pytest.mark.thorough
@pytest.mark.parametrize("model", PROVIDERS)
@pytest.mark.parametrize(
    "reply",
    [
        Status(400, "flagged", error_type="invalid_request_error", error_code="content_policy_violation"),
        Status(400, "Output blocked by content filtering policy"),
        Status(400, "Your request was rejected as a result of our safety system."),
    ],
    ids=["a code", "Anthropic's words", "OpenAI's words"],
)
async def test_a_content_filter_is_distinguished_from_other_refusals(backend, model, reply):
    assert isinstance(await fault_of(backend, reply, model), ContentFiltered)


@pytest.mark.parametrize(
    "reply",
    [
        Status(402, "payment required"),
        Status(429, "You exceeded your current quota", error_code="insufficient_quota"),
    ],
)
async def test_an_account_without_credit_is_not_retried(backend, reply):
    assert isinstance(await fault_of(backend, reply), AuthenticationFailed)


async def test_an_error_in_a_body_of_status_200_keeps_its_code(backend):
    body = '{"error": {"message": "no such parameter", "code": 400}}'
    assert isinstance(await fault_of(backend, Malformed(body)), RequestRefused)


async def test_a_404_names_the_model_and_the_address(backend):
    fault = await fault_of(backend, Status(404, "The model `x` does not exist"))
    assert isinstance(fault, UnknownModel)
    assert str(fault).startswith("openai/x: no such model at http://127.0.0.1:")


@pytest.mark.parametrize("status", [400, 401, 429, 500])
@pytest.mark.parametrize("model", PROVIDERS)
async def test_no_key_is_quoted_in_an_error(backend, model, status, monkeypatch):
    monkeypatch.setenv("OTHER_API_KEY", "another-key-nobody-may-see")
    fault = await fault_of(backend, Status(status, f"bad key {KEY} or another-key-nobody-may-see"), model)
    assert "nobody-may-see" not in repr(fault)
    assert "bad key [secret] or [secret]" in str(fault)
    assert fault.__context__ is None
    assert fault.__cause__ is None


async def test_a_long_error_is_cut_short(backend):
    assert len(str(await fault_of(backend, Status(400, "so " * 2000)))) < 600


@pytest.mark.parametrize(
    ("model", "variable"),
    [
        ("openai/x", "OPENAI_API_KEY"),
        ("gpt-4o-mini", "OPENAI_API_KEY"),
        ("anthropic/x", "ANTHROPIC_API_KEY"),
        ("gemini/x", "GEMINI_API_KEY"),
    ],
)
async def test_a_missing_key_names_the_variable_to_set(backend, model, variable, monkeypatch):
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(AuthenticationFailed, match=rf"no API key is set; set the environment variable .*{variable}"):
        await backend.send(Endpoint(model), request(), timeout=10)


async def test_a_refused_key_names_the_variable_where_it_is_not_set(backend, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with ScriptedServer(api_key="the right one") as server:
        with pytest.raises(AuthenticationFailed, match="set the environment variable OPENAI_API_KEY"):
            await send(backend, server, api_key=None)


@pytest.mark.parametrize(
    ("model", "hint"),
    [("opneai/x", r" \(did you mean 'openai'\?\)"), ("x", "; a model is named as provider/name")],
)
async def test_an_unknown_provider_is_named(backend, model, hint, capsys):
    with pytest.raises(UnknownModel, match=f"model '{model}': no such provider{hint}"):
        await backend.send(Endpoint(model), request(), timeout=10)
    assert capsys.readouterr() == ("", "")


async def test_hosted_vllm_without_an_address_is_a_user_error(backend, monkeypatch):
    monkeypatch.delenv("HOSTED_VLLM_API_BASE", raising=False)
    with pytest.raises(UnknownModel, match=r"config\.api_base"):
        await backend.send(Endpoint("hosted_vllm/x"), request(), timeout=10)


async def test_a_missing_package_of_a_provider_is_named(backend):
    pytest.importorskip("litellm")
    with pytest.raises(UnknownModel, match="needs a package that isn't installed"):
        await backend.send(Endpoint("vertex_ai/gemini-pro"), request(), timeout=10)
