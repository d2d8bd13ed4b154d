"""How a stage declares the prompts that it takes, so that a flow can be checked before the first call."""

from typing import Any


def prompt_file(default: str, *fields: str, code: bool = False) -> dict[str, Any]:
    """The arguments of a dataclass field that names a prompt file, by default `default`.

    The prompt must ask for `fields` (one of a record is written `records.field`), and for a program where `code`.
    """
    return {"default": default, "metadata": {"fields": fields, "code": code}}
