"""Local models: small models that run on this machine, without a key and without an account.

1. `registry` lists the known models and the files in the models folder; `fetching` downloads a file and verifies it.
2. `serve` starts a child process (`child`) that speaks OpenAI's protocol on loopback, with a key of its own.
3. The client sends requests to it through litellm, as to any other server; the model doesn't run in this process.
"""

from alpha_codium.llm.local.fetching import best_available, fetch
from alpha_codium.llm.local.registry import KNOWN, KnownModel, StoredModel, add, find, known_model, stored_models
from alpha_codium.llm.local.server import LocalServerFailed, ServerProcess, serve

__all__ = [
    "KNOWN",
    "KnownModel",
    "LocalServerFailed",
    "ServerProcess",
    "StoredModel",
    "add",
    "best_available",
    "fetch",
    "find",
    "known_model",
    "serve",
    "stored_models",
]
