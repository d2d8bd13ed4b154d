"""The embedded model: real small models that run on this machine, without a key and without an account.

1. `registry` knows the models and the folder that holds their files; `fetching` gets a file and checks its SHA-256.
2. `serve` starts a child process (`child`) that answers OpenAI's protocol on loopback, under a key of its own.
3. The client asks it through litellm like any other server; nothing of the model runs in this process.

The folder is an argument everywhere: where models are kept is for the caller to say.
"""

from alpha_codium.llm.local.fetching import best_available, fetch
from alpha_codium.llm.local.registry import KNOWN, KnownModel, StoredModel, add, find, known_model, stored_models
from alpha_codium.llm.local.server import LocalServer, LocalServerFailed, ServerProcess, serve

__all__ = [
    "KNOWN",
    "KnownModel",
    "LocalServer",
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
