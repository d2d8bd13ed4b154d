"""The import of litellm: on first use, quietly and without the network.

1. litellm takes seconds to import, so it is imported in a thread at the first call. A mock call in that thread triggers
   the imports of litellm's own first call.
2. Environment variables and attributes stop it from downloading prices and settings, and from printing advice. Another
   attribute stops it from downloading tokenizers, since HF_HUB_OFFLINE would also affect `datasets`.
3. The garbage collector is off during the import: the imported objects stay, and collecting took a third of the CPU
   time (3.6 s with, 2.3 s without).
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
    # Use litellm's own client for OpenAI, too: it takes two thirds of the CPU time of the openai package.
    "EXPERIMENTAL_OPENAI_BASE_LLM_HTTP_HANDLER": "True",
}
MOCK_CALL = {"model": "openai/x", "messages": [{"role": "user", "content": "hi"}], "mock_response": "hi"}
_loading = threading.Lock()


def load() -> Any:
    """Return litellm; the first call imports it, which takes seconds."""
    with _loading, without_collections():
        for name, value in QUIET_ENVIRONMENT.items():
            os.environ.setdefault(name, value)
        import litellm

        if not litellm.suppress_debug_info:
            _quiet(litellm)
            litellm.completion(**MOCK_CALL)
        return litellm


def start_loading() -> None:
    """Begin to import litellm in a thread, while other work goes on; `load` waits for it."""
    threading.Thread(target=load, daemon=True, name="gencode-litellm").start()


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
    # litellm creates its coroutine in a thread; if the call is cancelled meanwhile, it is never awaited.
    warnings.filterwarnings("ignore", message=r"coroutine '[\w.]*acompletion\w*' was never awaited")
    if not os.environ.get("LITELLM_LOG"):
        for name in ("LiteLLM", "LiteLLM Router", "LiteLLM Proxy"):
            logging.getLogger(name).setLevel(logging.CRITICAL)
