"""What `--json` of commands writes is validated against docs/json-schema.json, wherever tests run a command."""

import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator

SCHEMAS = Path(__file__).parents[1] / "docs" / "json-schema.json"


@cache
def definitions() -> dict[str, Any]:
    """The published schemas by their names: `eval.score` is that of `gencode eval score`."""
    return json.loads(SCHEMAS.read_text("utf-8"))["$defs"]


@cache
def validator(name: str) -> Draft202012Validator:
    """The validator of one of them."""
    return Draft202012Validator({"$ref": f"#/$defs/{name}", "$defs": definitions()})


def check_json(arguments: Sequence[str], stdout: str) -> None:
    """Raise ValidationError if the command with these arguments wrote JSON that isn't as its schema says."""
    if "--json" not in arguments[:-1]:
        return
    path = arguments[arguments.index("--json") + 1]
    text = stdout if path == "-" else Path(path).read_text("utf-8") if Path(path).is_file() else ""
    if text.strip():
        names = [".".join(arguments[:length]).replace("-", "_") for length in (2, 1)]
        validator(next(name for name in names if name in definitions())).validate(json.loads(text))
