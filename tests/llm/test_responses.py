"""Each form in which providers answer is read the same way directly and through litellm, over real HTTP."""

import json

import pytest

from alpha_codium.llm.direct import DirectClient
from alpha_codium.llm.endpoints import Endpoint
from alpha_codium.llm.errors import TransientError
from alpha_codium.llm.litellm_backend import LiteLLMBackend
from tests.llm.asking import KEY, request
from tests.llm.provider_forms import CODE, FAILED, FINISHED, READABLE, UNREADABLE, USAGES, body
from tests.servers.scripted import Malformed, ScriptedServer, last_user

ROUTES = ("directly", "through litellm")


async def read_all(route, responses):
    """What is read from each response: its answers, or None if it isn't one."""
    texts = {str(form): sent if isinstance(sent, str) else json.dumps(sent) for form, sent in responses.items()}
    with ScriptedServer(lambda asked: Malformed(texts[last_user(asked)])) as server:
        endpoint = Endpoint("openai/tiny", server.api_base, KEY)
        direct, backend = DirectClient(), LiteLLMBackend()
        found = {}
        for form in responses:
            asked = request(str(form))
            sending = direct.send(endpoint, asked, 20.0) if route == ROUTES[0] else backend.send(endpoint, asked)
            try:
                found[form] = await sending
            except TransientError as error:
                assert error.cause == "malformed"
                found[form] = None
        await direct.close()
        await backend.close()
    return found


@pytest.mark.parametrize("route", ROUTES)
async def test_the_text_and_the_reasoning_are_found_wherever_they_are(route):
    found = await read_all(route, {form: sent for form, (sent, _, _) in READABLE.items()})
    wanted = {form: (text, reasoning, "", 3, 5) for form, (_, text, reasoning) in READABLE.items()}
    assert {
        form: (each.text, each.reasoning, each.raw, each.prompt_tokens, each.completion_tokens)
        for form, [each] in found.items()
    } == wanted


@pytest.mark.parametrize("route", ROUTES)
async def test_an_answer_without_a_text_keeps_what_was_sent(route):
    found = await read_all(route, UNREADABLE)
    assert {form: (each.text, each.completion_tokens) for form, [each] in found.items()} == dict.fromkeys(
        UNREADABLE, ("", 5)
    )
    assert all(json.loads(each.raw) != "" for [each] in found.values())


@pytest.mark.parametrize("route", ROUTES)
async def test_tokens_are_counted_in_every_form(route):
    found = await read_all(route, {form: body({"content": CODE}, usage=usage) for form, (usage, _) in USAGES.items()})
    assert {
        form: (each.prompt_tokens, each.completion_tokens, each.cached_tokens) for form, [each] in found.items()
    } == {form: tokens for form, (_, tokens) in USAGES.items()}
    assert all(each.text == CODE for [each] in found.values())


@pytest.mark.parametrize("route", ROUTES)
async def test_the_reason_to_finish_has_one_name(route):
    found = await read_all(route, {reason: body({"content": CODE}, {"finish_reason": reason}) for reason in FINISHED})
    assert {reason: each.finish_reason for reason, [each] in found.items()} == FINISHED


@pytest.mark.parametrize("route", ROUTES)
async def test_what_a_provider_reports_as_its_failure_is_no_answer(route):
    assert await read_all(route, FAILED) == dict.fromkeys(FAILED)


@pytest.mark.parametrize("route", ROUTES)
async def test_several_choices_in_several_forms_are_several_answers(route):
    choices = [{"index": 0, "message": {"content": CODE}}, {"text": "two"}, {"message": {"content": [{"text": "3"}]}}]
    found = await read_all(route, {"choices": body(choices=choices)})
    assert [answer.text for answer in found["choices"]] == [CODE, "two", "3"]
