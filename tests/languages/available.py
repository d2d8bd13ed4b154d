"""Which languages this machine has the tools of; tests of the others are skipped with the reason."""

import pytest

from alpha_codium.errors import SandboxError
from alpha_codium.languages import Language, language_named


def require(name: str) -> Language:
    """Return the language; skips the test, with what to install, if a tool is missing."""
    language = language_named(name)
    try:
        language.tool()
    except SandboxError as error:
        pytest.skip(str(error))
    return language
