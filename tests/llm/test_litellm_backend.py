import json
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from alpha_codium.llm.client import ModelClient
from alpha_codium.llm.errors import (
    AuthenticationFailed,
    ContentFiltered,
    ContextOverflow,
    ModelError,
    RequestRefused,
    TransientError,
    UnknownModel,
)
from alpha_codium.llm.litellm_backend import LiteLLMBackend, parameters
from tests.llm.asking import KEY, PROVIDERS, base_of, request
from tests.servers.scripted import Always, Malformed, Reply, ScriptedServer, Status, Text, Truncated

SCHEMA = {
    "title": "two sums",
    "type": "object",
    "properties": {"sum": {"type": "integer"}},
    "required": ["sum"],
    "additionalProperties": False,
}


@pytest.fixture
async def backend():
    backend = LiteLLMBackend()
    backend.open()
    yield backend
    await backend.close()


async def send(backend: LiteLLMBackend, server: ScriptedServer, model: str = "openai/x", given=None, **arguments):
    arguments = {"api_key": KEY, "timeout": 20.0} | arguments
    return await backend.send(model, given or request(), api_base=base_of(server, model), **arguments)


async def fault_of(backend: LiteLLMBackend, reply: Reply, model: str = "openai/x") -> ModelError:
    with ScriptedServer(faults=[Always(reply)]) as server:
        with pytest.raises(ModelError) as caught:
            await send(backend, server, model)
        assert len(server.requests) == 1
    return caught.value


@pytest.mark.parametrize("model", ["openai/x", "hosted_vllm/x", "ollama_chat/x"])
async def test_parameters_reach_the_server(backend, model):
    given = request(temperature=0.5, top_p=0.9, max_tokens=7, seed=3, stop=("a", "b"), extra={"top_k": 5, "min_p": 0.1})
    with ScriptedServer() as server:
        await send(backend, server, model, given)
        body = server.requests[0].body
    sent = {**body, **body.get("options", {})}
    expected = {"temperature": 0.5, "top_p": 0.9, "seed": 3, "stop": ["a", "b"], "top_k": 5, "min_p": 0.1}
    assert expected.items() <= sent.items()
    assert sent.get("max_tokens", sent.get("num_predict")) == 7
    assert [message["role"] for message in body["messages"]] == ["system", "user"]


async def test_parameters_reach_anthropic_in_its_own_form(backend):
    given = request(temperature=0.5, max_tokens=7, stop=("a",), extra={"top_k": 5})
    with ScriptedServer() as server:
        await send(backend, server, "anthropic/x", given)
        seen = server.requests[0]
    expected = {"temperature": 0.5, "max_tokens": 7, "stop_sequences": ["a"], "top_k": 5, "model": "x"}
    assert expected.items() <= seen.body.items()
    assert (seen.path, seen.headers["x-api-key"]) == ("/v1/messages", KEY)


async def test_parameters_that_are_not_given_are_not_sent(backend):
    with ScriptedServer() as server:
        await send(backend, server, given=request(frequency_penalty=0.0))
        assert set(server.requests[0].body) == {"model", "messages"}


@pytest.mark.parametrize("model", ["openai/x", "hosted_vllm/x"])
async def test_a_json_schema_is_sent_as_a_response_format(backend, model):
    with ScriptedServer() as server:
        await send(backend, server, model, request(json_schema=SCHEMA))
        sent = server.requests[0].body["response_format"]
    assert sent == {"type": "json_schema", "json_schema": {"name": "two_sums", "schema": SCHEMA, "strict": True}}


async def test_a_json_schema_reaches_ollama_as_its_format(backend):
    with ScriptedServer() as server:
        await send(backend, server, "ollama_chat/x", request(json_schema=SCHEMA))
        assert server.requests[0].body["format"]["required"] == ["sum"]


async def test_a_parameter_the_provider_lacks_is_an_error_that_names_it(backend):
    with ScriptedServer() as server:
        with pytest.raises(
            RequestRefused, match=r"anthropic/x doesn't support the parameter seed: .*config.drop_params"
        ):
            await send(backend, server, "anthropic/x", request(seed=3))
        assert server.requests == []
        await send(backend, server, "anthropic/x", request(seed=3), drop_params=True)
        assert "seed" not in server.requests[0].body


def test_a_request_is_not_changed_by_sending_it():
    given = request(json_schema=SCHEMA, extra={"a": {"b": 1}})
    sent = parameters(given)
    sent["a"]["b"] = 2
    sent["response_format"]["json_schema"]["schema"]["properties"]["sum"] = None
    assert given.extra == {"a": {"b": 1}}
    assert SCHEMA["properties"]["sum"] == {"type": "integer"}


async def test_extra_parameters_cannot_turn_retries_on(backend):
    with ScriptedServer(faults=[Always(Status(500))]) as server:
        with pytest.raises(TransientError):
            await send(backend, server, given=request(extra={"max_retries": 3, "num_retries": 3}))
        assert len(server.requests) == 1


@pytest.mark.parametrize("model", PROVIDERS)
async def test_reasoning_is_kept_apart(backend, model):
    with ScriptedServer(lambda body: Text("42", reasoning="six times seven")) as server:
        answer = await send(backend, server, model)
    assert (answer.text, answer.reasoning) == ("42", "six times seven")


@pytest.mark.parametrize("model", PROVIDERS)
async def test_a_truncated_answer_says_so(backend, model):
    with ScriptedServer(lambda body: Truncated("def f(")) as server:
        answer = await send(backend, server, model)
    assert answer.truncated


async def test_an_answer_without_text_is_empty(backend):
    body = {"choices": [{"index": 0, "message": {"role": "assistant", "content": None}, "finish_reason": "stop"}]}
    with ScriptedServer(faults=[Always(Malformed(json.dumps(body)))]) as server:
        assert (await send(backend, server)).text == ""


@pytest.mark.parametrize("model", PROVIDERS)
@pytest.mark.parametrize("header", ["7", "7.5", "date", "milliseconds"])
async def test_the_wait_that_a_provider_asks_for_is_read(backend, model, header):
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
async def test_a_refusal_that_speaks_of_rate_limits_is_no_rate_limit(backend, model):
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
async def test_a_request_that_does_not_fit_is_the_models_limit(backend, model, message):
    fault = await fault_of(backend, Status(400, message, error_type="invalid_request_error"), model)
    assert isinstance(fault, ContextOverflow)


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
async def test_a_content_filter_is_told_from_other_refusals(backend, model, reply):
    assert isinstance(await fault_of(backend, reply, model), ContentFiltered)


@pytest.mark.parametrize(
    "reply",
    [
        Status(402, "payment required"),
        Status(429, "You exceeded your current quota", error_code="insufficient_quota"),
    ],
)
async def test_an_account_without_credit_is_not_waited_for(backend, reply):
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
    with pytest.raises(
        AuthenticationFailed, match=rf"there is no key for it; set the environment variable .*{variable}"
    ):
        await backend.send(model, request(), timeout=10)


async def test_a_refused_key_names_the_variable_where_it_is_not_set(backend, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with ScriptedServer(api_key="the right one") as server:
        with pytest.raises(AuthenticationFailed, match="set the environment variable OPENAI_API_KEY"):
            await send(backend, server, api_key=None)


async def test_a_server_of_ones_own_needs_no_key(backend, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with ScriptedServer() as server:
        assert (await send(backend, server, api_key=None)).text == "echo: hi"


async def test_the_key_of_the_environment_is_used(backend, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "from-the-environment")
    with ScriptedServer(api_key="from-the-environment") as server:
        assert (await send(backend, server, api_key=None)).text == "echo: hi"


@pytest.mark.parametrize(
    ("model", "hint"),
    [("opneai/x", r" \(did you mean 'openai'\?\)"), ("x", "; a model is named as provider/name")],
)
async def test_an_unknown_provider_is_named(backend, model, hint, capsys):
    with pytest.raises(UnknownModel, match=f"model '{model}': no such provider{hint}"):
        await backend.send(model, request(), timeout=10)
    assert capsys.readouterr() == ("", "")


async def test_hosted_vllm_without_an_address_is_the_users_mistake(backend, monkeypatch):
    monkeypatch.delenv("HOSTED_VLLM_API_BASE", raising=False)
    with pytest.raises(UnknownModel, match="--api_base"):
        await backend.send("hosted_vllm/x", request(), timeout=10)


async def test_a_missing_package_of_a_provider_is_named(backend):
    pytest.importorskip("litellm")
    with pytest.raises(UnknownModel, match="needs a package that isn't installed"):
        await backend.send("vertex_ai/gemini-pro", request(), timeout=10)


async def test_ollama_is_not_looked_up_elsewhere(backend):
    with ScriptedServer() as server:
        await send(backend, server, "ollama_chat/never-seen")
        assert server.other_paths == []


async def test_litellm_says_nothing(backend, capfd):
    for reply in (Status(500), Status(400), Malformed(), Text("fine")):
        with ScriptedServer(faults=[Always(reply)]) as server:
            for model in PROVIDERS:
                client = ModelClient(
                    model, api_base=base_of(server, model), api_key=KEY, max_retries=0, backend=backend
                )
                try:
                    await client.ask(request())
                except ModelError as error:
                    assert "\n" not in str(error)
    out, err = capfd.readouterr()
    assert out == ""
    assert "litellm" not in err.lower().replace("alpha_codium.llm", "")
