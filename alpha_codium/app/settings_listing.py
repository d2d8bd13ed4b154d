"""The settings in force as TOML, with the comments of the shipped file and the origin of each changed value."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from pathlib import Path
from typing import Any

from alpha_codium.config import Settings
from alpha_codium.config.layers import Loaded
from alpha_codium.config.sources import SHIPPED, load_with_origins, shipped_text
from alpha_codium.log import visible

HEAD = "# The settings in force. A value that isn't a default has its origin in the line above it.\n"
SECTION = re.compile(r"\[([\w.]+)\]")
ENTRY = re.compile(r"(?:# )?(?P<key>\w+) = .*?(?:\s(?P<comment># .*))?", re.DOTALL)


def list_settings(config_file: Path | None = None, overrides: Iterable[str] = ()) -> tuple[dict[str, Any], str]:
    """Return the settings in force as values for JSON, and as TOML; raises SettingsError."""
    loaded = load_with_origins(config_file, overrides)
    text = "\n".join(_lines(loaded, shipped_text()))
    return loaded.settings.model_dump(mode="json", exclude_none=True), f"{HEAD}{text}\n"


def _lines(loaded: Loaded[Settings], shipped: str) -> Iterator[str]:
    """Yield the lines of the shipped file, with the values in force, then the sections of plug-ins."""
    changed = {name: origin for name, origin in loaded.origins.items() if origin != SHIPPED}
    section = ""
    for line in shipped[shipped.index("\n[") + 1 :].splitlines():
        if header := SECTION.match(line):
            section = header[1]
        entry = ENTRY.fullmatch(line)
        name = f"{section}.{entry['key']}" if entry else ""
        if entry and name in changed:
            yield from _entry(loaded, name, entry["comment"] or "")
            del changed[name]
        else:
            yield line
    for section, names in groupby(sorted(changed), lambda name: name.rpartition(".")[0]):
        yield from ("", f"[{section}]")
        for name in names:
            yield from _entry(loaded, name)


def _entry(loaded: Loaded[Settings], name: str, comment: str = "") -> Iterator[str]:
    yield f"# from {visible(' '.join(loaded.origins[name].split()))}"
    value = f"{name.rpartition('.')[2]} = {inline(loaded.values[name])}"
    yield f"{value:<31} {comment}".rstrip()


def inline(value: Any) -> str:
    """Return a value as TOML in one line."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{inline(key)} = {inline(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(inline, value)) + "]"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
