"""Fixtures of the tests of models."""

import pytest

from alpha_codium.llm.litellm_backend import LiteLLMBackend


@pytest.fixture
async def backend():
    backend = LiteLLMBackend()
    backend.open()
    yield backend
    await backend.close()
