"""How a stage declares the prompts that it takes, so that a flow can be checked before the first call."""

import dataclasses
from typing import Any


def prompt_file(default: str, *fields: str, code: bool = False) -> Any:
    """A parameter that names a prompt file, by default `default`.

    The prompt must ask for `fields` (one of a record is written `records.field`), and for a program where `code`.
    """
    return dataclasses.field(default=default, metadata={"fields": fields, "code": code})
