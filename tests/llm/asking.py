"""What the tests of the model client share."""

from typing import Any

from alpha_codium.config.sections import ConfigSection
from alpha_codium.llm.client import ModelClient
from alpha_codium.llm.litellm_backend import LiteLLMBackend
from alpha_codium.llm.messages import ChatRequest, Message
from tests.servers.scripted import ScriptedServer

KEY = "sk-a-key-nobody-may-see"
PROVIDERS = ("openai/x", "hosted_vllm/x", "anthropic/x", "ollama_chat/x")


def request(text: str = "hi", **parameters: Any) -> ChatRequest:
    return ChatRequest((Message("system", "Be short."), Message("user", text)), **parameters)


def base_of(server: ScriptedServer, model: str) -> str:
    """The api_base under which a provider finds its route."""
    return server.url if model.startswith(("anthropic/", "ollama")) else server.api_base


def client_of(server: ScriptedServer, model: str = "openai/x", **arguments: Any) -> ModelClient:
    """A client that waits next to nothing between retries; `arguments` are its own and settings."""
    settings = {"model": model, "api_base": base_of(server, model), "ai_timeout": 20.0, "max_retries": 2}
    settings |= {name: arguments.pop(name) for name in [*arguments] if name in ConfigSection.model_fields}
    if prices := arguments.pop("prices", None):
        arguments["backend"] = LiteLLMBackend(prices)
    return ModelClient(ConfigSection(**settings), **({"api_key": KEY, "first_wait": 0.01} | arguments))
