"""The prompts of a benchmark: Jinja2 templates in a YAML file that users may edit."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from alpha_codium.config.layers import read, yaml
from alpha_codium.errors import FlowError, nearest
from alpha_codium.rendering import Prompt
from alpha_codium.repository.running.config import RESOURCES

TEMPLATES = ("system", "task", "failed", "failed_without_feedback", "not_run")


@dataclass(frozen=True, slots=True)
class Prompts:
    """The templates of one benchmark, and the text of their file."""

    name: str
    templates: Mapping[str, str]
    text: str

    @property
    def fingerprint(self) -> str:
        """The SHA-256 of the file."""
        return hashlib.sha256(self.text.encode()).hexdigest()

    def fill(self, template: str, variables: Mapping[str, Any]) -> str:
        """Return a template with its variables; raises FlowError if one is missing."""
        return Prompt(f"{self.name}, {template}", self.templates[template]).render(variables)[1]


def load_prompts(benchmark: str, folder: str = "") -> Prompts:
    """Return the prompts of a benchmark in a folder, by default the shipped ones; raises FlowError."""
    path = Path(folder or str(RESOURCES.joinpath("prompts"))) / f"{benchmark}.yaml"
    where = f"the prompts {path}"
    values = read(path, where, yaml, FlowError)
    for key, value in values.items():
        if key not in TEMPLATES:
            raise FlowError(f"{where}: unknown key {key!r}{nearest(str(key), TEMPLATES)}")
        if not isinstance(value, str):
            raise FlowError(f"{where}: {key} must be a text, not {value!r}")
    missing = [name for name in TEMPLATES if name not in values]
    if missing:
        raise FlowError(f"{where} lack {', '.join(missing)}")
    return Prompts(benchmark, values, path.read_text("utf-8"))
