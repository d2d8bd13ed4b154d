import json

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from alpha_codium.llm.endpoints import Endpoint
from alpha_codium.llm.errors import AuthenticationFailed, ModelError, TransientError
from alpha_codium.llm.litellm_errors import MESSAGE_LIMIT, as_model_error
from alpha_codium.llm.litellm_loading import load

ENDPOINT = Endpoint("openai/x", "http://127.0.0.1:1/v1", "a-key-nobody-may-see")
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)
BODIES = st.text() | JSON.map(json.dumps) | JSON.map(lambda value: json.dumps({"error": value}))


@pytest.fixture(scope="module", autouse=True)
def _litellm_loaded():
    load()  # it takes seconds, which Hypothesis would count as those of an example


def refusal(status: int, body: str, headers: dict[str, str] | None = None) -> Exception:
    """An error as litellm gives it: the provider's response at the end of a chain of others."""
    response = httpx.Response(status, text=body, headers=headers, request=httpx.Request("POST", "http://127.0.0.1:1"))
    outer = RuntimeError("litellm.APIError: APIError: OpenAIException - something")
    outer.__cause__ = ValueError("in between")
    outer.__cause__.__context__ = httpx.HTTPStatusError("refused", request=response.request, response=response)
    return outer


@pytest.mark.thorough
@given(st.integers(300, 599), BODIES)
def test_any_response_becomes_one_short_line(status, body):
    fault = as_model_error(refusal(status, body), ENDPOINT)
    assert isinstance(fault, ModelError)
    assert str(fault).startswith("openai/x: ")
    assert "\n" not in str(fault)
    assert len(str(fault)) < MESSAGE_LIMIT + 200


@given(st.integers(300, 599), st.text("abc ", max_size=20))
def test_the_status_decides_what_is_retried(status, words):
    fault = as_model_error(refusal(status, json.dumps({"error": {"message": words}})), ENDPOINT)
    assert isinstance(fault, TransientError) == (status in (408, 409, 425, 429) or status >= 500)


@pytest.mark.parametrize("text", ["{" * 100_000 + "}", '{"a":' * 100_000 + "1" + "}" * 100_000, "[" * 100_000 + "{}"])
def test_a_deeply_nested_body_is_shortened(text):
    assert isinstance(as_model_error(refusal(500, text), ENDPOINT), TransientError)


def test_a_circular_chain_of_exceptions_is_handled():
    error = OSError("first")
    error.__context__ = second = ValueError("second")
    second.__context__ = error
    assert isinstance(as_model_error(error, ENDPOINT), TransientError)


def test_a_key_anywhere_in_a_body_is_hidden():
    body = json.dumps({"error": {"message": f"Bearer {ENDPOINT.api_key} is wrong", "code": f"bad:{ENDPOINT.api_key}"}})
    fault = as_model_error(refusal(401, body), ENDPOINT)
    assert isinstance(fault, AuthenticationFailed)
    assert "nobody" not in str(fault)
