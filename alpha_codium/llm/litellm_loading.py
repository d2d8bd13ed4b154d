"""Loading litellm: late, once, quiet and off the network.

1. litellm takes seconds to import, so a thread does it at the first call, and one pretended call in that thread loads
   what litellm itself leaves to its first call.
2. It would ask the network for prices and settings and print advice: the variables and attributes in `load` stop that.
   Its tokenizers are kept from the hub by an attribute of its own, not by HF_HUB_OFFLINE, which would also cut off
   `datasets`.
3. The garbage collector rests meanwhile: what is imported stays, and to look through it again and again took a third
   of the CPU time (3.6 s, and 2.3 s without).
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
    "LITELLM_MODE": "PRODUCTION",  # else it loads a .env file from wherever the user stands
    # OpenAI's protocol by litellm's own client, as for other providers: two thirds of the CPU of the openai package.
    "EXPERIMENTAL_OPENAI_BASE_LLM_HTTP_HANDLER": "True",
}
PRETENDED_CALL = {"model": "openai/x", "messages": [{"role": "user", "content": "hi"}], "mock_response": "hi"}
_loading = threading.Lock()


def load() -> Any:
    """litellm, imported once, quiet and off the network; takes seconds the first time."""
    with _loading, without_collections():
        for name, value in QUIET_ENVIRONMENT.items():
            os.environ.setdefault(name, value)
        import litellm

        if not litellm.suppress_debug_info:
            _quiet(litellm)
            litellm.completion(**PRETENDED_CALL)
        return litellm


@contextlib.contextmanager
def without_collections() -> Iterator[None]:
    """The garbage collector rests within, and does afterwards what it did before."""
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
    # litellm makes its coroutine in a thread: where a call is cancelled in between, nobody is left to await it.
    warnings.filterwarnings("ignore", message=r"coroutine '[\w.]*acompletion\w*' was never awaited")
    if not os.environ.get("LITELLM_LOG"):
        for name in ("LiteLLM", "LiteLLM Router", "LiteLLM Proxy"):
            logging.getLogger(name).setLevel(logging.CRITICAL)
