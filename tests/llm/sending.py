"""A request sent to a scripted server through litellm, and the fault that comes of one."""

import pytest

from alpha_codium.llm.endpoints import Endpoint
from alpha_codium.llm.errors import ModelError
from alpha_codium.llm.litellm_backend import LiteLLMBackend
from tests.llm.asking import KEY, base_of, request
from tests.servers.scripted import Always, Reply, ScriptedServer


async def send(backend: LiteLLMBackend, server: ScriptedServer, model: str = "openai/x", given=None, **arguments):
    endpoint = Endpoint(model, base_of(server, model), arguments.pop("api_key", KEY))
    [answer] = await backend.send(endpoint, given or request(), **({"timeout": 20.0} | arguments))
    return answer


async def fault_of(backend: LiteLLMBackend, reply: Reply, model: str = "openai/x") -> ModelError:
    with ScriptedServer(faults=[Always(reply)]) as server:
        with pytest.raises(ModelError) as caught:
            await send(backend, server, model)
        assert len(server.requests) == 1
    return caught.value
