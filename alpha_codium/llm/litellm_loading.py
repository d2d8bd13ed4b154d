"""Importing litellm: late, once, quietly and without the network.

1. litellm takes seconds to import, so a thread does it at the first call, and a mock call in that thread loads what
   litellm loads at its first call.
2. It would request prices and settings from the network and print advice; the variables and attributes in `load` stop
   that. An attribute of its own keeps its tokenizers from the hub; HF_HUB_OFFLINE would also cut off `datasets`.
3. The garbage collector is off meanwhile: the imported objects stay, and collecting took a third of the CPU time (3.6 s
   with, 2.3 s without).
"""

import contextlib
import gc
import logging
import os
import threading
import warnings
from collections.abc import Iterator
from typing import Any

QUIET_ENVIRONMENT = {
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "LITELLM_LOCAL_ANTHROPIC_BETA_HEADERS": "True",
    "LITELLM_MODE": "PRODUCTION",  # otherwise it loads a .env file from the working directory
    # OpenAI's protocol by litellm's own client, as for other providers: two thirds of the openai package's CPU time.
    "EXPERIMENTAL_OPENAI_BASE_LLM_HTTP_HANDLER": "True",
}
MOCK_CALL = {"model": "openai/x", "messages": [{"role": "user", "content": "hi"}], "mock_response": "hi"}
_loading = threading.Lock()


def load() -> Any:
    """Return litellm, imported once; takes seconds the first time."""
    with _loading, without_collections():
        for name, value in QUIET_ENVIRONMENT.items():
            os.environ.setdefault(name, value)
        import litellm

        if not litellm.suppress_debug_info:
            _quiet(litellm)
            litellm.completion(**MOCK_CALL)
        return litellm


@contextlib.contextmanager
def without_collections() -> Iterator[None]:
    """Turn the garbage collector off within the context."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _quiet(litellm: Any) -> None:
    litellm.suppress_debug_info = True
    litellm.telemetry = False
    litellm.disable_hf_tokenizer_download = True
    litellm.redact_messages_in_exceptions = True
    # litellm makes its coroutine in a thread: if a call is cancelled in between, nobody awaits it.
    warnings.filterwarnings("ignore", message=r"coroutine '[\w.]*acompletion\w*' was never awaited")
    if not os.environ.get("LITELLM_LOG"):
        for name in ("LiteLLM", "LiteLLM Router", "LiteLLM Proxy"):
            logging.getLogger(name).setLevel(logging.CRITICAL)
