"""Keys of providers: from the environment, or from `.secrets.toml` in the current folder, which git ignores.

The file holds names of environment variables: `OPENAI_API_KEY = "..."`. What the environment has already wins.
"""

import os
import tomllib
from pathlib import Path

from alpha_codium.errors import SettingsError

SECRETS_FILE = Path(".secrets.toml")


def load_secrets(path: Path = SECRETS_FILE) -> None:
    """Put the file's keys into the environment, where litellm looks for them; raises SettingsError."""
    if not path.exists():
        return
    try:
        values = tomllib.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        # The parser's message could quote the line with the key.
        raise SettingsError(f"{path} can't be read: {type(error).__name__}") from error
    for name, value in values.items():
        if not isinstance(value, str):
            raise SettingsError(f'{path}: {name} must be a text, such as OPENAI_API_KEY = "..."')
        os.environ.setdefault(name, value)
